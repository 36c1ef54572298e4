"""From record batches to message sets for old readers, and back for old writers.

Classes RecordsUtil, MemoryRecordsBuilder and LogValidator in Apache Kafka up to 3.9; KIP-98.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.records.batch import (
    CODEC_MASK,
    CONTROL,
    LOG_APPEND_TIME,
    RecordBatch,
    encode_batch,
)
from harness.codec.records.compression import CODEC_IDS
from harness.codec.records.errors import RecordsError
from harness.codec.records.message_set import (
    NO_TIMESTAMP,
    LegacyMessage,
    encode_message_set,
)
from harness.codec.records.record import Record


class NoOldForm(RecordsError):
    """A batch that no message set can hold."""


def timestamps_of(batch: RecordBatch) -> list[int]:
    """The time of each record: the batch's max timestamp where the broker's clock counts."""
    if batch.attributes & LOG_APPEND_TIME and batch.max_timestamp is not None:
        return [batch.max_timestamp] * len(batch.records)
    return [batch.base_timestamp + record.timestamp_delta for record in batch.records]


def down_convert(batch: RecordBatch, to_magic: int, first_offset: int = 0) -> bytes:
    """The batch as a message set of magic 0 or 1; empty when nothing of it is for old readers.

    Offsets, keys and values stay; headers go, in magic 0 the timestamps too. Without compression
    the messages before ``first_offset`` are left out; a compressed set is always whole. A control
    batch has no old form and is left out. Raises NoOldForm for zstd.
    """
    if batch.attributes & CONTROL:
        return b""
    compression = batch.compression
    if compression == "zstd":
        raise NoOldForm("a batch in zstd cannot be a message set")
    time_type = batch.attributes & LOG_APPEND_TIME if to_magic > 0 else 0
    messages = [
        LegacyMessage(
            value=record.value,
            key=record.key,
            timestamp=time if to_magic > 0 else NO_TIMESTAMP,
            offset=batch.base_offset + delta_of(record, position),
            magic=to_magic,
            attributes=time_type,
        )
        for position, (record, time) in enumerate(
            zip(batch.records, timestamps_of(batch), strict=True)
        )
    ]
    if compression == "none":
        messages = [message for message in messages if message.offset >= first_offset]
    return encode_message_set(messages, compression)


def delta_of(record: Record, position: int) -> int:
    """The record's offset delta, by default its position."""
    return position if record.offset_delta is None else record.offset_delta


def up_convert(
    messages: Sequence[LegacyMessage],
    base_offset: int = 0,
    *,
    partition_leader_epoch: int = -1,
    compression: str = "none",
    log_append_time: int | None = None,
) -> bytes:
    """The messages, at least one, as one batch of magic 2, numbered from ``base_offset``.

    A message of magic 0 becomes a record of time -1. ``log_append_time``: the broker's clock in
    milliseconds for all of them, None to keep the messages' own times.
    """
    base_timestamp = messages[0].timestamp
    largest = max(NO_TIMESTAMP, *(message.timestamp for message in messages))
    batch = RecordBatch(
        records=[
            Record(message.value, message.key, timestamp_delta=message.timestamp - base_timestamp)
            for message in messages
        ],
        base_offset=base_offset,
        partition_leader_epoch=partition_leader_epoch,
        attributes=CODEC_IDS[compression] & CODEC_MASK
        | (0 if log_append_time is None else LOG_APPEND_TIME),
        base_timestamp=base_timestamp,
        max_timestamp=largest if log_append_time is None else log_append_time,
    )
    return encode_batch(batch)
