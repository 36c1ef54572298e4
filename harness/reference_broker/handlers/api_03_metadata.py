"""Metadata: API key 3, versions 0 to 13.

Behaviour
- Answers for the whole cluster: the brokers that clients of this listener can reach, all topics.
- A partition with an unreachable leader has the leader -1 and an error.
- An unknown topic is created when client and broker allow it; the answer that causes the
  creation still says UNKNOWN_TOPIC_OR_PARTITION, with a ZooKeeper LEADER_NOT_AVAILABLE.
- A topic that the client may not describe is unauthorized, if it exists or not, and left out of all
  topics; so is a new one that the client may not create.
- Before Kafka 2.8 only a topic that would be created is checked for its name.

Version notes
- v0   an empty list means all topics; replicas that are not there are left out, with an error
- v1   null means all topics, an empty list none
- v4   the client may forbid auto creation (KIP-361)
- v5   offline replicas (KIP-112)
- v6   LISTENER_NOT_FOUND where the leader does not have the listener
- v8   authorized operations when asked for (KIP-430); of the cluster until v10
- v10  topic ids in the answer; in the request they are refused until v12 (KIP-516)
- v12  topics may be requested by id
"""

from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest, MetadataResponse
from harness.reference_broker.handlers.authorized_operations import (
    NOT_ASKED,
    cluster_operations,
    topic_operations,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.rights import CREATE, DESCRIBE, TOPIC, may, may_cluster
from harness.reference_broker.handlers.seen_partition import any_broker, seen_partition
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.topic import TopicState
from harness.reference_broker.state.topics.topic_names import INTERNAL_TOPICS, topic_name_problem

API_KEY = 3
_NO_ID = UUID(int=0)
_UNAUTHORIZED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
_FIRST_VERSION_WITH_IDS = 12
_VERSIONS_WITH_CLUSTER_OPERATIONS = range(8, 11)
_NAMES_ARE_CHECKED = (2, 8)  # KAFKA-9751 (class KafkaApis, getTopicMetadata)


def handle(request: MetadataRequest, context: RequestContext) -> Answer:
    """Answer one request; a topic by id in v10 or v11 makes the whole request invalid."""
    if _names_topics_too_early(request, context.api_version):
        return Answer(_refusal(request, ErrorCode.INVALID_REQUEST))
    named = request.topics or ()
    has_ids = any(topic.topic_id != _NO_ID for topic in named)
    if not has_ids and any(topic.name is None for topic in named):
        # Kafka does not foresee a topic without name and id; where there are ids, names are
        # not looked at.
        return Answer(_refusal(request, ErrorCode.UNKNOWN_SERVER_ERROR))
    topics = _described(request, context)
    version = context.api_version
    if request.include_topic_authorized_operations:
        for topic in topics:
            if topic.name is not None and topic.error_code != _UNAUTHORIZED:
                topic.topic_authorized_operations = topic_operations(topic.name, context)
    asks_cluster = (
        version in _VERSIONS_WITH_CLUSTER_OPERATIONS
        and request.include_cluster_authorized_operations
    )
    alive = list(context.state.brokers.alive(context.listener))
    return Answer(
        MetadataResponse(
            brokers=[
                MetadataResponse.MetadataResponseBroker(
                    node_id=broker.broker_id, host=at.host, port=at.port, rack=broker.rack
                )
                for broker, at in alive
            ],
            cluster_id=context.state.identity.cluster_id,
            controller_id=any_broker([broker.broker_id for broker, _ in alive], context),
            topics=topics,
            cluster_authorized_operations=cluster_operations(context)
            if asks_cluster
            else NOT_ASKED,
        )
    )


def _names_topics_too_early(request: MetadataRequest, version: int) -> bool:
    return version < _FIRST_VERSION_WITH_IDS and any(
        topic.name is None or topic.topic_id != _NO_ID for topic in request.topics or ()
    )


def _refusal(request: MetadataRequest, error: ErrorCode) -> MetadataResponse:
    return MetadataResponse(
        topics=[
            MetadataResponse.MetadataResponseTopic(
                error_code=error,
                name=topic.name or "",
                topic_id=topic.topic_id,
            )
            for topic in request.topics or ()
        ],
        error_code=error,
    )


def _described(
    request: MetadataRequest, context: RequestContext
) -> list[MetadataResponse.MetadataResponseTopic]:
    cluster = context.state.cluster
    if request.topics is None or (context.api_version == 0 and not request.topics):
        shown = list(cluster.topics())
        if context.state.authorizer is not None:
            shown = [one for one in shown if may(context, DESCRIBE, TOPIC, one.name)]
        return [_topic(topic, context) for topic in shown]
    ids = dict.fromkeys(topic.topic_id for topic in request.topics if topic.topic_id != _NO_ID)
    if ids:
        return [_by_id(topic_id, context) for topic_id in ids]
    asked = dict.fromkeys(topic.name for topic in request.topics if topic.name is not None)
    allowed = {name: may(context, DESCRIBE, TOPIC, name) for name in asked}
    names = [name for name, is_allowed in allowed.items() if is_allowed]
    hidden = [_hidden(name) for name, is_allowed in allowed.items() if not is_allowed]
    found = [_topic(topic, context) for name in names if (topic := cluster.named(name))]
    unknown = [name for name in names if cluster.named(name) is None]
    may_create = context.state.limits.auto_create_topics and request.allow_auto_topic_creation
    return found + [_unknown(name, may_create, context) for name in unknown] + hidden


def _by_id(topic_id: UUID, context: RequestContext) -> MetadataResponse.MetadataResponseTopic:
    topic = context.state.cluster.with_id(topic_id)
    if topic is None:
        return _hidden(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID)
    if not may(context, DESCRIBE, TOPIC, topic.name):
        return _hidden(None, topic_id)
    return _topic(topic, context)


def _hidden(
    name: str | None, topic_id: UUID = _NO_ID, error: ErrorCode = _UNAUTHORIZED
) -> MetadataResponse.MetadataResponseTopic:
    """Return a topic by what the client knows of it, whether it exists or not."""
    return MetadataResponse.MetadataResponseTopic(error_code=error, name=name, topic_id=topic_id)


def _unknown(
    name: str, may_create: bool, context: RequestContext
) -> MetadataResponse.MetadataResponseTopic:
    error, like = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, context.state.like
    is_checked = may_create or like.since(*_NAMES_ARE_CHECKED)
    if may_create and not _may_create(name, context):
        error = _UNAUTHORIZED
    elif is_checked and topic_name_problem(name) is not None:
        error = ErrorCode.INVALID_TOPIC_EXCEPTION
    elif may_create:
        collides = context.state.cluster.colliding_with(name) is not None
        context.state.auto_create_topic(name, context.randomness, context.now())
        is_there = context.state.cluster.named(name) is not None
        if is_there and like.keeps_topics_in_zookeeper:
            # The controller itself creates it there (class AutoTopicCreationManager).
            error = ErrorCode.LEADER_NOT_AVAILABLE
        elif collides and like.keeps_topics_in_zookeeper:
            error = ErrorCode.INVALID_TOPIC_EXCEPTION
    return MetadataResponse.MetadataResponseTopic(
        error_code=error, name=name, is_internal=name in INTERNAL_TOPICS
    )


def _may_create(name: str, context: RequestContext) -> bool:
    return may_cluster(context, CREATE) or may(context, CREATE, TOPIC, name)


def _topic(topic: TopicState, context: RequestContext) -> MetadataResponse.MetadataResponseTopic:
    return MetadataResponse.MetadataResponseTopic(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.is_internal,
        partitions=[_partition(one.index, one.registration, context) for one in topic.partitions],
    )


def _partition(
    index: int, registered: PartitionRegistration, context: RequestContext
) -> MetadataResponse.MetadataResponsePartition:
    """Source: class KRaftMetadataCache (getPartitionMetadata)."""
    seen = seen_partition(registered, context)
    replicas: list[int] = [*registered.replicas]
    isr: list[int] = [*registered.isr]
    error = seen.error
    if context.api_version == 0:
        # Clients of that time cannot do with replicas that are not there.
        alive = _reached(replicas, context)
        isr = _reached(isr, context)
        if error is ErrorCode.NONE and len(alive) + len(isr) < len(replicas) + len(registered.isr):
            error = ErrorCode.REPLICA_NOT_AVAILABLE
        replicas = alive
    return MetadataResponse.MetadataResponsePartition(
        error_code=error,
        partition_index=index,
        leader_id=seen.leader_id,
        leader_epoch=registered.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=isr,
        offline_replicas=seen.offline,
    )


def _reached(replicas: list[int], context: RequestContext) -> list[int]:
    """Return the replicas on brokers that clients of the listener can reach."""
    state, listener = context.state, context.listener
    return [each for each in replicas if state.endpoint_of(each, listener) is not None]
