"""DescribeTopicPartitions: API key 75, versions 0 to 0.

Behaviour
- Topics come in the order of their names, in pages with a limit of partitions; the cursor names the
  first partition of the next page.
- Without names all topics are meant, but for those that the client may not describe; by name such a
  topic is unauthorized, if it exists or not.
- A cursor outside of the named topics, or at a negative partition, makes the request invalid.

Not done
- A standalone broker has all replicas in sync, so it never has an eligible leader beside the ISR
  (KIP-966).
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
)
from harness.reference_broker.handlers.authorized_operations import topic_operations
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.rights import DESCRIBE, TOPIC, may
from harness.reference_broker.handlers.seen_partition import seen_partition
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.topics.topic import TopicState
from harness.reference_broker.state.topics.topic_names import INTERNAL_TOPICS, topic_name_problem
from harness.reference_broker.state.topics.topic_pages import topic_page

API_KEY = 75
_Topic = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponseTopic
_Partition = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition


def handle(request: DescribeTopicPartitionsRequest, context: RequestContext) -> Answer:
    """Return one page (class DescribeTopicPartitionsRequestHandler)."""
    cluster, cursor = context.state.cluster, request.cursor
    names = {topic.name for topic in request.topics}
    if cursor is not None:
        is_elsewhere = bool(names) and cursor.topic_name not in names
        if is_elsewhere or cursor.partition_index < 0:
            return _refused(request)
    limit = min(request.response_partition_limit, context.state.limits.describe_partitions)
    asked = names or {topic.name for topic in cluster.topics()}
    shown = {name for name in asked if may(context, DESCRIBE, TOPIC, name)}
    page = topic_page(
        shown,
        cluster,
        ("", 0) if cursor is None else (cursor.topic_name, cursor.partition_index),
        max(limit, 1),
    )
    answer = DescribeTopicPartitionsResponse(
        topics=[
            _unknown(part.name, context)
            if part.topic is None
            else _described(part.topic, part.partitions, context)
            for part in page.parts
        ]
    )
    if page.next_place is not None:
        name, index = page.next_place
        answer.next_cursor = DescribeTopicPartitionsResponse.Cursor(
            topic_name=name, partition_index=index
        )
    first = "" if cursor is None else cursor.topic_name
    answer.topics += [_hidden(name) for name in sorted(names - shown) if name >= first]
    return Answer(answer)


def _refused(request: DescribeTopicPartitionsRequest) -> Answer:
    topics = [
        _Topic(error_code=ErrorCode.INVALID_REQUEST, name=topic.name) for topic in request.topics
    ]
    return Answer(DescribeTopicPartitionsResponse(topics=topics))


def _hidden(name: str) -> _Topic:
    return _Topic(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name)


def _unknown(name: str, context: RequestContext) -> _Topic:
    is_legal = topic_name_problem(name) is None
    return _Topic(
        error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if is_legal
        else ErrorCode.INVALID_TOPIC_EXCEPTION,
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=topic_operations(name, context),
    )


def _described(topic: TopicState, partitions: list[Partition], context: RequestContext) -> _Topic:
    return _Topic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[_partition(partition, context) for partition in partitions],
        topic_authorized_operations=topic_operations(topic.name, context),
    )


def _partition(partition: Partition, context: RequestContext) -> _Partition:
    registered = partition.registration
    seen = seen_partition(registered, context)
    return _Partition(
        error_code=seen.error,
        partition_index=partition.index,
        leader_id=seen.leader_id,
        leader_epoch=registered.leader_epoch,
        replica_nodes=[*registered.replicas],
        isr_nodes=[*registered.isr],
        eligible_leader_replicas=[*registered.elr],
        last_known_elr=[*registered.last_known_elr],
        offline_replicas=seen.offline,
    )
