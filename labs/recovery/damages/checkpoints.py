"""Damage to the checkpoints of a log directory: a partition's line in them, or the whole file."""

from __future__ import annotations

import random
from functools import partial

from labs.recovery.case import Damage, KindOfDamage
from labs.recovery.log_copy import LogCopy
from labs.recovery.source import CHECKPOINTS


def _note(copy: LogCopy, name: str, offset: int | None, end: int) -> Damage:
    copy.note(**{name: offset})
    return Damage(f"{CHECKPOINTS[name]} says {offset}, the log ends at {end}")


def recovery_point(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    end = copy.end_offset
    inside = rng.randrange(end)
    offset = (0, None, inside, end, end + 1, end + 1000, -1, copy.newest)[turn % 8]
    return _note(copy, "recovery_point", offset, end)


def log_start(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    end = copy.end_offset
    inside = rng.randrange(end)
    offset = (inside, copy.newest, end, inside, end + 1, end + 1000, -1, end - 1)[turn % 8]
    return _note(copy, "log_start", offset, end)


def high_watermark(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    end = copy.end_offset
    inside = rng.randrange(end)
    offset = (0, None, inside, end + 1, end + 1000, -1)[turn % 6]
    return _note(copy, "high_watermark", offset, end)


def recovery_point_and_flip(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    """A point behind the damage: whether the damage is looked for at all."""
    batch, end = rng.choice(copy.batches()), copy.end_offset
    offset = rng.choice((copy.newest, batch.base_offset, batch.last_offset + 1, end, end + 9))
    data = bytearray(copy.read(copy.newest))
    data[batch.end - 1] ^= 1
    copy.write(bytes(data), copy.newest)
    copy.note(recovery_point=offset)
    return Damage(f"the recovery point is {offset}, the last byte of the batch "
                  f"{batch.base_offset} is flipped", batch.base_offset)  # fmt: skip


def torn(name: str, copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    """The whole file. Only one partition is there: others would have its damage too."""
    made = (
        b"",
        b"0\n",
        b"0\n1\n",
        b"0\n2\nalone 0 8\n",
        b"1\n1\nalone 0 8\n",
        b"0\n1\nalone 0\n",
        bytes(16),
        rng.randbytes(16),
        None,
    )[turn % 9]
    copy.directory[CHECKPOINTS[name]] = made
    return Damage(f"{CHECKPOINTS[name]} is {'gone' if made is None else made!r}")


def _torn(name: str) -> KindOfDamage:
    return KindOfDamage(f"{CHECKPOINTS[name]}: torn", partial(torn, name), 1, alone=True)


KINDS = (
    KindOfDamage("recovery point: another", recovery_point, 5),
    KindOfDamage("recovery point and damage", recovery_point_and_flip, 5),
    KindOfDamage("log start: another", log_start, 6),
    KindOfDamage("high watermark: another", high_watermark, 3),
    *map(_torn, CHECKPOINTS),
)
