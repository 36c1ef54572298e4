"""Releases of Kafka as words of a target string: one, the latest, or a range of those pinned."""

from __future__ import annotations

import bisect
import re
from collections.abc import Sequence

from harness.suggestion import did_you_mean
from harness.targets.artifacts import pinned_releases
from harness.targets.errors import TargetError

LATEST = "latest"
RANGE = ".."
_NUMBERS = re.compile(r"\d{1,6}(\.\d{1,6}){0,3}")


def numbers_of(release: str) -> tuple[int, ...]:
    """``"0.10.2.2"`` -> ``(0, 10, 2, 2)``, which sorts as releases do."""
    return tuple(int(part) for part in release.split("."))


def release_named(word: str) -> str:
    """A pinned release by its name or as ``latest``. Raises TargetError with the nearest one."""
    known = pinned_releases()
    if word == LATEST:
        return known[-1]
    if word not in known:
        raise TargetError(
            f"Kafka {word!r} is not pinned{nearest(word, known)}. "
            f"These are pinned: {', '.join(known)}"
        )
    return word


def is_range(word: str) -> bool:
    """Whether it means several releases."""
    return RANGE in word


def releases_between(word: str) -> list[str]:
    """``A..B``, ``A..``, ``..B``: the pinned releases from A to B, both included, oldest first.

    Raises TargetError: a bound that is not pinned, bounds in the wrong order.
    """
    known = pinned_releases()
    low, _, high = word.partition(RANGE)
    first = release_named(low) if low else known[0]
    last = release_named(high) if high else known[-1]
    if numbers_of(first) > numbers_of(last):
        raise TargetError(f"the range {word} goes backwards; write {last}{RANGE}{first}")
    return known[known.index(first) : known.index(last) + 1]


def nearest(word: str, known: Sequence[str]) -> str:
    """`` - did you mean "3.9.2"?`` for ``3.9``; ``known`` is sorted, oldest first.

    The newest of the line that is named, else the neighbour that has more numbers in common.
    """
    if not _NUMBERS.fullmatch(word):
        return did_you_mean(word, [*known, LATEST])
    wanted = numbers_of(word)
    line = [each for each in known if numbers_of(each)[: len(wanted)] == wanted]
    place = bisect.bisect(known, wanted, key=numbers_of)
    neighbours = [*known[place : place + 1], *known[max(0, place - 1) : place]]
    near = line[-1] if line else max(neighbours, key=lambda each: _shared(numbers_of(each), wanted))
    return f' - did you mean "{near}"?'


def _shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many numbers two releases have in common at the beginning."""
    pairs = list(zip(one, other, strict=False))
    return next((place for place, (a, b) in enumerate(pairs) if a != b), len(pairs))
