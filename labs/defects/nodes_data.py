"""Defects of a cluster: records, offsets and producers at the wrong brokers, or at none."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsResponse,
    DescribeProducersResponse,
    FetchRequest,
    FetchResponse,
    InitProducerIdResponse,
    ListOffsetsResponse,
    ProduceResponse,
)
from harness.codec.records import Record, RecordBatch, decode_batches, encode_batch
from harness.proxies import SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.one_node import at, of_broker, of_cluster

REFUSED = ErrorCode.NOT_LEADER_OR_FOLLOWER
OF_FOLLOWERS = range(11, 99)
LONG_MS = 2_000  # a test of the wait asks for more, no other does


def _produced(message: ProduceResponse) -> list[ProduceResponse.PartitionProduceResponse]:
    return [each for topic in message.responses for each in topic.partition_responses]


def _fetched(message: FetchResponse) -> list[FetchResponse.PartitionData]:
    return [each for topic in message.responses for each in topic.partitions]


@answers("PROD-004", r"partition 0: error is NOT_LEADER_OR_FOLLOWER")
def one_failing_partition_fails_all(answer: ProduceResponse) -> None:
    """The broker refuses all partitions of a request if another broker leads one of them."""
    results = _produced(answer)
    if len(results) > 1 and REFUSED in [each.error_code for each in results]:
        for each in results:
            if each.error_code == ErrorCode.NONE:
                each.error_code = REFUSED


@answers("PROD-006", r"without a replica: error is NONE")
def strangers_take_records(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The third broker acknowledges a single partition that it has no replica of."""
    results = _produced(answer)
    if at(3, seen) and len(results) == 1 and results[0].error_code == REFUSED:
        results[0].error_code = ErrorCode.NONE


@answers("PROD-007", r"told of 1 at epoch 1, it is 1 at 0", range(10, 99))
def the_leader_told_is_of_another_epoch(answer: ProduceResponse) -> None:
    """The refusal names the leader with the next epoch."""
    for each in _produced(answer):
        if each.error_code == REFUSED:
            each.current_leader.leader_epoch += 1


@answers("FETCH-025", r"told of 1 at epoch 1, it is 1 at 0", range(16, 99))
def the_leader_to_fetch_from_is_of_another_epoch(answer: FetchResponse) -> None:
    """The refusal names the leader with the next epoch."""
    for each in _fetched(answer):
        if each.error_code == REFUSED:
            each.current_leader.leader_epoch += 1


@takes("FETCH-010", r"answered after \d+ ms, max_wait_ms is \d+")
def a_partition_of_others_waits(request: FetchRequest) -> None:
    """A partition without a replica does not end the wait of a Fetch beside an idle one."""
    for topic in request.topics:
        if request.max_wait_ms >= LONG_MS and len(topic.partitions) > 1:
            topic.partitions = topic.partitions[:1]


@answers("REPL-014", r"replica 2 gives", OF_FOLLOWERS, asked=of_broker(2))
def a_follower_has_other_values(answer: FetchResponse) -> None:
    """The second broker has every offset, with other values."""
    for each in _fetched(answer):
        if each.records:
            batches = decode_batches(bytes(each.records))
            each.records = b"".join(encode_batch(with_other_values(batch)) for batch in batches)


def with_other_values(batch: RecordBatch) -> RecordBatch:
    """The batch with the same offsets and other values, with its new length and checksum."""
    records = [replace(record, value=b"other") for record in batch.records]
    return replace(batch, records=records, crc=None, batch_length=None)


@answers(
    "REPL-018", r"follower 2 has 1\d\d\d, then the leader has", OF_FOLLOWERS, asked=of_broker(2)
)
def a_follower_is_ahead_of_its_leader(answer: FetchResponse) -> None:
    """The second broker's high watermark is a thousand higher."""
    for each in _fetched(answer):
        each.high_watermark += 1000


