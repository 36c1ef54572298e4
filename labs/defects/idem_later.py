"""Defects of area IDEM: raised epochs, deleted records, what a broker shows of its producers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeProducersRequest,
    DescribeProducersResponse,
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import edited, rule
from labs.defects.edited_answer import answers
from labs.defects.idem import Batch, StoresSomeAgain
from labs.defects.idem_sequences import FAR, Answer, LooksAtBatches, SentBatch
from labs.defects.one_client import is_from
from suites.durability.support.segments import HOUR_MS
from suites.protocol.support.appended import now_ms

MINUTE_MS = 60_000


class ARaisedEpochKeepsTheBatches(LooksAtBatches):
    """The broker takes a batch of a raised epoch for one of the former epoch, if it is not the
    first one."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        known = any(one.epoch < batch.epoch and one.first == batch.first for one in before)
        return known and batch.first > 0 and before[-1].epoch == batch.epoch

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        if answer.error_code == ErrorCode.NONE:
            answer.base_offset = batch.first


class ABatchGoesWithItsRecords(StoresSomeAgain):
    """The broker stores a batch again after its records were deleted."""

    def __init__(self) -> None:
        self.sent: set[Batch] = set()
        self.deleted: set[Batch] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, DeleteRecordsRequest):
            self.deleted |= self.sent
        return super().on_request(seen)

    def forgets(self, batch: Batch) -> bool:
        self.sent.add(batch)
        return batch in self.deleted


class ProducersOutliveTheirTopic(LooksAtBatches):
    """The broker refuses a batch as repeated that a deleted topic of the same name had."""

    def __init__(self) -> None:
        super().__init__()
        self.of_deleted: set[SentBatch] = set()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if isinstance(seen.message, DeleteTopicsRequest):
            self.of_deleted |= {batch for batches in self.sent.values() for batch in batches}
        return super().on_request(seen)

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return batch in self.of_deleted

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        answer.error_code, answer.base_offset = ErrorCode.DUPLICATE_SEQUENCE_NUMBER, -1


class AnEpochIsForAllPartitions(LooksAtBatches):
    """The broker refuses an epoch where the producer has a higher one in another partition."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return any(
            one.epoch > batch.epoch
            for (partition, producer), sent in self.sent.items()
            for one in sent
            if producer == batch.producer and partition != batch.partition
        )

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        if answer.error_code == ErrorCode.NONE:
            answer.error_code, answer.base_offset = ErrorCode.INVALID_PRODUCER_EPOCH, -1


class ARepetitionIsNotRead(LooksAtBatches):
    """The broker acknowledges a repetition by its sequences, before it looks at the bytes."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        return batch in before

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        if answer.error_code in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.MESSAGE_TOO_LARGE):
            answer.error_code, answer.base_offset = ErrorCode.NONE, 0


class TheHighestSequenceIsTheLast(LooksAtBatches):
    """The broker takes the highest sequence of a producer for its last one: behind a wrap it
    refuses the second batch."""

    def strikes(self, batch: SentBatch, before: list[SentBatch]) -> bool:
        is_wrapped = any(one.first > FAR for one in before[:-1])
        return is_wrapped and before[-1].last + 1 == batch.first

    def edit(self, batch: SentBatch, answer: Answer) -> None:
        if answer.error_code == ErrorCode.NONE:
            answer.error_code, answer.base_offset = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1


