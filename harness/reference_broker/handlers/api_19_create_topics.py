"""CreateTopics: API key 19, versions 2 to 7.

Behaviour
- Errors are per topic: the others of the request are created.
- A topic named twice is refused and not created.
- Names that collide are refused beside topics that are there, not beside each other.
- A request that asks for too much is refused as a whole.

Version notes
- v4   -1 takes the broker's defaults (KIP-464)
- v5   the answer tells partitions, replication factor and configs (KIP-525)
- v7   the answer tells the topic id (KIP-516)

Not done
- timeout_ms is not needed: creation is immediate.
"""

from collections import Counter
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, CreateTopicsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.creation_refused import CreationRefused
from harness.reference_broker.state.randomness import random_uuid
from harness.reference_broker.state.topic_configs import TOPIC_CONFIGS, TopicConfig
from harness.reference_broker.state.topic_creation import (
    PlannedTopic,
    WantedTopic,
    plan_topics,
)
from harness.reference_broker.state.topic_names import CLUSTER_METADATA_TOPIC

API_KEY = 19
_Result = CreateTopicsResponse.CreatableTopicResult

# Where a config's value comes from, as DescribeConfigs counts it.
_FROM_TOPIC = 1
_FROM_CLUSTER_DEFAULT = 3
_FROM_BROKER = 4
_FROM_DEFAULT = 5
_CLUSTER_DEFAULTS = frozenset({"min.insync.replicas"})  # KIP-966 sets it for the whole cluster


def handle(request: CreateTopicsRequest, context: RequestContext) -> Answer:
    """Create what can be created, or only say so with validate_only."""
    times_named = Counter(topic.name for topic in request.topics)
    sound = [
        topic
        for topic in request.topics
        if times_named[topic.name] == 1 and topic.name != CLUSTER_METADATA_TOPIC
    ]
    state = context.state
    try:
        outcomes = plan_topics(
            [_wanted(topic) for topic in sound], state.cluster, state.creation_defaults
        )
    except CreationRefused as refusal:
        results = [_refused(topic.name, refusal) for topic in request.topics]
        return Answer(CreateTopicsResponse(topics=results))
    results = [
        _carried_out(topic.name, outcome, request.validate_only, context)
        for topic, outcome in zip(sound, outcomes, strict=True)
    ]
    for name, times in times_named.items():
        if times > 1:
            results.append(_refused(name, _bad_request("Duplicate topic name.")))
        elif name == CLUSTER_METADATA_TOPIC:
            results.append(_refused(name, _bad_request(f"Nobody may create {name}.")))
    return Answer(CreateTopicsResponse(topics=results))


def _wanted(topic: CreateTopicsRequest.CreatableTopic) -> WantedTopic:
    configs = {config.name: config.value for config in topic.configs}
    # Of a config that is given twice the last value counts, unless one of them is null.
    configs.update({config.name: None for config in topic.configs if config.value is None})
    return WantedTopic(
        topic.name,
        topic.num_partitions,
        topic.replication_factor,
        [(assigned.partition_index, assigned.broker_ids) for assigned in topic.assignments],
        configs,
    )


def _carried_out(
    name: str,
    outcome: PlannedTopic | CreationRefused,
    validate_only: bool,
    context: RequestContext,
) -> _Result:
    if isinstance(outcome, CreationRefused):
        return _refused(name, outcome)
    if validate_only:
        return _created(outcome, random_uuid(context.randomness))
    return _created(outcome, context.state.create_topic(outcome, context.randomness).topic_id)


def _created(plan: PlannedTopic, topic_id: UUID) -> _Result:
    return _Result(
        name=plan.name,
        topic_id=topic_id,
        error_message=None,
        num_partitions=plan.partition_count,
        replication_factor=len(plan.replicas),
        configs=[
            CreateTopicsResponse.CreatableTopicConfigs(
                name=name,
                value=plan.config.text_of(name),
                config_source=_source_of(name, plan.config),
            )
            for name in plan.config.listed_names()
        ],
    )


def _source_of(name: str, config: TopicConfig) -> int:
    if name in config.overrides:
        return _FROM_TOPIC
    if TOPIC_CONFIGS[name].broker_setting in config.broker_values:
        return _FROM_BROKER
    return _FROM_CLUSTER_DEFAULT if name in _CLUSTER_DEFAULTS else _FROM_DEFAULT


def _bad_request(message: str) -> CreationRefused:
    return CreationRefused(ErrorCode.INVALID_REQUEST, message)


def _refused(name: str, refusal: CreationRefused) -> _Result:
    return _Result(name=name, error_code=refusal.error, error_message=refusal.message)
