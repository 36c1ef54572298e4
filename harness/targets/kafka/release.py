"""Release numbers of Apache Kafka: their order, the newest, those between two."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

from harness.base.suggestion import did_you_mean
from harness.targets.artifacts import pinned_releases
from harness.targets.errors import TargetError

ReleaseKey = tuple[int, ...]
JUDGED = (
    "0.8.0", "0.8.1.1", "0.8.2.2", "0.9.0.1", "0.10.0.1", "0.10.1.1", "0.10.2.2", "0.11.0.3",
    "1.0.2", "1.1.1", "2.0.1", "2.1.1", "2.2.2", "2.3.1", "2.4.1", "2.5.1", "2.6.3", "2.7.2",
    "2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1",
    "3.9.2", "4.0.2", "4.1.2", "4.2.1", "4.3.1", "4.4.0",
)  # fmt: skip
"""One release of each minor line, oldest first: the checks at depth judge these with all suites."""

MOST_NAMED = 6
LATEST = "latest"
_NUMBER = re.compile(r"\d+(\.\d+){1,3}")
_NUMBERS = re.compile(r"\d{1,6}(\.\d{1,6}){0,3}")


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
    """The releases from ``first`` to ``last``, both included, oldest first.

    Within one minor line all that are pinned; over several lines the two ends and, of each line
    between them, the one that is judged at depth. Raises TargetError: one of the two is not pinned,
    or the first is the newer one.
    """
    pinned = pinned_releases()
    for release in (first, last):
        require_pinned(release)
    low, high = release_key(first), release_key(last)
    if low > high:
        raise TargetError(f"the range {first}..{last} begins with the newer release")
    between = [release for release in pinned if low <= release_key(release) <= high]
    if line_of(first) == line_of(last):
        return between
    return [release for release in between if release in {first, last, *JUDGED}]


def require_pinned(release: str) -> None:
    """Raises TargetError: the release is not pinned; the error names those near it."""
    pinned = pinned_releases()
    if release not in pinned:
        raise TargetError(
            f"Kafka {release!r} is not pinned{_near(release, pinned)}. All releases are listed by "
            "`kafka-conformance targets`; a newer one is pinned by "
            "`python -m harness.targets.kafka.pin RELEASE` in a clone"
        )


def _near(word: str, pinned: Sequence[str]) -> str:
    """`` - did you mean "3.9.2"? Of 3.9 there are ...`` for ``3.9``; ``pinned``: oldest first.

    The newest of the line that is named, else the neighbour that has more numbers in common.
    """
    if not _NUMBERS.fullmatch(word):
        return did_you_mean(word, [*pinned, LATEST])
    wanted = tuple(int(part) for part in word.split("."))
    line = [each for each in pinned if release_key(each)[: len(wanted)] == wanted]
    place = bisect.bisect(pinned, wanted, key=release_key)
    beside = [*pinned[place : place + 1], *pinned[max(0, place - 1) : place]]
    near = line[-1] if line else max(beside, key=lambda each: _shared(release_key(each), wanted))
    same_line = [each for each in pinned if line_of(each) == line_of(near)]
    named = same_line[-MOST_NAMED:]
    return f' - did you mean "{near}"? Of {line_of(near)} these are pinned: {", ".join(named)}'


def _shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the number of leading numbers that two releases have in common."""
    pairs = list(zip(one, other, strict=False))
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(pairs))