class RepetitionsWithoutAcksAreStored(StoresSomeAgain):
    """The broker does not compare a batch with acks=0 with those before it."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        return super().on_request(seen) if is_from(seen, "IDEM-031 0") else seen.payload

    def forgets(self, batch: Batch) -> bool:
        return batch[1] == 0  # the first one, which is there


@answers("IDEM-024", r"last timestamp is \d+, log_append_time \d+")
def the_time_of_the_producer_is_shown(answer: DescribeProducersResponse) -> None:
    """DescribeProducers returns the producer's time where the broker's own time is stored."""
    for topic in answer.topics:
        for partition in topic.partitions:
            for one in partition.active_producers:
                if now_ms() - one.last_timestamp < MINUTE_MS:
                    one.last_timestamp -= HOUR_MS


@answers("IDEM-019", r"partition [12], \(id, epoch, .*: \{\(\d+, \d+, \d+, -1\), \(")
def all_partitions_have_the_producers_of_one(answer: DescribeProducersResponse) -> None:
    """DescribeProducers returns the longest of its lists for every partition."""
    for topic in answer.topics:
        longest = max((p.active_producers for p in topic.partitions), key=len, default=[])
        for partition in topic.partitions:
            partition.active_producers = longest


class ProducersAreListedForEver(FrameRule):
    """DescribeProducers goes on with a list of a partition that would be empty."""

    def __init__(self) -> None:
        self.listed: dict[tuple[str, int], list[DescribeProducersResponse.ProducerState]] = {}

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if not isinstance(seen.message, DescribeProducersRequest):
            return [payload]
        return [edited(seen, payload, self.edit)]

    def edit(self, _: SeenRequest, answer: DescribeProducersResponse) -> None:
        for topic in answer.topics:
            for one in topic.partitions:
                before = self.listed.setdefault((topic.name, one.partition_index), [])
                before[:] = one.active_producers = one.active_producers or list(before)


@answers("IDEM-019", r"30 producers wrote, ")
def only_the_first_producers_are_listed(answer: DescribeProducersResponse) -> None:
    """DescribeProducers returns at most twenty producers of a partition."""
    for topic in answer.topics:
        for partition in topic.partitions:
            del partition.active_producers[20:]


@answers("IDEM-001", r"id \d+, epoch [05]: the answer has the id \d+ again", range(3, 99))
def a_producer_keeps_its_id(request: InitProducerIdRequest, answer: InitProducerIdResponse) -> None:
    """InitProducerId without a transactional id returns the id of the request, one epoch on."""
    if request.transactional_id is None and request.producer_id >= 0 and answer.producer_id >= 0:
        answer.producer_id = request.producer_id
        answer.producer_epoch = request.producer_epoch + 1


@answers("IDEM-024", r"times \(1000, 3000, 2000\): .* is \(9000, -1\)")
def the_latest_time_of_all_batches_is_shown(answer: DescribeProducersResponse) -> None:
    """DescribeProducers returns the largest time of all batches of a producer."""
    for topic in answer.topics:
        for partition in topic.partitions:
            for one in partition.active_producers:
                one.last_timestamp += 6000 if one.last_sequence == 5 else 0


class RepeatedBatchesHaveNoTime(FrameRule):
    """The answer to a batch that is sent again has no log_append_time."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        request = seen.message
        if not isinstance(request, ProduceRequest):
            return [payload]
        sent = {one.records or b"" for each in request.topic_data for one in each.partition_data}
        is_known = not sent.isdisjoint(self._seen)
        self._seen |= sent
        return [edited(seen, payload, self._forget)] if is_known else [payload]

    def _forget(self, _: SeenRequest, answer: ProduceResponse) -> None:
        for each in answer.responses:
            for one in each.partition_responses:
                one.log_append_time_ms = -1


DEFECTS = [
    rule(
        "IDEM-036",
        r"the (newer|older) batch again: .* is \(\d+, -1\)",
        RepeatedBatchesHaveNoTime,
    ),
    a_producer_keeps_its_id,
    the_time_of_the_producer_is_shown,
    rule("IDEM-010", r"then 0, 1: error is OUT_OF_ORDER", TheHighestSequenceIsTheLast),
    rule("IDEM-031", r"acks 0: the log holds \[b'first', b'first', b'next'\]",
         RepetitionsWithoutAcksAreStored),
    replace(
        rule("IDEM-032", r"idle for longer than 500 ms, listed are \[\d+\]",
             ProducersAreListedForEver),
        private=True,
    ),
    rule("IDEM-029", r"sequence [01] in partition [02], epoch 1 in another: error is INVALID_PROD",
         AnEpochIsForAllPartitions),
    rule("IDEM-030", r"sequence 0 again(, too large| with a changed byte): error is NONE",
         ARepetitionIsNotRead),
    rule("IDEM-025", r"new to the topic: error is DUPLICATE_SEQUENCE_NUMBER",
         ProducersOutliveTheirTopic),
    rule("IDEM-021", r"epoch 1, sequence 1: acknowledged at offset 1, expected 4",
         ARaisedEpochKeepsTheBatches),
    rule("IDEM-022", r"deleted batch 0 once more: the log of 3 ends at 5",
         ABatchGoesWithItsRecords),
    changed_field("IDEM-023", "an_id_without_epoch_is_taken",
        r"id \d+, epoch -1: error is NONE \(0\), expected INVALID_REQUEST",
        "InitProducerId returns a new id to a producer that sends an id without an epoch.",
        InitProducerIdResponse, "error_code", ErrorCode.INVALID_REQUEST, ErrorCode.NONE,
        also={"producer_id": 7, "producer_epoch": 0},
        requested={"transactional_id": None, "producer_epoch": -1}),
    changed_field("IDEM-023", "an_epoch_without_id_gets_an_id",
        r"id -1, epoch [07]: id and epoch of the answer are \(0, 0\)",
        "InitProducerId refuses an epoch without an id, and returns an id and an epoch beside it.",
        InitProducerIdResponse, "producer_id", ANY, 0,
        where={"error_code": ErrorCode.INVALID_REQUEST}, also={"producer_epoch": 0},
        requested={"transactional_id": None, "producer_id": -1}),
    all_partitions_have_the_producers_of_one,
    only_the_first_producers_are_listed,
    the_latest_time_of_all_batches_is_shown,
]  # fmt: skip
