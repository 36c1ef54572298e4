"""AlterPartitionReassignments: API key 45, versions 0 to 1.

Behaviour
- New replicas are added first; when all are in sync, the others are removed. The current assignment
  changes nothing and succeeds.
- null cancels a reassignment; without one that is NO_REASSIGNMENT_IN_PROGRESS (85).
- Each partition has its own result.
- The message of the whole response is null; empty where no topic is named, or with a ZooKeeper.

Version notes
- v1   the client may forbid a change of the number of replicas (KIP-860)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from harness.reference_broker.handlers.once_by_topic import once_by_topic
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller.reassignment import cancelled, reassigned
from harness.reference_broker.state.topics.creation_refused import CreationRefused
from harness.reference_broker.state.topics.replica_assignment import check_replicas

API_KEY = 45
_FACTOR_SINCE = 1
_Response = AlterPartitionReassignmentsResponse
_Topic = AlterPartitionReassignmentsRequest.ReassignableTopic
_Partition = AlterPartitionReassignmentsRequest.ReassignablePartition
_Problem = tuple[ErrorCode, str | None]


def handle(request: AlterPartitionReassignmentsRequest, context: RequestContext) -> Answer:
    """Check each reassignment, and begin the valid ones."""
    is_empty = not request.topics or context.state.like.keeps_topics_in_zookeeper
    answer = _Response(
        error_message="" if is_empty else None,
        responses=[
            _Response.ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    _result(
                        one.partition_index,
                        _problem(
                            topic.name, one, context, keeps_factor=_keeps_factor(request, context)
                        ),
                    )
                    for one in topic.partitions
                ],
            )
            for topic in _asked(request, context)
        ],
    )
    if request.topics:
        answer.allow_replication_factor_change = request.allow_replication_factor_change
    return Answer(answer)


def _asked(request: AlterPartitionReassignmentsRequest, context: RequestContext) -> list[_Topic]:
    """Return the requested topics; with a ZooKeeper each partition counts once, the last time."""
    if not context.state.like.keeps_topics_in_zookeeper:
        return request.topics
    once = once_by_topic(
        ((topic.name, topic.partitions) for topic in request.topics),
        lambda one: one.partition_index,
    )
    return [_Topic(name=name, partitions=each) for name, each in once]


def _keeps_factor(request: AlterPartitionReassignmentsRequest, context: RequestContext) -> bool:
    version = context.api_version
    return version >= _FACTOR_SINCE and not request.allow_replication_factor_change


def _problem(
    name: str,
    wanted: _Partition,
    context: RequestContext,
    *,
    keeps_factor: bool,
) -> _Problem:
    state = context.state
    topic = state.cluster.named(name)
    partition = None if topic is None else topic.partition(wanted.partition_index)
    if topic is None or partition is None:
        what = f"{name}-{wanted.partition_index}"
        earlier = _earlier_problem(wanted, context)
        return earlier or (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {what}.")
    try:
        if wanted.replicas is None:
            change = cancelled(state, topic, partition)
        else:
            change = reassigned(state, topic, partition, wanted.replicas, keeps_factor=keeps_factor)
    except CreationRefused as refusal:
        return refusal.error, refusal.message
    if change is not None:
        state.change_metadata([change], context.now())
    return ErrorCode.NONE, None


def _earlier_problem(wanted: _Partition, context: RequestContext) -> _Problem | None:
    """Return the error that precedes that of a missing partition where there is a ZooKeeper.

    Source: class KafkaController (processApiPartitionReassignment).
    """
    if not context.state.like.keeps_topics_in_zookeeper:
        return None
    if wanted.replicas is None:
        return ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No reassignment is in progress."
    try:
        check_replicas(wanted.replicas, None, context.state.brokers)
    except CreationRefused as refusal:
        return refusal.error, refusal.message
    return None


def _result(index: int, problem: _Problem) -> _Response.ReassignablePartitionResponse:
    return _Response.ReassignablePartitionResponse(
        partition_index=index, error_code=problem[0], error_message=problem[1]
    )
