"""Releases of Kafka as words of a target string: one, the latest, or a range."""

from __future__ import annotations

from harness.targets.errors import TargetError
from harness.targets.kafka.release import (
    JUDGED,
    LATEST,
    latest_release,
    release_key,
    releases_between,
    require_pinned,
)

RANGE = ".."


def releases_meant(word: str) -> list[str]:
    """The pinned releases that are meant, oldest first.

    ``3.9.2`` and ``latest`` mean one; ``A..B``, ``A..`` and ``..B`` those from A to B, both
    included: within a minor line every release, over several lines the ends and one of each line
    between them. Raises TargetError: a release that is not pinned, with those near it; a range
    that goes backwards.
    """
    if RANGE not in word:
        return [_pinned(word)]
    low, _, high = word.partition(RANGE)
    first = _pinned(low or JUDGED[0])
    last = _pinned(high or LATEST)
    if release_key(first) > release_key(last):
        raise TargetError(f"the range {word} goes backwards; write {last}{RANGE}{first}")
    return releases_between(first, last)


def _pinned(word: str) -> str:
    if word == LATEST:
        return latest_release()
    require_pinned(word)
    return word
