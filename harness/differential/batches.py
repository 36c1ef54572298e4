"""Batches to produce: good ones, and ones with a single defect."""

from __future__ import annotations

from random import Random
from typing import Any

from harness.differential.symbols import DAMAGE, DAMAGES, RECORDS

_A_VALUE, _A_KEY = b"value".hex(), b"key".hex()
_COMPRESSIONS = ("none", "gzip", "snappy", "lz4", "zstd")
_PLAIN_SHARE = 0.2
_IDEMPOTENT: dict[str, Any] = {"producer_id": "$producer_id:0", "producer_epoch": 0}
_GOOD: tuple[dict[str, Any], ...] = (
    {},
    {},
    {**_IDEMPOTENT, "base_sequence": 0},
    {**_IDEMPOTENT, "base_sequence": 1},
    {**_IDEMPOTENT, "base_sequence": 2},
)


def in_transaction(number: int, sequence: int, **change: Any) -> dict[str, Any]:
    """Fields of a batch in a transaction of the N-th producer."""
    return {"producer_id": f"$producer_id:{number}", "producer_epoch": f"$producer_epoch:{number}",
            "base_sequence": sequence, "attributes": {"transactional": True}, **change}  # fmt: skip


_IN_TRANSACTION = (
    *(in_transaction(0, sequence) for sequence in (0, 0, 0, 1, 2)),
    in_transaction(1, 0),
    {},
)
_WRONG_IN_TRANSACTION = (
    *(in_transaction(0, 0, producer_epoch=epoch) for epoch in (0, 1, 2, -1)),
    *(in_transaction(number, 1) for number in (1, 2)),
    in_transaction(0, 7),
    in_transaction(0, 0, producer_id=1 << 40),
    in_transaction(0, 0, attributes={}),
    in_transaction(0, -1, producer_id=-1, producer_epoch=-1),
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


def transactional_records(rng: Random) -> dict[str, Any]:
    """Return records that a broker must accept in a transaction that has their partition."""
    return {RECORDS: [_batch(rng, rng.choice(_IN_TRANSACTION))]}


def wrong_transactional_records(rng: Random) -> dict[str, Any]:
    """A batch that its transaction does not allow, or one with something else wrong in it."""
    if rng.random() < _PLAIN_SHARE:
        return wrong_records(rng)
    return {RECORDS: [_batch(rng, rng.choice(_WRONG_IN_TRANSACTION))]}


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
