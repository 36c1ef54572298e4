"""The leader's checks of an old producer's message set, which it appends as one batch.

Only Produce 0 to 2 may contain a message set. Source: classes UnifiedLog and LogValidator of Apache
Kafka 3.9: its log contains only record batches too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.codec.error_code import ErrorCode
from harness.codec.errors import CodecError
from harness.codec.records import (
    LOG_APPEND_TIME,
    CorruptMessageError,
    LegacyMessage,
    NestingError,
    split_message_set,
    up_convert,
)
from harness.codec.records.compression import CODEC_NAMES
from harness.codec.records.message_set import open_wrapper
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.log.batch_bytes import CorruptBatch, magic_of, next_batch_size
from harness.reference_broker.state.validation.recompression import target_codec
from harness.reference_broker.state.validation.record_problems import TimestampLimits
from harness.reference_broker.state.validation.record_validation import Placement

_NO_TIMESTAMP = -1


def records_of_old_version(records: bytes, *, many: bool = False) -> bytes:
    """Return the whole entries that a produce request of version 0 to 2 contains for a partition.

    Messages of any kind are accepted, and also one batch of format 2, or `many`. An unfinished
    entry at the end is cut off; an empty result is no error. Raises AppendRefused.
    """
    entries = list(_entries(records))
    if entries and magic_of(entries[0]) == 2 and len(entries) > 1 and not many:
        raise _invalid(f"{len(entries)} batches for one partition")
    return b"".join(entries)


def _entries(records: bytes) -> Iterator[bytes]:
    position = 0
    try:
        while (size := next_batch_size(records, position)) is not None:
            yield records[position : position + size]
            position += size
    except CorruptBatch as error:
        raise AppendRefused(ErrorCode.CORRUPT_MESSAGE, str(error)) from error


def validate_message_set(records: bytes, config: TopicConfig, place: Placement) -> bytes:
    """Check whole messages, at least one; return the batch to store. Raises AppendRefused."""
    outer = [_outer_message(entry, config) for entry in _entries(records)]
    codecs = [message.codec_id for message in outer if message.codec_id]
    if codecs and len(outer) > 1:
        raise _invalid("a compressed message stands beside others")
    checks = _Checks.of(config, place)
    messages: list[LegacyMessage] = []
    for message in outer:
        if message.magic != outer[0].magic:
            raise _invalid(f"magic {message.magic} behind magic {outer[0].magic}")
        inner = _opened(message, config) if message.codec_id else [message]
        checks.refuse(inner)
        messages += inner
    codec_id = target_codec(config.compression_type, codecs[0] if codecs else 0)
    stored = up_convert(
        messages,
        place.base_offset,
        partition_leader_epoch=place.leader_epoch,
        compression=CODEC_NAMES[codec_id],
        log_append_time=place.now if config.uses_log_append_time else None,
    )
    if len(stored) > config.number("max.message.bytes"):
        raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE)
    if len(stored) > config.segment_bytes:
        raise AppendRefused(ErrorCode.RECORD_LIST_TOO_LARGE)
    return stored


def _outer_message(entry: bytes, config: TopicConfig) -> LegacyMessage:
    if len(entry) > config.number("max.message.bytes"):
        raise AppendRefused(ErrorCode.MESSAGE_TOO_LARGE)
    if magic_of(entry) == 2:
        raise _invalid("a batch of magic 2 among messages")
    try:
        (message,) = split_message_set(entry, tolerant=True)
    except CodecError as error:
        raise _refusal_for(error) from error
    if message.codec_id not in CODEC_NAMES:
        raise _unexpected(f"there is no compression codec {message.codec_id}")
    return message


def _opened(wrapper: LegacyMessage, config: TopicConfig) -> list[LegacyMessage]:
    try:
        limit_bytes = config.number("max.decompressed.message.bytes")
        return open_wrapper(wrapper, limit_bytes, tolerant=True)
    except CodecError as error:
        raise _refusal_for(error) from error


@dataclass(frozen=True, slots=True)
class _Checks:
    """The checks that each message of a set must pass."""

    wants_keys: bool
    limits: TimestampLimits

    @classmethod
    def of(cls, config: TopicConfig, place: Placement) -> "_Checks":
        limits = TimestampLimits(
            base_timestamp=0,
            earliest=place.now - config.timestamp_before_max_ms,
            latest=place.now + config.timestamp_after_max_ms,
            every_record_has=None,
            is_checked=not config.uses_log_append_time,
            of_broker_is_refused=config.refuses_append_time,
        )
        return cls(config.is_compacted, limits)

    def refuse(self, messages: list[LegacyMessage]) -> None:
        """Raise AppendRefused for an invalid message; a wrong timestamp precedes a missing key."""
        found = {self._error_of(message) for message in messages}
        for error in (ErrorCode.INVALID_TIMESTAMP, ErrorCode.INVALID_RECORD):
            if error in found:
                raise AppendRefused(error)
        if any(message.timestamp < _NO_TIMESTAMP for message in messages):
            raise _unexpected("a record batch is not built around a negative time")

    def _error_of(self, message: LegacyMessage) -> ErrorCode:
        if self.wants_keys and message.key is None:
            return ErrorCode.INVALID_RECORD
        limits = self.limits
        if message.attributes & LOG_APPEND_TIME and message.magic > 0:
            limits = limits._replace(every_record_has=message.timestamp)
        if limits.problem_with(message.timestamp) is not None:
            return ErrorCode.INVALID_TIMESTAMP
        return ErrorCode.NONE


def _refusal_for(error: CodecError) -> AppendRefused:
    if isinstance(error, CorruptMessageError):
        return AppendRefused(ErrorCode.CORRUPT_MESSAGE, str(error))
    if isinstance(error, NestingError):
        return _invalid(str(error))
    return _unexpected(str(error))


def _invalid(reason: str) -> AppendRefused:
    return AppendRefused(ErrorCode.INVALID_RECORD, reason=reason)


def _unexpected(reason: str) -> AppendRefused:
    """Return the refusal of a case that Kafka does not foresee: UNKNOWN_SERVER_ERROR."""
    return AppendRefused(ErrorCode.UNKNOWN_SERVER_ERROR, reason=reason)
