"""Defects of a cluster: coordinators, elections and reassignments."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    DeleteGroupsResponse,
    DescribeGroupsResponse,
    ElectLeadersResponse,
    FetchResponse,
    FindCoordinatorResponse,
    HeartbeatResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchResponse,
)
from harness.proxies import SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.one_node import of_broker, of_cluster

LATEST = -1
TWO = 2  # groups of a request


@answers("COORD-001", r"broker 2 names .*, others", range(6), asked=of_broker(2))
def a_broker_knows_another_address(answer: FindCoordinatorResponse) -> None:
    """The second broker names the coordinator at another address (up to v5)."""
    answer.port = 1
    for found in answer.coordinators:
        found.port = 1


@answers("COORD-005", r"names .*, each alone", range(4, 99))
def all_keys_have_the_coordinator_of_the_first(answer: FindCoordinatorResponse) -> None:
    """FindCoordinator names the coordinator of the first group for all groups of a request."""
    first, *others = answer.coordinators
    for each in others:
        each.node_id, each.host, each.port = first.node_id, first.host, first.port


@answers("COORD-008", r"the errors are \{.*: 16, .*: 16\}")
def no_group_is_described_beside_one_of_others(answer: DescribeGroupsResponse) -> None:
    """DescribeGroups of two groups returns the error of either for both."""
    if len(answer.groups) == TWO:
        worst = max(each.error_code for each in answer.groups)
        for each in answer.groups:
            each.error_code = worst


@answers("COORD-008", r"the errors are \{.*: 16, .*: 16\}")
def no_group_is_deleted_beside_one_of_others(answer: DeleteGroupsResponse) -> None:
    """DeleteGroups ends at the first group that has another coordinator."""
    code = ErrorCode.NONE
    for each in answer.results:
        code = ErrorCode(each.error_code or code)
        each.error_code = code


@answers("OFFS-004", r"the group of this one: error is NOT_COORDINATOR", range(8, 99))
def no_group_is_read_beside_one_of_others(answer: OffsetFetchResponse) -> None:
    """OffsetFetch returns the error of one group for all groups of the request."""
    worst = max(each.error_code for each in answer.groups)
    for each in answer.groups:
        each.error_code = worst


def _is_beyond_ascii(seen: SeenRequest) -> bool:
    return isinstance(seen.message, OffsetCommitRequest) and not seen.message.group_id.isascii()


@answers("REASG-008", r"the log ends at 3")
def the_log_ends_one_later(asked: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """The latest offset is one higher than the end of the log."""
    for topic, wanted in zip(answer.topics, asked.topics, strict=True):
        for each, of in zip(topic.partitions, wanted.partitions, strict=True):
            if of.timestamp == LATEST and each.offset == 2:
                each.offset += 1


DEFECTS = of_cluster(
    [
        changed_field("OFFS-013", "others_take_commits", r"error is NONE",
            "A broker that does not coordinate the group acknowledges a commit.",
            OffsetCommitResponse, "topics.partitions.error_code",
            ErrorCode.NOT_COORDINATOR, ErrorCode.NONE),
        a_broker_knows_another_address,
        all_keys_have_the_coordinator_of_the_first,
        no_group_is_described_beside_one_of_others,
        no_group_is_deleted_beside_one_of_others,
        no_group_is_read_beside_one_of_others,
        changed_field("COORD-008", "members_elsewhere_have_no_coordinator",
            r"broker \d: error is COORDINATOR_NOT_AVAILABLE",
            "A broker that does not coordinate the group answers a heartbeat with "
            "COORDINATOR_NOT_AVAILABLE.",
            HeartbeatResponse, "error_code",
            ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        changed_field("COORD-008", "groups_of_others_are_dead", r"broker \d: error is NONE",
            "A broker describes groups that it does not coordinate as groups that do not exist.",
            DescribeGroupsResponse, "groups.error_code",
            ErrorCode.NOT_COORDINATOR, ErrorCode.NONE, also={"group_state": "Dead"}),
        changed_field("COORD-002", "names_beyond_ascii_have_another_coordinator",
            r"error is|NOT_COORDINATOR",
            "The coordinator refuses a commit of a group with letters that are not ASCII.",
            OffsetCommitResponse, "topics.partitions.error_code",
            ErrorCode.NONE, ErrorCode.NOT_COORDINATOR, asked=_is_beyond_ascii),
        changed_field("ELECT-011", "every_election_is_needed", r"it leads: error is NONE",
            "The broker reports an election as done where the preferred leader leads already.",
            ElectLeadersResponse, "replica_election_results.partition_result.error_code",
            ErrorCode.ELECTION_NOT_NEEDED, ErrorCode.NONE),
        changed_field("REASG-001", "a_new_replica_is_empty", r"the new replica has 0 of",
            "The third broker returns no records.",
            FetchResponse, "responses.partitions.records", ANY, b"", asked=of_broker(3)),
        changed_field("REASG-004", "replicas_keep_their_order", r"last seen: \(False, \[1, 2, 3\]",
            "The broker puts three replicas in the order of their ids.",
            AlterPartitionReassignmentsRequest, "topics.partitions.replicas", [3, 2, 1], [1, 2, 3]),
        changed_field("REASG-006", "bad_targets_are_bad_requests", r"error is INVALID_REQUEST",
            "The broker refuses a bad target with INVALID_REQUEST.",
            AlterPartitionReassignmentsResponse, "responses.partitions.error_code",
            ErrorCode.INVALID_REPLICA_ASSIGNMENT, ErrorCode.INVALID_REQUEST),
        changed_field("REASG-007", "a_new_leader_is_empty", r"the new leader has 0 of",
            "The second broker returns no records.",
            FetchResponse, "responses.partitions.records", ANY, b"", asked=of_broker(2)),
        the_log_ends_one_later,
    ]
)  # fmt: skip
