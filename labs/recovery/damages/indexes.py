"""Damage to the offset, time and transaction indexes of a segment."""

from __future__ import annotations

import random
from functools import partial

from harness.codec.data_framing import offset_index_bytes, offset_index_entries
from harness.codec.data_framing.log_folder import INDEX, TIME_INDEX, TXN_INDEX
from labs.recovery.case import Damage, KindOfDamage
from labs.recovery.log_copy import LogCopy

_ENTRY_BYTES = {INDEX: 8, TIME_INDEX: 12, TXN_INDEX: 34}


def _base(copy: LogCopy, suffix: str, rng: random.Random) -> int:
    """One of those that are there, the newest mostly."""
    there = [base for base in copy.offsets_of(suffix) if base in copy.base_offsets]
    return there[-1] if rng.random() < 0.6 else rng.choice(there)


def _used(copy: LogCopy, base: int, suffix: str) -> bytes:
    """Without the zeros behind its entries."""
    data, size = copy.read(base, suffix), _ENTRY_BYTES[suffix]
    return data[: -(-len(data.rstrip(b"\0")) // size) * size]


def _struck(base: int, suffix: str, says: str) -> Damage:
    return Damage(f"the {suffix} of segment {base} {says}")


def gone(suffix: str, copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = _base(copy, suffix, rng)
    copy.remove(base, suffix)
    return _struck(base, suffix, "is gone")


def empty(suffix: str, copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = _base(copy, suffix, rng)
    copy.write(b"", base, suffix)
    return _struck(base, suffix, "is empty")


def zeros(suffix: str, copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    base = _base(copy, suffix, rng)
    size = len(copy.read(base, suffix)) + (1 if turn % 3 == 2 else 0)
    copy.write(bytes(size), base, suffix)
    return _struck(base, suffix, f"is {size} zeros")


def garbage(suffix: str, copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    base = _base(copy, suffix, rng)
    size = _ENTRY_BYTES[suffix] * rng.randint(1, 5) + (3 if turn % 2 else 0)
    copy.write(rng.randbytes(size), base, suffix)
    return _struck(base, suffix, f"is {size} bytes of chance")


def cut(suffix: str, copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = _base(copy, suffix, rng)
    used = _used(copy, base, suffix) or copy.read(base, suffix)
    kept = rng.randrange(len(used) or 1)
    copy.write(used[:kept], base, suffix)
    return _struck(base, suffix, f"is cut to {kept} of {len(used)} bytes")


def stale(suffix: str, copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    """As it was some entries ago."""
    base = _base(copy, suffix, rng)
    used, size = _used(copy, base, suffix), _ENTRY_BYTES[suffix]
    kept = rng.randrange(max(1, len(used) // size))
    copy.write(used[: kept * size], base, suffix)
    return _struck(base, suffix, f"lacks its entries from {kept} on")


def flip(suffix: str, copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = _base(copy, suffix, rng)
    data = bytearray(copy.read(base, suffix))
    if not data:
        return _struck(base, suffix, "was empty and is")
    at, bit = rng.randrange(len(_used(copy, base, suffix)) or 1), rng.randrange(8)
    data[at] ^= 1 << bit
    copy.write(bytes(data), base, suffix)
    return _struck(base, suffix, f"has bit {bit} of byte {at} flipped")


def of_another(suffix: str, copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    bases = [base for base in copy.offsets_of(suffix) if base in copy.base_offsets]
    one, other = rng.sample(bases, 2)
    copy.write(copy.read(other, suffix), one, suffix)
    return _struck(one, suffix, f"is that of segment {other}")


def behind(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    """Entries for batches that never came to the disk, or at positions in the middle of one."""
    base = _base(copy, INDEX, rng)
    entries = list(offset_index_entries(copy.read(base, INDEX), base))
    last = entries[-1] if entries else None
    offset = (last.offset if last else base) + rng.choice((1, 50))
    position = (last.position if last else 0) + rng.choice((1, 70, 100_000))
    made = [*entries, type(entries[0])(offset, position)] if entries else []
    copy.write(offset_index_bytes(made, base), base, INDEX)
    return _struck(base, INDEX, f"has another entry at its end, {offset} at {position}")


def all_gone(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    suffixes = ((INDEX, TIME_INDEX), (INDEX, TIME_INDEX, TXN_INDEX), (INDEX,), (TIME_INDEX,))
    lost = suffixes[turn % len(suffixes)]
    for suffix in lost:
        for base in copy.offsets_of(suffix):
            copy.remove(base, suffix)
    return Damage(f"no segment has its {' and '.join(lost)}")


def _fits(suffix: str, least: int, copy: LogCopy) -> bool:
    return sum(base in copy.base_offsets for base in copy.offsets_of(suffix)) >= least


def _kinds(suffix: str) -> tuple[KindOfDamage, ...]:
    one, two = partial(_fits, suffix, 1), partial(_fits, suffix, 2)
    return (
        KindOfDamage(f"{suffix}: gone", partial(gone, suffix), 2, one),
        KindOfDamage(f"{suffix}: empty", partial(empty, suffix), 1, one),
        KindOfDamage(f"{suffix}: zeros", partial(zeros, suffix), 2, one),
        KindOfDamage(f"{suffix}: garbage", partial(garbage, suffix), 3, one),
        KindOfDamage(f"{suffix}: cut", partial(cut, suffix), 2, one),
        KindOfDamage(f"{suffix}: stale", partial(stale, suffix), 2, one),
        KindOfDamage(f"{suffix}: flip", partial(flip, suffix), 3, one),
        KindOfDamage(f"{suffix}: of another segment", partial(of_another, suffix), 1, two),
    )


KINDS = (
    *_kinds(INDEX),
    *_kinds(TIME_INDEX),
    *_kinds(TXN_INDEX),
    KindOfDamage(f"{INDEX}: an entry too much", behind, 3, partial(_fits, INDEX, 1)),
    KindOfDamage("indexes: gone from all segments", all_gone, 2, partial(_fits, INDEX, 1)),
)
