"""CreateTopics: API key 19, versions 2 to 7.

Behaviour
- Errors are per topic: the other topics of the request are created.
- A topic named twice is refused and not created.
- A name that collides with an existing topic is refused; names of one request may collide.
- A request that asks for too much is refused as a whole.

Version notes
- v4   -1 takes the broker's defaults (KIP-464)
- v5   the answer has partitions, replication factor and configs (KIP-525)
- v6   a topic above controller_mutation_rate is refused; before, the client is delayed (KIP-599)
- v7   the answer has the topic id (KIP-516)

Not done
- timeout_ms is not needed: creation is immediate.
"""

from collections import Counter
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, CreateTopicsResponse
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.handlers.mutation_quota import EXCEEDED, MutationQuota
from harness.reference_broker.handlers.outcome import (
    Answer,
    CloseConnection,
    Outcome,
    RequestContext,
)
from harness.reference_broker.state.config_definitions.layers import BrokerConfigLayers
from harness.reference_broker.state.configs.of_topics import source_of
from harness.reference_broker.state.randomness import random_uuid
from harness.reference_broker.state.topics.creation_refused import (
    ConfigsWithoutValue,
    CreationRefused,
    SenselessValue,
)
from harness.reference_broker.state.topics.topic_creation import (
    PlannedTopic,
    WantedTopic,
    plan_topics,
)
from harness.reference_broker.state.topics.topic_names import CLUSTER_METADATA_TOPIC

API_KEY = 19
_NO_ID = UUID(int=0)
_STRICT_SINCE = 6
_METADATA_LOG_IS_RESERVED = (3, 9)  # with a ZooKeeper never
_EACH_IS_ANSWERED = (2, 3)  # KAFKA-7832
_VALUES_MAY_BE_NULL = (0, 11)  # KIP-133 (class CreateTopicsRequest)
_EARLIER_ERRORS: tuple[tuple[type[CreationRefused], tuple[int, int], ErrorCode], ...] = (
    (ConfigsWithoutValue, (2, 6), ErrorCode.UNKNOWN_SERVER_ERROR),
    (ConfigsWithoutValue, (3, 3), ErrorCode.INVALID_REQUEST),
    (SenselessValue, (2, 1), ErrorCode.UNKNOWN_SERVER_ERROR),
)
_Result = CreateTopicsResponse.CreatableTopicResult


def handle(request: CreateTopicsRequest, context: RequestContext) -> Outcome:
    """Create each valid topic, or only check it with validate_only."""
    if not context.state.like.since(*_VALUES_MAY_BE_NULL) and _has_null(request):
        return CloseConnection("the value of a config is null")
    return _answer(request, context)


def _has_null(request: CreateTopicsRequest) -> bool:
    return any(config.value is None for topic in request.topics for config in topic.configs)


def _answer(request: CreateTopicsRequest, context: RequestContext) -> Answer:
    state = context.state
    reserved = {CLUSTER_METADATA_TOPIC} if state.like.since(*_METADATA_LOG_IS_RESERVED) else set()
    times_named = Counter(topic.name for topic in request.topics)
    sound = [
        topic
        for topic in request.topics
        if times_named[topic.name] == 1 and topic.name not in reserved
    ]
    try:
        outcomes = plan_topics(
            [_wanted(topic, state.like) for topic in sound],
            state.cluster,
            state.creation_defaults,
            context.randomness,
        )
    except CreationRefused as refusal:
        results = [_refused(topic.name, refusal) for topic in request.topics]
        return Answer(CreateTopicsResponse(topics=results))
    quota = MutationQuota(context, _STRICT_SINCE, validate_only=request.validate_only)
    results = [
        _carried_out(topic.name, outcome, quota, request.validate_only, context)
        for topic, outcome in zip(sound, outcomes, strict=True)
    ]
    for name, times in times_named.items():
        if times > 1:
            # Each entry is answered where there is a ZooKeeper, before 2.3 a map of them (class
            # KafkaApis).
            each = state.like.keeps_topics_in_zookeeper and state.like.since(*_EACH_IS_ANSWERED)
            answered = times if each else 1
            results += [_refused(name, _bad_request("Duplicate topic name."))] * answered
        elif name in reserved:
            results.append(_refused(name, _bad_request(f"No client may create {name}.")))
    return Answer(CreateTopicsResponse(topics=results, throttle_time_ms=quota.throttle_ms))


def _wanted(topic: CreateTopicsRequest.CreatableTopic, like: EmulatedRelease) -> WantedTopic:
    configs = {config.name: config.value for config in topic.configs}
    if like.since(*_EACH_IS_ANSWERED):
        # Of a config that is given twice the last value counts, unless one of them is null.
        configs.update({config.name: None for config in topic.configs if config.value is None})
    assigned = [(one.partition_index, one.broker_ids) for one in topic.assignments]
    if like.keeps_topics_in_zookeeper:
        assigned = list(dict(assigned).items())  # a map (class ZkAdminManager)
    return WantedTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        assigned,
        configs,
    )


def _carried_out(
    name: str,
    outcome: PlannedTopic | CreationRefused,
    quota: MutationQuota,
    validate_only: bool,
    context: RequestContext,
) -> _Result:
    if isinstance(outcome, CreationRefused):
        return _refused(name, _as_it_was(outcome, context.state.like))
    if not quota.allows(len(outcome.partitions)):
        return _refused(name, EXCEEDED)
    if validate_only:
        # With a ZooKeeper the id is drawn when the topic is created (class AdminZkClient).
        no_id = context.state.like.keeps_topics_in_zookeeper
        topic_id = _NO_ID if no_id else random_uuid(context.randomness)
    else:
        created = context.state.create_topic(outcome, context.randomness, context.now())
        topic_id = created.topic_id
    return _created(outcome, topic_id, context.state.configs)


def _as_it_was(refusal: CreationRefused, like: EmulatedRelease) -> CreationRefused:
    """Return the refusal with the emulated release's error for configs without sense."""
    for kind, since, earlier in _EARLIER_ERRORS:
        if isinstance(refusal, kind) and not like.since(*since):
            return CreationRefused(earlier, refusal.message)
    return refusal


def _created(plan: PlannedTopic, topic_id: UUID, layers: BrokerConfigLayers) -> _Result:
    return _Result(
        name=plan.name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=len(plan.partitions),
        replication_factor=plan.replication_factor,
        configs=[
            CreateTopicsResponse.CreatableTopicConfigs(
                name=name,
                value=plan.config.text_of(name),
                config_source=source_of(name, plan.config, layers),
            )
            for name in plan.config.listed_names()
        ],
    )


def _bad_request(message: str) -> CreationRefused:
    return CreationRefused(ErrorCode.INVALID_REQUEST, message)


def _refused(name: str, refusal: CreationRefused) -> _Result:
    return _Result(name=name, error_code=refusal.error, error_message=refusal.message)
