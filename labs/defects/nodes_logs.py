"""Defects of a cluster: replicas that remove too much, or other records than the others."""

from __future__ import annotations

from harness.client.requests import EARLIEST
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.edited_answer import answers
from labs.defects.log_compacted import change_runs, without
from labs.defects.log_cut import answered, having
from labs.defects.newest_topic import NewestTopic, of_newest
from labs.defects.one_node import at, of_cluster
from suites.durability.support.segments import DAY_MS

TOO_OLD = having(segment__ms="60000")
OLD_SEGMENTS = having(segment__ms="60000", retention__ms=str(DAY_MS))


@of_newest("STOR-005", r"the log begins at 3, committed is what is below 2")
def the_leader_does_not_wait(newest: NewestTopic, seen: SeenRequest, answer: Message) -> None:
    """The leader removes old records that other replicas do not have yet."""
    for one in answered(newest, seen, answer, EARLIEST) if TOO_OLD(newest) else ():
        one.offset += one.offset == 2


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
    (the_leader_does_not_wait, one_replica_compacts_otherwise, removed_offsets_are_in_range),
    private=True,
)
