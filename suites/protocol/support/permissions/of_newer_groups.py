"""Requests of the permission matrix about share and streams groups (KIP-932, KIP-1071)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequest,
    ShareAcknowledgeRequest,
    ShareFetchRequest,
    ShareGroupDescribeRequest,
    ShareGroupHeartbeatRequest,
    StreamsGroupDescribeRequest,
    StreamsGroupHeartbeatRequest,
)
from harness.conformance.outcome import NotSupported
from suites.protocol.support.expect import expect_error
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.scene import Scene

MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"
"""An id in the form of Kafka, of no member."""
LATER_EPOCH = 5
FIRST_EPOCH = 0


def _heartbeat(scene: Scene, _: int) -> ShareGroupHeartbeatRequest:
    return ShareGroupHeartbeatRequest(
        group_id=scene.group,
        member_id=MEMBER,
        member_epoch=LATER_EPOCH,
        subscribed_topic_names=[scene.topic.name],
    )


def _describe(scene: Scene, _: int) -> ShareGroupDescribeRequest:
    return ShareGroupDescribeRequest(group_ids=[scene.group])


def _fetch(scene: Scene, _: int) -> ShareFetchRequest:
    named = ShareFetchRequest.FetchTopic(
        topic_id=scene.topic.id, partitions=[ShareFetchRequest.FetchPartition(partition_index=0)]
    )
    return ShareFetchRequest(
        group_id=scene.group,
        member_id=MEMBER,
        share_session_epoch=FIRST_EPOCH,
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=1 << 20,
        topics=[named],
    )


def _acknowledge(scene: Scene, _: int) -> ShareAcknowledgeRequest:
    batch = ShareAcknowledgeRequest.AcknowledgementBatch(
        first_offset=0, last_offset=0, acknowledge_types=[1]
    )
    partition = ShareAcknowledgeRequest.AcknowledgePartition(
        partition_index=0, acknowledgement_batches=[batch]
    )
    named = ShareAcknowledgeRequest.AcknowledgeTopic(
        topic_id=scene.topic.id, partitions=[partition]
    )
    return ShareAcknowledgeRequest(
        group_id=scene.group, member_id=MEMBER, share_session_epoch=LATER_EPOCH, topics=[named]
    )


def _offsets(scene: Scene, _: int) -> DescribeShareGroupOffsetsRequest:
    named = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestTopic(
        topic_name=scene.topic.name, partitions=[0]
    )
    group = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup(
        group_id=scene.group, topics=[named]
    )
    return DescribeShareGroupOffsetsRequest(groups=[group])


def _change_offsets(scene: Scene, _: int) -> AlterShareGroupOffsetsRequest:
    partition = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestPartition(
        partition_index=0, start_offset=1
    )
    named = AlterShareGroupOffsetsRequest.AlterShareGroupOffsetsRequestTopic(
        topic_name=scene.topic.name, partitions=[partition]
    )
    scene.broker.delete_group_later(scene.group)
    return AlterShareGroupOffsetsRequest(group_id=scene.group, topics=[named])


def _delete_offsets(scene: Scene, _: int) -> DeleteShareGroupOffsetsRequest:
    named = DeleteShareGroupOffsetsRequest.DeleteShareGroupOffsetsRequestTopic(
        topic_name=scene.topic.name
    )
    return DeleteShareGroupOffsetsRequest(group_id=scene.group, topics=[named])


def _streams_heartbeat(scene: Scene, _: int) -> StreamsGroupHeartbeatRequest:
    return StreamsGroupHeartbeatRequest(
        group_id=scene.group, member_id=MEMBER, member_epoch=LATER_EPOCH
    )


def _streams_describe(scene: Scene, _: int) -> StreamsGroupDescribeRequest:
    return StreamsGroupDescribeRequest(group_ids=[scene.group])


def _with_offsets(scene: Scene) -> None:
    """A share group begins with its first offsets."""
    version = scene.broker.version("AlterShareGroupOffsets")
    answer = scene.broker.ask(_change_offsets(scene, version), version)
    if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
        raise NotSupported("share groups, which Kafka enables since 4.2")
    expect_error(answer.error_code, ErrorCode.NONE, "AlterShareGroupOffsets")


def _topic(scene: Scene) -> object:
    return scene.topic


ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        "ShareGroupHeartbeat": Asked(_heartbeat, _topic),
        "ShareGroupDescribe": Asked(_describe),
        "ShareFetch": Asked(_fetch, _topic),
        "ShareAcknowledge": Asked(_acknowledge, _topic),
        "DescribeShareGroupOffsets": Asked(_offsets, _topic),
        "AlterShareGroupOffsets": Asked(_change_offsets, _topic),
        "DeleteShareGroupOffsets": Asked(_delete_offsets, _with_offsets),
        "StreamsGroupHeartbeat": Asked(_streams_heartbeat),
        "StreamsGroupDescribe": Asked(_streams_describe),
    }
)
"""By the form of the row."""
