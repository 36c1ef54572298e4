"""ElectLeaders: API key 43, versions 0 to 2.

Behaviour
- The only replica leads already, so no election is needed (ELECTION_NOT_NEEDED, 84).
- Without a list all partitions are meant, and those that need no election are left out.
- An unknown type of election gives each partition INVALID_REQUEST.

Version notes
- v0   always elects the preferred leader (KIP-183)
- v1   the type of election, and an error for the whole request (KIP-460)
- v2   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import ElectLeadersRequest, ElectLeadersResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext

API_KEY = 43
_TYPE_SINCE = 1
_PREFERRED, _UNCLEAN = 0, 1
_Result = ElectLeadersResponse.ReplicaElectionResult
_Problem = tuple[ErrorCode, str | None]


def handle(request: ElectLeadersRequest, context: RequestContext) -> Answer:
    """Say that nothing has to change."""
    state = context.state.cluster
    if request.topic_partitions is not None and not request.topic_partitions:
        return Answer(ElectLeadersResponse())
    problem = _type_problem(request, context.api_version)
    answer = ElectLeadersResponse()
    if problem is not None and context.api_version >= _TYPE_SINCE:
        answer.error_code = problem[0]
    if request.topic_partitions is None:
        names = [] if problem else [topic.name for topic in state.topics()]
        answer.replica_election_results = [_Result(topic=name) for name in names]
    else:
        answer.replica_election_results = [
            _Result(
                topic=asked.topic,
                partition_result=[
                    _partition_result(index, problem or _outcome(asked.topic, index, context))
                    for index in asked.partitions
                ],
            )
            for asked in request.topic_partitions
        ]
    return Answer(answer)


def _type_problem(request: ElectLeadersRequest, version: int) -> _Problem | None:
    if version < _TYPE_SINCE or request.election_type in (_PREFERRED, _UNCLEAN):
        return None
    return ErrorCode.INVALID_REQUEST, f"There is no election type {request.election_type}."


def _outcome(name: str, index: int, context: RequestContext) -> _Problem:
    topic = context.state.cluster.named(name)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}."
    if topic.partition(index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {name}-{index}."
    return ErrorCode.ELECTION_NOT_NEEDED, "The leader is the right one already."


def _partition_result(index: int, problem: _Problem) -> ElectLeadersResponse.PartitionResult:
    return ElectLeadersResponse.PartitionResult(
        partition_id=index, error_code=problem[0], error_message=problem[1]
    )
