"""Defects of area IDEM."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.messages import ProduceRequest
from harness.codec.records import RecordBatch, decode_batches, encode_batch
from tests.defects.edited_request import takes

FIRST_WITH_BATCHES = 3


def _anonymous(batch: RecordBatch) -> RecordBatch:
    return replace(batch, producer_id=-1, producer_epoch=-1, base_sequence=-1, crc=None)


@takes(
    "IDEM-017", r"the log holds \[b'first', b'first'", ProduceRequest, range(FIRST_WITH_BATCHES, 99)
)
def producers_are_not_remembered(message: ProduceRequest) -> None:
    """Batches are stored without looking at who sent them as what."""
    for topic in message.topic_data:
        for partition in topic.partition_data:
            batches = decode_batches(bytes(partition.records or b""))
            partition.records = b"".join(encode_batch(_anonymous(batch)) for batch in batches)


DEFECTS = [producers_are_not_remembered]
