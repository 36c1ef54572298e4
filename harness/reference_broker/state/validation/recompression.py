"""The conversion of batches to another codec, or to one: the only cases that build records.

Source: class LogValidator, buildRecordsAndAssignOffsets.
"""

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.records import (
    CODEC_MASK,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    RecordBatch,
    decode_batches,
    encode_batch,
)
from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES
from harness.codec.records.conversion import timestamps_of

_NAMES = {"uncompressed": "none"}


def target_codec(compression_type: str, sent_codec: int) -> int:
    """Return the codec in which a topic of `compression_type` stores a batch."""
    if compression_type == "producer":
        return sent_codec
    return CODEC_IDS[_NAMES.get(compression_type, compression_type)]


def joined(batches: Sequence[bytes], codec: int) -> bytes:
    """Return the records of all batches in one, which is otherwise like the first.

    Raises CodecError.
    """
    decoded = [each for batch in batches for each in decode_batches(batch)]
    as_one = _numbered(decoded)
    return encode_batch(
        replace(as_one, attributes=as_one.attributes & ~CODEC_MASK), CODEC_NAMES[codec]
    )


def rebuilt(
    batch: bytes, codec: int, base_offset: int, leader_epoch: int, append_time: int | None
) -> bytes:
    """Return the same records, numbered without gaps, in another codec.

    `append_time` is the broker's clock for topics that use it, else None. Raises CodecError.
    """
    anew = _numbered(decode_batches(batch))
    attributes = anew.attributes & TRANSACTIONAL & ~CODEC_MASK
    return encode_batch(
        replace(
            anew,
            base_offset=base_offset,
            partition_leader_epoch=leader_epoch,
            attributes=attributes if append_time is None else attributes | LOG_APPEND_TIME,
            max_timestamp=anew.max_timestamp if append_time is None else append_time,
        ),
        CODEC_NAMES[codec],
    )


def _numbered(batches: Sequence[RecordBatch]) -> RecordBatch:
    """Return the records of the batches, numbered without gaps, with the header of the first."""
    times = [at for each in batches for at in timestamps_of(each)]
    records = [record for each in batches for record in each.records]
    return replace(
        batches[0],
        records=[
            replace(record, offset_delta=None, timestamp_delta=at - times[0], attributes=0)
            for record, at in zip(records, times, strict=True)
        ],
        base_timestamp=times[0],
        max_timestamp=max(times),
        last_offset_delta=None,
        record_count=None,
        crc=None,
        batch_length=None,
    )
