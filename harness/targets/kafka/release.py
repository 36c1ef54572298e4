"""Release numbers of Apache Kafka: their order, the newest, those between two."""

from __future__ import annotations

import re

from harness.base.suggestion import did_you_mean
from harness.targets.artifacts import pinned_releases
from harness.targets.errors import TargetError

ReleaseKey = tuple[int, ...]
_NUMBER = re.compile(r"\d+(\.\d+){1,3}")


def release_key(release: str) -> ReleaseKey:
    """Return the sort key of a release: ``0.10.2.2`` is (0, 10, 2, 2). Raises TargetError."""
    if not _NUMBER.fullmatch(release):
        raise TargetError(f"{release!r} is no release of Kafka: two to four numbers with dots")
    return tuple(int(part) for part in release.split("."))


def line_of(release: str) -> str:
    """The minor line that a release belongs to: ``0.10.2`` of 0.10.2.2, ``3.9`` of 3.9.2."""
    key = release_key(release)
    return ".".join(map(str, key[: 3 if key[0] == 0 else 2]))


def latest_release() -> str:
    """The newest release with pinned artifacts."""
    return pinned_releases()[-1]


def releases_between(first: str, last: str) -> list[str]:
    """The pinned releases from ``first`` to ``last``, both included, oldest first.

    Raises TargetError: one of the two is not pinned, or the first is the newer one.
    """
    pinned = pinned_releases()
    for release in (first, last):
        if release not in pinned:
            raise TargetError(
                f"Kafka {release!r} is not pinned{did_you_mean(release, pinned)}; "
                f"pinned: {', '.join(pinned)}"
            )
    low, high = release_key(first), release_key(last)
    if low > high:
        raise TargetError(f"the range {first}..{last} begins with the newer release")
    return [release for release in pinned if low <= release_key(release) <= high]
