"""What a leader checks before it appends a client's batch, in one walk over the records.

Source: classes ProduceRequest, UnifiedLog, LogValidator. Valid bytes are not encoded again: the
result is the batch as sent, with the header fields that belong to the broker.
"""

from dataclasses import dataclass

from harness.codec.error_code import ErrorCode
from harness.ids import LeaderEpoch, Offset, TimeMs
from harness.reference_broker.state.append_error import AppendRefused, RecordProblem
from harness.reference_broker.state.batch_bytes import (
    BatchFields,
    CorruptBatch,
    attributes_with_timestamp_type,
    base_offset_of,
    checksum_is_right,
    codec_of,
    magic_of,
    next_batch_size,
    with_broker_fields,
)
from harness.reference_broker.state.record_walk import (
    RecordStructureError,
    WalkedRecord,
    walk_records,
)
from harness.reference_broker.state.recompression import (
    UnreadablePayload,
    payload_of,
    recompressed,
    target_codec,
)
from harness.reference_broker.state.topic_configs import TopicConfig

_ZSTD = 4
_FIRST_VERSION_WITH_ZSTD = 7
_HIGHEST_CODEC = 4
_NO_TIMESTAMP = -1


@dataclass(frozen=True, slots=True)
class Placement:
    """Where and when the batch is to be appended."""

    base_offset: Offset
    leader_epoch: LeaderEpoch
    now: TimeMs


@dataclass(frozen=True, slots=True)
class ValidBatch:
    """A batch ready to be stored."""

    data: bytes
    fields: BatchFields


def single_batch(records: bytes | None, api_version: int) -> bytes:
    """The one batch that a produce request of version 3 and up may hold for a partition.

    Raises AppendRefused. An unfinished batch at the end is cut off, as Kafka does.
    """
    data = records or b""
    try:
        size = next_batch_size(data, 0)
        if size is None:
            raise AppendRefused(ErrorCode.INVALID_RECORD)
        if magic_of(data) != 2:
            raise AppendRefused(ErrorCode.INVALID_RECORD)
        if api_version < _FIRST_VERSION_WITH_ZSTD and codec_of(data) == _ZSTD:
            raise AppendRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if next_batch_size(data, size) is not None:
            raise AppendRefused(ErrorCode.INVALID_RECORD)
    except CorruptBatch as error:
        raise AppendRefused(ErrorCode.CORRUPT_MESSAGE) from error
    return data[:size]


def validate_batch(batch: bytes, config: TopicConfig, place: Placement) -> ValidBatch:
    """Check one client batch and give it its place in the log. Raises AppendRefused."""
    _check_envelope(batch, config)
    fields = BatchFields.of(batch)
    _check_header(fields)
    target = target_codec(config.compression_type, fields.codec)
    try:
        payload = payload_of(batch, fields, config.number("max.decompressed.message.bytes"))
        walk = list_if_small(payload, fields.record_count, config, fields, place.now)
    except (RecordStructureError, UnreadablePayload) as error:
        raise _invalid(str(error)) from error
    max_timestamp = place.now if config.uses_log_append_time else walk.max_timestamp
    if target == fields.codec and (walk.is_sequential or not fields.codec):
        attributes = attributes_with_timestamp_type(fields.attributes, config.uses_log_append_time)
        data = with_broker_fields(
            batch, place.base_offset, place.leader_epoch, attributes, max_timestamp
        )
    else:
        data = recompressed(
            batch, target, place.base_offset, place.leader_epoch,
            place.now if config.uses_log_append_time else None,
        )
        if len(data) > config.number("max.message.bytes"):
            raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE)
    if len(data) > config.number("segment.bytes"):
        raise AppendRefused(ErrorCode.RECORD_LIST_TOO_LARGE)
    return ValidBatch(data, BatchFields.of(data))
