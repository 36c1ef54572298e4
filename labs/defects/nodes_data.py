"""Defects of a cluster: records, offsets and producers at the wrong brokers, or at none."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsResponse,
    DescribeProducersResponse,
    FetchResponse,
    InitProducerIdResponse,
    ListOffsetsResponse,
    ProduceResponse,
)
from harness.codec.records import Record, RecordBatch, decode_batches, encode_batch
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers
from labs.defects.one_node import at, of_cluster

REFUSED = ErrorCode.NOT_LEADER_OR_FOLLOWER
OF_FOLLOWERS = range(11, 99)


def _produced(message: Message) -> list[ProduceResponse.PartitionProduceResponse]:
    assert isinstance(message, ProduceResponse)
    return [each for topic in message.responses for each in topic.partition_responses]


def _fetched(message: Message) -> list[FetchResponse.PartitionData]:
    assert isinstance(message, FetchResponse)
    return [each for topic in message.responses for each in topic.partitions]


@answers("PROD-004", r"partition 0: error is NOT_LEADER_OR_FOLLOWER", "Produce")
def one_failing_partition_fails_all(seen: SeenRequest, message: Message) -> None:
    """The broker refuses all partitions of a request if another broker leads one of them."""
    del seen
    results = _produced(message)
    if len(results) > 1 and REFUSED in [each.error_code for each in results]:
        for each in results:
            if each.error_code == ErrorCode.NONE:
                each.error_code = REFUSED


@answers("PROD-006", r"without a replica: error is NONE", "Produce")
def strangers_take_records(seen: SeenRequest, message: Message) -> None:
    """The third broker acknowledges a single partition of which it has no replica."""
    results = _produced(message)
    if at(3, seen) and len(results) == 1 and results[0].error_code == REFUSED:
        results[0].error_code = ErrorCode.NONE


@answers("PROD-007", r"told of 1 at epoch 1, it is 1 at 0", "Produce", range(10, 99))
def the_leader_told_is_of_another_epoch(seen: SeenRequest, message: Message) -> None:
    """The refusal names the leader with the next epoch."""
    del seen
    for each in _produced(message):
        if each.error_code == REFUSED:
            each.current_leader.leader_epoch += 1


@answers("IDEM-001", r"broker 2 gives the id 7", "InitProducerId")
def one_broker_gives_one_id(seen: SeenRequest, message: Message) -> None:
    """The second broker returns the same producer id to all clients."""
    assert isinstance(message, InitProducerIdResponse)
    if at(2, seen):
        message.producer_id = 7


@answers("IDEM-020", r"broker 2: error is NOT_LEADER_OR_FOLLOWER", "DescribeProducers")
def followers_know_no_producers(seen: SeenRequest, message: Message) -> None:
    """The second broker, a follower, refuses DescribeProducers."""
    assert isinstance(message, DescribeProducersResponse)
    if at(2, seen):
        for topic in message.topics:
            for each in topic.partitions:
                each.error_code, each.active_producers = int(REFUSED), []


@answers("FETCH-016", r"bytes of records came", "Fetch")
def strangers_give_records(seen: SeenRequest, message: Message) -> None:
    """The third broker returns records beside the error for a partition without a replica."""
    for each in _fetched(message):
        if at(3, seen) and each.error_code == REFUSED:
            each.records = encode_batch(RecordBatch([Record(b"of nobody")]))


@answers("FETCH-017", r"follower 2 gives \[\]", "Fetch", OF_FOLLOWERS)
def followers_give_nothing(seen: SeenRequest, message: Message) -> None:
    """The second broker has a high watermark and returns no records."""
    if at(2, seen):
        for each in _fetched(message):
            each.records = b""


@answers("FETCH-025", r"told of 1 at epoch 1, it is 1 at 0", "Fetch", range(16, 99))
def the_leader_to_fetch_from_is_of_another_epoch(seen: SeenRequest, message: Message) -> None:
    """The refusal names the leader with the next epoch."""
    del seen
    for each in _fetched(message):
        if each.error_code == REFUSED:
            each.current_leader.leader_epoch += 1


@answers("LISTO-011", r"a follower: error is NONE", "ListOffsets", range(1, 99))
def followers_tell_offsets(seen: SeenRequest, message: Message) -> None:
    """The second broker returns an offset of a partition that it does not lead."""
    assert isinstance(message, ListOffsetsResponse)
    if at(2, seen):
        for topic in message.topics:
            for each in topic.partitions:
                if each.error_code == REFUSED:
                    each.error_code, each.offset = ErrorCode.NONE, 0


@answers("DELR-005", r"at a follower: error is NONE", "DeleteRecords")
def followers_delete_records(seen: SeenRequest, message: Message) -> None:
    """The broker reports records as deleted in a partition that another broker leads."""
    del seen
    assert isinstance(message, DeleteRecordsResponse)
    for topic in message.topics:
        for each in topic.partitions:
            if each.error_code == REFUSED:
                each.error_code = ErrorCode.NONE


@answers("ACKS-009", r"error is NOT_ENOUGH_REPLICAS", "Produce")
def more_must_be_in_sync_than_there_are(seen: SeenRequest, message: Message) -> None:
    """The broker refuses every Produce with NOT_ENOUGH_REPLICAS."""
    del seen
    for each in _produced(message):
        each.error_code = ErrorCode.NOT_ENOUGH_REPLICAS


@answers("REPL-014", r"replica 2 gives", "Fetch", OF_FOLLOWERS)
def a_follower_has_other_values(seen: SeenRequest, message: Message) -> None:
    """The second broker has every offset, with other values."""
    for each in _fetched(message):
        if at(2, seen) and each.records:
            batches = decode_batches(bytes(each.records))
            each.records = b"".join(encode_batch(with_other_values(batch)) for batch in batches)


def with_other_values(batch: RecordBatch) -> RecordBatch:
    """The batch with the same offsets and other values, with its new length and checksum."""
    records = [replace(record, value=b"other") for record in batch.records]
    return replace(batch, records=records, crc=None, batch_length=None)


@answers("REPL-018", r"follower 2 has 1\d\d\d, then the leader has", "Fetch", OF_FOLLOWERS)
def a_follower_is_ahead_of_its_leader(seen: SeenRequest, message: Message) -> None:
    """The second broker's high watermark is a thousand higher."""
    if at(2, seen):
        for each in _fetched(message):
            each.high_watermark += 1000


@answers("REPL-023", r"follower 3 has the offsets", "Fetch", OF_FOLLOWERS)
def a_follower_has_a_gap(seen: SeenRequest, message: Message) -> None:
    """The third broker has all batches after the first one an offset later."""
    for each in _fetched(message):
        if at(3, seen) and each.records:
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
        one_broker_gives_one_id,
        followers_know_no_producers,
        strangers_give_records,
        followers_give_nothing,
        the_leader_to_fetch_from_is_of_another_epoch,
        followers_tell_offsets,
        followers_delete_records,
        more_must_be_in_sync_than_there_are,
        a_follower_has_other_values,
        a_follower_is_ahead_of_its_leader,
        a_follower_has_a_gap,
    ]
)
