"""Defects of a cluster: replicas that a broker lacks, and deletions that replicas do not follow."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DescribeLogDirsResponse,
)
from harness.proxies import SeenRequest
from labs.defects.edited_answer import answers
from labs.defects.one_node import at, of_cluster

UP_TO_HIGH_WATERMARK = -1


@answers("DELR-002", r"three replicas, offset -1: error is REQUEST_TIMED_OUT")
def followers_never_begin_at_their_end(
    request: DeleteRecordsRequest, answer: DeleteRecordsResponse
) -> None:
    """A follower does not move its log start to its high watermark, and the leader waits for it."""
    wanted = [part.offset for topic in request.topics for part in topic.partitions]
    if wanted == [UP_TO_HIGH_WATERMARK]:
        for topic in answer.topics:
            for one in topic.partitions:
                one.error_code = ErrorCode.REQUEST_TIMED_OUT


@answers("LDIR-019", r"broker 1, .*: \(topic, partition\) is \[\(0, 0\), \(0, 1\)\]")
def each_partition_of_a_topic_is_here(seen: SeenRequest, answer: DescribeLogDirsResponse) -> None:
    """The first broker lists a second partition of each topic that it has one partition of."""
    kinds = DescribeLogDirsResponse.DescribeLogDirsPartition
    for directory in answer.results if at(1, seen) else ():
        for topic in directory.topics:
            if [one.partition_index for one in topic.partitions] == [0]:
                topic.partitions.append(kinds(partition_index=1))


DEFECTS = of_cluster([followers_never_begin_at_their_end, each_partition_of_a_topic_is_here])
