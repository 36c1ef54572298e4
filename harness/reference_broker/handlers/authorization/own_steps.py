"""The steps of requests that no general step fits: Produce, the creation and deletion of topics,
and coordinators.

Source: classes KafkaApis (handleProduceRequest, getCoordinator), ControllerApis (createTopics,
deleteTopics), RequestUtils (hasTransactionalRecords).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers import rights
from harness.reference_broker.handlers.authorization.refusals import TEXTS
from harness.reference_broker.handlers.authorization.steps import ERROR_OF, Following, mapped
from harness.reference_broker.handlers.outcome import (
    Answer,
    CloseConnection,
    Outcome,
    RequestContext,
)
from harness.reference_broker.state.topics.topic_names import CLUSTER_METADATA_TOPIC

TOPIC_REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_MAGIC_AT, _ATTRIBUTES_AT, _LENGTH = 16, 22, slice(8, 12)
_BEFORE_LENGTH, _FIRST_MAGIC_WITH_PRODUCERS, _TRANSACTIONAL = 12, 2, 1 << 4
_LEAST_LENGTH = 14  # class ByteBufferLogInputStream
_NO_ID = UUID(int=0)
_GROUP_KEY, _TRANSACTION_KEY, _SHARE_KEY = range(3)
_KEYS = {_GROUP_KEY: rights.GROUP, _TRANSACTION_KEY: rights.TRANSACTIONAL_ID}
_NO_NODE = -1
_FIRST_FIND_WITH_MANY = 4
_METADATA_LOG_IS_RESERVED = (3, 9)
_DeletedTopic = messages.DeleteTopicsResponse.DeletableTopicResult


def transactional_records(
    request: messages.ProduceRequest, context: RequestContext
) -> ErrorCode | None:
    """Check the right to the transactional id, if any batch is of a transaction."""
    if not any(map(_is_transactional, _first_batches_of(request))):
        return None
    name = request.transactional_id
    allowed = name is not None and rights.may(context, rights.WRITE, rights.TRANSACTIONAL_ID, name)
    return None if allowed else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED


def _first_batches_of(request: messages.ProduceRequest) -> Iterator[bytes]:
    """Yield the beginning of the first batch of each partition, where it is whole."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            data = bytes(partition.records or b"")
            length = int.from_bytes(data[_LENGTH], "big", signed=True)
            if len(data) > _ATTRIBUTES_AT and _LEAST_LENGTH <= length <= len(data) - _BEFORE_LENGTH:
                yield data[: _ATTRIBUTES_AT + 1]


def all_records_refused(
    request: messages.ProduceRequest, error: ErrorCode, _: RequestContext
) -> messages.ProduceResponse:
    """Return the error for each partition once, and leave out topics without any.

    Source: class ProduceRequest, getErrorResponse.
    """
    topics: dict[tuple[str, UUID], dict[int, None]] = {}
    for topic in request.topic_data:
        for data in topic.partition_data:
            topics.setdefault((topic.name, topic.topic_id), {})[data.index] = None
    made = messages.ProduceResponse
    return made(
        responses=[
            made.TopicProduceResponse(
                name=name,
                topic_id=topic_id,
                partition_responses=[
                    made.PartitionProduceResponse(index=index, error_code=error, base_offset=-1)
                    for index in partitions
                ],
            )
            for (name, topic_id), partitions in topics.items()
        ]
    )


def _is_transactional(head: bytes) -> bool:
    return head[_MAGIC_AT] >= _FIRST_MAGIC_WITH_PRODUCERS and bool(
        head[_ATTRIBUTES_AT] & _TRANSACTIONAL
    )


def unanswered_produce(
    request: messages.ProduceRequest, _: RequestContext, following: Following
) -> Outcome:
    """Close the connection of a client without answers in which a topic is refused."""
    asked = list(request.topic_data)
    outcome = following(request)
    if request.acks != 0 or isinstance(outcome, CloseConnection):
        return outcome
    is_refused = len(request.topic_data) < len(asked) or isinstance(outcome, Answer)
    return CloseConnection("a topic is refused") if is_refused else outcome


def producer_id(
    request: messages.InitProducerIdRequest, context: RequestContext
) -> ErrorCode | None:
    """Check the rights to the transactional id, or to write to the cluster or to any topic."""
    name = request.transactional_id
    if name is not None:
        needed = [rights.WRITE, *([rights.TWO_PHASE_COMMIT] if request.enable2_pc else [])]
        allowed = all(rights.may(context, one, rights.TRANSACTIONAL_ID, name) for one in needed)
        return None if allowed else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    allowed = rights.may_cluster(context, rights.IDEMPOTENT_WRITE) or rights.may_with_any(
        context, rights.WRITE, rights.TOPIC
    )
    return None if allowed else ErrorCode.CLUSTER_AUTHORIZATION_FAILED


