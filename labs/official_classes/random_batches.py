"""Random batches from a seed, as plain values: what the official builder and ours both take.

A batch is a dict of JSON values, bytes as hex; see ``build`` in RecordFormats.java.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

Batch = dict[str, Any]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
CREATE, APPEND = "CreateTime", "LogAppendTime"
SIZES = (0, 1, 5, 20, 63, 64, 65, 300, 9000)  # on both sides of one byte of a varint
NAMES = ("", "h", "trace-id", "zażółć", "𝕂" * 20)


def batches(chance: random.Random, each: int) -> Iterator[tuple[str, Batch]]:
    """(kind, batch): ``each`` of every magic, codec and kind."""
    for magic, kinds in KINDS.items():
        for codec in CODECS if magic > 1 else CODECS[:-1]:
            for kind, change in kinds.items():
                for _ in range(each):
                    batch = _plain(chance, magic, codec)
                    change(chance, batch)
                    yield f"magic {magic}, {codec}, {kind}", batch


def _plain(chance: random.Random, magic: int, codec: str) -> Batch:
    base_offset = chance.choice((1, 77, 2**31, 2**60))
    first_time = chance.choice((0, 1, 1_700_000_000_000, 2**60)) if magic else -1
    return {
        "magic": magic,
        "compression": codec,
        "timestamp_type": CREATE,
        "base_offset": base_offset,
        "log_append_time": -1,
        "producer_id": -1,
        "producer_epoch": -1,
        "base_sequence": -1,
        "transactional": False,
        "partition_leader_epoch": chance.choice((-1, 0, 9, 2**31 - 1)) if magic > 1 else -1,
        "delete_horizon": -1,
        "records": [
            {
                "offset": base_offset + position,
                "timestamp": first_time + chance.choice((0, position, 64, 2**40)) if magic else -1,
                "key": _bytes(chance),
                "value": _bytes(chance),
                "headers": _headers(chance) if magic > 1 else [],
            }
            for position in range(chance.choice((1, 1, 2, 5, 130)))
        ],
    }


def _bytes(chance: random.Random) -> str | None:
    if chance.random() < 0.2:
        return None
    size = chance.choice(SIZES[:-1] if chance.random() < 0.97 else SIZES)
    one = chance.random() < 0.5  # something that can be compressed
    return (b"v" * size if one else chance.randbytes(size)).hex()


def _headers(chance: random.Random) -> list[list[str | None]]:
    count = chance.choice((0, 0, 0, 1, 3, 70)) if chance.random() < 0.3 else 0
    return [[chance.choice(NAMES), _bytes(chance)] for _ in range(count)]


def _stays(chance: random.Random, batch: Batch) -> None:
    """A batch like any other."""


def _append_time(chance: random.Random, batch: Batch) -> None:
    batch["timestamp_type"] = APPEND
    batch["log_append_time"] = chance.choice((0, 1_700_000_000_000, 2**62))


def _idempotent(chance: random.Random, batch: Batch) -> None:
    batch["producer_id"] = chance.choice((0, 5, 2**62))
    batch["producer_epoch"] = chance.choice((0, 1, 2**15 - 1))
    batch["base_sequence"] = chance.choice((0, 9, 2**31 - 1))  # the last wraps to 0


def _transactional(chance: random.Random, batch: Batch) -> None:
    _idempotent(chance, batch)
    batch["transactional"] = True


def _gaps(chance: random.Random, batch: Batch) -> None:
    """Offsets as compaction leaves them; magic 2 holds deltas of an int32, a set those of a log."""
    offset = batch["base_offset"]
    largest = (2**31 - 200) // 130 if batch["magic"] else 1000
    for record in batch["records"]:
        record["offset"] = offset
        offset += chance.choice((1, 2, 63, 64, 9000, largest))


def _delete_horizon(chance: random.Random, batch: Batch) -> None:
    batch["delete_horizon"] = chance.choice((0, 1_700_000_000_500, 2**61))


def _old_times(chance: random.Random, batch: Batch) -> None:
    """Times that fall, and none at all."""
    for record in batch["records"]:
        record["timestamp"] = chance.choice((-1, 0, 5, 2**40, 2**62))


Change = Callable[[random.Random, Batch], None]
_OLD: dict[str, Change] = {"plain": _stays, "gaps": _gaps}
KINDS: dict[int, dict[str, Change]] = {
    0: _OLD,
    1: {**_OLD, "append time": _append_time, "odd times": _old_times},
    2: {
        **_OLD,
        "append time": _append_time,
        "odd times": _old_times,
        "idempotent": _idempotent,
        "transactional": _transactional,
        "delete horizon": _delete_horizon,
    },
}
