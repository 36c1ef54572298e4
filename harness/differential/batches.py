"""Batches to produce: good ones, and ones with a single defect."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.differential.symbols import DAMAGE, DAMAGES, RECORDS

_A_VALUE, _A_KEY = b"value".hex(), b"key".hex()
_COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
_IDEMPOTENT: dict[str, Any] = {"producer_id": "$producer_id:0", "producer_epoch": 0}
_GOOD: tuple[dict[str, Any], ...] = (
    {},
    {},
    {**_IDEMPOTENT, "base_sequence": 0},
    {**_IDEMPOTENT, "base_sequence": 1},
    {**_IDEMPOTENT, "base_sequence": 2},
)
_WRONG: tuple[dict[str, Any], ...] = (
    {"producer_id": "$producer_id:0", "producer_epoch": 1, "base_sequence": 0},
    {"producer_id": "$producer_id:0", "producer_epoch": -1, "base_sequence": 0},
    {**_IDEMPOTENT, "base_sequence": -1},
    {**_IDEMPOTENT, "base_sequence": 7},
    {"producer_id": 1 << 40, "producer_epoch": 0, "base_sequence": 5},
    {"attributes": {"transactional": True}},
    {**_IDEMPOTENT, "base_sequence": 0, "attributes": {"transactional": True}},
    {"attributes": {"control": True}},
    {"attributes": {"timestamp_type": "LogAppendTime"}},
    {"attributes": {"delete_horizon": True}},
    {"last_offset_delta": 5},
    {"last_offset_delta": 0},
    {"base_offset": 7},
    {"partition_leader_epoch": 3},
    {"max_timestamp": -1},
    {"records": []},
    {"magic": 1},
    {"magic": 0},
)


def good_records(rng: Random) -> dict[str, Any]:
    """Return records that a broker must accept at Produce 3 and later."""
    return {RECORDS: [_batch(rng, rng.choice(_GOOD))]}


def wrong_records(rng: Random) -> dict[str, Any]:
    """A batch with something wrong in it, two batches, or wrong bytes."""
    kind = rng.randrange(4)
    if kind == 0:
        damage = rng.choice([name for name in DAMAGES if name is not None])
        return {RECORDS: [_batch(rng, {})], DAMAGE: damage}
    if kind == 1:
        return {RECORDS: [_batch(rng, {}), _batch(rng, {})]}
    return {RECORDS: [_batch(rng, rng.choice(_WRONG))]}


def _batch(rng: Random, change: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"magic": 2, "compression": rng.choice((*_COMPRESSIONS, "none"))}
    count = 1 if change.get("magic", 2) < 2 else rng.choice((1, 1, 2, 3))
    made["records"] = [_record(rng) for _ in range(count)]
    made |= change
    if made["magic"] < 2:
        made["compression"] = "none"
        for record in made["records"]:
            record.pop("headers", None)
    return made


def _record(rng: Random) -> dict[str, Any]:
    record: dict[str, Any] = {
        "timestamp": f"$time:{rng.choice((0, 5, 10, 20))}",
        "key": rng.choice((None, _A_KEY, "")),
        "value": rng.choice((None, _A_VALUE, _A_VALUE * 20)),
    }
    if rng.random() < 0.2:
        record["headers"] = [["h", rng.choice((None, "00"))]]
    return record
