"""CreatePartitions: API key 37, versions 0 to 3.

Behaviour
- Errors are per topic: the other topics of the request grow.
- A topic named twice is refused and does not grow.
- A request that asks for too much is refused as a whole.

Version notes
- v3   a topic above controller_mutation_rate is refused; before, the client is delayed (KIP-599)

Not done
- timeout_ms is not needed: growth is immediate.
"""

from collections import Counter
from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreatePartitionsRequest, CreatePartitionsResponse
from harness.reference_broker.handlers.mutation_quota import EXCEEDED, MutationQuota
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.registrations.metadata_records import partition_records
from harness.reference_broker.state.topics.creation_refused import CreationRefused
from harness.reference_broker.state.topics.topic_growth import WantedGrowth, plan_growth
from harness.reference_broker.zookeeper_names import is_node_name

API_KEY = 37
_STRICT_SINCE = 3
_Result = CreatePartitionsResponse.CreatePartitionsTopicResult
_Topic = CreatePartitionsRequest.CreatePartitionsTopic


def handle(request: CreatePartitionsRequest, context: RequestContext) -> Answer:
    """Add partitions to each valid topic, or only check it with validate_only."""
    times_named = Counter(topic.name for topic in request.topics)
    sound = [topic for topic in request.topics if times_named[topic.name] == 1]
    state = context.state
    unforeseen = _first_unforeseen(sound, context)
    sound = sound[:unforeseen]
    try:
        outcomes = plan_growth(
            [_wanted(topic) for topic in sound], state.cluster, context.randomness
        )
    except CreationRefused as refusal:
        results = [_refused(topic.name, refusal) for topic in request.topics]
        return Answer(CreatePartitionsResponse(results=results))
    quota = MutationQuota(context, _STRICT_SINCE, validate_only=request.validate_only)
    twice = CreationRefused(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
    results = [_refused(name, twice) for name, times in times_named.items() if times > 1]
    for topic, outcome in zip(sound, outcomes, strict=True):
        if isinstance(outcome, CreationRefused):
            results.append(_refused(topic.name, outcome))
            continue
        if not quota.allows(len(outcome.partitions)):
            results.append(_refused(topic.name, EXCEEDED))
            continue
        if not request.validate_only:
            grown, first = outcome.topic, len(outcome.topic.partitions)
            records = partition_records(grown.topic_id, first, outcome.partitions)
            state.change_metadata(records, context.now())
        results.append(_Result(name=topic.name))
    if unforeseen is not None:
        failed = CreationRefused(ErrorCode.UNKNOWN_SERVER_ERROR, "A name is no path.")
        results = [_refused(topic.name, failed) for topic in request.topics]
    answer = CreatePartitionsResponse(results=results, throttle_time_ms=quota.throttle_ms)
    return Answer(answer)


def _first_unforeseen(topics: Sequence[_Topic], context: RequestContext) -> int | None:
    """Return the index of the first topic that a ZooKeeper cannot look for; None without one.

    It fails the whole request, but the topics before it grow (class ZkAdminManager,
    createPartitions).
    """
    if not context.state.like.keeps_topics_in_zookeeper:
        return None
    return next((at for at, one in enumerate(topics) if not is_node_name(one.name)), None)


def _wanted(topic: _Topic) -> WantedGrowth:
    assignments = topic.assignments
    return WantedGrowth(
        topic.name,
        topic.count,
        None if assignments is None else [assigned.broker_ids for assigned in assignments],
    )


def _refused(name: str, refusal: CreationRefused) -> _Result:
    return _Result(name=name, error_code=refusal.error, error_message=refusal.message)
