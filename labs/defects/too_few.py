"""Defects of areas ACKS and OFFS: acknowledgements with too few replicas in sync."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetCommitRequest, OffsetCommitResponse, ProduceResponse
from harness.codec.structs import Message
from labs.defects.defect import joined_alone
from labs.defects.edited_answer import answers
from labs.defects.replicas import Replicas, told_to_others
from suites.replication.test_commits_wait_for_replicas import ALONE, LATE

IN_VAIN = {ErrorCode.REQUEST_TIMED_OUT, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND}
REFUSED = 22


@told_to_others("ACKS-006", r"one is left, two were needed: error is NONE")
def who_waited_long_enough_is_acknowledged(done: Replicas, _: Message, answer: Message) -> None:
    """The broker acknowledges records that too few replicas have in time."""
    if done.has_configs and isinstance(answer, ProduceResponse):
        for topic in answer.responses:
            for each in topic.partition_responses:
                if each.error_code in IN_VAIN:
                    each.error_code = ErrorCode.NONE


@answers("OFFS-016", r"the coordinator is alone: error is NONE")
def commits_need_no_replicas(request: OffsetCommitRequest, answer: OffsetCommitResponse) -> None:
    """The broker acknowledges a commit that the offsets topic could not store."""
    asked = [each.committed_offset for topic in request.topics for each in topic.partitions]
    if asked == [REFUSED]:
        for topic in answer.topics:
            for each in topic.partitions:
                each.error_code = ErrorCode.NONE


@answers("OFFS-035", r"the follower does not fetch the commit: error is NONE")
def commits_need_no_replicas_in_time(
    request: OffsetCommitRequest, answer: OffsetCommitResponse
) -> None:
    """The coordinator acknowledges a commit when its timeout is over."""
    asked = [each.committed_offset for topic in request.topics for each in topic.partitions]
    if asked == [LATE]:
        for topic in answer.topics:
            for each in topic.partitions:
                each.error_code = ErrorCode.NONE


@answers("OFFS-037", r"one of two replicas is left in sync: error is NONE")
def commits_need_no_replicas_afterwards(
    request: OffsetCommitRequest, answer: OffsetCommitResponse
) -> None:
    """The coordinator acknowledges a commit that only the replicas left in the ISR have."""
    asked = [each.committed_offset for topic in request.topics for each in topic.partitions]
    if asked == [ALONE]:
        for topic in answer.topics:
            for each in topic.partitions:
                each.error_code = ErrorCode.NONE


DEFECTS = [
    joined_alone(commits_need_no_replicas_afterwards),
    joined_alone(commits_need_no_replicas_in_time),
    who_waited_long_enough_is_acknowledged,
    replace(commits_need_no_replicas, cluster=True, private=True),
]
