"""Damage to leader-epoch-checkpoint and partition.metadata."""

from __future__ import annotations

import random

from harness.codec.data_framing import (
    EpochStart,
    leader_epoch_checkpoint_bytes,
    read_leader_epoch_checkpoint,
)
from harness.codec.data_framing.log_folder import PARTITION_METADATA
from labs.recovery.case import Damage, KindOfDamage
from labs.recovery.log_copy import LogCopy


def _entries(copy: LogCopy) -> list[EpochStart]:
    return read_leader_epoch_checkpoint(copy.epochs.read_bytes())


def _write(copy: LogCopy, entries: list[EpochStart], says: str) -> Damage:
    copy.epochs.write_bytes(leader_epoch_checkpoint_bytes(entries))
    return Damage(f"leader epochs: {says}")


def gone(copy: LogCopy, _dice: random.Random, _turn: int) -> Damage:
    copy.epochs.unlink()
    return Damage("leader-epoch-checkpoint is gone")


def empty(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    data = (b"", b"0\n", b"0\n0\n")[turn % 3]
    copy.epochs.write_bytes(data)
    return Damage(f"leader-epoch-checkpoint is {data!r}")


def stale(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    entries = _entries(copy)
    kept = entries[: rng.randrange(len(entries))]
    return _write(copy, kept, f"only the first {len(kept)} of {len(entries)}")


def lacks_one(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    entries = _entries(copy)
    lost = entries.pop(rng.randrange(len(entries)))
    return _write(copy, entries, f"{lost.epoch} from {lost.start_offset} on is gone")


def beyond(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    entries, end = _entries(copy), copy.end_offset
    more = EpochStart(entries[-1].epoch + 1, end + rng.choice((0, 1, 100)))
    return _write(copy, [*entries, more], f"{more.epoch} from {more.start_offset} on, the log ends "
                  f"at {end}")  # fmt: skip


def disordered(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    entries = _entries(copy)
    if turn % 3 == 0:
        return _write(copy, entries[::-1], "backwards")
    if turn % 3 == 1:
        starts = [each.start_offset for each in entries][::-1]
        made = [EpochStart(one.epoch, start) for one, start in zip(entries, starts, strict=True)]
        return _write(copy, made, "their starts backwards")
    twice = rng.choice(entries)
    return _write(copy, [*entries, EpochStart(twice.epoch, twice.start_offset + 1)],
                  f"{twice.epoch} twice")  # fmt: skip


def starts_later(copy: LogCopy, rng: random.Random, _turn: int) -> Damage:
    entries = _entries(copy)
    place = rng.randrange(len(entries))
    moved = EpochStart(entries[place].epoch, entries[place].start_offset + 2)
    entries[place] = moved
    return _write(copy, entries, f"{moved.epoch} from {moved.start_offset} on, 2 too late")


def torn(copy: LogCopy, rng: random.Random, turn: int) -> Damage:
    """Write a checkpoint that no reader of checkpoints accepts."""
    data = copy.epochs.read_bytes()
    cut = len(b"0\n4\n")
    made = (
        data[:cut],
        data[: len(data) - 3],
        b"1" + data[1:],
        bytes(len(data)),
        rng.randbytes(len(data)),
        data + b"7\n",
        data.replace(b"\n", b"\n-", 1),
    )[turn % 7]
    copy.epochs.write_bytes(made)
    return Damage(f"leader-epoch-checkpoint is {made!r}")


def metadata_wrong(copy: LogCopy, _dice: random.Random, turn: int) -> Damage:
    path = copy.folder / PARTITION_METADATA
    data = path.read_bytes()
    other = b"version: 0\ntopic_id: " + data[-22:][::-1]
    made = (None, b"", data[:20], b"version: 1" + data[10:], other, b"\0" * len(data))[turn % 6]
    path.unlink()
    if made is not None:
        path.write_bytes(made)
    return Damage(f"partition.metadata is {'gone' if made is None else made!r}", 0)


def _there(copy: LogCopy) -> bool:
    return copy.epochs.exists() and bool(_entries(copy))


def _metadata(copy: LogCopy) -> bool:
    return (copy.folder / PARTITION_METADATA).exists()


KINDS = (
    KindOfDamage("epochs: gone", gone, 2, _there),
    KindOfDamage("epochs: empty", empty, 2, _there),
    KindOfDamage("epochs: stale", stale, 3, _there),
    KindOfDamage("epochs: one is gone", lacks_one, 2, _there),
    KindOfDamage("epochs: behind the end", beyond, 3, _there),
    KindOfDamage("epochs: in disorder", disordered, 3, _there),
    KindOfDamage("epochs: one starts later", starts_later, 2, _there),
    KindOfDamage("epochs: torn", torn, 2, _there, alone=True),
    KindOfDamage("partition.metadata", metadata_wrong, 2, _metadata, alone=True),
)
