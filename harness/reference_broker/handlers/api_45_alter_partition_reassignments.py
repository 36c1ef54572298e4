"""AlterPartitionReassignments: API key 45, versions 0 to 1.

Behaviour
- The only place for a replica is this broker: moving it here changes nothing and succeeds.
- Nothing moves at any time, so nothing can be cancelled (NO_REASSIGNMENT_IN_PROGRESS, 85).
- Each partition has its own result.

Version notes
- v1   the client may insist on the number of replicas that there is (KIP-860), which is one
"""

from collections.abc import Sequence

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 45
_Response = AlterPartitionReassignmentsResponse
_Problem = tuple[ErrorCode, str | None]


def handle(request: AlterPartitionReassignmentsRequest, context: RequestContext) -> Answer:
    """Judge each wish; none of those that can be fulfilled changes anything."""
    answer = _Response(
        error_message=None,
        responses=[
            _Response.ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    _result(one.partition_index, _problem(topic.name, one, context))
                    for one in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )
    if request.topics:
        answer.allow_replication_factor_change = request.allow_replication_factor_change
    return Answer(answer)


def _problem(
    name: str,
    wanted: AlterPartitionReassignmentsRequest.ReassignablePartition,
    context: RequestContext,
) -> _Problem:
    topic = context.state.cluster.named(name)
    if topic is None or topic.partition(wanted.partition_index) is None:
        what = f"{name}-{wanted.partition_index}"
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {what}."
    if wanted.replicas is None:
        return ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No reassignment is in progress."
    return _placement_problem(wanted.replicas, context.state.identity.broker_id)


def _placement_problem(replicas: Sequence[int], broker_id: int) -> _Problem:
    if not replicas:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, "A partition needs a replica."
    unknown = next((replica for replica in sorted(replicas) if replica != broker_id), None)
    if unknown is not None:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"There is no broker {unknown}."
    if len(replicas) > 1:
        return ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"Broker {broker_id} is named twice."
    return ErrorCode.NONE, None


def _result(index: int, problem: _Problem) -> _Response.ReassignablePartitionResponse:
    return _Response.ReassignablePartitionResponse(
        partition_index=index, error_code=problem[0], error_message=problem[1]
    )