def coordinators(
    request: messages.FindCoordinatorRequest, context: RequestContext, following: Following
) -> Outcome:
    """Leave out the keys that the client may not describe."""
    made = messages.FindCoordinatorResponse
    if request.key_type == _SHARE_KEY:
        if rights.may_cluster(context, rights.CLUSTER_ACTION):
            return following(request)
        error = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    else:
        kind = _KEYS.get(request.key_type)
        if kind is None:
            return following(request)
        error = ERROR_OF[kind]
    many = context.api_version >= _FIRST_FIND_WITH_MANY
    keys = request.coordinator_keys if many else [request.key]
    is_share = request.key_type == _SHARE_KEY
    refused = {
        key
        for key in keys
        if is_share or not rights.may(context, rights.DESCRIBE, _KEYS[request.key_type], key)
    }
    if not refused:
        return following(request)
    if not many:
        text = TEXTS[error]
        return Answer(made(error_code=error, error_message=text, node_id=_NO_NODE, port=_NO_NODE))
    places = {key: at for at, key in reversed(list(enumerate(keys)))}
    request.coordinator_keys = [key for key in keys if key not in refused]
    results = [
        made.Coordinator(key=key, error_code=error, node_id=_NO_NODE, port=_NO_NODE)
        for key in keys
        if key in refused
    ]
    if not request.coordinator_keys:
        return Answer(made(coordinators=results))

    def add(message: Any) -> Any:
        both = [*message.coordinators, *results]
        message.coordinators = sorted(both, key=lambda one: places[one.key])
        return message

    return mapped(following(request), add)


def creation(
    topic: messages.CreateTopicsRequest.CreatableTopic, context: RequestContext
) -> ErrorCode | None:
    """Check the right to create topics, or this one; the handler refuses the metadata log."""
    reserves = context.state.like.since(*_METADATA_LOG_IS_RESERVED)
    if reserves and topic.name == CLUSTER_METADATA_TOPIC:
        return None
    allowed = rights.may_cluster(context, rights.CREATE) or rights.may(
        context, rights.CREATE, rights.TOPIC, topic.name
    )
    return None if allowed else TOPIC_REFUSED


def created_configs(
    request: messages.CreateTopicsRequest, context: RequestContext, following: Following
) -> Outcome:
    """Hide the configs of created topics from clients that may not describe them (KIP-525)."""

    def hide(message: messages.CreateTopicsResponse) -> messages.CreateTopicsResponse:
        for topic in message.topics:
            shown = rights.may(context, rights.DESCRIBE_CONFIGS, rights.TOPIC, topic.name)
            if topic.error_code == ErrorCode.NONE and not shown:
                topic.topic_config_error_code = TOPIC_REFUSED
                topic.num_partitions = topic.replication_factor = -1
                topic.configs = []
        return message

    return mapped(following(request), hide)


def deletions(
    request: messages.DeleteTopicsRequest, context: RequestContext, following: Following
) -> Outcome:
    """Leave out the topics that the client may not delete, and hide the names of ids from it."""
    if not context.state.limits.delete_topics or rights.may_cluster(context, rights.DELETE):
        return following(request)
    asked: list[tuple[str | None, UUID]] = [(name, _NO_ID) for name in request.topic_names]
    asked += [(topic.name, topic.topic_id) for topic in request.topics]
    times = Counter(asked)
    refused = {
        each: result
        for each in times
        if times[each] == 1 and (result := _refused_deletion(*each, context)) is not None
    }
    request.topic_names = [name for name in request.topic_names if (name, _NO_ID) not in refused]
    request.topics = [one for one in request.topics if (one.name, one.topic_id) not in refused]
    if not request.topics and not request.topic_names:
        return Answer(messages.DeleteTopicsResponse(responses=list(refused.values())))

    def add(message: Any) -> Any:
        message.responses = [*message.responses, *refused.values()]
        return message

    return mapped(following(request), add)


def _refused_deletion(
    name: str | None, topic_id: UUID, context: RequestContext
) -> _DeletedTopic | None:
    if (name is None) == (topic_id == _NO_ID):
        return None  # the handler refuses it
    known = context.state.cluster.with_id(topic_id) if name is None else None
    if name is None and known is None:
        return None
    real_name = name if known is None else known.name
    assert real_name is not None
    describes = rights.may(context, rights.DESCRIBE, rights.TOPIC, real_name)
    deletes = rights.may(context, rights.DELETE, rights.TOPIC, real_name)
    is_there = known is not None or context.state.cluster.named(real_name) is not None
    if deletes or (describes and not is_there):
        return None
    shown = real_name if name is not None or describes else None
    return _DeletedTopic(
        name=shown,
        topic_id=topic_id,
        error_code=TOPIC_REFUSED,
        error_message=TEXTS[TOPIC_REFUSED],
    )
