"""Records as text for people: the batches in a run of bytes, and the records in each."""

from __future__ import annotations

from collections.abc import Iterator

from harness.codec.data_framing.own_topics import ANY_TOPIC, WrittenTo, part_text
from harness.codec.errors import CodecError
from harness.codec.records.any_format import BatchProblem, read_records
from harness.codec.records.log_batch import LogBatch
from harness.codec.records.value_form import LIMIT_BYTES, LIMIT_RECORDS
from harness.codec.trace_text import line

_TEXT_CHARACTERS = 60


def records_lines(
    data: bytes, start: int, stop: int, depth: int, written_to: WrittenTo = ANY_TOPIC
) -> Iterator[str]:
    """Yield a line per batch with offset and hex of its bytes, followed by a line per record.

    Keys and values of a topic that Kafka itself writes are shown by their schemas.

    Damaged batches, and the rest of a batch that is cut, are reported at their place; all else is
    still shown. Records in a batch have no offset of their own: most are compressed.
    """
    reading = read_records(data[start:stop], limit_bytes=LIMIT_BYTES, limit_records=LIMIT_RECORDS)
    found: list[LogBatch | BatchProblem] = [*reading.batches, *reading.problems]
    for one in sorted(found, key=lambda each: each.position):
        at = start + one.position
        raw = data[at : min(stop, at + (one.size_bytes or stop))]
        if isinstance(one, BatchProblem):
            yield line(at, raw, depth, f"batch not readable: {one.error}")
        else:
            yield line(at, raw, depth, _batch_text(one))
            yield from _record_lines(one, depth + 1, written_to)
    if reading.partial_bytes:
        at = stop - reading.partial_bytes
        size = "byte" if reading.partial_bytes == 1 else f"{reading.partial_bytes} bytes"
        said = f"the first {size} of a batch that is cut"
        yield line(at, data[at:stop], depth, said)


_HEADER_FIELDS = (  # as the JSON form names them; -1 where the format has no such field
    "last_offset_delta",
    "partition_leader_epoch",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "base_timestamp",
    "max_timestamp",
)


def _batch_text(batch: LogBatch) -> str:
    facts = [
        f"batch magic {batch.magic}",
        f"base_offset {batch.base_offset}",
        f"{len(batch.records)} record{'' if len(batch.records) == 1 else 's'}",
        batch.compression,
        batch.timestamp_type,
    ]
    facts += ["transactional"] if batch.is_transactional else []
    facts += ["control"] if batch.is_control else []
    if batch.delete_horizon_ms is not None:
        facts.append(f"delete_horizon_ms {batch.delete_horizon_ms}")
    if batch.unused_attributes:
        facts.append(f"unused attributes {batch.unused_attributes:#x}")
    facts.append(f"attributes {batch.attributes:#x}")
    facts += [f"{name} {getattr(batch, name)}" for name in _HEADER_FIELDS]
    return ", ".join(facts)


def _record_lines(batch: LogBatch, depth: int, written_to: WrittenTo) -> Iterator[str]:
    for record in batch.records:
        facts = [f"record {record.offset}"]
        if batch.magic > 0:
            facts.append(f"timestamp {record.timestamp}")
        own = None if batch.is_control else written_to.decoded(record.key, record.value)
        key, value = (own.key, own.value) if own else (None, None)
        facts.append(f"key {part_text(key) if key else _shown(record.key)}")
        facts.append(f"value {part_text(value) if value else _shown(record.value)}")
        facts += [f"note: {own.note}"] if own and own.note else []
        facts += [f"header {header.key!r} {_shown(header.value)}" for header in record.headers]
        facts += [_control_text(record.key, record.value)] if batch.is_control else []
        yield line(None, b"", depth, ", ".join(facts))


def _control_text(key: bytes | None, value: bytes | None) -> str:
    """Return a control record as text: ``COMMIT EndTxnMarker(coordinator_epoch=3)``."""
    from harness.codec.data_framing import read_control_record

    try:
        found = read_control_record(key or b"", value)
    except CodecError as error:
        return f"not a control record: {error}"
    if found.message is None:
        return f"control type {found.type}, not known"
    return f"{found.name} {found.message!r}"


def _shown(data: bytes | None) -> str:
    """Text where it is text; else hex. Long ones are cut, and say how long they are."""
    if data is None:
        return "null"
    try:
        text = data[:_TEXT_CHARACTERS].decode("ascii")
    except UnicodeDecodeError:
        text = ""
    shown = f'"{text}"' if text.isprintable() and (text or not data) else data[:20].hex()
    is_cut = len(data) > (_TEXT_CHARACTERS if shown.startswith('"') else 20)
    return f"{shown}.. ({len(data)} bytes)" if is_cut else shown
