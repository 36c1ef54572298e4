"""Defects of area GRP: groups in descriptions, deletions and assignments."""

from __future__ import annotations

from harness.codec.data_framing.version_prefix import (
    read_assignment,
    read_subscription,
    version_prefixed_bytes,
)
from harness.codec.error_code import ErrorCode
from harness.codec.errors import DecodeError
from harness.codec.messages import (
    ConsumerProtocolAssignment,
    DeleteGroupsResponse,
    DescribeGroupsResponse,
    JoinGroupResponse,
    ListGroupsRequest,
    ListGroupsResponse,
    SyncGroupResponse,
)
from harness.proxies import SeenRequest
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers
from labs.defects.grp_members import OLD_SYNCS

NOT_FOUND, TYPES = 6, 5


@answers("GRP-031", r"id, state and members are|there is no error message")
def what_is_not_there_is_empty(seen: SeenRequest, answer: DescribeGroupsResponse) -> None:
    """DescribeGroups reports an unknown group as empty, from v6 on without an error message."""
    for group in answer.groups:
        if group.group_state == "Dead":
            group.group_state = "Empty"
        if seen.version >= NOT_FOUND:
            group.error_message = None


@answers("GRP-028", r"read was ")
def data_of_consumers_are_text(answer: DescribeGroupsResponse) -> None:
    """DescribeGroups returns a byte that is not ASCII as a question mark."""
    for group in answer.groups:
        for member in group.members:
            member.member_metadata = bytes(member.member_metadata).replace(b"\x01\xff", b"\x01?")


def _partitions(message: SyncGroupResponse) -> list[int] | None:
    """The partitions in a consumer's assignment; None if it cannot be decoded."""
    try:
        assignment = read_assignment(bytes(message.assignment)).message
    except DecodeError:
        return None
    return [index for entry in assignment.assigned_partitions for index in entry.partitions]


def _assign(message: SyncGroupResponse, topic: str, partitions: list[int]) -> None:
    entry = ConsumerProtocolAssignment.TopicPartition(topic=topic, partitions=partitions)
    assignment = ConsumerProtocolAssignment(assigned_partitions=[entry])
    message.assignment = version_prefixed_bytes(assignment, 0)


@answers("GRP-026", r"the members read", OLD_SYNCS)
def all_are_told_all_partitions(answer: SyncGroupResponse) -> None:
    """A member that shares a topic with another one receives the other's partitions too."""
    if _partitions(answer) in ([0, 2], [1, 3]):
        _assign(answer, "any", [0, 1, 2, 3])


@answers("GRP-027", r"the members have \[1, 1, 1\] partitions", OLD_SYNCS)
def nobody_is_without_a_partition(answer: SyncGroupResponse) -> None:
    """A consumer without a partition receives the first one."""
    if _partitions(answer) == []:
        _assign(answer, "any", [0])


@answers("GRP-040", r"the leader receives that")
def nobody_owns_anything(answer: JoinGroupResponse) -> None:
    """The leader receives from a subscription only the fields of its version 0."""
    if answer.protocol_name == "cooperative-sticky":
        for entry in answer.members:
            said = read_subscription(bytes(entry.metadata)).message
            said.owned_partitions = []
            entry.metadata = version_prefixed_bytes(said, 0)


@answers("GRP-069", r"requested: True, the operations are \[\d+, -2147483648, ", range(3, 99))
def only_the_first_group_has_operations(answer: DescribeGroupsResponse) -> None:
    """DescribeGroups returns the authorized operations of the first group alone."""
    for described in answer.groups[1:]:
        described.authorized_operations = -(2**31)


DEFECTS = [
    only_the_first_group_has_operations,
    changed_field("GRP-030", "nobody_knows_where_members_are", r"the hosts of the members are",
        "DescribeGroups returns no host of a member.",
        DescribeGroupsResponse, "groups.members.client_host", ANY, ""),
    changed_field("GRP-044", "dynamic_members_have_an_empty_instance_id",
        r"the instance ids are .*: ''",
        "DescribeGroups returns an empty instance id instead of null for a dynamic member.",
        DescribeGroupsResponse, "groups.members.group_instance_id", None, "", range(4, 99)),
    what_is_not_there_is_empty,
    data_of_consumers_are_text,
    changed_field("GRP-033", "all_types_are_listed",
        r"listed with the types|listed with Stable and consumer: True",
        "ListGroups ignores the filter for types.",
        ListGroupsRequest, "types_filter", ANY, [], range(TYPES, 99)),
    changed_field("GRP-034", "groups_with_members_seem_deleted", r"with a member: error is NONE",
        "DeleteGroups reports a group with members as deleted.",
        DeleteGroupsResponse, "results.error_code", ErrorCode.NON_EMPTY_GROUP, ErrorCode.NONE),
    changed_field("GRP-053", "emptied_groups_lose_their_type", r"its type is ''",
        "ListGroups returns no protocol type for a group that all members have left.",
        ListGroupsResponse, "groups.protocol_type", "consumer", "",
        where={"groups.group_state": "Empty"}),
    changed_field("GRP-053", "emptied_groups_are_dead", r"the group is described as \('Dead'",
        "DescribeGroups describes a group without members as one that does not exist.",
        DescribeGroupsResponse, "groups.group_state", "Empty", "Dead"),
    all_are_told_all_partitions,
    nobody_is_without_a_partition,
    nobody_owns_anything,
]  # fmt: skip
