"""The records of a Produce request as each release reads them, and errors of earlier releases."""

from dataclasses import dataclass

from harness.codec.error_code import ErrorCode
from harness.codec.errors import CodecError
from harness.codec.messages import ProduceRequest
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers.outcome import RequestContext
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.log.batch_bytes import (
    base_offset_of,
    checksum_is_right,
    codec_of,
    magic_of,
    next_batch_size,
)
from harness.reference_broker.state.validation.message_set_validation import records_of_old_version
from harness.reference_broker.state.validation.recompression import joined, target_codec
from harness.reference_broker.state.validation.record_validation import (
    FIRST_VERSION_WITH_ZSTD,
    ZSTD,
    has_other_magic,
    single_batch,
)

SHAPE_IS_AN_ERROR = (2, 8)  # KAFKA-9628
_FIRST_VERSION_WITH_BATCHES = 3
_MAGIC_OF_BATCHES = 2
_ZSTD_IS_KNOWN = (2, 1)  # KIP-110
_BATCHES_ARE_COUNTED = (2, 4)  # class LogValidator
_BATCHES_ARE_KNOWN = (0, 11)  # KIP-98


@dataclass(frozen=True, slots=True)
class _Earlier:
    """An error of the releases before `first`, with the log start or with -1."""

    first: tuple[int, int]
    error: ErrorCode
    tells_log_start: bool = False


_ERRORS_BEFORE = {
    ErrorCode.INVALID_RECORD: _Earlier((2, 4), ErrorCode.CORRUPT_MESSAGE),  # KIP-467
    ErrorCode.INVALID_TIMESTAMP: _Earlier((2, 4), ErrorCode.INVALID_TIMESTAMP),  # KIP-467
    ErrorCode.UNSUPPORTED_COMPRESSION_TYPE: _Earlier(
        _ZSTD_IS_KNOWN, ErrorCode.UNKNOWN_SERVER_ERROR, tells_log_start=True
    ),
}
"""Errors that earlier releases return in another form."""
_Data = ProduceRequest.PartitionProduceData


def is_out_of_shape(request: ProduceRequest, context: RequestContext) -> bool:
    """True if a partition has anything but one batch, on which the parser failed before 2.8."""
    return any(
        _is_unreadable(data, context)
        for topic in request.topic_data
        for data in topic.partition_data
    )


def _is_unreadable(data: _Data, context: RequestContext) -> bool:
    if data.records is None:
        return True
    if context.api_version >= _FIRST_VERSION_WITH_BATCHES and has_other_magic(data.records):
        return True
    try:
        records_of(data, version_of_records(context), context.state.like)
    except AppendRefused as refusal:
        return refusal.error is ErrorCode.INVALID_RECORD
    return False


def is_whole(data: _Data, context: RequestContext) -> bool:
    """True if the records may be read at all."""
    try:
        records_of(data, context.api_version, context.state.like)
    except AppendRefused:
        return False
    return True


def records_of(data: _Data, version: int, like: EmulatedRelease) -> bytes:
    """Return the batches, or messages of older formats, for a partition. Raises AppendRefused."""
    records = data.records or b""
    if version < _FIRST_VERSION_WITH_BATCHES:
        return records_of_old_version(records, many=not like.since(*_BATCHES_ARE_COUNTED))
    return single_batch(records, version)


def version_of_records(context: RequestContext) -> int:
    """Return the version by which records are checked: a release without zstd looks later."""
    version, checks = context.api_version, context.state.like.since(*_ZSTD_IS_KNOWN)
    return version if checks or version < _FIRST_VERSION_WITH_BATCHES else FIRST_VERSION_WITH_ZSTD


def check_codec(records: bytes, limit_bytes: int, like: EmulatedRelease) -> None:
    """Raise AppendRefused for batches in zstd at a release without it.

    A base offset, a size and a CRC that are wrong come first (class Log,
    analyzeAndValidateRecords).
    """
    if like.since(*_ZSTD_IS_KNOWN) or magic_of(records) < _MAGIC_OF_BATCHES:
        return
    for each in each_batch(records):
        is_sound = base_offset_of(each) == 0 and len(each) <= limit_bytes
        if not is_sound or not checksum_is_right(each):
            return
        if codec_of(each) == ZSTD:
            raise AppendRefused(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)


def check_format(records: bytes, limit_bytes: int, like: EmulatedRelease) -> None:
    """Raise AppendRefused for a batch of format 2 at a release without it.

    Read as a message, its checksum is wrong; a message that is too long comes first (class Log,
    analyzeAndValidateRecords).
    """
    if like.since(*_BATCHES_ARE_KNOWN):
        return
    position = 0
    while (size := next_batch_size(records, position)) is not None:
        if size > limit_bytes:
            raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE)
        if magic_of(records[position : position + size]) == _MAGIC_OF_BATCHES:
            raise AppendRefused(ErrorCode.CORRUPT_MESSAGE)
        position += size


def each_batch(records: bytes) -> list[bytes]:
    """Return the batches of format 2 one by one; messages of older formats make one together."""
    first = next_batch_size(records, 0)
    if magic_of(records) < _MAGIC_OF_BATCHES or first is None or first == len(records):
        return [records]
    return [records[:first], *each_batch(records[first:])]


def batches_to_append(records: bytes, compression_type: str) -> list[bytes]:
    """Return the batches to append one by one.

    Releases that take several batches make one of them where any is or gets compressed, in the
    last codec that is sent (class LogValidator, validateMessagesAndAssignOffsetsCompressed).
    """
    batches = each_batch(records)
    if len(batches) == 1:
        return batches
    sent = next((codec for each in reversed(batches) if (codec := codec_of(each))), 0)
    if target_codec(compression_type, sent) == sent == 0:
        return batches
    try:
        return [joined(batches, sent)]
    except CodecError:
        return batches  # the append refuses the one that is damaged


def as_before(refusal: AppendRefused, like: EmulatedRelease) -> AppendRefused:
    """Return the refusal in the form of the release."""
    earlier = _ERRORS_BEFORE.get(refusal.error)
    if earlier is None or like.since(*earlier.first):
        return refusal
    return AppendRefused(
        earlier.error,
        refusal.message,
        refusal.record_problems,
        tells_log_start=earlier.tells_log_start,
    )
