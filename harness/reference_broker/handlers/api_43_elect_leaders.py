"""ElectLeaders: API key 43, versions 0 to 2.

Behaviour
- A preferred election gives a partition back to its first replica, if that is alive and in sync (80
  if not); an unclean one finds any replica for a partition without a leader (83 if there is none).
  If nothing has to change, no election is needed (84).
- Without a list all partitions are meant, and those that need no election are left out.
- An unknown type of election gives each partition INVALID_REQUEST, with a ZooKeeper
  UNKNOWN_SERVER_ERROR.

Version notes
- v0   always elects the preferred leader (KIP-183)
- v1   the type of election, and an error for the whole request (KIP-460)
- v2   compact fields (KIP-482)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import ElectLeadersRequest, ElectLeadersResponse
from harness.reference_broker.handlers.once_by_topic import once_by_topic
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.state.controller.elections import elected
from harness.reference_broker.state.controller.leader_election import Election
from harness.reference_broker.state.topics.topic import TopicState

API_KEY = 43
_TYPE_SINCE = 1
_PREFERRED, _UNCLEAN = 0, 1
_Result = ElectLeadersResponse.ReplicaElectionResult
_Problem = tuple[ErrorCode, str | None]
_TEXTS = {
    ErrorCode.ELECTION_NOT_NEEDED: "The leader is the right one already.",
    ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE: "The preferred leader is not there, or not in sync.",
    ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE: "There is no replica that could lead.",
}


def handle(request: ElectLeadersRequest, context: RequestContext) -> Answer:
    """Elect the leaders, partition by partition."""
    state = context.state.cluster
    zookeeper = context.state.like.keeps_topics_in_zookeeper
    if request.topic_partitions is not None and not request.topic_partitions and not zookeeper:
        return Answer(ElectLeadersResponse())
    problem = _type_problem(request, context)
    answer = ElectLeadersResponse()
    if problem is not None and context.api_version >= _TYPE_SINCE:
        answer.error_code = problem[0]
    election = _election(request, context.api_version)
    if request.topic_partitions is None:
        topics = [] if problem else list(state.topics())
        results = [_all_of(topic, election, context) for topic in topics]
        # With a ZooKeeper the results are grouped after the needless ones are left out.
        kept = [one for one in results if one.partition_result or not zookeeper]
        answer.replica_election_results = kept
    else:
        answer.replica_election_results = [
            _Result(
                topic=asked.topic,
                partition_result=[
                    _partition_result(
                        index, problem or _outcome(asked.topic, index, election, context)
                    )
                    for index in asked.partitions
                ],
            )
            for asked in _asked(request, as_set=zookeeper and problem is None)
        ]
    return Answer(answer)


def _asked(
    request: ElectLeadersRequest, *, as_set: bool
) -> list[ElectLeadersRequest.TopicPartitions]:
    """Return the requested partitions; as a set each once, without topics that have none.

    A controller with a ZooKeeper gets a set (class KafkaApis, handleElectReplicaLeader).
    """
    asked = request.topic_partitions or []
    if not as_set:
        return asked
    once = once_by_topic(((topic.topic, topic.partitions) for topic in asked), lambda one: one)
    made = ElectLeadersRequest.TopicPartitions
    return [made(topic=name, partitions=each) for name, each in once]


def _type_problem(request: ElectLeadersRequest, context: RequestContext) -> _Problem | None:
    if context.api_version < _TYPE_SINCE or request.election_type in (_PREFERRED, _UNCLEAN):
        return None
    error = ErrorCode.INVALID_REQUEST
    if context.state.like.keeps_topics_in_zookeeper:
        error = ErrorCode.UNKNOWN_SERVER_ERROR  # class ElectionType (valueOf)
    return error, f"There is no election type {request.election_type}."


def _election(request: ElectLeadersRequest, version: int) -> Election:
    is_unclean = version >= _TYPE_SINCE and request.election_type == _UNCLEAN
    return Election.UNCLEAN if is_unclean else Election.PREFERRED


def _all_of(topic: TopicState, election: Election, context: RequestContext) -> _Result:
    """Elect for all partitions of a topic; those that need no election are left out."""
    outcomes = [
        (one.index, _outcome(topic.name, one.index, election, context))
        for one in list(topic.partitions)
    ]
    needless = ErrorCode.ELECTION_NOT_NEEDED
    told = [_partition_result(index, each) for index, each in outcomes if each[0] is not needless]
    return _Result(topic=topic.name, partition_result=told)


def _outcome(name: str, index: int, election: Election, context: RequestContext) -> _Problem:
    topic = context.state.cluster.named(name)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {name}."
    partition = topic.partition(index)
    if partition is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {name}-{index}."
    outcome = elected(context.state, topic, partition, election)
    if isinstance(outcome, ErrorCode):
        return outcome, _TEXTS[outcome]
    context.state.change_metadata([outcome], context.now())
    return ErrorCode.NONE, None


def _partition_result(index: int, problem: _Problem) -> ElectLeadersResponse.PartitionResult:
    return ElectLeadersResponse.PartitionResult(
        partition_id=index, error_code=problem[0], error_message=problem[1]
    )
