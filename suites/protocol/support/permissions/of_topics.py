"""Requests of the permission matrix that name topics, their records or their configs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from harness.client.requests import (
    LATEST,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
    produce_request,
)
from harness.codec.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteRecordsRequest,
    DeleteTopicsRequest,
    DescribeProducersRequest,
    DescribeTopicPartitionsRequest,
    FetchRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
)
from suites.protocol.support.appended import batch_of
from suites.protocol.support.permissions.asked import Asked
from suites.protocol.support.permissions.scene import Scene
from suites.protocol.support.topic_admin import FIRST_DELETE_BY_ID, creatable, partition_count

FIRST_ALL_BY_NULL = 1
FIRST_AUTO_CREATION_IS_ASKED = 4
REPLICA_IN_STATE = 15
WAIT_MS = 10_000
EARLIEST = -2
PARTITIONS_AFTER = 2


def _metadata(scene: Scene, version: int) -> MetadataRequest:
    return _metadata_of(scene.topic.name, version)


def _metadata_of(name: str, version: int) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=name)],
        allow_auto_topic_creation=version < FIRST_AUTO_CREATION_IS_ASKED,
    )


def _metadata_by_id(scene: Scene, _: int) -> MetadataRequest:
    named = MetadataRequest.MetadataRequestTopic(topic_id=scene.topic.id, name=None)
    return MetadataRequest(topics=[named], allow_auto_topic_creation=False)


def _metadata_of_all(scene: Scene, version: int) -> MetadataRequest:
    assert scene.topic, "it exists"
    return MetadataRequest(
        topics=None if version >= FIRST_ALL_BY_NULL else [],
        allow_auto_topic_creation=version < FIRST_AUTO_CREATION_IS_ASKED,
    )


def _metadata_that_creates(scene: Scene, _: int) -> MetadataRequest:
    named = MetadataRequest.MetadataRequestTopic(name=scene.new_topic)
    return MetadataRequest(topics=[named], allow_auto_topic_creation=True)


def _metadata_with_operations(scene: Scene, _: int) -> MetadataRequest:
    named = MetadataRequest.MetadataRequestTopic(name=scene.topic.name)
    return MetadataRequest(
        topics=[named],
        allow_auto_topic_creation=False,
        include_topic_authorized_operations=True,
    )


def _described(scene: Scene, _: int) -> DescribeTopicPartitionsRequest:
    named = DescribeTopicPartitionsRequest.TopicRequest(name=scene.topic.name)
    return DescribeTopicPartitionsRequest(topics=[named], response_partition_limit=10, cursor=None)


def _all_described(scene: Scene, _: int) -> DescribeTopicPartitionsRequest:
    assert scene.topic, "it exists"
    return DescribeTopicPartitionsRequest(topics=[], response_partition_limit=2000, cursor=None)


def _exists(scene: Scene, name: str) -> bool:
    answer = scene.broker.metadata([name])
    return all(topic.error_code == 0 for topic in answer.topics)


def _produce(scene: Scene, version: int) -> ProduceRequest:
    return produce_request(scene.topic, batch_of(b"more", version=version), version)


def _fetch(scene: Scene, version: int) -> FetchRequest:
    return fetch_request([fetch_topic(scene.topic, version, [fetch_partition(0)])])


def _fetch_as_follower(scene: Scene, version: int) -> FetchRequest:
    request = _fetch(scene, version)
    if version >= REPLICA_IN_STATE:
        request.replica_state = FetchRequest.ReplicaState(replica_id=_OTHER_NODE, replica_epoch=-1)
    else:
        request.replica_id = _OTHER_NODE
    return request


_OTHER_NODE = 99


def _list_offsets(scene: Scene, _: int) -> ListOffsetsRequest:
    return list_offsets_request(scene.topic, LATEST)


def _epoch_end(scene: Scene, _: int) -> OffsetForLeaderEpochRequest:
    partition = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(
        partition=0, current_leader_epoch=-1, leader_epoch=0
    )
    named = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(
        topic=scene.topic.name, partitions=[partition]
    )
    return OffsetForLeaderEpochRequest(replica_id=-1, topics=[named])


def _delete_records(scene: Scene, _: int) -> DeleteRecordsRequest:
    partition = DeleteRecordsRequest.DeleteRecordsPartition(partition_index=0, offset=1)
    named = DeleteRecordsRequest.DeleteRecordsTopic(name=scene.topic.name, partitions=[partition])
    return DeleteRecordsRequest(topics=[named], timeout_ms=WAIT_MS)


def _first_offset(scene: Scene) -> int:
    return scene.broker.list_offset(scene.topic, EARLIEST).offset


def _describe_producers(scene: Scene, _: int) -> DescribeProducersRequest:
    named = DescribeProducersRequest.TopicRequest(name=scene.topic.name, partition_indexes=[0])
    return DescribeProducersRequest(topics=[named])


def _create_topics(scene: Scene, _: int) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=[creatable(scene.new_topic)], timeout_ms=WAIT_MS)


def _delete_topics(scene: Scene, version: int) -> DeleteTopicsRequest:
    if version < FIRST_DELETE_BY_ID:
        return DeleteTopicsRequest(topic_names=[scene.topic.name], timeout_ms=WAIT_MS)
    named = DeleteTopicsRequest.DeleteTopicState(name=scene.topic.name)
    return DeleteTopicsRequest(topics=[named], timeout_ms=WAIT_MS)


def _delete_topics_by_id(scene: Scene, _: int) -> DeleteTopicsRequest:
    named = DeleteTopicsRequest.DeleteTopicState(name=None, topic_id=scene.topic.id)
    return DeleteTopicsRequest(topics=[named], timeout_ms=WAIT_MS)


def _grow(scene: Scene, _: int) -> CreatePartitionsRequest:
    grown = CreatePartitionsRequest.CreatePartitionsTopic(
        name=scene.topic.name, count=PARTITIONS_AFTER, assignments=None
    )
    return CreatePartitionsRequest(topics=[grown], timeout_ms=WAIT_MS, validate_only=False)


def _topic(scene: Scene) -> Topic:
    return scene.topic


def _topic_exists(scene: Scene) -> bool:
    return _exists(scene, scene.topic.name)


def _new_topic_exists(scene: Scene) -> bool:
    return _exists(scene, scene.new_topic)


ASKED: Mapping[str, Asked] = MappingProxyType(
    {
        "Metadata": Asked(_metadata, _topic, secret="topics.partitions"),
        "Metadata/by id": Asked(_metadata_by_id, _topic, secret="topics.partitions"),
        "Metadata/all": Asked(_metadata_of_all, _topic),
        "Metadata/creating": Asked(_metadata_that_creates, state=_new_topic_exists),
        "Metadata/operations": Asked(_metadata_with_operations, _topic),
        "DescribeTopicPartitions": Asked(_described, _topic, secret="topics.partitions"),
        "DescribeTopicPartitions/all": Asked(_all_described, _topic),
        "Produce": Asked(_produce, _topic, lambda scene: scene.broker.end_offset(scene.topic)),
        "Fetch": Asked(_fetch, _topic, secret="responses.partitions.records"),
        "Fetch/follower": Asked(_fetch_as_follower, _topic, secret="responses.partitions.records"),
        "ListOffsets": Asked(_list_offsets, _topic),
        "OffsetForLeaderEpoch": Asked(_epoch_end, _topic, secret="topics.partitions.end_offset"),
        "DeleteRecords": Asked(_delete_records, _topic, _first_offset),
        "DescribeProducers": Asked(_describe_producers, _topic),
        "CreateTopics": Asked(_create_topics, state=_new_topic_exists),
        "DeleteTopics": Asked(_delete_topics, _topic, _topic_exists),
        "DeleteTopics/by id": Asked(_delete_topics_by_id, _topic, _topic_exists),
        "CreatePartitions": Asked(
            _grow, _topic, lambda scene: partition_count(scene.broker, scene.topic)
        ),
    }
)
"""By the form of the row."""
