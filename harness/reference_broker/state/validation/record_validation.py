"""The leader's checks of a client's batch, in one walk over the records.

Source: classes ProduceRequest, UnifiedLog, LogValidator. Valid bytes are not encoded again: the
result is the batch as sent, with the header fields that the broker sets.
"""

from typing import NamedTuple

from harness.base.ids import LeaderEpoch, Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.errors import CodecError
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
)
from harness.codec.records.compression import LimitError, decompress
from harness.codec.records.walk import BadRecord, RecordsSummary, walk_records
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.log.batch_bytes import (
    CorruptBatch,
    base_offset_of,
    checksum_is_right,
    codec_of,
    magic_of,
    next_batch_size,
    with_broker_fields,
)
from harness.reference_broker.state.validation.old_formats import refuse_what_messages_lack
from harness.reference_broker.state.validation.recompression import rebuilt, target_codec
from harness.reference_broker.state.validation.record_problems import (
    TimestampLimits,
    as_int64,
    may_have_problems,
    refuse_records,
)

ZSTD = 4
_NO_PRODUCER_ID = _NO_PRODUCER_EPOCH = -1
FIRST_VERSION_WITH_ZSTD = 7
_Payload = tuple[bytes, int]  # records, and where they begin: a large batch is not copied for it


class Placement(NamedTuple):
    """The place and time of an append."""

    base_offset: Offset
    leader_epoch: LeaderEpoch
    now: TimeMs


def single_batch(records: bytes, api_version: int) -> bytes:
    """Return the one batch that a produce request of version 3 or later may have for a partition.

    Raises AppendRefused. An unfinished batch at the end is cut off, as in Kafka.
    """
    try:
        size = next_batch_size(records, 0)
        if size is None or magic_of(records) != 2:
            raise AppendRefused(ErrorCode.INVALID_RECORD)
        if api_version < FIRST_VERSION_WITH_ZSTD:
            if codec_of(records) > ZSTD:
                raise AppendRefused(ErrorCode.UNKNOWN_SERVER_ERROR)
            if codec_of(records) == ZSTD:
                raise AppendRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if next_batch_size(records, size) is not None:
            raise AppendRefused(ErrorCode.INVALID_RECORD)
    except CorruptBatch as error:
        raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, str(error)) from error
    return records[:size]


def has_other_magic(records: bytes) -> bool:
    """True if the bytes have a batch's length and the magic of another format, known or not."""
    return len(records) >= BATCH_HEADER_BYTES and magic_of(records) != 2


def validate_batch(batch: bytes, config: TopicConfig, place: Placement) -> bytes:
    """Check one client batch; return the batch to store. Raises AppendRefused."""
    _check_envelope(batch, config)
    header = BatchHeader.read(batch)
    _check_header(header)
    refuse_what_messages_lack(header, config.message_magic)
    summary = _walk(_payload_of(batch, header, config), header, config, place.now)
    append_time = place.now if config.uses_log_append_time else None
    codec = target_codec(config.compression_type, header.codec_id)
    if codec != header.codec_id:
        stored = _rebuilt(batch, header, codec, place, append_time)
        if len(stored) > config.max_message_bytes:
            raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE)
    elif header.codec_id != 0 and not summary.sequential:
        # Meant to be repaired, but 4.x fails at it: it has skipped the keys and values by then.
        raise _unexpected("the records of a compressed batch are not numbered 0, 1, 2, ...")
    else:
        largest = _largest_timestamp(header, summary) if append_time is None else append_time
        stored = with_broker_fields(
            batch, header, place.base_offset, place.leader_epoch, append_time, largest
        )
    if len(stored) > config.segment_bytes:
        raise AppendRefused(ErrorCode.RECORD_LIST_TOO_LARGE)
    return stored


