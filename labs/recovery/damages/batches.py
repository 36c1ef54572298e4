"""Damage to the batches of a segment: cut, flipped, zeroed, appended."""

from __future__ import annotations

import random
from functools import partial

from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.record import Record
from labs.recovery.case import Damage, Damaging, KindOfDamage
from labs.recovery.log_copy import MAGIC_2, BatchPosition, LogCopy

FIELDS = {  # of magic 2: name, first byte, byte behind it
    "base offset": (0, 8),
    "length": (8, 12),
    "leader epoch": (12, 16),
    "magic": (16, 17),
    "checksum": (17, 21),
    "attributes": (21, 23),
    "last offset delta": (23, 27),
    "base timestamp": (27, 35),
    "max timestamp": (35, 43),
    "producer id": (43, 51),
    "producer epoch": (51, 53),
    "base sequence": (53, 57),
    "record count": (57, 61),
}
OLD_FIELDS = {"base offset": (0, 8), "length": (8, 12), "checksum": (12, 16), "magic": (16, 17)}
RECORDS_AT, OLD_RECORDS_AT = 61, 17
_STRIDE = 7  # with no common factor with most sizes: every byte gets its turn
_PLACES = ("last", "first", "middle")


def nothing(_copy: LogCopy, _dice: random.Random, _turn: int) -> Damage:
    return Damage("no damage")


# -- cut -----------------------------------------------------------------------------------------


