"""Defects of area COMP: what a broker loses when it builds a batch in another codec."""

from __future__ import annotations

from dataclasses import replace

from harness.codec import CodecError
from harness.codec.messages import FetchResponse, ProduceRequest
from harness.codec.records import (
    CODEC_MASK,
    LOG_APPEND_TIME,
    RecordBatch,
    decode_batches,
    encode_batch,
)
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.nested_structs import structs_at
from labs.defects.prod import change_stored, encoded_again


def _begins_with(batch: RecordBatch, value: bytes) -> bool:
    return bool(batch.records) and batch.records[0].value == value


@answers("COMP-013", r"record .* \[\]\), expected ")
def another_codec_has_no_headers(answer: FetchResponse) -> None:
    """A batch that the broker compresses anew loses the headers of its records."""

    def change(batch: RecordBatch) -> RecordBatch:
        if not _begins_with(batch, b"whole"):
            return batch
        return replace(batch, records=[replace(one, headers=()) for one in batch.records])

    change_stored(answer, change)


@answers("COMP-013", r"producer \(-1, -1, -1\), expected ")
def another_codec_has_no_producer(answer: FetchResponse) -> None:
    """A batch that the broker compresses anew loses producer id, epoch and sequence."""

    def change(batch: RecordBatch) -> RecordBatch:
        if not _begins_with(batch, b"whole"):
            return batch
        return replace(batch, producer_id=-1, producer_epoch=-1, base_sequence=-1)

    change_stored(answer, change)


@takes("COMP-014", r"batch 0 again: it is said to be at 12, not at 2", range(3, 99))
def another_codec_forgets_sequences(request: ProduceRequest) -> None:
    """The broker does not deduplicate batches that it compresses anew."""
    for topic in request.topic_data:
        for one in topic.partition_data:
            try:
                batches = decode_batches(bytes(one.records or b""))
            except CodecError:
                continue
            if len(batches) == 1 and _begins_with(batches[0], b"only once"):
                nobody = replace(batches[0], producer_id=-1, producer_epoch=-1, base_sequence=-1,
                                 crc=None)  # fmt: skip
                one.records = encode_batch(nobody)


@answers("COMP-015", r"none to gzip: the bit is not set")
def another_codec_keeps_the_producers_time(answer: FetchResponse) -> None:
    """In a LogAppendTime topic a batch that the broker compresses anew has its producer's time."""

    def change(batch: RecordBatch) -> RecordBatch:
        if not _begins_with(batch, b"stamped"):
            return batch
        latest = batch.base_timestamp + max(one.timestamp_delta for one in batch.records)
        attributes = batch.attributes & ~LOG_APPEND_TIME
        return replace(batch, attributes=attributes, max_timestamp=latest)

    change_stored(answer, change)


@answers("COMP-016", r"the codecs are \[(\d), \1, \1, ")
def all_batches_have_the_present_codec(answer: FetchResponse) -> None:
    """Fetch returns all batches of a topic in the codec of the last one."""
    for one in structs_at(answer, "responses", "partitions"):
        batches = decode_batches(bytes(one.records or b""))
        if len(batches) > 1 and _begins_with(batches[0], b"coded"):
            codec = batches[-1].attributes & CODEC_MASK
            one.records = b"".join(_in_codec(batch, codec) for batch in batches)


def _in_codec(batch: RecordBatch, codec: int) -> bytes:
    attributes = batch.attributes & ~CODEC_MASK | codec
    return encoded_again(replace(batch, attributes=attributes))


DEFECTS = [
    all_batches_have_the_present_codec,
    another_codec_has_no_headers,
    another_codec_has_no_producer,
    another_codec_forgets_sequences,
    another_codec_keeps_the_producers_time,
]