@answers("REPL-023", r"follower 3 has the offsets", OF_FOLLOWERS, asked=of_broker(3))
def a_follower_has_a_gap(answer: FetchResponse) -> None:
    """The third broker has all batches after the first one an offset later."""
    for each in _fetched(answer):
        if each.records:
            batches = decode_batches(bytes(each.records))
            each.records = b"".join(
                encode_batch(
                    replace(batch, base_offset=batch.base_offset + bool(batch.base_offset))
                )
                for batch in batches
            )


DEFECTS = of_cluster(
    [
        one_failing_partition_fails_all,
        strangers_take_records,
        the_leader_told_is_of_another_epoch,
        changed_field("IDEM-001", "one_broker_gives_one_id", r"broker 2 gives the id 7",
            "The second broker returns the same producer id to all clients.",
            InitProducerIdResponse, "producer_id", ANY, 7, asked=of_broker(2)),
        changed_field("IDEM-020", "followers_know_no_producers",
            r"broker 2: error is NOT_LEADER_OR_FOLLOWER",
            "The second broker, a follower, refuses DescribeProducers.",
            DescribeProducersResponse, "topics.partitions.error_code",
            ANY, REFUSED, also={"active_producers": []}, asked=of_broker(2)),
        changed_field("FETCH-016", "strangers_give_records", r"bytes of records came",
            "The third broker returns records beside the error for a partition without a replica.",
            FetchResponse, "responses.partitions.records",
            ANY, encode_batch(RecordBatch([Record(b"foreign")])),
            where={"responses.partitions.error_code": REFUSED}, asked=of_broker(3)),
        changed_field("FETCH-017", "followers_give_nothing", r"follower 2 gives \[\]",
            "The second broker has a high watermark and returns no records.",
            FetchResponse, "responses.partitions.records",
            ANY, b"", OF_FOLLOWERS, asked=of_broker(2)),
        changed_field("QUOTA-022", "followers_throttle_no_consumer",
            r"from follower \d at \d+ bytes per second: the client is not throttled",
            "The broker returns no throttle time to a consumer that exceeds its quota.",
            FetchResponse, "throttle_time_ms", ANY, 0, OF_FOLLOWERS),
        the_leader_to_fetch_from_is_of_another_epoch,
        changed_field("LISTO-011", "followers_tell_offsets", r"a follower: error is NONE",
            "The second broker returns an offset of a partition that it does not lead.",
            ListOffsetsResponse, "topics.partitions.error_code",
            REFUSED, ErrorCode.NONE, range(1, 99), also={"offset": 0}, asked=of_broker(2)),
        changed_field("LISTO-011", "strangers_answer_debuggers",
            r"without a replica, replica id -2: error is NONE",
            "The third broker returns an offset of a partition that it has no replica of.",
            ListOffsetsResponse, "topics.partitions.error_code",
            REFUSED, ErrorCode.NONE, also={"offset": 0}, requested={"replica_id": -2},
            asked=of_broker(3)),
        changed_field("DELR-008", "new_replicas_start_at_zero", r"new replica: its log starts at 0",
            "The second broker returns 0 as its log start offset.",
            FetchResponse, "responses.partitions.log_start_offset",
            ANY, 0, OF_FOLLOWERS, asked=of_broker(2)),
        changed_field("DELR-005", "followers_delete_records", r"at a follower: error is NONE",
            "The broker reports records as deleted in a partition that another broker leads.",
            DeleteRecordsResponse, "topics.partitions.error_code", REFUSED, ErrorCode.NONE),
        changed_field("ACKS-009", "more_must_be_in_sync_than_there_are",
            r"error is NOT_ENOUGH_REPLICAS",
            "The broker refuses every Produce with NOT_ENOUGH_REPLICAS.",
            ProduceResponse, "responses.partition_responses.error_code",
            ANY, ErrorCode.NOT_ENOUGH_REPLICAS),
        a_partition_of_others_waits,
        a_follower_has_other_values,
        a_follower_is_ahead_of_its_leader,
        a_follower_has_a_gap,
    ]
)  # fmt: skip