def cut_last(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    last = copy.batches()[-1]
    kept = turn * _STRIDE % (last.end - last.start)
    copy.write(copy.read(copy.newest)[: last.start + kept], copy.newest)
    return Damage(f"{kept} bytes are left of the last batch", last.base_offset)


def cut_between(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    batch = rng.choice(copy.batches())
    copy.write(copy.read(copy.newest)[: batch.start], copy.newest)
    return Damage(f"the newest segment ends before the batch {batch.base_offset}",
                  batch.base_offset)  # fmt: skip


def cut_older(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = rng.choice(copy.base_offsets[:-1])
    batch = rng.choice(copy.batches(base))
    kept = rng.randrange(batch.end - batch.start)
    copy.write(copy.read(base)[: batch.start + kept], base)
    return Damage(f"the segment {base} ends {kept} bytes behind the start of the batch "
                  f"{batch.base_offset}", batch.base_offset)  # fmt: skip


def cut_older_between(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    """As a power loss leaves it: whole batches are there, and the next segment."""
    base = rng.choice(copy.base_offsets[:-1])
    batch = rng.choice(copy.batches(base))
    copy.write(copy.read(base)[: batch.start], base)
    return Damage(f"the segment {base} ends before the batch {batch.base_offset}",
                  batch.base_offset)  # fmt: skip


# -- flipped -------------------------------------------------------------------------------------


def _place(copy: LogCopy, base: int, turn: int) -> BatchPosition:
    batches = copy.batches(base)
    return {"last": batches[-1], "first": batches[0], "middle": batches[len(batches) // 2]}[
        _PLACES[turn % len(_PLACES)]
    ]


def flip_field(name: str, copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    batch = _place(copy, copy.newest, turn)
    first, behind = (FIELDS if batch.magic >= MAGIC_2 else OLD_FIELDS)[name]
    return _flip(copy, copy.newest, batch, rng.randrange(first, behind), rng)


def flip_records(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    batch = _place(copy, copy.newest, turn)
    at = RECORDS_AT if batch.magic >= MAGIC_2 else OLD_RECORDS_AT
    return _flip(copy, copy.newest, batch, rng.randrange(at, batch.end - batch.start), rng)


def flip_older(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    base = rng.choice(copy.base_offsets[:-1])
    batch = rng.choice(copy.batches(base))
    return _flip(copy, base, batch, rng.randrange(batch.end - batch.start), rng)


def _flip(copy: LogCopy, base: int, batch: BatchPosition, at: int, rng: random.Random) -> Damage:
    data, bit = bytearray(copy.read(base)), rng.randrange(8)
    data[batch.start + at] ^= 1 << bit
    copy.write(bytes(data), base)
    return Damage(f"bit {bit} of byte {at} of the batch {batch.base_offset} in segment {base}",
                  batch.base_offset)  # fmt: skip


# -- zeroed and appended -------------------------------------------------------------------------


def zero_tail(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    data, batches = copy.read(copy.newest), copy.batches()
    count = rng.randint(1, len(data) // 2)
    copy.write(data[:-count] + bytes(count), copy.newest)
    struck = next(each for each in batches if each.end > len(data) - count)
    return Damage(f"the last {count} bytes are zeros", struck.base_offset)


def zero_hole(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    data, batch = copy.read(copy.newest), rng.choice(copy.batches())
    copy.write(data[: batch.start] + bytes(batch.end - batch.start) + data[batch.end :],
               copy.newest)  # fmt: skip
    return Damage(f"the batch {batch.base_offset} is zeros", batch.base_offset)


def _append(copy: LogCopy, data: bytes, says: str) -> Damage:
    end = copy.end_offset
    copy.write(copy.read(copy.newest) + data, copy.newest)
    return Damage(says, end)


def append_zeros(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    count = rng.choice((1, 11, 12, 17, 61, 100, 4096))
    return _append(copy, bytes(count), f"{count} zeros behind the end")


def append_garbage(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    count = rng.choice((1, 5, 12, 16, 17, 30, 61, 70, 200, 1000))
    return _append(copy, rng.randbytes(count), f"{count} bytes of chance behind the end")


def append_batch(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    """A sound batch of magic 2, mostly with an offset that does not go on from the last."""
    end, base = copy.end_offset, copy.newest
    offset = (end, end + 1, end + 1000, end - 1, base, base - 1, 0, end + (1 << 31), -1)[turn % 9]
    epoch = rng.choice((0, 4, 100, -1))
    batch = RecordBatch(
        [Record(b"appended")] * 3,
        base_offset=offset,
        partition_leader_epoch=epoch,
        base_timestamp=1_700_000_000_000,
    )
    return _append(copy, encode_batch(batch), f"a sound batch with offset {offset} of the leader "
                   f"epoch {epoch} behind the end, which is {end}")  # fmt: skip


def repeat_batch(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    batches, data = copy.batches(), copy.read(copy.newest)
    batch = batches[-1] if turn % 2 else rng.choice(batches)
    return _append(copy, data[batch.start : batch.end],
                   f"the batch {batch.base_offset} once more behind the end")  # fmt: skip


def swap_batches(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    data, batches = copy.read(copy.newest), copy.batches()
    place = rng.randrange(len(batches) - 1)
    one, other = batches[place], batches[place + 1]
    copy.write(data[: one.start] + data[other.start : other.end] + data[one.start : one.end]
               + data[other.end :], copy.newest)  # fmt: skip
    return Damage(f"the batches {one.base_offset} and {other.base_offset} have changed places",
                  one.base_offset)  # fmt: skip


def several(copy: LogCopy) -> bool:
    return len(copy.base_offsets) > 1


def _fits(name: str, copy: LogCopy) -> bool:
    return name in OLD_FIELDS or copy.magic >= MAGIC_2


def _flips(name: str) -> KindOfDamage:
    damaging: Damaging = partial(flip_field, name)
    return KindOfDamage(f"flip: {name}", damaging, 3, partial(_fits, name))


KINDS = (
    KindOfDamage("nothing", nothing, 2),
    KindOfDamage("cut: the last batch", cut_last, 14),
    KindOfDamage("cut: between batches", cut_between, 3),
    KindOfDamage("cut: an older segment", cut_older, 4, several),
    KindOfDamage("cut: an older segment, between batches", cut_older_between, 3, several),
    *map(_flips, FIELDS),
    KindOfDamage("flip: records", flip_records, 4),
    KindOfDamage("flip: an older segment", flip_older, 6, several),
    KindOfDamage("zeros: the tail", zero_tail, 4),
    KindOfDamage("zeros: a batch", zero_hole, 3),
    KindOfDamage("zeros: behind the end", append_zeros, 3),
    KindOfDamage("garbage behind the end", append_garbage, 4),
    KindOfDamage("a batch behind the end", append_batch, 6),
    KindOfDamage("a batch twice", repeat_batch, 3),
    KindOfDamage("batches changed places", swap_batches, 2),
)
