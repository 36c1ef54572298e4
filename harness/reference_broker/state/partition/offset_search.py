"""The offset of a timestamp (ListOffsets; KIP-79, KIP-734, KIP-405, KIP-1005, KIP-1023)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat

from harness.base.ids import LeaderEpoch, Offset, TimeMs
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    LOG_APPEND_TIME,
    BatchHeader,
)
from harness.codec.records.any_format import read_records
from harness.codec.records.batch import read_records_of
from harness.codec.records.compression import (
    CompressionError,
    decompress_up_to_damage,
)
from harness.codec.records.errors import RecordsError
from harness.codec.records.walk import BadRecord, walk_records
from harness.reference_broker.state.log.batch_bytes import magic_of
from harness.reference_broker.state.log.log_store import Log
from harness.reference_broker.state.log.records_in_turn import records_in_turn
from harness.reference_broker.state.log.stored_batch import StoredBatch, payload_of
from harness.reference_broker.state.partition.partition import Partition

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

FIRST_VERSION_WITH = {
    LATEST: 1,
    EARLIEST: 1,
    MAX_TIMESTAMP: 7,
    EARLIEST_LOCAL: 8,
    LATEST_TIERED: 9,
    EARLIEST_PENDING_UPLOAD: 11,
}
"""The first version of ListOffsets that knows each of the negative timestamps."""


@dataclass(frozen=True, slots=True)
class FoundOffset:
    """An offset with the record's timestamp and the epoch it was written in; -1 for "none"."""

    offset: Offset
    timestamp: int
    leader_epoch: LeaderEpoch


_NO_EPOCH = LeaderEpoch(-1)
NOTHING_FOUND = FoundOffset(Offset(-1), -1, LeaderEpoch(-1))


def record_at(partition: Partition, timestamp: int) -> FoundOffset:
    """Return the first record at `timestamp` or later; negative times are plain numbers here."""
    return _first_record_at(partition.log, timestamp, partition.log.start_offset)


def find_offset(partition: Partition, timestamp: int) -> FoundOffset:
    """Return the offset for `timestamp`, which is a time in ms or one of the constants above."""
    log, epoch = partition.log, partition.leader_epoch
    if timestamp == LATEST:
        return FoundOffset(partition.high_watermark, -1, epoch)
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        written_in = partition.epochs.epoch_at(log.start_offset)
        return FoundOffset(log.start_offset, -1, _NO_EPOCH if written_in is None else written_in)
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return NOTHING_FOUND  # nothing is tiered here
    if timestamp == MAX_TIMESTAMP:
        # Records below the log start count until their segment goes (fetchOffsetByTimestamp).
        return _newest_record(log.newest_batch())
    return record_at(partition, timestamp)


def old_style_offsets(partition: Partition, timestamp: int, most: int, now: TimeMs) -> list[int]:
    """Return the begins of at most `most` segments last written up to `timestamp`, newest first.

    The log end, as of `now`, precedes them unless the log is empty. LATEST means all of them,
    EARLIEST only the first. Source: UnifiedLog.legacyFetchOffsetsBefore of Apache Kafka 3.9.
    """
    log = partition.log
    begins = partition.segments.begins()
    found: list[tuple[int, int]] = [(max(base, log.start_offset), at) for base, at in begins]
    if partition.segments.active.size_bytes:
        found.append((log.end_offset, now))
    if timestamp == EARLIEST:
        found = found[:1]
    elif timestamp != LATEST:
        while found and found[-1][1] > timestamp:
            found.pop()
    return [offset for offset, _ in reversed(found)][:most]


def _newest_record(batch: StoredBatch | None) -> FoundOffset:
    if batch is None:
        return NOTHING_FOUND
    found = ((offset, time) for offset, time in _times(batch) if time == batch.max_timestamp)
    offset, time = next(found, (-1, -1))
    return FoundOffset(Offset(offset), time, batch.leader_epoch) if offset >= 0 else NOTHING_FOUND


def _first_record_at(log: Log, timestamp: int, at_least: Offset) -> FoundOffset:
    for batch in log.batches_reaching(timestamp):
        for offset, found in _times(batch):
            if found >= timestamp and offset >= at_least:
                return FoundOffset(Offset(offset), found, batch.leader_epoch)
    return NOTHING_FOUND


def _times(batch: StoredBatch) -> Iterable[tuple[int, int]]:
    """Return offset and timestamp of each record. Compaction may have left gaps between the
    offsets; validation allows none."""
    if magic_of(batch.data) < 2:
        return _times_of_messages(batch)
    header = BatchHeader.read(batch.data)
    try:
        payload = payload_of(batch.data, header)
    except CompressionError as problem:
        payload = batch.data[BATCH_HEADER_BYTES:]
        readable = decompress_up_to_damage(header.codec_id, payload)
        return _times_up_to_damage(readable, header, problem)
    try:
        if header.record_count <= header.last_offset_delta:
            return _times_around_gaps(payload, header)
        return enumerate(_timestamps(payload, header), batch.base_offset)
    except (BadRecord, RecordsError):
        return _times_up_to_damage(payload, header)


def _times_of_messages(batch: StoredBatch) -> Iterable[tuple[int, int]]:
    found = read_records(batch.data, limit_bytes=_ALREADY_CHECKED_BYTES)
    times = [time for one in found.batches for _, time, _, _ in one.records.rows()]
    return enumerate(times, batch.base_offset)


def _times_around_gaps(payload: bytes, header: BatchHeader) -> Iterable[tuple[int, int]]:
    columns = read_records_of(payload, header, 0, bad_utf8="surrogateescape")
    offsets = [header.base_offset + delta for delta in columns.offsets]
    if header.attributes & LOG_APPEND_TIME:
        return zip(offsets, repeat(header.max_timestamp), strict=False)
    return zip(offsets, [header.base_timestamp + t for t in columns.timestamps], strict=True)


def _timestamps(payload: bytes, header: BatchHeader) -> list[int]:
    if header.attributes & LOG_APPEND_TIME:
        return [header.max_timestamp] * header.record_count
    deltas = walk_records(payload, header.record_count, keep_timestamps=True).timestamp_deltas
    return [header.base_timestamp + delta for delta in deltas or ()]


def _times_up_to_damage(
    payload: bytes, header: BatchHeader, damage: CompressionError | None = None
) -> Iterator[tuple[int, int]]:
    """Yield record by record what precedes the damage.

    ``damage`` is the error for a payload that ends too early; it is raised at the last record at
    the latest. Source: class DefaultRecordBatch (streamingIterator). Raises BadRecord,
    CompressionError.
    """
    is_append_time = header.attributes & LOG_APPEND_TIME
    try:
        for place, record in enumerate(records_in_turn(payload, header.record_count), 1):
            if damage is not None and place == header.record_count:
                raise damage
            time = header.base_timestamp + record.timestamp_delta
            offset = header.base_offset + (record.offset_delta or 0)
            yield offset, header.max_timestamp if is_append_time else time
    except BadRecord:
        if damage is None:
            raise
        raise damage from None


_ALREADY_CHECKED_BYTES = 2**31 - 1
