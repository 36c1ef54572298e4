"""DeleteTopics: API key 20, versions 1 to 6.

Behaviour
- Errors are per topic; a topic named twice, or by name and by id, is refused and stays.
- Fetches that wait for a deleted topic answer at once.

Version notes
- v3   TOPIC_DELETION_DISABLED instead of INVALID_REQUEST with delete.topic.enable=false
- v5   error messages
- v6   topics by name or by id (KIP-516)

Not done
- timeout_ms is not needed: deletion is immediate.
"""

from collections import Counter
from collections.abc import Container, Iterable
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteTopicsRequest, DeleteTopicsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.topic import Topic

API_KEY = 20
_NO_ID = UUID(int=0)
_FIRST_VERSION_WITH_DISABLED = 3
_Result = DeleteTopicsResponse.DeletableTopicResult
_Wanted = tuple[str | None, UUID]
_EITHER = "Give either a topic's name or its id."


def handle(request: DeleteTopicsRequest, context: RequestContext) -> Answer:
    """Delete what can be deleted."""
    wanted: list[_Wanted] = [(name, _NO_ID) for name in request.topic_names]
    wanted += [(topic.name, topic.topic_id) for topic in request.topics]
    if not context.state.limits.delete_topics:
        return Answer(_all_refused(wanted, context.api_version))
    results = [
        _refused(topic, ErrorCode.INVALID_REQUEST, _EITHER)
        for topic in wanted
        if _is_unclear(topic)
    ]
    times_wanted = Counter(topic for topic in wanted if not _is_unclear(topic))
    named = _topics_named(times_wanted, context)
    for topic, times in times_wanted.items():
        found = _find(topic, context)
        if found is not None and topic[0] is None and found.name in named:
            continue  # answered once, where the name stands
        results.append(_delete(topic, times, found, times_wanted, context))
    return Answer(DeleteTopicsResponse(responses=results))


def _all_refused(wanted: list[_Wanted], version: int) -> DeleteTopicsResponse:
    disabled = version >= _FIRST_VERSION_WITH_DISABLED
    error = ErrorCode.TOPIC_DELETION_DISABLED if disabled else ErrorCode.INVALID_REQUEST
    return DeleteTopicsResponse(
        responses=[
            _Result(name=name, topic_id=topic_id, error_code=error) for name, topic_id in wanted
        ]
    )


def _is_unclear(wanted: _Wanted) -> bool:
    name, topic_id = wanted
    return (name is None) == (topic_id == _NO_ID)


def _topics_named(wanted: Iterable[_Wanted], context: RequestContext) -> set[str]:
    cluster = context.state.cluster
    return {name for name, _ in wanted if name is not None and cluster.named(name) is not None}


def _find(wanted: _Wanted, context: RequestContext) -> Topic | None:
    name, topic_id = wanted
    cluster = context.state.cluster
    return cluster.with_id(topic_id) if name is None else cluster.named(name)


def _delete(
    wanted: _Wanted,
    times: int,
    topic: Topic | None,
    all_wanted: Container[_Wanted],
    context: RequestContext,
) -> _Result:
    by_id = wanted[0] is None
    if times > 1:
        return _refused(wanted, ErrorCode.INVALID_REQUEST, "The topic is named more than once.")
    if topic is None:
        error = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _refused(wanted, error, "There is no such topic.")
    if not by_id and (None, topic.topic_id) in all_wanted:
        both = (topic.name, topic.topic_id)
        return _refused(both, ErrorCode.INVALID_REQUEST, "The topic is named by name and by id.")
    context.effects.append(context.state.cluster.delete(topic))
    return _Result(name=topic.name, topic_id=topic.topic_id)


def _refused(wanted: _Wanted, error: ErrorCode, message: str) -> _Result:
    name, topic_id = wanted
    return _Result(name=name, topic_id=topic_id, error_code=error, error_message=message)
