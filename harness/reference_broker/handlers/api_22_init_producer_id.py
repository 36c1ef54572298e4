"""InitProducerId: API key 22, versions 0 to 5.

Behaviour
- Without a transactional id each request gets a new producer id with epoch 0.
- With a transactional id the same producer id is returned with the next epoch, which fences the
  former epoch. An ongoing transaction is aborted first: CONCURRENT_TRANSACTIONS until it is.

Version notes
- v3   the producer may send its id and epoch (KIP-360)
- v4   PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)
- v6   two-phase commit (KIP-939); served only with unstable.api.versions.enable, since 4.1. The
       transactions never time out; transaction.two.phase.commit.enable has to allow it
"""

from harness.codec.error_code import ErrorCode
from harness.codec.messages import InitProducerIdRequest, InitProducerIdResponse
from harness.reference_broker.handlers.outcome import Answer, Outcome, RequestContext
from harness.reference_broker.handlers.transaction_coordinator import (
    answer_when_written,
    as_of_version,
    identity_of,
    problem_with_transactional_id,
)
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.initializing import initialize
from harness.reference_broker.state.transactions.transaction import NO_TIMEOUT_MS
from harness.reference_broker.state.transactions.transactions import TransactionLimits

API_KEY = 22
_NONE = -1
_FIRST_VERSION_WITH_FENCED = 4


def handle(request: InitProducerIdRequest, context: RequestContext) -> Outcome:
    """Give out a producer id and epoch."""
    if context.state.producer_ids.is_empty:  # the next block is on its way
        return Answer(_refused(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))
    given = _identity(request, context)
    if isinstance(given, ErrorCode):
        return Answer(_refused(as_of_version(given, context, _FIRST_VERSION_WITH_FENCED)))
    answer = InitProducerIdResponse(
        producer_id=given.producer_id, producer_epoch=given.producer_epoch
    )
    if request.transactional_id is None:
        return Answer(answer)
    return answer_when_written(request.transactional_id, answer, _refused, context)


def _refused(error: ErrorCode) -> InitProducerIdResponse:
    return InitProducerIdResponse(error_code=error, producer_id=_NONE, producer_epoch=_NONE)


def _identity(
    request: InitProducerIdRequest, context: RequestContext
) -> ProducerIdentity | ErrorCode:
    if (request.producer_id == _NONE) != (request.producer_epoch == _NONE):
        return ErrorCode.INVALID_REQUEST
    transactions, name = context.state.transactions, request.transactional_id
    if name is None:
        return context.state.producer_ids.new_producer()
    if not name:
        return ErrorCode.INVALID_REQUEST
    timeout_ms = _timeout_ms(request, transactions.limits)
    if isinstance(timeout_ms, ErrorCode):
        return timeout_ms
    problem = problem_with_transactional_id(name, context)
    if problem is not ErrorCode.NONE:
        return problem
    expected = identity_of(request.producer_id, request.producer_epoch)
    return initialize(
        transactions,
        name,
        timeout_ms,
        None if request.producer_id == _NONE else expected,
        context.now(),
    )


def _timeout_ms(request: InitProducerIdRequest, limits: TransactionLimits) -> int | ErrorCode:
    """Return the timeout of the producer's transactions; none with two-phase commit."""
    if request.enable2_pc and not limits.two_phase:
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if request.keep_prepared_txn:
        return ErrorCode.UNSUPPORTED_VERSION
    if request.enable2_pc:
        return NO_TIMEOUT_MS
    if not 0 < request.transaction_timeout_ms <= limits.max_timeout_ms:
        return ErrorCode.INVALID_TRANSACTION_TIMEOUT
    return request.transaction_timeout_ms
