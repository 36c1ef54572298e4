"""Defects of a cluster, area TOPIC: placement of the replicas of a new topic."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreateTopicsRequest,
    CreateTopicsResponse,
    MetadataResponse,
    ProduceResponse,
)
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from labs.defects.one_node import of_broker, of_cluster

SEVERAL = 100
ROTATED = [[3, 2], [1, 3], [2, 1]]  # of the partitions 1, 2 and 0, in this order
Assigned = CreateTopicsRequest.CreatableReplicaAssignment
THREE_LED_BY_1 = [Assigned(partition_index=index, broker_ids=[1, 2, 3]) for index in range(3)]


def _assigned(topic: CreateTopicsRequest.CreatableTopic) -> list[list[int]]:
    return [list(each.broker_ids) for each in topic.assignments]


@takes("TOPIC-001", r"the partitions are \[0, 1, 2\]")
def one_partition_less(message: CreateTopicsRequest) -> None:
    """The controller creates three of four requested partitions."""
    for topic in message.topics:
        topic.num_partitions = 3 if topic.num_partitions == 4 else topic.num_partitions


@takes("TOPIC-003", r"are led by")
def the_last_replica_leads(message: CreateTopicsRequest) -> None:
    """The last of three replicas leads, where the first one is the third broker."""
    for topic in message.topics:
        if _assigned(topic)[:1] == [[3, 1, 2]]:
            for each in topic.assignments:
                each.broker_ids = each.broker_ids[::-1]


@takes("TOPIC-005", r"the replicas are")
def assignments_are_sorted(message: CreateTopicsRequest) -> None:
    """The controller puts the lower id first in partitions with two replicas."""
    for topic in message.topics:
        if _assigned(topic) == ROTATED:
            for each in topic.assignments:
                each.broker_ids = sorted(each.broker_ids)


@takes("TOPIC-005", r"the replicas are")
def partitions_are_numbered_as_they_come(message: CreateTopicsRequest) -> None:
    """The controller ignores the numbers of the partitions in an assignment."""
    for topic in message.topics:
        if _assigned(topic) == ROTATED:
            for number, each in enumerate(topic.assignments):
                each.partition_index = number


@takes("TOPIC-045", r"the replicas are")
def new_partitions_are_assigned_backwards(message: CreatePartitionsRequest) -> None:
    """The controller gives the last new partition the replicas of the first one."""
    for topic in message.topics:
        assigned = [list(each.broker_ids) for each in topic.assignments or ()]
        if assigned == [[3, 2], [1, 3]]:
            topic.assignments = (topic.assignments or [])[::-1]


@answers("TOPIC-010", r"error is INVALID_REPLICATION_FACTOR")
def two_replicas_are_no_majority(
    request: CreateTopicsRequest, answer: CreateTopicsResponse
) -> None:
    """The controller refuses a topic with two replicas."""
    wanted = [(topic.num_partitions, topic.replication_factor) for topic in request.topics]
    if wanted == [(1, 2)]:
        answer.topics[0].error_code = ErrorCode.INVALID_REPLICATION_FACTOR


@answers(
    "TOPIC-022",
    r"broker 2 answered NOT_CONTROLLER .*; the topic is there: True",
    asked=of_broker(2),
)
def who_creates_denies_it(request: CreateTopicsRequest, answer: CreateTopicsResponse) -> None:
    """The second broker creates a topic, and answers NOT_CONTROLLER."""
    if [_assigned(topic) for topic in request.topics] == [[[2]]]:
        answer.topics[0].error_code = ErrorCode.NOT_CONTROLLER


@answers(
    "TOPIC-022",
    r"new partition at broker 2: error is NOT_CONTROLLER, and it is made",
    asked=of_broker(2),
)
def who_adds_a_partition_denies_it(
    request: CreatePartitionsRequest, answer: CreatePartitionsResponse
) -> None:
    """The second broker adds a partition, and answers NOT_CONTROLLER."""
    if [(topic.count, topic.assignments) for topic in request.topics] == [(2, None)]:
        answer.results[0].error_code = ErrorCode.NOT_CONTROLLER


@answers("TOPIC-035", r"shows 60 of 120 partitions")
def half_a_topic_is_shown(answer: MetadataResponse) -> None:
    """Metadata leaves out the second half of many partitions."""
    for topic in answer.topics:
        if len(topic.partitions) > SEVERAL:
            topic.partitions = topic.partitions[: len(topic.partitions) // 2]


DEFECTS = of_cluster(
    [
        one_partition_less,
        changed_field("TOPIC-002", "the_first_broker_leads_all",
            r"how many each broker leads: \{1: 3\}",
            "The controller makes one broker the leader of all three partitions.",
            CreateTopicsRequest, "topics.num_partitions",
            3, -1, where={"topics.assignments": []},
            also={"replication_factor": -1, "assignments": THREE_LED_BY_1}),
        the_last_replica_leads,
        assignments_are_sorted,
        partitions_are_numbered_as_they_come,
    new_partitions_are_assigned_backwards,
        two_replicas_are_no_majority,
        changed_field("TOPIC-012", "bad_assignments_are_bad_requests", r"error is INVALID_REQUEST",
            "The controller refuses a bad assignment with INVALID_REQUEST.",
            CreateTopicsResponse, "topics.error_code",
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, ErrorCode.INVALID_REQUEST),
        who_creates_denies_it,
        who_adds_a_partition_denies_it,
        changed_field("TOPIC-023", "a_leader_does_not_know_that_it_leads",
            r"partition 2: error is UNKNOWN_TOPIC_OR_PARTITION",
            "The third broker does not know a partition that it leads.",
            ProduceResponse, "responses.partition_responses.error_code",
            ANY, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            where={"responses.partition_responses.index": 2}, asked=of_broker(3)),
        changed_field("TOPIC-026", "no_assignment_is_left_to_the_controller",
            r"none: error is NONE",
            "The controller places new partitions if the request has an empty list of assignments.",
            CreatePartitionsRequest, "topics.assignments", [], None),
        changed_field("TOPIC-026", "bad_assignments_are_bad_counts", r"error is INVALID_PARTITIONS",
            "The controller refuses a bad assignment of new partitions with INVALID_PARTITIONS.",
            CreatePartitionsResponse, "results.error_code",
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, ErrorCode.INVALID_PARTITIONS),
        half_a_topic_is_shown,
    ]
)  # fmt: skip
