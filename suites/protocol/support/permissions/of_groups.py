"""Requests of the permission matrix that name groups, their members or their offsets."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.codec.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupHeartbeatRequest,
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)
from suites.protocol.support.committed_offsets import (
    commit_request,
    entry,
    fetch_offsets,
    fetch_request,
)
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.scene import Scene

FIRST_OF_SEVERAL_KEYS = 4
FIRST_LEAVE_OF_SEVERAL = 3
FIRST_SYNC_WITH_PROTOCOL = 5
MEMBER = "not-a-member"
TOO_SHORT_MS = 1
"""A session timeout that no broker accepts, so that an authorized join leaves no member."""
LATER_EPOCH = 5


def find_coordinator(key: str, key_type: int, version: int) -> FindCoordinatorRequest:
    """Ask for the coordinator of one key."""
    if version >= FIRST_OF_SEVERAL_KEYS:
        return FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    return FindCoordinatorRequest(key=key, key_type=key_type)


def _find_group(scene: Scene, version: int) -> FindCoordinatorRequest:
    return find_coordinator(scene.group, 0, version)


def _join(scene: Scene, _: int) -> JoinGroupRequest:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
    return JoinGroupRequest(
        group_id=scene.group,
        session_timeout_ms=TOO_SHORT_MS,
        rebalance_timeout_ms=TOO_SHORT_MS,
        member_id="",
        protocol_type="consumer",
        protocols=[protocol],
    )


def _sync(scene: Scene, version: int) -> SyncGroupRequest:
    request = SyncGroupRequest(
        group_id=scene.group, generation_id=1, member_id=MEMBER, assignments=[]
    )
    if version >= FIRST_SYNC_WITH_PROTOCOL:
        request.protocol_type, request.protocol_name = "consumer", "range"
    return request


def _heartbeat(scene: Scene, _: int) -> HeartbeatRequest:
    return HeartbeatRequest(group_id=scene.group, generation_id=1, member_id=MEMBER)


def _leave(scene: Scene, version: int) -> LeaveGroupRequest:
    if version < FIRST_LEAVE_OF_SEVERAL:
        return LeaveGroupRequest(group_id=scene.group, member_id=MEMBER)
    member = LeaveGroupRequest.MemberIdentity(member_id=MEMBER)
    return LeaveGroupRequest(group_id=scene.group, members=[member])


def _commit(scene: Scene, version: int) -> OffsetCommitRequest:
    scene.broker.delete_group_later(scene.group)
    return commit_request(scene.group, {scene.topic: [entry(2)]}, version)


def _fetch(scene: Scene, version: int) -> OffsetFetchRequest:
    return fetch_request({scene.group: {scene.topic: [0]}}, version)


def _fetch_all(scene: Scene, version: int) -> OffsetFetchRequest:
    return fetch_request({scene.group: None}, version)


def _delete_offsets(scene: Scene, _: int) -> OffsetDeleteRequest:
    partition = OffsetDeleteRequest.OffsetDeleteRequestPartition(partition_index=0)
    named = OffsetDeleteRequest.OffsetDeleteRequestTopic(
        name=scene.topic.name, partitions=[partition]
    )
    return OffsetDeleteRequest(group_id=scene.group, topics=[named])


def _offset(scene: Scene) -> int:
    found = fetch_offsets(scene.broker, scene.group, {scene.topic: [0]})
    return found.partitions[scene.topic.name, 0].committed_offset


def _describe(scene: Scene, version: int) -> DescribeGroupsRequest:
    return DescribeGroupsRequest(groups=[scene.group], include_authorized_operations=version >= 3)


def _list(_: Scene, __: int) -> ListGroupsRequest:
    return ListGroupsRequest()


def _delete(scene: Scene, _: int) -> DeleteGroupsRequest:
    return DeleteGroupsRequest(groups_names=[scene.group])


def _is_listed(scene: Scene) -> bool:
    return scene.group in [one.group_id for one in scene.broker.ask(ListGroupsRequest()).groups]


def _newer_heartbeat(scene: Scene, _: int) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id=scene.group,
        member_id=MEMBER,
        member_epoch=LATER_EPOCH,
        subscribed_topic_names=[scene.topic.name],
    )


def _newer_describe(scene: Scene, _: int) -> ConsumerGroupDescribeRequest:
    return ConsumerGroupDescribeRequest(group_ids=[scene.group])


ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        "FindCoordinator": Asked(_find_group),
        "JoinGroup": Asked(_join),
        "SyncGroup": Asked(_sync),
        "Heartbeat": Asked(_heartbeat),
        "LeaveGroup": Asked(_leave),
        "OffsetCommit": Asked(_commit, Scene.make_group),
        "OffsetFetch": Asked(_fetch, Scene.make_group),
        "OffsetFetch/all": Asked(_fetch_all, Scene.make_group),
        "OffsetDelete": Asked(_delete_offsets, Scene.make_group, _offset),
        "DescribeGroups": Asked(_describe, Scene.make_group, secret="groups.group_state"),
        "ListGroups": Asked(_list, Scene.make_group),
        "DeleteGroups": Asked(_delete, Scene.make_group, _is_listed),
        "ConsumerGroupHeartbeat": Asked(_newer_heartbeat, lambda scene: scene.topic),
        "ConsumerGroupHeartbeat/topics": Asked(_newer_heartbeat, lambda scene: scene.topic),
        "ConsumerGroupDescribe": Asked(_newer_describe),
    }
)
"""By the form of the row."""
