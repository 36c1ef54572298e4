"""Moving replicas (KIP-455) and elections (KIP-183, KIP-460), at the controller."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.client.cluster import Cluster
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ElectLeadersRequest,
    ElectLeadersResponse,
    ListPartitionReassignmentsRequest,
)
from suites.protocol.support.expect import expect_error

PREFERRED, UNCLEAN = 0, 1
TIMEOUT_MS = 8_000
Moved = AlterPartitionReassignmentsResponse.ReassignablePartitionResponse


def ask_to_move(
    cluster: Cluster, topic: str, targets: Mapping[int, Sequence[int] | None], version: int | None
) -> dict[int, int]:
    """The error code for each partition; ``targets`` None: cancel what is under way."""
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=TIMEOUT_MS,
        topics=[
            AlterPartitionReassignmentsRequest.ReassignableTopic(
                name=topic,
                partitions=[
                    AlterPartitionReassignmentsRequest.ReassignablePartition(
                        partition_index=index, replicas=None if nodes is None else list(nodes)
                    )
                    for index, nodes in targets.items()
                ],
            )
        ],
    )
    answer = cluster.at(cluster.controller()).ask(request, version)
    expect_error(answer.error_code, ErrorCode.NONE, "the answer as a whole")
    told = only(answer.responses, "topic")
    return {each.partition_index: each.error_code for each in told.partitions}


def is_moving(cluster: Cluster, topic: Topic, partition: int = 0) -> bool:
    """True if a reassignment of the partition is in progress."""
    request = ListPartitionReassignmentsRequest(
        timeout_ms=TIMEOUT_MS,
        topics=[
            ListPartitionReassignmentsRequest.ListPartitionReassignmentsTopics(
                name=topic.name, partition_indexes=[partition]
            )
        ],
    )
    answer = cluster.at(cluster.controller()).ask(request)
    expect_error(answer.error_code, ErrorCode.NONE, "ListPartitionReassignments")
    return any(each.partitions for each in answer.topics)


def await_moved(cluster: Cluster, topic: Topic, target: Sequence[int], partition: int = 0) -> None:
    """Wait until no move is in progress, and the replicas and the ISR are the target."""

    def seen() -> tuple[bool, list[int], set[int]]:
        moving = is_moving(cluster, topic, partition)
        return moving, cluster.replicas(topic, partition), cluster.isr(topic, partition)

    cluster.await_that(
        seen,
        lambda found: found == (False, list(target), set(target)),
        f"(moving, replicas, ISR) of {topic.name}-{partition} is (False, {list(target)}, the same)",
    )


def elect(
    cluster: Cluster,
    wanted: Mapping[str, Sequence[int]] | None,
    version: int | None = None,
    election_type: int = PREFERRED,
) -> dict[tuple[str, int], int]:
    """The error code of each partition in the answer.

    ``wanted`` None: an election of all partitions, for private clusters only, as it moves the
    leaders of other tests too.
    """
    entries = None
    if wanted is None:
        cluster.expect_alone()
    if wanted is not None:
        entries = [
            ElectLeadersRequest.TopicPartitions(topic=topic, partitions=list(indexes))
            for topic, indexes in wanted.items()
        ]
    request = ElectLeadersRequest(
        election_type=election_type, topic_partitions=entries, timeout_ms=TIMEOUT_MS
    )
    answer: ElectLeadersResponse = cluster.at(cluster.controller()).ask(request, version)
    expect_error(answer.error_code, ErrorCode.NONE, "ElectLeaders as a whole")
    return {
        (topic.topic, each.partition_id): each.error_code
        for topic in answer.replica_election_results
        for each in topic.partition_result
    }
