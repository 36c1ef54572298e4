"""InitProducerId with a transactional id: another producer takes over, or one goes on.

Source: class TransactionCoordinator (handleInitProducerId, prepareInitProducerIdTransit), class
TransactionMetadata (prepareIncrementProducerEpoch, prepareProducerIdRotation); KIP-98, KIP-360.
"""

from __future__ import annotations

from dataclasses import replace

from harness.base.ids import ProducerEpoch, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.ending import abort_and_fence
from harness.reference_broker.state.transactions.transaction import (
    NO_EPOCH,
    NOT_STARTED,
    Transaction,
    is_exhausted,
)
from harness.reference_broker.state.transactions.transaction_states import (
    DECIDED,
    TransactionEvent,
    TransactionState,
)
from harness.reference_broker.state.transactions.transactions import Transactions

_Expected = ProducerIdentity | None


def initialize(
    transactions: Transactions,
    transactional_id: str,
    timeout_ms: int,
    expected: _Expected,
    now: TimeMs,
) -> ProducerIdentity | ErrorCode:
    """Return the producer id and the epoch of the next producer, which fences the former one.

    `expected` is the identity that the producer believes to have (KIP-360); PRODUCER_FENCED if it
    is wrong. An ongoing transaction is aborted, and the answer is CONCURRENT_TRANSACTIONS until its
    markers are written.
    """
    if not transactions.has_room_for(transactional_id, now):
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    known = transactions.find(transactional_id)
    if known is None:
        new_id = transactions.ids.new_producer().producer_id
        known = Transaction(transactional_id, new_id, NO_EPOCH, timeout_ms, now)
    if expected is not None and not _may_be(known, expected):
        return ErrorCode.PRODUCER_FENCED
    if known.state in DECIDED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    if known.state is TransactionState.ONGOING:
        error = abort_and_fence(transactions, known, now)
        return ErrorCode.CONCURRENT_TRANSACTIONS if error is ErrorCode.NONE else error
    next_one = _next_producer(transactions, known, timeout_ms, expected, now)
    if isinstance(next_one, ErrorCode):
        return next_one
    error = transactions.change(next_one, now)
    return next_one.identity if error is ErrorCode.NONE else error


def _may_be(known: Transaction, expected: ProducerIdentity) -> bool:
    """True if the identity is the current one, or the last one of the previous producer id."""
    is_previous = expected.producer_id == known.previous_id
    return (
        known.producer_epoch == NO_EPOCH
        or expected.producer_id == known.producer_id
        or (is_previous and is_exhausted(expected.producer_epoch))
    )


def _next_producer(
    transactions: Transactions,
    known: Transaction,
    timeout_ms: int,
    expected: _Expected,
    now: TimeMs,
) -> Transaction | ErrorCode:
    epoch = known.producer_epoch
    is_current = expected is None or epoch in (NO_EPOCH, expected.producer_epoch)
    begun = replace(
        known.after(TransactionEvent.PRODUCER_BEGINS, now),
        timeout_ms=timeout_ms,
        places=frozenset(),
        started_at=known.started_at if transactions.limits.start_is_kept else NOT_STARTED,
        client_version=0,
        last_epoch=NO_EPOCH if expected is None else epoch,
    )
    if is_current and known.is_exhausted:
        new_id = transactions.ids.new_producer().producer_id
        return replace(begun, producer_id=new_id, producer_epoch=ProducerEpoch(0))
    if is_current:
        return replace(begun, producer_epoch=ProducerEpoch(epoch + 1))
    if expected is not None and expected.producer_epoch == known.last_epoch:
        # The answer to the same request was lost: it is given once more.
        return replace(begun, producer_epoch=epoch, last_epoch=known.last_epoch)
    return ErrorCode.PRODUCER_FENCED
