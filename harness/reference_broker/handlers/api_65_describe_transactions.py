"""DescribeTransactions: API key 65, versions 0 to 0.

Behaviour
- The partitions are those that still belong to the transaction: none after its end. Those of topics
  that the client may not describe are left out.
- Source: KIP-664.
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeTransactionsRequest, DescribeTransactionsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.rights import DESCRIBE, TOPIC, may
from harness.reference_broker.handlers.transaction_coordinator import problem_with_transactional_id
from harness.reference_broker.state.transactions.transaction import Transaction, indexes_by_topic

API_KEY = 65
_State = DescribeTransactionsResponse.TransactionState
_Topic = DescribeTransactionsResponse.TopicData


def handle(request: DescribeTransactionsRequest, context: RequestContext) -> Answer:
    """Describe each transactional id."""
    states = [_state(name, context) for name in request.transactional_ids]
    return Answer(DescribeTransactionsResponse(transaction_states=states))


def _state(name: str, context: RequestContext) -> _State:
    problem = problem_with_transactional_id(name, context)
    if problem is not ErrorCode.NONE:
        return _State(transactional_id=name, error_code=problem)
    known = context.state.transactions.find(name)
    if known is None:
        return _State(transactional_id=name, error_code=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    return _State(
        transactional_id=name,
        transaction_state=known.state.value,
        transaction_timeout_ms=known.timeout_ms,
        transaction_start_time_ms=known.started_at,
        producer_id=known.producer_id,
        producer_epoch=known.producer_epoch,
        topics=_topics(known, context),
    )


def _topics(known: Transaction, context: RequestContext) -> list[_Topic]:
    shown = [place for place in sorted(known.places) if may(context, DESCRIBE, TOPIC, place[0])]
    by_topic = indexes_by_topic(shown)
    return [_Topic(topic=topic, partitions=indexes) for topic, indexes in by_topic.items()]
