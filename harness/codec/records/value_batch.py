"""Bytes of a batch that is given as plain values, see ``value_form``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.codec.records.batch import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    RecordBatch,
    encode_batch,
    encode_batch_around,
)
from harness.codec.records.compression import CODEC_IDS
from harness.codec.records.log_batch import KNOWN_ATTRIBUTES, wrapped
from harness.codec.records.message_set import NO_TIMESTAMP, LegacyMessage, encode_message, packed
from harness.codec.records.record import Header, Record
from harness.codec.records.typed_values import Values, from_hex, named

_FLAGS = {"transactional": TRANSACTIONAL, "control": CONTROL, "delete_horizon": DELETE_HORIZON}
_TIMESTAMP_TYPES = ({"NoTimestampType": 0},) + 2 * (
    {"CreateTime": 0, "LogAppendTime": LOG_APPEND_TIME},
)
_BATCH_VALUES = frozenset(
    (
        *("magic", "base_offset", "compression", "attributes", "partition_leader_epoch"),
        *("last_offset_delta", "base_timestamp", "max_timestamp", "producer_id"),
        *("producer_epoch", "base_sequence", "records", "records_hex"),
    )
)
_ATTRIBUTES = frozenset(("timestamp_type", *_FLAGS, "unused_bits"))
_RECORD_VALUES = frozenset(
    (
        *("offset", "timestamp", "timestamp_type", "record_timestamp"),
        *("key", "value", "headers", "attributes"),
    )
)


@dataclass(slots=True)
class _Record:
    """A record's values; ``own_timestamp`` is its own, also where the broker's clock counts."""

    offset: int
    own_timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[Header]
    attributes: int


def batch_bytes(value: Any, path: str) -> bytes:
    """Raises RecordsError with ``path``, and CompressionError."""
    batch = Values(value, path)
    if "partial_hex" in batch.values:
        batch.only({"partial_hex"})
        return batch.data("partial_hex") or b""
    batch.only(_BATCH_VALUES)
    magic = batch.number("magic", -1)
    if magic not in (0, 1, 2):
        raise batch.bad("magic", f"{magic} is none of 0, 1, 2")
    if magic < 2:
        return _messages(batch, magic)
    made = batch_of(value, path)
    if "records_hex" in batch.values:
        return encode_batch_around(made, batch.data("records_hex") or b"")
    return encode_batch(made)


def batch_of(value: Any, path: str) -> RecordBatch:
    """The batch of magic 2 that these values mean. Raises RecordsError with ``path``."""
    batch = Values(value, path)
    base_offset = batch.number("base_offset", 0)
    records = _records(batch, base_offset)
    times = [record.own_timestamp for record in records]
    base_timestamp = batch.number("base_timestamp", times[0] if times else NO_TIMESTAMP)
    made = []
    for place, record in enumerate(records):
        offset_delta = wrapped(record.offset - base_offset)
        if not -(1 << 31) <= offset_delta < 1 << 31:
            raise batch.bad(f"records[{place}].offset", f"{record.offset} is too far from the base")
        delta = wrapped(record.own_timestamp - base_timestamp)
        made.append(
            Record(record.value, record.key, record.headers, delta, offset_delta, record.attributes)
        )
    return RecordBatch(
        records=made,
        base_offset=base_offset,
        partition_leader_epoch=batch.number("partition_leader_epoch", -1, 32),
        attributes=_attributes(batch, 2),
        last_offset_delta=batch.number(
            "last_offset_delta", (made[-1].offset_delta or 0) if made else -1, 32
        ),
        base_timestamp=base_timestamp,
        max_timestamp=batch.number("max_timestamp", max([base_timestamp, *times])),
        producer_id=batch.number("producer_id", -1),
        producer_epoch=batch.number("producer_epoch", -1, 16),
        base_sequence=batch.number("base_sequence", -1, 32),
    )


def _attributes(batch: Values, magic: int) -> int:
    """With sign, as the header has them."""
    codec_id = batch.one_of("compression", "none", CODEC_IDS)
    values = Values(batch.values.get("attributes", {}), f"{batch.path}.attributes")
    values.only(_ATTRIBUTES)
    types = _TIMESTAMP_TYPES[magic]
    bits = codec_id | values.one_of("timestamp_type", next(iter(types)), types)
    for name, bit in _FLAGS.items():
        if values.flag(name):
            if magic < 2:
                raise values.bad(name, f"magic {magic} has no such attribute")
            bits |= bit
    width = 16 if magic == 2 else 8
    unused = values.number("unused_bits", 0, width + 1)
    if unused < 0 or unused & KNOWN_ATTRIBUTES[magic]:
        raise values.bad("unused_bits", f"{unused:#x} has bits with a meaning")
    bits |= unused
    return bits - (1 << width) if bits >> width - 1 else bits


def _records(batch: Values, base_offset: int) -> list[_Record]:
    found = []
    for place, value in enumerate(batch.list("records")):
        record = Values(value, f"{batch.path}.records[{place}]")
        record.only(_RECORD_VALUES)
        timestamp = record.number("timestamp", NO_TIMESTAMP)
        found.append(
            _Record(
                record.number("offset", wrapped(base_offset + place)),
                record.number("record_timestamp", timestamp),
                record.data("key"),
                record.data("value"),
                _headers(record),
                record.number("attributes", 0, 8),
            )
        )
    return found


def _headers(record: Values) -> list[Header]:
    found = []
    for place, pair in enumerate(record.list("headers")):
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], str):
            raise record.bad(f"headers[{place}]", f"[name, hex] expected, not {named(pair)}")
        try:
            pair[0].encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as error:
            raise record.bad(f"headers[{place}]", f"a name that no bytes have: {error}") from error
        found.append(Header(pair[0], from_hex(pair[1], f"{record.path}.headers[{place}]")))
    return found


def _messages(batch: Values, magic: int) -> bytes:
    """One message of a message set, with ``compression`` a wrapper around the records."""
    attributes = _attributes(batch, magic)
    base_offset = batch.number("base_offset", 0)
    records = _records(batch, base_offset)
    if not records:
        raise batch.bad("records", f"magic {magic} has no batch without records")
    if any(record.headers or record.attributes for record in records):
        raise batch.bad("records", f"magic {magic} has no headers and no attributes of records")
    inner = [
        LegacyMessage(record.value, record.key, record.own_timestamp, record.offset, magic)
        for record in records
    ]
    codec_id = batch.one_of("compression", "none", CODEC_IDS)
    if codec_id == CODEC_IDS["zstd"]:
        raise batch.bad("compression", "zstd is for magic 2 only")
    if not codec_id:
        if len(inner) > 1:
            raise batch.bad("records", f"magic {magic} has one a batch where nothing is compressed")
        inner[0].attributes = attributes
        return encode_message(inner[0])
    last_offset = base_offset + batch.number("last_offset_delta", records[-1].offset - base_offset)
    if magic > 0 and last_offset == records[-1].offset:
        for message in inner:  # else the wrapper's offset says nothing, and they are not relative
            message.offset -= base_offset
    times = [record.own_timestamp for record in records]
    return encode_message(
        LegacyMessage(
            value=packed(inner, codec_id),
            timestamp=batch.number("max_timestamp", max(times)),
            offset=wrapped(last_offset),
            magic=magic,
            attributes=attributes,
        )
    )
