"""Damage to whole segments: missing, empty, named wrongly."""

from __future__ import annotations

import random

from harness.codec.data_framing.log_folder import INDEX, INDEXES, LOG, SNAPSHOT
from labs.recovery.case import Damage, KindOfDamage
from labs.recovery.damages.batches import several
from labs.recovery.log_copy import LogCopy


def _lose(copy: LogCopy, base: int, *, whole: bool) -> None:
    copy.remove(base)
    if whole:
        for suffix in (*INDEXES, SNAPSHOT):
            copy.path(base, suffix).unlink(missing_ok=True)


def lose_middle(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    base = rng.choice(copy.base_offsets[1:-1])
    _lose(copy, base, whole=bool(turn % 2))
    return Damage(f"segment {base} is gone{_with_indexes(turn)}", base)


def lose_first(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    base = copy.base_offsets[0]
    _lose(copy, base, whole=bool(turn % 2))
    return Damage(f"segment {base} is gone{_with_indexes(turn)}", base)


def lose_newest(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    base = copy.newest
    _lose(copy, base, whole=bool(turn % 2))
    return Damage(f"segment {base} is gone{_with_indexes(turn)}", base)


def _with_indexes(turn: int) -> str:
    return ", with its other files" if turn % 2 else "; its other files are there"


def lose_all(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    for base in copy.base_offsets:
        _lose(copy, base, whole=bool(turn % 2))
    return Damage(f"all segments are gone{_with_indexes(turn)}", 0)


def empty_newest(copy: LogCopy, _dice: random.Random, _turn: int) -> Damage:
    base = copy.newest
    copy.write(b"", base)
    return Damage(f"segment {base} is empty", base)


def empty_older(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = rng.choice(copy.base_offsets[:-1])
    copy.write(b"", base)
    return Damage(f"segment {base} is empty", base)


def empty_behind(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    """A segment that was rolled, and nothing was written."""
    base = copy.end_offset + rng.choice((0, 0, 5))
    copy.write(b"", base)
    copy.write(bytes(4096), base, INDEX)
    return Damage(f"an empty segment {base} behind the end {copy_end(copy, base)}", base)


def copy_end(copy: LogCopy, behind: int) -> int:
    """The end of the segment before this one."""
    before = max(base for base in copy.base_offsets if base < behind)
    return copy.batches(before)[-1].last_offset + 1


def rename(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    """Its files are named by another offset than that of its first batch."""
    base = copy.newest
    other = base + rng.choice((-1, 1, 3, 1000))
    for suffix in (LOG, *INDEXES):
        if copy.path(base, suffix).exists():
            copy.path(base, suffix).rename(copy.path(other, suffix))
    return Damage(f"segment {base} is named {other}", min(base, other))


def _three(copy: LogCopy) -> bool:
    return len(copy.base_offsets) > 2


KINDS = (
    KindOfDamage("a segment in the middle is gone", lose_middle, 3, _three),
    KindOfDamage("the first segment is gone", lose_first, 3, several),
    KindOfDamage("the newest segment is gone", lose_newest, 3, several),
    KindOfDamage("all segments are gone", lose_all, 2),
    KindOfDamage("the newest segment is empty", empty_newest, 2),
    KindOfDamage("an older segment is empty", empty_older, 3, several),
    KindOfDamage("an empty segment behind the end", empty_behind, 2),
    KindOfDamage("a segment has another name", rename, 3),
)
