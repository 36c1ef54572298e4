"""Damage to the snapshots of the producers' state."""

from __future__ import annotations

import random

from harness.codec.data_framing.log_folder import SNAPSHOT
from labs.recovery.case import Damage, KindOfDamage
from labs.recovery.log_copy import LogCopy

_HEADER_BYTES = 10  # version, checksum, count: a snapshot of no producers


def gone(copy: LogCopy, _dice: random.Random, _turn: int) -> Damage:
    offset = copy.snapshots[-1]
    copy.remove(offset, SNAPSHOT)
    return Damage(f"the newest snapshot, {offset}, is gone")


def all_gone(copy: LogCopy, _dice: random.Random, _turn: int) -> Damage:
    for offset in copy.snapshots:
        copy.remove(offset, SNAPSHOT)
    return Damage("there is no snapshot")


def _write(copy: LogCopy, rng: random.Random, data: bytes, says: str) -> Damage:
    """In place of the newest, or of all."""
    struck = copy.snapshots if rng.random() < 0.3 else copy.snapshots[-1:]
    for offset in struck:
        copy.write(data, offset, SNAPSHOT)
    return Damage(f"snapshots {', '.join(map(str, struck))}: {says}")


def flip(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    data = bytearray(copy.read(copy.snapshots[-1], SNAPSHOT))
    at, bit = rng.randrange(len(data)), rng.randrange(8)
    data[at] ^= 1 << bit
    return _write(copy, rng, bytes(data), f"bit {bit} of byte {at} is flipped")


def cut(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    data = copy.read(copy.snapshots[-1], SNAPSHOT)
    kept = rng.randrange(len(data))
    return _write(copy, rng, data[:kept], f"{kept} of {len(data)} bytes are left")


def garbage(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    size = rng.choice((1, 2, 10, 56, 148))
    if turn % 2:
        return _write(copy, rng, bytes(size), f"{size} zeros")
    return _write(copy, rng, rng.randbytes(size), f"{size} bytes of chance")


def of_before(copy: LogCopy, _dice: random.Random, _turn: int) -> Damage:
    """A sound one of an earlier time under a later name."""
    first, last = copy.snapshots[0], copy.snapshots[-1]
    copy.write(copy.read(first, SNAPSHOT), last, SNAPSHOT)
    return Damage(f"snapshot {last} is what {first} was")


def stray(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    """A sound one at an offset where no segment begins."""
    end = copy.end_offset
    offset = rng.choice((1, copy.newest + 1, end - 1, end, end + 1, end + 100))
    copy.write(copy.read(copy.snapshots[-1], SNAPSHOT), offset, SNAPSHOT)
    return Damage(f"the newest snapshot is there as {offset} too, the log ends at {end}")


def _there(copy: LogCopy) -> bool:
    return bool(copy.snapshots)


def _with_producers(copy: LogCopy) -> bool:
    return _there(copy) and len(copy.read(copy.snapshots[-1], SNAPSHOT)) > _HEADER_BYTES


def _several(copy: LogCopy) -> bool:
    return len(copy.snapshots) > 1 and _with_producers(copy)


KINDS = (
    KindOfDamage("snapshot: gone", gone, 2, _with_producers),
    KindOfDamage("snapshot: all gone", all_gone, 2, _with_producers),
    KindOfDamage("snapshot: flip", flip, 3, _with_producers),
    KindOfDamage("snapshot: cut", cut, 3, _there),
    KindOfDamage("snapshot: garbage", garbage, 3, _there),
    KindOfDamage("snapshot: of an earlier time", of_before, 2, _several),
    KindOfDamage("snapshot: where no segment begins", stray, 4, _with_producers),
)
