"""EndTxn: API key 26, versions 0 to 5.

Behaviour
- The answer comes when the decision is in the coordinator's log; the markers follow.
- The same end once more is no error; the other one is INVALID_TXN_STATE.

Version notes
- v2   PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)
- v5   the end raises the epoch; the answer has the producer id and the epoch to use next, also
       after the abort of a transaction without partitions (KIP-890, part 2)
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import EndTxnRequest, EndTxnResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.transaction_coordinator import (
    answer_when_written,
    as_of_version,
    identity_of,
    problem_with_transactional_id,
)
from harness.reference_broker.state.transactions.ending import WantedEnd, end
from harness.reference_broker.state.transactions.transaction import EPOCH_BUMPS

API_KEY = 26
_FIRST_VERSION_WITH_BUMP = 5


def handle(request: EndTxnRequest, context: RequestContext) -> Outcome:
    """Commit or abort."""
    name = request.transactional_id
    problem = problem_with_transactional_id(name, context)
    if problem is not ErrorCode.NONE:
        return Answer(_refused(problem))
    bumps = context.api_version >= _FIRST_VERSION_WITH_BUMP
    producer = identity_of(request.producer_id, request.producer_epoch)
    wanted = WantedEnd(name, producer, request.committed, EPOCH_BUMPS if bumps else 0)
    ended = end(context.state.transactions, wanted, context.now())
    if isinstance(ended, ErrorCode):
        return Answer(_refused(as_of_version(ended, context)))
    answer = EndTxnResponse(producer_id=ended.producer_id, producer_epoch=ended.producer_epoch)
    return answer_when_written(name, answer, _refused, context)


def _refused(error: ErrorCode) -> EndTxnResponse:
    return EndTxnResponse(error_code=error)
