"""DeleteTopics: API key 20, versions 1 to 6.

Behaviour
- Errors are per topic; a topic named twice, or by name and by id, is refused and stays. With a
  ZooKeeper it is deleted, and a topic with both in one entry fails the whole request. Before
  Kafka 2.3 a name that is repeated counts once.
- Fetches that wait for a deleted topic answer at once.

Version notes
- v3   TOPIC_DELETION_DISABLED instead of INVALID_REQUEST with delete.topic.enable=false;
       before 2.1 a deletion is begun then and never ends, so that it runs out of time
- v5   error messages; a topic above controller_mutation_rate is refused, before, the client is
       delayed (KIP-599)
- v6   topics by name or by id (KIP-516)

Not done
- timeout_ms is needed only before 2.1 with delete.topic.enable=false: deletion is immediate.
"""

from collections import Counter
from collections.abc import Container
from uuid import UUID

from harness.base.ids import TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    RemoveTopicRecord,
)
from harness.reference_broker.handlers.mutation_quota import EXCEEDED, MutationQuota
from harness.reference_broker.handlers.outcome import Answer, Outcome, PurgatoryWait, RequestContext

API_KEY = 20
_NO_ID = UUID(int=0)
_STRICT_SINCE = 5
_FIRST_VERSION_WITH_DISABLED = 3
_DISABLED_IS_TOLD = (2, 1)  # KIP-322
_EACH_IS_ANSWERED = (2, 3)  # KAFKA-8034; before, a set of names (class KafkaApis)
_Result = DeleteTopicsResponse.DeletableTopicResult
_Wanted = tuple[str | None, UUID]


def handle(request: DeleteTopicsRequest, context: RequestContext) -> Outcome:
    """Delete each topic that exists and is named once."""
    names_asked = request.topic_names
    if not context.state.like.since(*_EACH_IS_ANSWERED):
        names_asked = list(dict.fromkeys(names_asked))
    wanted: list[_Wanted] = [(name, _NO_ID) for name in names_asked]
    wanted += [(topic.name, topic.topic_id) for topic in request.topics]
    if not context.state.limits.delete_topics:
        if not context.state.like.since(*_DISABLED_IS_TOLD):
            return _never_done(request, context)
        return Answer(_all_refused(wanted, context.api_version))
    if context.state.like.keeps_topics_in_zookeeper:
        return Answer(_deleted_with_zookeeper(wanted, context))
    clear = [topic for topic in wanted if not _is_unclear(topic)]
    times_wanted = Counter(clear)
    results = [
        _refused(topic, ErrorCode.INVALID_REQUEST, "Give either a topic's name or its id.")
        for topic in wanted
        if _is_unclear(topic)
    ]
    results += [
        _refused(topic, ErrorCode.INVALID_REQUEST, "The topic is named more than once.")
        for topic, times in times_wanted.items()
        if times > 1
    ]
    once = [topic for topic in clear if times_wanted[topic] == 1]
    ids = {topic_id for name, topic_id in clear if name is None}
    names = {name for name, _ in once if name is not None}
    quota = MutationQuota(context, _STRICT_SINCE)
    for topic in once:
        results += _deleted(topic, names, ids, quota, context)
    answer = DeleteTopicsResponse(responses=results, throttle_time_ms=quota.throttle_ms)
    return Answer(answer)


def _all_refused(wanted: list[_Wanted], version: int) -> DeleteTopicsResponse:
    disabled = version >= _FIRST_VERSION_WITH_DISABLED
    error = ErrorCode.TOPIC_DELETION_DISABLED if disabled else ErrorCode.INVALID_REQUEST
    return DeleteTopicsResponse(
        responses=[
            _Result(name=name, topic_id=topic_id, error_code=error) for name, topic_id in wanted
        ]
    )


def _never_done(request: DeleteTopicsRequest, context: RequestContext) -> Outcome:
    """Let the request time out: the deletion begins and never ends (class AdminManager)."""
    topics = context.state.cluster
    errors = {
        name: ErrorCode.REQUEST_TIMED_OUT
        if topics.named(name)
        else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        for name in request.topic_names
    }
    response = DeleteTopicsResponse(
        responses=[_Result(name=name, error_code=error) for name, error in errors.items()]
    )
    if request.timeout_ms <= 0 or ErrorCode.REQUEST_TIMED_OUT not in errors.values():
        return Answer(response)
    deadline = TimeMs(context.now() + request.timeout_ms)
    return PurgatoryWait(frozenset(), deadline, lambda: None, lambda: response)


def _deleted_with_zookeeper(wanted: list[_Wanted], context: RequestContext) -> DeleteTopicsResponse:
    """Delete all topics that exist; each entry has the id of the request.

    Source: class KafkaApis (handleDeleteTopicsRequest).
    """
    if any(name is not None and topic_id != _NO_ID for name, topic_id in wanted):
        message, error = "Give either a topic's name or its id.", ErrorCode.INVALID_REQUEST
        refused = [_refused(topic, error, message) for topic in wanted]
        return DeleteTopicsResponse(responses=refused)
    cluster, results, found = context.state.cluster, [], {}
    quota = MutationQuota(context, _STRICT_SINCE)
    for name, topic_id in wanted:
        topic = cluster.with_id(topic_id) if name is None else cluster.named(name)
        error = ErrorCode.NONE
        if topic is not None and not quota.allows(len(topic.partitions)):
            error = EXCEEDED.error
        elif topic is not None:
            found[topic.topic_id] = topic
        elif name is not None:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        elif topic_id != _NO_ID:
            error = ErrorCode.UNKNOWN_TOPIC_ID
        else:  # a name that is null is not in the set of authorized ones
            error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        known = name if topic is None else topic.name
        results.append(_Result(name=known, topic_id=topic_id, error_code=error))
    removals = [RemoveTopicRecord(topic_id=topic_id) for topic_id in found]
    context.state.change_metadata(removals, context.now())
    return DeleteTopicsResponse(responses=results, throttle_time_ms=quota.throttle_ms)


def _is_unclear(wanted: _Wanted) -> bool:
    name, topic_id = wanted
    return (name is None) == (topic_id == _NO_ID)


def _deleted(
    wanted: _Wanted,
    names: Container[str],
    ids: Container[UUID],
    quota: MutationQuota,
    context: RequestContext,
) -> list[_Result]:
    """Delete a topic that is named once by name or id; return its result.

    The list is empty if the topic is also named by name: that entry has the result.
    """
    name, topic_id = wanted
    cluster = context.state.cluster
    topic = cluster.with_id(topic_id) if name is None else cluster.named(name)
    if topic is None:
        error = ErrorCode.UNKNOWN_TOPIC_ID if name is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return [_refused(wanted, error, "There is no such topic.")]
    found = (topic.name, topic.topic_id)
    if name is not None and topic.topic_id in ids:
        message = "The topic is named by name and by id."
        return [_refused(found, ErrorCode.INVALID_REQUEST, message)]
    if name is None and topic.name in names:
        return []  # the entry with the name is refused
    if not quota.allows(len(topic.partitions)):
        return [_refused(found, EXCEEDED.error, EXCEEDED.message)]
    removal = RemoveTopicRecord(topic_id=topic.topic_id)
    context.state.change_metadata([removal], context.now())
    return [_Result(name=topic.name, topic_id=topic.topic_id)]


def _refused(wanted: _Wanted, error: ErrorCode, message: str) -> _Result:
    name, topic_id = wanted
    return _Result(name=name, topic_id=topic_id, error_code=error, error_message=message)
