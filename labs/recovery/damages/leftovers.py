"""Leftovers of an interrupted compaction, deletion or split, and files that no broker leaves."""

from __future__ import annotations

import random

from harness.codec.data_framing.log_folder import INDEX, LOG, TIME_INDEX
from labs.recovery.case import Damage, KindOfDamage
from labs.recovery.damages.batches import several
from labs.recovery.log_copy import LogCopy


def _beside(copy: LogCopy, base: int, end: str) -> None:
    for suffix in (LOG, INDEX, TIME_INDEX):
        if copy.path(base, suffix).exists():
            copy.write(copy.read(base, suffix), base, f"{suffix}{end}")


def cleaned(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = rng.choice(copy.base_offsets)
    _beside(copy, base, ".cleaned")
    return Damage(f"segment {base} is there as .cleaned too")


def deleted(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    base = rng.choice(copy.base_offsets)
    _beside(copy, base, ".deleted")
    if turn % 2:
        for suffix in (LOG, INDEX, TIME_INDEX):
            copy.path(base, suffix).unlink(missing_ok=True)
    return Damage(f"segment {base} is there as .deleted {'alone' if turn % 2 else 'too'}", base)


def swap(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    """A segment that was compacted: what it replaces is there, or not any more."""
    base = rng.choice(copy.base_offsets[:-1])
    first = copy.batches(base)[0]
    data = copy.read(base)
    copy.write(data[first.end :] if turn % 3 == 1 else data, base, f"{LOG}.swap")
    if turn % 2:
        copy.write(b"", base, f"{INDEX}.swap")
        copy.write(b"", base, f"{TIME_INDEX}.swap")
    if turn % 3 == 2:
        copy.remove(base)
    how = ("whole", "without its first batch", "instead of the .log")[turn % 3]
    return Damage(f"segment {base} is there as .swap, {how}", base)


def swap_of_all(copy: LogCopy, _dice: random.Random, _turn: int) -> Damage:
    """All closed segments were compacted into one, and are still there."""
    bases = copy.base_offsets[:-1]
    copy.write(b"".join(map(copy.read, bases)), bases[0], f"{LOG}.swap")
    return Damage(f"segments {bases} are there as one .swap too", bases[0])


def swap_torn(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = rng.choice(copy.base_offsets)
    data = copy.read(base)
    kept = rng.randrange(len(data))
    copy.write(data[:kept], base, f"{LOG}.swap")
    return Damage(f"segment {base} is there as .swap of {kept} bytes", base)


def swap_and_cleaned(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    """An interrupted split: the .swap files from the first .cleaned on do not count."""
    one, other = rng.choice(copy.base_offsets[:-1]), rng.choice(copy.base_offsets)
    _beside(copy, one, ".swap")
    _beside(copy, other, ".cleaned")
    return Damage(f"segment {one} is there as .swap, {other} as .cleaned", one)


def index_swap(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = rng.choice(copy.base_offsets)
    copy.write(rng.randbytes(16), base, f"{INDEX}.swap")
    return Damage(f"an .index.swap of 16 bytes of chance beside segment {base}")


def unknown(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    names = ("notes.txt", "x.index.tmp", "lost+found", "00000000000000000000.log.bak", ".hidden")
    name = names[turn % len(names)]
    path = copy.folder / name
    if name == "lost+found":
        path.mkdir()
    else:
        path.write_bytes(b"what is this")
    return Damage(f"{name} is there too")


def no_offset(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    """Add an empty file with the suffix of a log's file, but no valid offset in its name."""
    names = ("x.log", "x.index", "-5.log", "x.snapshot", "7.log", "x.log.swap", "x.log.cleaned")
    name = names[turn % len(names)]
    (copy.folder / name).write_bytes(b"")
    return Damage(f"an empty {name} is there too")


KINDS = (
    KindOfDamage("leftovers: .cleaned", cleaned, 2),
    KindOfDamage("leftovers: .deleted", deleted, 3),
    KindOfDamage("leftovers: .swap", swap, 4, several),
    KindOfDamage("leftovers: .swap of several", swap_of_all, 2, several),
    KindOfDamage("leftovers: .swap torn", swap_torn, 3),
    KindOfDamage("leftovers: .swap and .cleaned", swap_and_cleaned, 2, several),
    KindOfDamage("leftovers: .index.swap", index_swap, 2),
    KindOfDamage("leftovers: unknown files", unknown, 2),
    KindOfDamage("leftovers: no offset in the name", no_offset, 2, alone=True),
)
