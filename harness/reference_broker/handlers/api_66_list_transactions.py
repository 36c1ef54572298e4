"""ListTransactions: API key 66, versions 0 to 2.

Behaviour
- Lists the transactional ids that this broker coordinates and that pass all filters, but
  for those that the client may not describe.

Version notes
- v0   states and producer ids (KIP-664)
- v1   the transaction is open for longer than a time (KIP-994); one that has not begun is, too
- v2   the whole transactional id matches a pattern (KIP-1152)
"""

import re
from collections.abc import Callable

from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListTransactionsRequest, ListTransactionsResponse
from harness.reference_broker.handlers.outcome import Answer, RequestContext
from harness.reference_broker.handlers.rights import DESCRIBE, TRANSACTIONAL_ID, may
from harness.reference_broker.state.transactions.transaction import Transaction
from harness.reference_broker.state.transactions.transaction_states import TransactionState

API_KEY = 66
_NAMES = frozenset(state.value for state in TransactionState)


def handle(request: ListTransactionsRequest, context: RequestContext) -> Answer:
    """List the transactional ids."""
    try:
        pattern = re.compile(request.transactional_id_pattern or ".*", re.DOTALL)
    except re.error:
        return Answer(ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION))
    passes = _filter(request, pattern, context)
    unknown = [name for name in request.state_filters if name not in _NAMES]
    return Answer(
        ListTransactionsResponse(
            unknown_state_filters=list(dict.fromkeys(unknown)),
            transaction_states=[
                ListTransactionsResponse.TransactionState(
                    transactional_id=one.transactional_id,
                    producer_id=one.producer_id,
                    transaction_state=one.state.value,
                )
                for one in context.state.transactions.all()
                if passes(one) and may(context, DESCRIBE, TRANSACTIONAL_ID, one.transactional_id)
            ],
        )
    )


def _filter(
    request: ListTransactionsRequest, pattern: re.Pattern[str], context: RequestContext
) -> Callable[[Transaction], bool]:
    ids, states = frozenset(request.producer_id_filters), frozenset(request.state_filters)
    longer_than_ms, now = request.duration_filter, context.now()

    def passes(one: Transaction) -> bool:
        return (
            (not ids or one.producer_id in ids)
            and (not states or one.state.value in states)
            and (longer_than_ms < 0 or now - one.started_at > longer_than_ms)
            and pattern.fullmatch(one.transactional_id) is not None
        )

    return passes
