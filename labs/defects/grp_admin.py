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
    ListGroupsRequest,
    SyncGroupResponse,
)
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers
from labs.defects.edited_request import takes
from labs.defects.grp import join_of
from labs.defects.grp_members import OLD_SYNCS

NOT_FOUND, TYPES = 6, 5


@answers("GRP-030", r"the hosts of the members are", "DescribeGroups")
def nobody_knows_where_members_are(_seen: SeenRequest, message: Message) -> None:
    """DescribeGroups returns no host of a member."""
    assert isinstance(message, DescribeGroupsResponse)
    for group in message.groups:
        for member in group.members:
            member.client_host = ""


@answers("GRP-031", r"id, state and members are|there is no error message", "DescribeGroups")
def what_is_not_there_is_empty(seen: SeenRequest, message: Message) -> None:
    """DescribeGroups reports an unknown group as empty, from v6 on without an error message."""
    assert isinstance(message, DescribeGroupsResponse)
    for group in message.groups:
        if group.group_state == "Dead":
            group.group_state = "Empty"
        if seen.version >= NOT_FOUND:
            group.error_message = None


@answers("GRP-028", r"read was ", "DescribeGroups")
def data_of_consumers_are_text(_seen: SeenRequest, message: Message) -> None:
    """DescribeGroups returns a byte that is not ASCII as a question mark."""
    assert isinstance(message, DescribeGroupsResponse)
    for group in message.groups:
        for member in group.members:
            member.member_metadata = bytes(member.member_metadata).replace(b"\x01\xff", b"\x01?")


@takes("GRP-033", r"among those of type consumer", ListGroupsRequest, range(TYPES, 99))
def all_types_are_listed(message: ListGroupsRequest) -> None:
    """ListGroups ignores the filter for types."""
    message.types_filter = []


@answers("GRP-034", r"with a member: error is NONE", "DeleteGroups")
def groups_with_members_seem_deleted(_seen: SeenRequest, message: Message) -> None:
    """DeleteGroups reports a group with members as deleted."""
    assert isinstance(message, DeleteGroupsResponse)
    for result in message.results:
        if result.error_code == ErrorCode.NON_EMPTY_GROUP:
            result.error_code = ErrorCode.NONE


def _partitions(message: Message) -> list[int] | None:
    """The partitions in a consumer's assignment; None if it cannot be decoded."""
    assert isinstance(message, SyncGroupResponse)
    try:
        assignment = read_assignment(bytes(message.assignment)).message
    except DecodeError:
        return None
    return [index for entry in assignment.assigned_partitions for index in entry.partitions]


def _assign(message: Message, topic: str, partitions: list[int]) -> None:
    assert isinstance(message, SyncGroupResponse)
    entry = ConsumerProtocolAssignment.TopicPartition(topic=topic, partitions=partitions)
    assignment = ConsumerProtocolAssignment(assigned_partitions=[entry])
    message.assignment = version_prefixed_bytes(assignment, 0)


@answers("GRP-026", r"the members read", "SyncGroup", OLD_SYNCS)
def all_are_told_all_partitions(_seen: SeenRequest, message: Message) -> None:
    """A member that shares a topic with another one receives the other's partitions too."""
    if _partitions(message) in ([0, 2], [1, 3]):
        _assign(message, "any", [0, 1, 2, 3])


@answers("GRP-027", r"the members have \[1, 1, 1\] partitions", "SyncGroup", OLD_SYNCS)
def nobody_is_without_a_partition(_seen: SeenRequest, message: Message) -> None:
    """A consumer without a partition receives the first one."""
    if _partitions(message) == []:
        _assign(message, "any", [0])


@answers("GRP-040", r"the leader is told that", "JoinGroup")
def nobody_owns_anything(seen: SeenRequest, message: Message) -> None:
    """The leader receives from a subscription only the fields of its version 0."""
    _, answer = join_of(seen, message)
    if answer.protocol_name == "cooperative-sticky":
        for entry in answer.members:
            said = read_subscription(bytes(entry.metadata)).message
            said.owned_partitions = []
            entry.metadata = version_prefixed_bytes(said, 0)


DEFECTS = [
    nobody_knows_where_members_are,
    what_is_not_there_is_empty,
    data_of_consumers_are_text,
    all_types_are_listed,
    groups_with_members_seem_deleted,
    all_are_told_all_partitions,
    nobody_is_without_a_partition,
    nobody_owns_anything,
]
