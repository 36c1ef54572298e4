"""Control batches: transaction markers and what the metadata quorum writes."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from typing import Any

from harness.codec import encode
from harness.codec.messages import message_class
from harness.codec.records import (
    CONTROL,
    TRANSACTIONAL,
    Record,
    RecordBatch,
    encode_batch,
)
from labs.official_classes.counts import Count
from labs.official_classes.official import OfficialClasses
from labs.official_classes.random_batches import CREATE, Batch
from labs.official_classes.random_messages import random_message
from labs.official_classes.record_check import compare_read, difference

TYPES = {  # of control records: id, and the schema of the value
    "ABORT": (0, "EndTxnMarker"),
    "COMMIT": (1, "EndTxnMarker"),
    "LEADER_CHANGE": (2, "LeaderChangeMessage"),
    "SNAPSHOT_HEADER": (3, "SnapshotHeaderRecord"),
    "SNAPSHOT_FOOTER": (4, "SnapshotFooterRecord"),
    "KRAFT_VERSION": (5, "KRaftVersionRecord"),
    "KRAFT_VOTERS": (6, "VotersRecord"),
}
MARKER_VERSION = KEY_VERSION = 0


def check_control_batches(official: OfficialClasses, each: int, seed: int) -> Count:
    """``each`` batches of every type: the same bytes from both, and both read their records."""
    count = Count()
    drawn = ((batch, {"ask": "build_control", **batch}) for batch in _drawn(seed, each))
    built = list(official.ask(drawn))
    for batch, answer in built:
        compare_control(batch, answer, count)
    raws = [(batch, _built(batch)) for batch, _ in built]
    values = official.ask(((b, {"ask": "read_control", "hex": r.hex()}) for b, r in raws))
    for batch, answer in values:
        compare_values(batch, answer, count)
    reads = official.ask((pair, {"ask": "read", "hex": pair[1].hex()}) for pair in raws)
    for (batch, raw), answer in reads:
        compare_read(_kind(batch), raw, answer, count)
    return count


def _drawn(seed: int, each: int) -> Iterator[Batch]:
    chance = random.Random(seed)
    for name in TYPES:
        for _ in range(each):
            base_offset = chance.choice((0, 7, 2**40))
            transaction = name in ("ABORT", "COMMIT")
            yield {
                "magic": 2,
                "compression": "none",
                "timestamp_type": CREATE,
                "base_offset": base_offset,
                "log_append_time": -1,
                "producer_id": chance.choice((0, 9, 2**50)) if transaction else -1,
                "producer_epoch": chance.choice((0, 2**15 - 1)) if transaction else -1,
                "base_sequence": -1,
                "transactional": transaction,
                "partition_leader_epoch": chance.choice((0, 3, 2**31 - 1)),
                "delete_horizon": -1,
                "records": [
                    _record(chance, name)
                    for _ in range(1 if transaction else chance.choice((1, 1, 2)))
                ],
            }


def _record(chance: random.Random, name: str) -> dict[str, Any]:
    time = chance.choice((0, 5, 1_700_000_000_000))
    found = {"timestamp": time, "type": name}
    if name in ("ABORT", "COMMIT"):
        return {**found, "epoch": chance.choice((0, 1, 2**31 - 1))}
    cls = message_class(TYPES[name][1])
    message = random_message(chance, cls, 0)
    message.version = 0  # type: ignore[attr-defined]  # it says itself which version it has
    return {**found, "message": encode(message, 0).hex()}


def _built(batch: Batch) -> bytes:
    records = batch["records"]
    base_timestamp = records[0]["timestamp"]
    made = RecordBatch(
        records=[
            Record(_value(one), _key(one), timestamp_delta=one["timestamp"] - base_timestamp)
            for one in records
        ],
        base_offset=batch["base_offset"],
        partition_leader_epoch=batch["partition_leader_epoch"],
        attributes=CONTROL | (TRANSACTIONAL if batch["transactional"] else 0),
        base_timestamp=base_timestamp,
        producer_id=batch["producer_id"],
        producer_epoch=batch["producer_epoch"],
    )
    return encode_batch(made)


def _key(record: dict[str, Any]) -> bytes:
    key = message_class("ControlRecordTypeSchema")(type=TYPES[record["type"]][0])
    return struct.pack(">h", KEY_VERSION) + encode(key, KEY_VERSION)


def _value(record: dict[str, Any]) -> bytes:
    if "message" in record:
        return bytes.fromhex(record["message"])
    marker = message_class("EndTxnMarker")(coordinator_epoch=record["epoch"])
    return struct.pack(">h", MARKER_VERSION) + encode(marker, MARKER_VERSION)


def _kind(batch: Batch) -> str:
    return f"control batch of {batch['records'][0]['type']}"


def compare_control(batch: Batch, answer: dict[str, Any], count: Count) -> None:
    """Compare with the bytes of the official writer for the same records."""
    count.compared += 1
    count.layouts.add(_kind(batch))
    ours = _built(batch)
    if answer.get("hex") != ours.hex():
        count.problems.append(f"{_kind(batch)}: {answer}, ours {ours.hex()}")


def compare_values(batch: Batch, answer: dict[str, Any], count: Count) -> None:
    """Compare with the values that the official readers find in the records."""
    count.compared += 1
    sent = [{k: v for k, v in one.items() if k != "timestamp"} for one in batch["records"]]
    found = difference(answer.get("records", answer), sent)
    if found:
        count.problems.append(f"{_kind(batch)}: read {found}")
