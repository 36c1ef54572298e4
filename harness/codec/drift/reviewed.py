"""The differences that were looked at: ``reviewed_drift.toml``.

A table per reason and range of releases; ``differences`` has a list for each one: message of ours,
versions, place, what differs, ours, theirs. The place is the path of a field with dots, "" for the
message itself.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from harness.codec.drift.compare import DriftDifference
from harness.codec.drift.errors import DriftError
from harness.codec.releases import ReleaseRange
from harness.codec.versions import VersionRange

FILE = "reviewed_drift.toml"
WHOLE_MESSAGE = frozenset({"version", "first release", "unstable"})
_COLUMNS = 6
Key = tuple[str, str, str, str, str]  # message, place, what, ours, theirs


@dataclass(frozen=True)
class Reviewed:
    """One difference that is as it should be in ``releases``, in those ``versions``."""

    key: Key
    versions: VersionRange
    releases: ReleaseRange
    reason: str

    def expected(self, both: frozenset[int]) -> DriftDifference:
        """Return the difference to expect when the release and we share the versions ``both``."""
        scope = self.versions if self.key[2] in WHOLE_MESSAGE else both
        return DriftDifference(*self.key, tuple(v for v in sorted(scope) if v in self.versions))


@cache
def reviewed_drift() -> tuple[Reviewed, ...]:
    """All entries; DriftError when the file is broken."""
    return read_reviewed((files("harness.codec.drift") / FILE).read_text("utf-8"))


def read_reviewed(text: str) -> tuple[Reviewed, ...]:
    """Raises DriftError for what is no entry, and for a difference that is listed twice."""
    try:
        tables = tomllib.loads(text).get("reviewed", [])
        entries = [entry for table in tables for entry in _entries(table)]
    except (tomllib.TOMLDecodeError, ValueError, TypeError, KeyError) as error:
        raise DriftError(f"{FILE}: {error}; see the head of the file") from error
    seen: dict[Key, list[Reviewed]] = {}
    for entry in entries:
        for other in seen.setdefault(entry.key, []):
            if entry.releases.overlaps(other.releases) and entry.versions & other.versions:
                raise DriftError(f"{FILE}: listed twice: {', '.join(entry.key)}")
        seen[entry.key].append(entry)
    return tuple(entries)


def _entries(table: dict[str, Any]) -> Iterator[Reviewed]:
    releases = ReleaseRange.parse(table["releases"])
    for row in table["differences"]:
        if len(row) != _COLUMNS or not all(isinstance(word, str) for word in row):
            raise ValueError(f"not {_COLUMNS} texts: {row}")
        message, versions, *rest = row
        yield Reviewed((message, *rest), VersionRange.parse(versions), releases, table["reason"])


@dataclass(frozen=True)
class Review:
    """The differences that match the reviewed list, and those that do not."""

    as_reviewed: tuple[tuple[DriftDifference, str], ...]  # with its reason
    unlisted: tuple[DriftDifference, ...]
    stale: tuple[tuple[DriftDifference, str], ...]  # with the releases of its entry


def review(
    found: Collection[DriftDifference],
    release: tuple[int, ...],
    both: Mapping[str, frozenset[int]],
    entries: Iterable[Reviewed],
) -> Review:
    """Hold differences against the list.

    ``both``: the versions that both have, by message of ours, for every message compared.
    """
    open_: dict[Key, set[int]] = {}
    for one in found:
        open_.setdefault(_key(one), set()).update(one.versions)
    good: list[tuple[DriftDifference, str]] = []
    stale: list[tuple[DriftDifference, str]] = []
    for entry in entries:
        if release not in entry.releases or entry.key[0] not in both:
            continue
        wanted = entry.expected(both[entry.key[0]])
        here = open_.get(entry.key, set())
        missing = tuple(v for v in wanted.versions if v not in here)
        seen = tuple(v for v in wanted.versions if v in here)
        if missing or not wanted.versions:
            stale.append((replace(wanted, versions=missing), str(entry.releases)))
        if seen:
            good.append((replace(wanted, versions=seen), entry.reason))
        here.difference_update(seen)
    left = [one for one in found if not one.versions]  # of the whole message; cannot be listed
    left += [DriftDifference(*key, tuple(sorted(rest))) for key, rest in open_.items() if rest]
    return Review(tuple(good), tuple(sorted(left)), tuple(stale))


def _key(one: DriftDifference) -> Key:
    return (one.message, one.place, one.what, one.ours, one.theirs)
