"""The conversion of a batch to messages of magic 0 or 1, for topics with an old
message.format.version.

Source: class LogValidator of Apache Kafka 2.8.
"""

from harness.base.ids import Offset
from harness.codec.error_code import ErrorCode
from harness.codec.records import (
    TRANSACTIONAL,
    BatchHeader,
    NoOldForm,
    decode_batches,
    down_convert,
)
from harness.codec.records.any_format import read_records
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.log.stored_batch import NO_EPOCH, StoredBatch

_ALREADY_CHECKED_BYTES = 2**31 - 1


def refuse_what_messages_lack(header: BatchHeader, magic: int) -> None:
    """Raise AppendRefused for an idempotent or transactional batch if messages cannot hold it."""
    if magic < 2 and (header.producer_id >= 0 or header.attributes & TRANSACTIONAL):
        raise AppendRefused(
            ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT,
            reason=f"batches of an idempotent producer cannot be stored in magic {magic}",
            tells_log_start=True,
        )


def as_messages(batch: bytes, magic: int) -> list[StoredBatch]:
    """Return the batch as it is stored: one message per record, or one for all if compressed.

    Messages have no leader epoch (class AbstractLegacyRecordBatch).

    Raises AppendRefused for headers and for zstd, which Kafka does not foresee.
    """
    (decoded,) = decode_batches(batch)
    if any(record.headers for record in decoded.records):
        raise _unexpected(f"magic {magic} has no headers")
    try:
        messages = down_convert(decoded, magic)
    except NoOldForm as error:
        raise _unexpected(str(error)) from error
    return [
        StoredBatch(
            Offset(one.base_offset),
            Offset(one.last_offset),
            NO_EPOCH,
            one.max_timestamp,
            messages[one.position : one.position + one.size_bytes],
        )
        for one in read_records(messages, limit_bytes=_ALREADY_CHECKED_BYTES).batches
    ]


def _unexpected(reason: str) -> AppendRefused:
    return AppendRefused(ErrorCode.UNKNOWN_SERVER_ERROR, reason=reason, tells_log_start=True)
