"""Records of every format as plain values that JSON can hold, and back to bytes.

``[{"magic", "base_offset", "compression", "attributes": {...}, ..., "records": [...]}]``, one entry
per batch in the sense of ``any_format``. Bytes are lowercase hex, null is None. Uncompressed
batches are restored byte for byte; compressed ones with equal records, because no two compressors
write the same bytes. So the values contain no checksum and no length.

Keys that are present only when they are needed:

- ``attributes.unused_bits``: bits of the attributes without meaning, at their position.
- ``attributes`` of a record: those of the record alone, which nothing uses so far.
- ``record_timestamp`` of a record: its own timestamp, where the broker's clock counts.
- ``records_hex``: the records of an uncompressed batch with numbers in more bytes than needed,
  which only tests write. They are written again as they are.
- ``partial_hex``, alone in the last entry: the beginning of a batch at which the bytes end.

The name of a header that is not valid UTF-8 has lone surrogates for the invalid bytes, as in
Python's ``surrogateescape``.
"""

from __future__ import annotations

from typing import Any

from harness.codec.records.any_format import read_records
from harness.codec.records.batch import BATCH_HEADER_BYTES
from harness.codec.records.log_batch import LogBatch
from harness.codec.records.log_records import LogRecord
from harness.codec.records.record import encode_records
from harness.codec.records.value_batch import batch_bytes, batch_of

LIMIT_BYTES = 64 * 1024 * 1024
LIMIT_RECORDS = 1 << 18  # each is a kilobyte of dictionaries and texts, however small it is


def records_value(data: bytes, *, limit_bytes: int = LIMIT_BYTES) -> list[dict[str, Any]]:
    """The batches in ``data`` as plain values.

    Raises RecordsError or CompressionError for the first batch that is damaged, with ``path``
    (``[1].records[3]``) and ``offset``, the byte where that batch begins; LimitError, which is one
    too, for more than ``limit_bytes`` of records or more than 262,144 of them: take fewer batches.
    """
    reading = read_records(data, limit_bytes=limit_bytes, limit_records=LIMIT_RECORDS)
    if reading.problems:
        problem = reading.problems[0]
        index = sum(batch.position < problem.position for batch in reading.batches)
        inside = problem.error.path
        problem.error.path = f"[{index}].{inside}" if inside else f"[{index}]"
        problem.error.offset = problem.position
        raise problem.error
    values = [_batch_value(batch, data) for batch in reading.batches]
    if reading.partial_bytes:
        values.append({"partial_hex": data[-reading.partial_bytes :].hex()})
    return values


def _batch_value(batch: LogBatch, data: bytes) -> dict[str, Any]:
    records = [_record_value(record) for record in batch.records]
    for record, time in zip(records, batch.record_timestamps or (), strict=False):
        if time != record["timestamp"]:
            record["record_timestamp"] = time
    value: dict[str, Any] = {
        "magic": batch.magic,
        "base_offset": batch.base_offset,
        "compression": batch.compression,
        "attributes": _attributes_value(batch),
        "partition_leader_epoch": batch.partition_leader_epoch,
        "last_offset_delta": batch.last_offset_delta,
        "base_timestamp": batch.base_timestamp,
        "max_timestamp": batch.max_timestamp,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "records": records,
    }
    if batch.magic > 1 and batch.compression == "none":
        payload = data[batch.position + BATCH_HEADER_BYTES : batch.position + batch.size_bytes]
        if encode_records(batch_of(value, "").records) != payload:
            value["records_hex"] = payload.hex()
    return value


def _attributes_value(batch: LogBatch) -> dict[str, Any]:
    value = {
        "timestamp_type": batch.timestamp_type,
        "transactional": batch.is_transactional,
        "control": batch.is_control,
        "delete_horizon": batch.delete_horizon_ms is not None,
    }
    return value | ({"unused_bits": batch.unused_attributes} if batch.unused_attributes else {})


def _record_value(record: LogRecord) -> dict[str, Any]:
    value = {
        "offset": record.offset,
        "timestamp": record.timestamp,
        "timestamp_type": record.timestamp_type,
        "key": _hex(record.key),
        "value": _hex(record.value),
        "headers": [[header.key, _hex(header.value)] for header in record.headers],
    }
    return value | ({"attributes": record.attributes} if record.attributes else {})


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def records_bytes(values: list[dict[str, Any]]) -> bytes:
    """The bytes of what :func:`records_value` made, or of values like them.

    Of a batch only ``magic`` and ``records`` are needed, of a record nothing: what is not there is
    as a producer would write it. Raises RecordsError with ``path`` for a value that cannot stand
    there.
    """
    return b"".join(batch_bytes(value, f"[{index}]") for index, value in enumerate(values))
