"""Ends by time: of transactions that take too long, and of transactional ids without use.

Source: class TransactionCoordinator (abortTimedOutTransactions), class TransactionStateManager
(timedOutTransactions, removeExpiredTransactionalIds).
"""

from __future__ import annotations

from harness.base.ids import TimeMs
from harness.reference_broker.state.transactions.ending import abort_and_fence
from harness.reference_broker.state.transactions.transaction import NO_TIMEOUT_MS
from harness.reference_broker.state.transactions.transaction_states import (
    TRANSITIONS,
    TransactionEvent,
    TransactionState,
)
from harness.reference_broker.state.transactions.transactions import Transactions


def abort_overdue(transactions: Transactions, now: TimeMs) -> None:
    """Abort each transaction that is open for longer than its producer's timeout; fence it."""
    for one in list(transactions.all()):
        is_open = one.state is TransactionState.ONGOING and one.timeout_ms != NO_TIMEOUT_MS
        if is_open and one.started_at + one.timeout_ms < now:
            abort_and_fence(transactions, one, now)


def forget_expired(transactions: Transactions, now: TimeMs) -> None:
    """Remove the transactional ids that were not used for transactional.id.expiration.ms."""
    for one in list(transactions.all()):
        may_expire = TransactionEvent.EXPIRED in TRANSITIONS[one.state]
        if may_expire and one.updated_at <= now - transactions.limits.expiration_ms:
            transactions.forget(one.transactional_id, now)
