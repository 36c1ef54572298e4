"""Defects of area IDEM: lost answers. They strike one client, see one_client.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.messages import ProduceRequest
from harness.codec.records import BatchHeader, RecordBatch, decode_batches, encode_batch
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import rule
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from

CLIENT = "IDEM-017"
FIRST_WITH_BATCHES = 3
Batch = tuple[int, int]
"""Producer id and sequence."""


def _anonymous(batch: RecordBatch) -> RecordBatch:
    return replace(batch, producer_id=-1, producer_epoch=-1, base_sequence=-1, crc=None)


def _forget_the_producer(message: ProduceRequest) -> None:
    for topic in message.topic_data:
        for partition in topic.partition_data:
            batches = decode_batches(bytes(partition.records or b""))
            partition.records = b"".join(encode_batch(_anonymous(batch)) for batch in batches)


class StoresSomeAgain(FrameRule):
    """Store the batches for which ``forgets`` is true without a check of their producer."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        batch = _batch(seen)
        if batch is None or not self.forgets(batch):
            return seen.payload
        assert isinstance(seen.message, ProduceRequest)
        _forget_the_producer(seen.message)
        return with_body(seen, seen.message)

    def forgets(self, batch: Batch) -> bool:
        """True if the broker does not check the sequence of this batch."""
        raise NotImplementedError


class _StoresSomeAgainForOne(StoresSomeAgain):
    def on_request(self, seen: SeenRequest) -> bytes | None:
        return super().on_request(seen) if is_from(seen, CLIENT) else seen.payload


class ProducersAreNotRemembered(_StoresSomeAgainForOne):
    """The broker stores batches without a check of their producer and sequence."""

    def forgets(self, batch: Batch) -> bool:
        return True


def _batch(seen: SeenRequest) -> Batch | None:
    """Producer id and sequence of a batch; None without a producer id."""
    request = seen.message
    if not isinstance(request, ProduceRequest) or seen.version < FIRST_WITH_BATCHES:
        return None
    (topic,) = request.topic_data
    header = BatchHeader.read(bytes(topic.partition_data[0].records or b""))
    return (header.producer_id, header.base_sequence) if header.producer_id >= 0 else None


class OnlyTheLastBatchIsRemembered(_StoresSomeAgainForOne):
    """The broker stores again a batch from before the last one of its producer."""

    def __init__(self) -> None:
        self.last: dict[int, int] = {}

    def forgets(self, batch: Batch) -> bool:
        producer, sequence = batch
        last = self.last[producer] = max(sequence, self.last.get(producer, sequence))
        return sequence < last


class CopiesInFlightAreBothStored(_StoresSomeAgainForOne):
    """The broker recognizes a repeated batch only after it has acknowledged it."""

    def __init__(self) -> None:
        self.in_flight: set[Batch] = set()

    def forgets(self, batch: Batch) -> bool:
        if batch in self.in_flight:
            return True
        self.in_flight.add(batch)
        return False

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        batch = _batch(seen)
        if batch is not None:
            self.in_flight.discard(batch)
        return [payload]


DEFECTS = [
    rule("IDEM-017", r"the log holds \[b'(first|0 in flight)', ", ProducersAreNotRemembered),
    rule("IDEM-017", r"the log holds \[b'0 in flight', ", OnlyTheLastBatchIsRemembered),
    rule("IDEM-017", r"the log holds \[b'(first|0 in flight)', ", CopiesInFlightAreBothStored),
]
