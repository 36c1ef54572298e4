"""One batch without the records that compaction removes.

Offsets never change: the rest of a batch keeps its first and last offset, and so its sequences.
Source: classes MemoryRecords (filterTo), Cleaner (shouldRetainRecord) of Apache Kafka 3.9; KIP-98,
KIP-534.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from harness.base.ids import Offset, ProducerId, TimeMs
from harness.codec.records import (
    CODEC_MASK,
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    BatchHeader,
    Record,
    RecordBatch,
    encode_batch,
)
from harness.codec.records.any_format import read_records
from harness.codec.records.batch import read_payload, read_records_of
from harness.codec.records.columns import Columns
from harness.reference_broker.state.log.batch_bytes import magic_of
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.state.producers.producer_states import LastRecord

_NO_TIMESTAMP = -1
_NO_OFFSET = Offset(-1)
_ALREADY_CHECKED_BYTES = 2**31 - 1


@dataclass(frozen=True, slots=True)
class RecordSurvival:
    """The records that stay: up to `last_mapped` the newest of each key, and all later ones.

    A tombstone stays until the delete horizon of its batch: `delete_retention_ms` after the first
    compaction that reads it. `producers` contains the last offset of each producer's last batch;
    that batch stays, even without records. For a producer without a batch it contains only the
    epoch; markers of that epoch stay.
    """

    newest: Mapping[bytes, Offset]
    last_mapped: Offset
    producers: Mapping[ProducerId, LastRecord]
    delete_retention_ms: int
    now: TimeMs


def keys_by_offset(batch: StoredBatch) -> list[tuple[Offset, bytes]]:
    """Return offset and key of all records that have a key; none for a marker.

    Raises CodecError for bytes that Kafka cannot read either.
    """
    if magic_of(batch.data) < 2:
        return [(Offset(offset), key) for offset, _, key, _ in _messages(batch) if key is not None]
    header = BatchHeader.read(batch.data)
    if header.attributes & CONTROL:
        return []
    columns = _columns(batch.data, header)
    return [
        (Offset(batch.base_offset + delta), key)
        for delta, key in zip(columns.offsets, columns.keys, strict=True)
        if key is not None
    ]


def compacted(
    batch: StoredBatch, survival: RecordSurvival, *, is_over: bool = False
) -> StoredBatch | None:
    """Return the batch after compaction: itself if nothing changes, None if nothing stays.

    `is_over`: the batch belongs to an aborted transaction, or is the marker of a transaction
    without any other batch; such a marker also stays until a horizon. Raises CodecError as
    `keys_by_offset`.
    """
    if magic_of(batch.data) < 2:
        return batch if _a_message_stays(batch, survival) else None
    header = BatchHeader.read(batch.data)
    columns = _columns(batch.data, header)
    is_marker = bool(header.attributes & CONTROL)
    kept = _kept_marker(header, survival, is_over=is_over) if is_marker else []
    if not is_marker and not is_over:
        kept = _kept(header, columns, survival)
    if not kept and not _is_last_of_producer(header, survival):
        return None
    horizon = survival.now + survival.delete_retention_ms
    made = _made_of(header, columns, kept, horizon, has_horizon=is_marker and is_over)
    if made is None:
        return batch
    return batch._replace(max_timestamp=made.max_timestamp or 0, data=encode_batch(made))


def _messages(batch: StoredBatch) -> list[tuple[int, int, bytes | None, bytes | None]]:
    found = read_records(batch.data, limit_bytes=_ALREADY_CHECKED_BYTES).batches
    return [row for one in found for row in one.records.rows()]


def _a_message_stays(batch: StoredBatch, survival: RecordSurvival) -> bool:
    """True if any message of the batch stays.

    A compressed message stays whole if any of its inner messages stays; Kafka rewrites it instead.
    A message without a value has no horizon: it stays for `delete_retention_ms` after its
    timestamp.
    """

    def stays(offset: int, time: int, key: bytes | None, value: bytes | None) -> bool:
        if offset > survival.last_mapped:
            return True
        if key is None or offset < survival.newest.get(key, _NO_OFFSET):
            return False
        return value is not None or survival.now < time + survival.delete_retention_ms

    return any(stays(*row) for row in _messages(batch))


def rewritten(data: bytes, kept: Sequence[int], new_horizon: int) -> bytes:
    """Return the batch with only the records at these positions, perhaps none.

    `new_horizon` is the delete horizon for its tombstones, unless the batch already has one.
    """
    header = BatchHeader.read(data)
    made = _made_of(header, _columns(data, header), kept, new_horizon)
    return data if made is None else encode_batch(made)


def _columns(data: bytes, header: BatchHeader) -> Columns:
    payload = read_payload(data, header, 0, _ALREADY_CHECKED_BYTES)
    return read_records_of(payload, header, 0, bad_utf8="surrogateescape")


def _kept(header: BatchHeader, columns: Columns, survival: RecordSurvival) -> list[int]:
    """Return the positions of the records that stay."""
    horizon = _horizon_of(header)
    keeps_tombstones = horizon is None or survival.now < horizon

    def stays(delta: int, key: bytes | None, value: bytes | None) -> bool:
        offset = header.base_offset + delta
        if offset > survival.last_mapped:
            return True
        if key is None or offset < survival.newest.get(key, _NO_OFFSET):
            return False
        return value is not None or keeps_tombstones

    rows = zip(columns.offsets, columns.keys, columns.values, strict=True)
    return [position for position, row in enumerate(rows) if stays(*row)]


def _kept_marker(header: BatchHeader, survival: RecordSurvival, *, is_over: bool) -> list[int]:
    """Return the positions that stay, as `_kept`, for a control batch."""
    horizon = _horizon_of(header)
    is_gone = is_over and horizon is not None and horizon <= survival.now
    return [] if is_gone else list(range(header.record_count))


def _is_last_of_producer(header: BatchHeader, survival: RecordSurvival) -> bool:
    last = survival.producers.get(ProducerId(header.producer_id))
    if last is None or header.producer_id < 0:
        return False
    if last.offset is not None:
        return last.offset == header.last_offset
    return bool(header.attributes & CONTROL) and last.producer_epoch == header.producer_epoch


def _horizon_of(header: BatchHeader) -> int | None:
    """Return the delete horizon of the batch's tombstones; the base timestamp field contains it."""
    return header.base_timestamp if header.attributes & DELETE_HORIZON else None


