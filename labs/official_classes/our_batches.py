"""Batches by our codec: built from plain values, read to the form of the official answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.codec.records import (
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Header,
    LegacyMessage,
    Record,
    RecordBatch,
    encode_batch,
    encode_message_set,
    split_batches,
    split_message_set,
)
from harness.codec.records.any_format import read_records
from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES
from harness.codec.records.log_batch import LogBatch
from harness.codec.records.lz4_header import with_right_checksum
from labs.official_classes.random_batches import APPEND, Batch

LIMIT_BYTES = 64 * 1024 * 1024
_MAGIC_AT = 16


def built(batch: Batch) -> bytes:
    """The bytes of a batch, or of a message set."""
    by_broker = batch["timestamp_type"] == APPEND
    return _batch(batch, by_broker) if batch["magic"] == 2 else _message_set(batch, by_broker)


def _batch(batch: Batch, by_broker: bool) -> bytes:
    records = batch["records"]
    horizon = batch["delete_horizon"]
    base_timestamp = records[0]["timestamp"] if horizon < 0 else horizon
    largest = max(record["timestamp"] for record in records)
    attributes = CODEC_IDS[batch["compression"]]
    attributes |= LOG_APPEND_TIME if by_broker else 0
    attributes |= TRANSACTIONAL if batch["transactional"] else 0
    attributes |= DELETE_HORIZON if horizon >= 0 else 0
    made = RecordBatch(
        records=[_record(record, batch, base_timestamp) for record in records],
        base_offset=batch["base_offset"],
        partition_leader_epoch=batch["partition_leader_epoch"],
        attributes=attributes,
        last_offset_delta=records[-1]["offset"] - batch["base_offset"],
        base_timestamp=base_timestamp,
        max_timestamp=batch["log_append_time"] if by_broker else largest,
        producer_id=batch["producer_id"],
        producer_epoch=batch["producer_epoch"],
        base_sequence=batch["base_sequence"],
    )
    return encode_batch(made)


def _record(record: dict[str, Any], batch: Batch, base_timestamp: int) -> Record:
    return Record(
        value=binary(record["value"]),
        key=binary(record["key"]),
        headers=[Header(name, binary(value)) for name, value in record["headers"]],
        timestamp_delta=record["timestamp"] - base_timestamp,
        offset_delta=record["offset"] - batch["base_offset"],
    )


def _message_set(batch: Batch, by_broker: bool) -> bytes:
    messages = [
        LegacyMessage(
            value=binary(record["value"]),
            key=binary(record["key"]),
            timestamp=batch["log_append_time"] if by_broker else record["timestamp"],
            offset=record["offset"],
            magic=batch["magic"],
            attributes=LOG_APPEND_TIME if by_broker else 0,
        )
        for record in batch["records"]
    ]
    return encode_message_set(messages, batch["compression"])


def read(data: bytes) -> tuple[list[dict[str, Any]], int]:
    """(every batch as RecordFormats.java describes it, whole bytes). Raises the first problem."""
    reading = read_records(data, limit_bytes=LIMIT_BYTES)
    for problem in reading.problems:
        raise problem.error
    return [_described(batch) for batch in reading.batches], len(data) - reading.partial_bytes


def _described(batch: LogBatch) -> dict[str, Any]:
    found = {
        "magic": batch.magic,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "size_bytes": batch.size_bytes,
        "compression": batch.compression,
        "timestamp_type": batch.timestamp_type,
        "max_timestamp": batch.max_timestamp,
        "partition_leader_epoch": batch.partition_leader_epoch,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "last_sequence": _last_sequence(batch),
        "transactional": batch.is_transactional,
        "control": batch.is_control,
    }
    if batch.delete_horizon_ms is not None:
        found["delete_horizon"] = batch.delete_horizon_ms
    if batch.magic > 1:
        found["base_timestamp"] = batch.base_timestamp
        found["checksum"] = batch.crc
    found["records"] = [
        {
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": _hex(record.key),
            "value": _hex(record.value),
            "headers": [[_text(header.key), _hex(header.value)] for header in record.headers],
        }
        for record in batch.records
    ]
    return found


def _last_sequence(batch: LogBatch) -> int:
    """Sequences wrap to 0 behind the largest int32."""
    if batch.base_sequence == -1:
        return -1
    last = batch.base_sequence + batch.last_offset_delta
    return last if last < 2**31 else last - 2**31


def _text(name: str) -> str:
    """Where a header's key is no UTF-8, the official reader has replacement characters."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def payloads(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(codec id, bytes) of each batch's records, or of each message's value."""
    if data[_MAGIC_AT : _MAGIC_AT + 1] < b"\2":
        for message in split_message_set(data):
            packed = message.value or b""
            if message.magic == 0 and CODEC_NAMES[message.codec_id] == "lz4":
                packed = with_right_checksum(packed)
            yield message.codec_id, packed
        return
    for header, start in split_batches(data):
        yield header.codec_id, data[start + 61 : start + header.size_bytes]


def binary(text: str | None) -> bytes | None:
    """Bytes from hex, null stays null."""
    return None if text is None else bytes.fromhex(text)


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()
