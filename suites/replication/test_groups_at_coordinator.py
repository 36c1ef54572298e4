"""COORD: requests of groups and their members at brokers that do not coordinate the group."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    LeaveGroupRequest,
    OffsetDeleteRequest,
)
from harness.codec.structs import Message, Request
from harness.conformance.checks import Check, requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import SEVERAL_LEAVE, ClientMember
from suites.protocol.support.committed_offsets import commit, entry, fetch_offsets
from suites.protocol.support.expect import expect_error
from suites.replication.support.coordinators import CoordinatedGroup, PlacedGroup, new_group

M = TypeVar("M", bound=Message)
OFFSET = 7


def _stable(cluster: Cluster) -> tuple[CoordinatedGroup, ClientMember]:
    """Return a stable group with one member."""
    place = new_group(cluster)
    (member,) = PlacedGroup(cluster, place).stable(None)
    return place, member


def _with_offset(cluster: Cluster) -> tuple[CoordinatedGroup, Topic]:
    """Return a group without members that has an offset of a topic."""
    topic, place = cluster.create_topic(), new_group(cluster)
    commit(cluster.at(place.node), place.group, {topic: [entry(OFFSET)]})
    return place, topic


def _expect_refused(
    check: Check,
    cluster: Cluster,
    place: CoordinatedGroup,
    request: Request[M],
    version: int,
    code_of: Callable[[M], int],
) -> None:
    """Each broker but the coordinator returns NOT_COORDINATOR."""
    for node in cluster.others(place.node):
        with check.subtest(f"broker {node}"):
            code = code_of(cluster.at(node).ask(request, version))
            expect_error(code, ErrorCode.NOT_COORDINATOR, f"broker {node}")


def _expect_member_stays(member: ClientMember) -> None:
    expect_error(member.heartbeat(), ErrorCode.NONE, "a heartbeat at the coordinator")


@judges("COORD-008")
@at_versions("JoinGroup")
def test_join_group_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """A new client's; the member's group stays as it is."""
    place, member = _stable(cluster)
    newcomer = member.group.at("JoinGroup", api_version).member()
    with requirement("COORD-008") as check:
        request = newcomer.join_request()
        _expect_refused(check, cluster, place, request, api_version, lambda got: got.error_code)
        _expect_member_stays(member)


@judges("COORD-008")
@at_versions("SyncGroup")
def test_sync_group_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """The member's own, which the coordinator accepts."""
    place, member = _stable(cluster)
    member.group.at("SyncGroup", api_version)
    with requirement("COORD-008") as check:
        request = member.sync_request()
        _expect_refused(check, cluster, place, request, api_version, lambda got: got.error_code)
        expect_error(member.ask_sync().error_code, ErrorCode.NONE, "SyncGroup at the coordinator")


@judges("COORD-008")
@at_versions("Heartbeat")
def test_heartbeat_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """The member's own, which the coordinator accepts."""
    place, member = _stable(cluster)
    with requirement("COORD-008") as check:
        request = member.heartbeat_request()
        _expect_refused(check, cluster, place, request, api_version, lambda got: got.error_code)
        _expect_member_stays(member)


@judges("COORD-008")
@at_versions("LeaveGroup", "0-2", "3+")
def test_leave_group_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """The member stays."""
    place, member = _stable(cluster)
    request = LeaveGroupRequest(group_id=place.group, member_id=member.member_id)
    if api_version >= SEVERAL_LEAVE:
        leaver = LeaveGroupRequest.MemberIdentity(member_id=member.member_id)
        request = LeaveGroupRequest(group_id=place.group, members=[leaver])
    with requirement("COORD-008") as check:
        _expect_refused(check, cluster, place, request, api_version, lambda got: got.error_code)
        _expect_member_stays(member)


@judges("COORD-008")
@at_versions("DescribeGroups")
def test_describe_groups_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """Not that the group is Dead."""
    place, _ = _stable(cluster)
    with requirement("COORD-008") as check:
        request = DescribeGroupsRequest(groups=[place.group])
        _expect_refused(
            check, cluster, place, request, api_version, lambda got: got.groups[0].error_code
        )


@judges("COORD-008")
@at_versions("DeleteGroups")
def test_delete_groups_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """The group could be deleted; its offset stays."""
    place, topic = _with_offset(cluster)
    with requirement("COORD-008") as check:
        request = DeleteGroupsRequest(groups_names=[place.group])
        _expect_refused(
            check, cluster, place, request, api_version, lambda got: got.results[0].error_code
        )
        kept = fetch_offsets(cluster.at(place.node), place.group, {topic: [0]})
        kept.expect(topic, OFFSET, where="the coordinator")


@judges("COORD-008")
@at_versions("OffsetDelete")
def test_offset_delete_at_non_coordinator_returns_not_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """The offset stays."""
    place, topic = _with_offset(cluster)
    partition = OffsetDeleteRequest.OffsetDeleteRequestPartition(partition_index=0)
    entries = [
        OffsetDeleteRequest.OffsetDeleteRequestTopic(name=topic.name, partitions=[partition])
    ]
    with requirement("COORD-008") as check:
        request = OffsetDeleteRequest(group_id=place.group, topics=entries)
        _expect_refused(check, cluster, place, request, api_version, lambda got: got.error_code)
        kept = fetch_offsets(cluster.at(place.node), place.group, {topic: [0]})
        kept.expect(topic, OFFSET, where="the coordinator")
