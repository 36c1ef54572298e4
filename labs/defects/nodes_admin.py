"""Defects of a cluster: coordinators, elections and reassignments."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ElectLeadersResponse,
    FetchResponse,
    FindCoordinatorResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers
from labs.defects.edited_request import takes
from labs.defects.one_node import at, of_cluster

LATEST = -1


def _codes(message: Message, was: ErrorCode, becomes: ErrorCode) -> None:
    assert isinstance(message, OffsetCommitResponse)
    for topic in message.topics:
        for each in topic.partitions:
            if each.error_code == was:
                each.error_code = becomes


@answers("OFFS-013", r"error is NONE", "OffsetCommit")
def others_take_commits(seen: SeenRequest, message: Message) -> None:
    """A broker that does not coordinate the group acknowledges a commit."""
    del seen
    _codes(message, ErrorCode.NOT_COORDINATOR, ErrorCode.NONE)


@answers("COORD-001", r"broker 2 names .*, others", "FindCoordinator", range(6))
def a_broker_knows_another_address(seen: SeenRequest, message: Message) -> None:
    """The second broker names the coordinator at another address (up to v5)."""
    assert isinstance(message, FindCoordinatorResponse)
    if at(2, seen):
        message.port = 1
        for found in message.coordinators:
            found.port = 1


@answers("COORD-002", r"error is|NOT_COORDINATOR", "OffsetCommit")
def the_coordinator_takes_nothing(seen: SeenRequest, message: Message) -> None:
    """The coordinator refuses a commit with NOT_COORDINATOR."""
    del seen
    _codes(message, ErrorCode.NONE, ErrorCode.NOT_COORDINATOR)


@answers("ELECT-011", r"it leads: error is NONE", "ElectLeaders")
def every_election_is_needed(seen: SeenRequest, message: Message) -> None:
    """The broker reports an election as done where the preferred leader leads already."""
    del seen
    assert isinstance(message, ElectLeadersResponse)
    for topic in message.replica_election_results:
        for each in topic.partition_result:
            if each.error_code == ErrorCode.ELECTION_NOT_NEEDED:
                each.error_code = ErrorCode.NONE


def _drop_records(message: Message) -> None:
    assert isinstance(message, FetchResponse)
    for topic in message.responses:
        for each in topic.partitions:
            each.records = b""


@answers("REASG-001", r"the new replica has 0 of", "Fetch")
def a_new_replica_is_empty(seen: SeenRequest, message: Message) -> None:
    """The third broker returns no records."""
    if at(3, seen):
        _drop_records(message)


@takes("REASG-004", r"last seen: \(False, \[1, 2, 3\]", AlterPartitionReassignmentsRequest)
def replicas_keep_their_order(message: AlterPartitionReassignmentsRequest) -> None:
    """The broker puts three replicas in the order of their ids."""
    for topic in message.topics:
        for each in topic.partitions:
            if each.replicas == [3, 2, 1]:
                each.replicas = [1, 2, 3]


@answers("REASG-006", r"error is INVALID_REQUEST", "AlterPartitionReassignments")
def bad_targets_are_bad_requests(seen: SeenRequest, message: Message) -> None:
    """The broker refuses a bad target with INVALID_REQUEST."""
    del seen
    assert isinstance(message, AlterPartitionReassignmentsResponse)
    for topic in message.responses:
        for each in topic.partitions:
            if each.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT:
                each.error_code = ErrorCode.INVALID_REQUEST


@answers("REASG-007", r"the new leader has 0 of", "Fetch")
def a_new_leader_is_empty(seen: SeenRequest, message: Message) -> None:
    """The second broker returns no records."""
    if at(2, seen):
        _drop_records(message)


@answers("REASG-008", r"the log ends at 3", "ListOffsets")
def the_log_ends_one_later(seen: SeenRequest, message: Message) -> None:
    """The latest offset is one higher than the end of the log."""
    asked = seen.message
    assert isinstance(message, ListOffsetsResponse)
    assert isinstance(asked, ListOffsetsRequest)
    for topic, wanted in zip(message.topics, asked.topics, strict=True):
        for each, of in zip(topic.partitions, wanted.partitions, strict=True):
            if of.timestamp == LATEST and each.offset == 2:
                each.offset += 1


DEFECTS = of_cluster(
    [
        others_take_commits,
        a_broker_knows_another_address,
        the_coordinator_takes_nothing,
        every_election_is_needed,
        a_new_replica_is_empty,
        replicas_keep_their_order,
        bad_targets_are_bad_requests,
        a_new_leader_is_empty,
        the_log_ends_one_later,
    ]
)