def _made_of(
    header: BatchHeader,
    columns: Columns,
    kept: Sequence[int],
    new_horizon: int,
    *,
    has_horizon: bool = False,
) -> RecordBatch | None:
    """Return the new batch; None if it stays as it is. `has_horizon`: as if it had tombstones."""
    if not kept:
        return _emptied(header) if header.record_count else None
    known = _horizon_of(header)
    has_horizon = has_horizon or any(columns.values[at] is None for at in kept)
    horizon = new_horizon if known is None and has_horizon else known
    if len(kept) == header.record_count and horizon == known:
        return None
    times = [header.base_timestamp + columns.timestamps[at] for at in kept]
    if header.attributes & LOG_APPEND_TIME:
        times = [header.max_timestamp] * len(kept)
    base_timestamp = times[0] if horizon is None else horizon
    return replace(
        _emptied(header),
        records=_records(columns, kept, [time - base_timestamp for time in times]),
        attributes=header.attributes & ~DELETE_HORIZON | (0 if horizon is None else DELETE_HORIZON),
        base_timestamp=base_timestamp,
        max_timestamp=max(times),
    )


def _records(columns: Columns, kept: Sequence[int], deltas: Sequence[int]) -> list[Record]:
    count = len(columns.values)
    headers = list(islice(columns.headers_of_all(), count))
    attributes = list(islice(columns.attributes_of_all(), count))
    return [
        Record(
            columns.values[at],
            columns.keys[at],
            headers[at],
            delta,
            columns.offsets[at],
            attributes[at],
        )
        for at, delta in zip(kept, deltas, strict=True)
    ]


def _emptied(header: BatchHeader) -> RecordBatch:
    """Return the header alone, uncompressed and without a delete horizon."""
    return RecordBatch(
        base_offset=header.base_offset,
        partition_leader_epoch=header.partition_leader_epoch,
        attributes=header.attributes & ~CODEC_MASK & ~DELETE_HORIZON,
        last_offset_delta=header.last_offset_delta,
        base_timestamp=_NO_TIMESTAMP,
        max_timestamp=header.max_timestamp,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
    )
