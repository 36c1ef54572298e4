"""Comparison of a release's versions of a message with the versions that it should have."""

from __future__ import annotations

from collections.abc import Iterable

from harness.codec.definition import MessageSpec
from harness.codec.drift.compare import DriftDifference
from harness.codec.first_releases import FirstRelease, first_releases

RPC_TYPES = ("request", "response")


def version_differences(
    ours: MessageSpec, theirs: MessageSpec | None, release: tuple[int, ...]
) -> list[DriftDifference]:
    """Versions that only one has; those that came after ``release`` are no difference.

    ``theirs`` is None where the release has no definition of this name.
    """
    there = set(theirs.valid) if theirs else set()
    found = [_difference(ours, "version", "absent", "there", there - set(ours.valid))]
    if ours.type not in RPC_TYPES or ours.api_key is None:
        newest = max(there, default=-1)
        gone = {version for version in ours.valid if version <= newest} - there
        return _some([*found, _difference(ours, "version", "there", "absent", gone)])
    firsts = {version: first_releases(ours.api_key)[version] for version in ours.valid}
    released = {version for version, first in firsts.items() if first.is_in(release)}
    found.append(_difference(ours, "version", "there", "absent", released - there))
    for version in sorted((there & set(firsts)) - released):
        first = f"{firsts[version].release} or later"
        found.append(_difference(ours, "first release", first, "there already", {version}))
    if theirs and theirs.type == "request" and theirs.valid.highest in firsts:
        highest = theirs.valid.highest
        unstable = _is_unstable(firsts[highest], release)
        if unstable != theirs.unstable_highest:
            mine, other = str(unstable), str(theirs.unstable_highest)
            found.append(_difference(ours, "unstable", mine, other, {highest}))
    return _some(found)


def _is_unstable(first: FirstRelease, release: tuple[int, ...]) -> bool:
    return first.early_access is not None and release in first.early_access


def _difference(
    ours: MessageSpec, what: str, mine: str, theirs: str, versions: Iterable[int]
) -> DriftDifference:
    return DriftDifference(ours.name, "", what, mine, theirs, tuple(sorted(versions)))


def _some(found: list[DriftDifference]) -> list[DriftDifference]:
    return [difference for difference in found if difference.versions]
