"""AddPartitionsToTxn: API key 24, versions 0 to 5.

Behaviour
- The first partitions begin a transaction; partitions that it has already change nothing.
- If one partition does not exist, none is added: the others are OPERATION_NOT_ATTEMPTED. Clients
  may not add internal topics: TOPIC_AUTHORIZATION_FAILED.
- A partition that is named twice is answered twice, but once beside one that cannot be added, and
  before Kafka 3.5.

Version notes
- v2   PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)
- v4   several transactions at once, as brokers send them; verify_only adds nothing (KIP-890)
- v5   from brokers that add partitions by records (KIP-890, part 2)
"""

from collections.abc import Callable, Sequence

from harness.base.ids import PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from harness.codec.structs import Message
from harness.reference_broker.handlers.group_coordinator import answer_when_replicated
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.rights import TOPIC, WRITE, may
from harness.reference_broker.handlers.transaction_coordinator import (
    answer_when_written,
    as_of_version,
    identity_of,
    problem_with_transactional_id,
)
from harness.reference_broker.state.topics.topic_names import INTERNAL_TOPICS
from harness.reference_broker.state.transactions.adding import add, verify
from harness.reference_broker.state.transactions.transaction import EPOCH_BUMPS, Place

API_KEY = 24
_FIRST_VERSION_OF_BROKERS = 4
_EACH_IS_ANSWERED = (3, 5)  # class AddPartitionsToTxnRequest (errorResponseForTransaction)
_Transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
_Result = AddPartitionsToTxnResponse.AddPartitionsToTxnResult
_TopicResult = AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult
_PartitionResult = AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult
_Codes = list[tuple[Place, ErrorCode]]


def handle(request: AddPartitionsToTxnRequest, context: RequestContext) -> Outcome:
    """Add the partitions of each transaction."""
    if context.api_version >= _FIRST_VERSION_OF_BROKERS:
        return _answered_to_broker(request.transactions, context)
    only = _Transaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )

    def say(codes: _Codes) -> AddPartitionsToTxnResponse:
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_topics(codes))

    codes = _codes(only, context)

    def refuse(error: ErrorCode) -> AddPartitionsToTxnResponse:
        return say([(place, error) for place, _ in codes])

    if {error for _, error in codes} - {ErrorCode.NONE}:
        return Answer(say(codes))
    return answer_when_written(only.transactional_id, say(codes), refuse, context)


def _answered_to_broker(transactions: Sequence[_Transaction], context: RequestContext) -> Outcome:
    results = [(each.transactional_id, _codes(each, context)) for each in transactions]
    answer = AddPartitionsToTxnResponse(
        results_by_transaction=[
            _Result(transactional_id=name, topic_results=_topics(codes)) for name, codes in results
        ]
    )
    return _when_all_are_written([name for name, _ in results], answer, context)


def _when_all_are_written(
    names: Sequence[str], answer: AddPartitionsToTxnResponse, context: RequestContext
) -> Outcome:
    """Answer when the partition of the first transaction is replicated; brokers send one."""
    partition = None
    if names:
        partition = context.state.transactions.log.partition_of(names[0])
    if partition is None or partition.leading is None:
        return Answer(answer)
    refuse: Callable[[ErrorCode], Message] = lambda error: AddPartitionsToTxnResponse(  # noqa: E731
        error_code=error
    )
    return answer_when_replicated(partition, answer, refuse, context)


def _codes(wanted: _Transaction, context: RequestContext) -> _Codes:
    """Return the error of each partition, in the order of the request."""
    places = [
        (topic.name, PartitionIndex(index)) for topic in wanted.topics for index in topic.partitions
    ]
    refused = {place: error for place in places if (error := _problem_with(place, context))}
    if refused:
        left_out = ErrorCode.OPERATION_NOT_ATTEMPTED
        return [(place, refused.get(place, left_out)) for place in dict.fromkeys(places)]
    name, state = wanted.transactional_id, context.state
    if not state.like.since(*_EACH_IS_ANSWERED):
        places = list(dict.fromkeys(places))
    problem = problem_with_transactional_id(name, context)
    if problem is not ErrorCode.NONE:
        return [(place, problem) for place in places]
    producer = identity_of(wanted.producer_id, wanted.producer_epoch)
    if wanted.verify_only:
        return [(place, verify(state.transactions, name, producer, place)) for place in places]
    version = EPOCH_BUMPS if context.api_version >= _FIRST_VERSION_OF_BROKERS else 0
    error = add(state.transactions, name, producer, places, version, context.now())
    return [(place, as_of_version(error, context)) for place in places]


def _problem_with(place: Place, context: RequestContext) -> ErrorCode:
    """Return the error of a partition that cannot be added."""
    topic_name, index = place
    if context.api_version < _FIRST_VERSION_OF_BROKERS and (
        topic_name in INTERNAL_TOPICS or not may(context, WRITE, TOPIC, topic_name)
    ):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    topic = context.state.cluster.named(topic_name)
    exists = topic is not None and topic.partition(index) is not None
    return ErrorCode.NONE if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _topics(codes: _Codes) -> list[_TopicResult]:
    by_topic: dict[str, list[_PartitionResult]] = {}
    for (topic, index), code in codes:
        result = _PartitionResult(partition_index=index, partition_error_code=code)
        by_topic.setdefault(topic, []).append(result)
    return [_TopicResult(name=name, results_by_partition=of) for name, of in by_topic.items()]
