"""Defects of a cluster: replicas that remove too much, or other records than the others."""

from __future__ import annotations

from harness.client.requests import EARLIEST
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse, ListOffsetsRequest, ListOffsetsResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.edited_answer import answers
from labs.defects.log_compacted import asked_offset, change_runs, without
from labs.defects.log_cut import answered, having
from labs.defects.newest_topic import NewestTopic, of_newest
from labs.defects.one_node import at, of_cluster
from suites.durability.support.segments import DAY_MS

TOO_OLD = having(segment__ms="60000")
OLD_SEGMENTS = having(segment__ms="60000", retention__ms=str(DAY_MS))


@of_newest("STOR-005", r"too old: the log begins at 3, committed is what is below 2")
def the_leader_does_not_wait(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """The leader removes old records that other replicas do not have yet."""
    for one in answered(newest, seen, answer, EARLIEST) if TOO_OLD(newest) else ():
        one.offset += one.offset == 2


@answers("STOR-005", r"too large: the log begins at 3, committed is what is below 2")
def the_leader_does_not_wait_for_less(
    request: ListOffsetsRequest, answer: ListOffsetsResponse
) -> None:
    """The leader removes records beyond retention.bytes that other replicas do not have yet."""
    asked = request.topics[0].partitions[0]
    told = answer.topics[0].partitions[0]
    if (asked.partition_index, asked.timestamp, told.offset) == (1, EARLIEST, 2):
        told.offset = 3


@answers("STOR-019", r"broker \d: Fetch at \d: error is OFFSET_OUT_OF_RANGE")
def compacted_offsets_are_out_of_range(seen: SeenRequest, answer: FetchResponse) -> None:
    """A broker that was started again has no compacted offsets behind the first records."""
    if at(2, seen) or at(3, seen):
        for partition in (part for topic in answer.responses for part in topic.partitions):
            data, offset = bytes(partition.records or b""), asked_offset(seen)
            if b"two" in data and offset > 0 and int.from_bytes(data[:8]) > offset:
                partition.records, partition.error_code = b"", ErrorCode.OFFSET_OUT_OF_RANGE


@answers("STOR-019", r"broker \d lacks the last values")
def one_replica_compacts_otherwise(seen: SeenRequest, answer: FetchResponse) -> None:
    """The second and the third broker keep no values of one key."""
    if at(2, seen) or at(3, seen):
        change_runs(
            answer,
            b"two",
            lambda batches: [without(batch, lambda one: one.key == b"two") for batch in batches],
        )


@of_newest("STOR-028", r"Fetch at 1 from (follower|leader) \d: error is NONE")
def removed_offsets_are_in_range(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """A replica returns no error for an offset that retention has removed."""
    if isinstance(answer, FetchResponse) and OLD_SEGMENTS(newest):
        for one in (part for topic in answer.responses for part in topic.partitions):
            if one.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                one.error_code = ErrorCode.NONE


DEFECTS = of_cluster(
    (
        the_leader_does_not_wait,
        the_leader_does_not_wait_for_less,
        compacted_offsets_are_out_of_range,
        one_replica_compacts_otherwise,
        removed_offsets_are_in_range,
    ),
    private=True,
)
