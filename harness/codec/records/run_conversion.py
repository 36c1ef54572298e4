"""Down-conversion of a run of bytes, with any contents, for a reader of an older format.

The losses are those of class RecordsUtil in Apache Kafka up to 3.9: headers, the fields for
producers and transactions, control batches, timestamps in magic 0, and a batch without records.
"""

from __future__ import annotations

from harness.codec.records.any_format import read_records
from harness.codec.records.batch import LOG_APPEND_TIME
from harness.codec.records.conversion import NoOldForm
from harness.codec.records.log_batch import LogBatch
from harness.codec.records.message_set import NO_TIMESTAMP, LegacyMessage, encode_message_set


def down_convert_run(
    data: bytes, to_magic: int, first_offset: int = 0, *, limit_bytes: int
) -> bytes:
    """The batches in ``data`` as readers of ``to_magic``, 0 or 1, understand them.

    What is of that magic or below stays as it is, byte for byte; a batch that is cut at the end is
    left out. ``first_offset``: what the reader asked for; without compression the records before it
    are left out. Raises RecordsError, CompressionError and, for zstd, NoOldForm.
    """
    reading = read_records(data, limit_bytes=limit_bytes)
    if reading.problems:
        raise reading.problems[0].error
    parts = []
    for batch in reading.batches:
        if batch.magic <= to_magic:
            parts.append(data[batch.position : batch.position + batch.size_bytes])
        elif not batch.is_control:
            parts.append(_converted(batch, to_magic, first_offset))
    return b"".join(parts)


def _converted(batch: LogBatch, to_magic: int, first_offset: int) -> bytes:
    if batch.compression == "zstd":
        raise NoOldForm(
            f"the batch at offset {batch.base_offset} is in zstd, no message set can be"
        )
    time_type = batch.attributes & LOG_APPEND_TIME if to_magic > 0 else 0
    messages = [
        LegacyMessage(
            value=value,
            key=key,
            timestamp=timestamp if to_magic > 0 else NO_TIMESTAMP,
            offset=offset,
            magic=to_magic,
            attributes=time_type,
        )
        for offset, timestamp, key, value in batch.records.rows()
        if batch.compression != "none" or offset >= first_offset
    ]
    return encode_message_set(messages, batch.compression)