def _check_envelope(batch: bytes, config: TopicConfig) -> None:
    if base_offset_of(batch) != 0:
        raise _invalid("the base offset of a batch from a client has to be 0")
    if len(batch) > config.max_message_bytes:
        raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE)
    if not checksum_is_right(batch):
        raise AppendRefused(ErrorCode.CORRUPT_MESSAGE)
    if codec_of(batch) > ZSTD:
        raise _unexpected(f"there is no compression codec {codec_of(batch)}")


def _check_header(header: BatchHeader) -> None:
    if header.last_offset_delta < 0:
        raise _invalid(f"the last offset delta is {header.last_offset_delta}")
    if header.record_count <= 0:
        raise _invalid(f"the record count is {header.record_count}")
    if header.record_count != header.last_offset_delta + 1:
        raise _invalid(
            f"{header.record_count} records do not go with a last offset delta of "
            f"{header.last_offset_delta}"
        )
    if header.attributes & CONTROL:
        raise _invalid("only the broker writes control batches")
    if header.producer_id >= 0 and header.base_sequence < 0:
        raise _invalid(f"producer {header.producer_id} sent sequence {header.base_sequence}")


def _payload_of(batch: bytes, header: BatchHeader, config: TopicConfig) -> _Payload:
    if header.codec_id == 0 or (header.codec_id == ZSTD and len(batch) == BATCH_HEADER_BYTES):
        return batch, BATCH_HEADER_BYTES
    try:
        payload = batch[BATCH_HEADER_BYTES:]
        return decompress(header.codec_id, payload, config.max_decompressed_bytes), 0
    except LimitError as error:
        raise _invalid(f"the records grow too large: {error}") from error
    except CodecError as error:
        raise _unexpected(f"the records cannot be decompressed: {error}") from error


def _walk(
    payload: _Payload, header: BatchHeader, config: TopicConfig, now: TimeMs
) -> RecordsSummary:
    (data, begin), count = payload, header.record_count
    limits = TimestampLimits.of(config, header, now)
    try:
        summary = walk_records(data, count, limits.have_a_lower_end, begin=begin)
    except BadRecord as error:
        raise _invalid(str(error)) from error
    if may_have_problems(summary, config, limits):
        # Only now is it worth a second walk: every record at fault is named (KIP-467).
        refuse_records(walk_records(data, count, True, begin=begin), config, limits)
    return summary


def _largest_timestamp(header: BatchHeader, summary: RecordsSummary) -> int:
    if header.attributes & LOG_APPEND_TIME:
        return header.max_timestamp
    return as_int64(header.base_timestamp + summary.max_timestamp_delta)


def _rebuilt(
    batch: bytes, header: BatchHeader, codec: int, place: Placement, append_time: TimeMs | None
) -> bytes:
    _refuse_producers_that_cannot_be_written(header)
    try:
        return rebuilt(batch, codec, place.base_offset, place.leader_epoch, append_time)
    except CodecError as error:
        raise _invalid(str(error)) from error


def _refuse_producers_that_cannot_be_written(header: BatchHeader) -> None:
    """Refuse a producer that only a batch stored as sent may have.

    Source: class MemoryRecordsBuilder (validateProducerState), which raises an error of Java's own.
    """
    if header.producer_id == _NO_PRODUCER_ID:
        if header.attributes & TRANSACTIONAL:
            raise _unexpected("a transaction has no producer id")
    elif header.producer_epoch == _NO_PRODUCER_EPOCH or header.base_sequence < 0:
        raise _unexpected(
            f"producer {header.producer_id} has epoch {header.producer_epoch} and sequence "
            f"{header.base_sequence}"
        )


def _invalid(reason: str) -> AppendRefused:
    return AppendRefused(ErrorCode.INVALID_RECORD, reason=reason, tells_log_start=True)


def _unexpected(reason: str) -> AppendRefused:
    """Return the refusal of a case that Kafka does not foresee: UNKNOWN_SERVER_ERROR."""
    return AppendRefused(ErrorCode.UNKNOWN_SERVER_ERROR, reason=reason, tells_log_start=True)
