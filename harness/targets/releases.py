"""Releases of Kafka as words of a target string: one, the latest, or a range of those pinned."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

from harness.base.suggestion import did_you_mean
from harness.targets.artifacts import pinned_releases
from harness.targets.errors import TargetError
from harness.targets.kafka.release import latest_release, release_key, releases_between

LATEST = "latest"
RANGE = ".."
_NUMBERS = re.compile(r"\d{1,6}(\.\d{1,6}){0,3}")


def releases_meant(word: str) -> list[str]:
    """The pinned releases that are meant, oldest first.

    ``3.9.2`` and ``latest`` mean one; ``A..B``, ``A..`` and ``..B`` those from A to B, both
    included. Raises TargetError: a release that is not pinned, with the nearest one; a range that
    goes backwards.
    """
    if RANGE not in word:
        return [_pinned(word)]
    low, _, high = word.partition(RANGE)
    first = _pinned(low) if low else pinned_releases()[0]
    last = _pinned(high or LATEST)
    if release_key(first) > release_key(last):
        raise TargetError(f"the range {word} goes backwards; write {last}{RANGE}{first}")
    return releases_between(first, last)


def _pinned(word: str) -> str:
    known = pinned_releases()
    if word == LATEST:
        return latest_release()
    if word not in known:
        raise TargetError(
            f"Kafka {word!r} is not pinned{_nearest(word, known)}. "
            f"These are pinned: {', '.join(known)}"
        )
    return word


def _nearest(word: str, known: Sequence[str]) -> str:
    """`` - did you mean "3.9.2"?`` for ``3.9``; ``known`` is sorted, oldest first.

    The newest of the line that is named, else the neighbour that has more numbers in common.
    """
    if not _NUMBERS.fullmatch(word):
        return did_you_mean(word, [*known, LATEST])
    wanted = tuple(int(part) for part in word.split("."))
    line = [each for each in known if release_key(each)[: len(wanted)] == wanted]
    place = bisect.bisect(known, wanted, key=release_key)
    beside = [*known[place : place + 1], *known[max(0, place - 1) : place]]
    near = line[-1] if line else max(beside, key=lambda each: _shared(release_key(each), wanted))
    return f' - did you mean "{near}"?'


def _shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the number of leading numbers that two releases have in common."""
    pairs = list(zip(one, other, strict=False))
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(pairs))
