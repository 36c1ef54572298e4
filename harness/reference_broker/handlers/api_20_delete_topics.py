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
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteTopicsRequest, DeleteTopicsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 20
_NO_ID = UUID(int=0)
_FIRST_VERSION_WITH_DISABLED = 3
_Result = DeleteTopicsResponse.DeletableTopicResult
_Wanted = tuple[str | None, UUID]


def handle(request: DeleteTopicsRequest, context: RequestContext) -> Answer:
    """Delete what can be deleted."""
    wanted: list[_Wanted] = [(name, _NO_ID) for name in request.topic_names]
    wanted += [(topic.name, topic.topic_id) for topic in request.topics]
    if not context.state.limits.delete_topics:
        return Answer(_all_refused(wanted, context.api_version))
    times_wanted = Counter(wanted)
    results = [
        _delete(topic, times, set(times_wanted), context) for topic, times in times_wanted.items()
    ]
    return Answer(DeleteTopicsResponse(responses=results))


def _all_refused(wanted: list[_Wanted], version: int) -> DeleteTopicsResponse:
    disabled = version >= _FIRST_VERSION_WITH_DISABLED
    error = ErrorCode.TOPIC_DELETION_DISABLED if disabled else ErrorCode.INVALID_REQUEST
    return DeleteTopicsResponse(
        responses=[_Result(name=name, topic_id=topic_id, error_code=error)
                   for name, topic_id in wanted]
    )


def _delete(wanted: _Wanted, times: int, all_wanted: set[_Wanted], context: RequestContext) -> _Result:
    name, topic_id = wanted
    if (name is None) == (topic_id == _NO_ID):
        return _refused(wanted, ErrorCode.INVALID_REQUEST, "Give either a topic's name or its id.")
    if times > 1:
        return _refused(wanted, ErrorCode.INVALID_REQUEST, "The topic is named more than once.")
    cluster = context.state.cluster
    topic = cluster.named(name) if name is not None else cluster.with_id(topic_id)
    if topic is None:
        error = (
            ErrorCode.UNKNOWN_TOPIC_ID if name is None else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        )
        return _refused(wanted, error, "There is no such topic.")
    if {(topic.name, _NO_ID), (None, topic.topic_id)} <= all_wanted:
        return _refused(
            (topic.name, topic.topic_id),
            ErrorCode.INVALID_REQUEST,
            "The topic is named both by name and by id.",
        )
    context.effects.append(cluster.delete(topic))
    return _Result(name=topic.name, topic_id=topic.topic_id)


def _refused(wanted: _Wanted, error: ErrorCode, message: str) -> _Result:
    name, topic_id = wanted
    return _Result(name=name, topic_id=topic_id, error_code=error, error_message=message)
