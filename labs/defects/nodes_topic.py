"""Defects of a cluster, area TOPIC: placement of the replicas of a new topic."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataResponse,
    ProduceResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers
from labs.defects.edited_request import takes
from labs.defects.one_node import at, of_cluster

SEVERAL = 100
Assigned = CreateTopicsRequest.CreatableReplicaAssignment


def _assigned(topic: CreateTopicsRequest.CreatableTopic) -> list[list[int]]:
    return [list(each.broker_ids) for each in topic.assignments]


@takes("TOPIC-001", r"the partitions are \[0, 1, 2\]", CreateTopicsRequest)
def one_partition_less(message: CreateTopicsRequest) -> None:
    """The controller creates three of four requested partitions."""
    for topic in message.topics:
        topic.num_partitions = 3 if topic.num_partitions == 4 else topic.num_partitions


@takes("TOPIC-002", r"how many each broker leads: \{1: 3\}", CreateTopicsRequest)
def the_first_broker_leads_all(message: CreateTopicsRequest) -> None:
    """The controller makes one broker the leader of all three partitions."""
    for topic in message.topics:
        if topic.num_partitions == 3 and not topic.assignments:
            topic.num_partitions = topic.replication_factor = -1
            topic.assignments = [
                Assigned(partition_index=index, broker_ids=[1, 2, 3]) for index in range(3)
            ]


@takes("TOPIC-003", r"are led by", CreateTopicsRequest)
def the_last_replica_leads(message: CreateTopicsRequest) -> None:
    """The last of three replicas leads, where the first one is the third broker."""
    for topic in message.topics:
        if _assigned(topic)[:1] == [[3, 1, 2]]:
            for each in topic.assignments:
                each.broker_ids = each.broker_ids[::-1]


@takes("TOPIC-005", r"the replicas are", CreateTopicsRequest)
def assignments_are_sorted(message: CreateTopicsRequest) -> None:
    """The controller puts the lower id first in partitions with two replicas."""
    for topic in message.topics:
        if _assigned(topic) == [[2, 1], [3, 2], [1, 3]]:
            for each in topic.assignments:
                each.broker_ids = sorted(each.broker_ids)


@answers("TOPIC-010", r"error is INVALID_REPLICATION_FACTOR", "CreateTopics")
def two_replicas_are_no_majority(seen: SeenRequest, message: Message) -> None:
    """The controller refuses a topic with two replicas."""
    assert isinstance(message, CreateTopicsResponse)
    assert isinstance(seen.message, CreateTopicsRequest)
    wanted = [(topic.num_partitions, topic.replication_factor) for topic in seen.message.topics]
    if wanted == [(1, 2)]:
        message.topics[0].error_code = ErrorCode.INVALID_REPLICATION_FACTOR


@answers("TOPIC-012", r"error is INVALID_REQUEST", "CreateTopics")
def bad_assignments_are_bad_requests(seen: SeenRequest, message: Message) -> None:
    """The controller refuses a bad assignment with INVALID_REQUEST."""
    del seen
    assert isinstance(message, CreateTopicsResponse)
    for topic in message.topics:
        if topic.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT:
            topic.error_code = ErrorCode.INVALID_REQUEST


@answers(
    "TOPIC-022", r"broker 2 answered NOT_CONTROLLER .*; the topic is there: True", "CreateTopics"
)
def who_creates_denies_it(seen: SeenRequest, message: Message) -> None:
    """The second broker creates a topic, and answers NOT_CONTROLLER."""
    assert isinstance(message, CreateTopicsResponse)
    assert isinstance(seen.message, CreateTopicsRequest)
    if at(2, seen) and [_assigned(topic) for topic in seen.message.topics] == [[[2]]]:
        message.topics[0].error_code = ErrorCode.NOT_CONTROLLER


@answers("TOPIC-023", r"partition 2: error is UNKNOWN_TOPIC_OR_PARTITION", "Produce")
def a_leader_does_not_know_that_it_leads(seen: SeenRequest, message: Message) -> None:
    """The third broker does not know a partition that it leads."""
    assert isinstance(message, ProduceResponse)
    for topic in message.responses:
        for partition in topic.partition_responses:
            if at(3, seen) and partition.index == 2:
                partition.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@answers("TOPIC-026", r"error is INVALID_PARTITIONS", "CreatePartitions")
def bad_assignments_are_bad_counts(seen: SeenRequest, message: Message) -> None:
    """The controller refuses a bad assignment of new partitions with INVALID_PARTITIONS."""
    del seen
    assert isinstance(message, CreatePartitionsResponse)
    for topic in message.results:
        if topic.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT:
            topic.error_code = ErrorCode.INVALID_PARTITIONS


@answers("TOPIC-035", r"shows 60 of 120 partitions", "Metadata")
def half_a_topic_is_shown(seen: SeenRequest, message: Message) -> None:
    """Metadata leaves out the second half of many partitions."""
    del seen
    assert isinstance(message, MetadataResponse)
    for topic in message.topics:
        if len(topic.partitions) > SEVERAL:
            topic.partitions = topic.partitions[: len(topic.partitions) // 2]


DEFECTS = of_cluster(
    [
        one_partition_less,
        the_first_broker_leads_all,
        the_last_replica_leads,
        assignments_are_sorted,
        two_replicas_are_no_majority,
        bad_assignments_are_bad_requests,
        who_creates_denies_it,
        a_leader_does_not_know_that_it_leads,
        bad_assignments_are_bad_counts,
        half_a_topic_is_shown,
    ]
)
