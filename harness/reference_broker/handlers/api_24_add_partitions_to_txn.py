"""AddPartitionsToTxn: API key 24, versions 0 to 5.

Behaviour
- The first partitions begin a transaction; partitions that it has already change nothing.
- If one partition does not exist, none is added: the others are OPERATION_NOT_ATTEMPTED. Clients
  may not add internal topics: TOPIC_AUTHORIZATION_FAILED.
- A partition that is named twice is answered twice, but once beside one that cannot be added, if
  it is only verified, and before Kafka 3.5. Topics without partitions are answered likewise.

Version notes
- v2   PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)
- v4   several transactions at once, as brokers send them; verify_only adds nothing (KIP-890)
- v5   from brokers that add partitions by records (KIP-890, part 2)
"""

from collections.abc import Sequence
from typing import NamedTuple

from harness.base.ids import PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AddPartitionsToTxnRequest, AddPartitionsToTxnResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.rights import TOPIC, WRITE, may
from harness.reference_broker.handlers.transaction_coordinator import (
    answer_when_all_are_written,
    answer_when_written,
    as_of_version,
    identity_of,
    problem_with_transactional_id,
    written_state,
)
from harness.reference_broker.state.topics.topic_names import INTERNAL_TOPICS
from harness.reference_broker.state.transactions.adding import add, verify
from harness.reference_broker.state.transactions.transaction import EPOCH_BUMPS, Place

API_KEY = 24
_FIRST_VERSION_OF_BROKERS = 4
_EACH_IS_ANSWERED = (3, 5)  # class AddPartitionsToTxnRequest (errorResponseForTransaction)
_Transaction = AddPartitionsToTxnRequest.AddPartitionsToTxnTransaction
_Topic = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic
_Result = AddPartitionsToTxnResponse.AddPartitionsToTxnResult
_TopicResult = AddPartitionsToTxnResponse.AddPartitionsToTxnTopicResult
_PartitionResult = AddPartitionsToTxnResponse.AddPartitionsToTxnPartitionResult
_Errors = dict[Place, ErrorCode]


class _Asked(NamedTuple):
    """A transaction of a request.

    Where several have the same id, Kafka takes the partitions of the last and answers the topics of
    the first (class AddPartitionsToTxnRequest, partitionsByTransaction).
    """

    wanted: _Transaction
    topics: Sequence[_Topic]
    answered: Sequence[_Topic]


def handle(request: AddPartitionsToTxnRequest, context: RequestContext) -> Outcome:
    """Add the partitions of each transaction."""
    if context.api_version >= _FIRST_VERSION_OF_BROKERS:
        return _answered_to_broker(request.transactions, context)
    topics = request.v3_and_below_topics
    wanted = _Transaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
    )
    asked = _Asked(wanted, topics, topics)
    error, results = _results(asked, context)
    answer = AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)
    if error is not ErrorCode.NONE:
        return Answer(answer)

    def refuse(error: ErrorCode) -> AddPartitionsToTxnResponse:
        answer.results_by_topic_v3_and_below = _all_with(error, asked, context)
        return answer

    return answer_when_written(wanted.transactional_id, answer, refuse, context)


def _answered_to_broker(transactions: Sequence[_Transaction], context: RequestContext) -> Outcome:
    last = {each.transactional_id: each.topics for each in transactions}
    first = {each.transactional_id: each.topics for each in reversed(transactions)}
    asked = [
        _Asked(each, last[each.transactional_id], first[each.transactional_id])
        for each in transactions
    ]
    results, states = [], []
    for one in asked:
        error, found = _results(one, context)
        results.append(found)
        writes = error is ErrorCode.NONE and not one.wanted.verify_only
        states.append(written_state(one.wanted.transactional_id, context) if writes else None)

    def say(errors: Sequence[ErrorCode]) -> AddPartitionsToTxnResponse:
        told = [
            _Result(
                transactional_id=one.wanted.transactional_id,
                topic_results=found if error is ErrorCode.NONE else _all_with(error, one, context),
            )
            for one, found, error in zip(asked, results, errors, strict=True)
        ]
        return AddPartitionsToTxnResponse(results_by_transaction=told)

    return answer_when_all_are_written(states, say, context)


def _places(topics: Sequence[_Topic]) -> list[Place]:
    return [(topic.name, PartitionIndex(index)) for topic in topics for index in topic.partitions]


def _results(asked: _Asked, context: RequestContext) -> tuple[ErrorCode, list[_TopicResult]]:
    """Add or verify the partitions; return the error of all, and the results."""
    places = _places(asked.topics)
    refused = {place: error for place in places if (error := _problem_with(place, context))}
    if refused:
        left_out = ErrorCode.OPERATION_NOT_ATTEMPTED
        return left_out, _by_topic({place: refused.get(place, left_out) for place in places})
    wanted, transactions = asked.wanted, context.state.transactions
    name, producer = wanted.transactional_id, identity_of(wanted.producer_id, wanted.producer_epoch)
    error = problem_with_transactional_id(name, context)
    if wanted.verify_only:
        found = {place: error or verify(transactions, name, producer, place) for place in places}
        return error, _by_topic(found)
    if error is ErrorCode.NONE:
        version = EPOCH_BUMPS if context.api_version >= _FIRST_VERSION_OF_BROKERS else 0
        added = add(transactions, name, producer, places, version, context.now())
        error = as_of_version(added, context)
    return error, _all_with(error, asked, context)


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


def _all_with(error: ErrorCode, asked: _Asked, context: RequestContext) -> list[_TopicResult]:
    """Every partition with the same error, as it was named since 3.5."""
    if not context.state.like.since(*_EACH_IS_ANSWERED):
        places = _places(asked.topics)
        return _by_topic(dict.fromkeys(places, error))
    return [
        _TopicResult(
            name=topic.name,
            results_by_partition=[
                _PartitionResult(partition_index=index, partition_error_code=error)
                for index in topic.partitions
            ],
        )
        for topic in asked.answered
    ]


def _by_topic(errors: _Errors) -> list[_TopicResult]:
    by_topic: dict[str, list[_PartitionResult]] = {}
    for (topic, index), code in errors.items():
        result = _PartitionResult(partition_index=index, partition_error_code=code)
        by_topic.setdefault(topic, []).append(result)
    return [_TopicResult(name=name, results_by_partition=of) for name, of in by_topic.items()]
