"""Ends of transactions and of transactional ids by time."""

from __future__ import annotations

from dataclasses import replace

from harness.base.ids import TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.transactions.expiry import abort_overdue, forget_expired
from harness.reference_broker.state.transactions.transaction import NO_TIMEOUT_MS
from harness.reference_broker.state.transactions.transaction_loading import load_transactions
from harness.reference_broker.state.transactions.transaction_states import TransactionState
from tests.reference_broker.made_transactions import (
    NAME,
    NOW,
    TIMEOUT_MS,
    begun,
    ended,
    known,
    made_state,
)

EXPIRATION_MS = 5_000


def at(after_ms: int) -> TimeMs:
    return TimeMs(NOW + after_ms)


def test_a_transaction_is_aborted_after_its_timeout_and_its_producer_is_fenced() -> None:
    state = made_state()
    producer = begun(state.transactions)
    abort_overdue(state.transactions, at(TIMEOUT_MS))
    assert known(state.transactions).state is TransactionState.ONGOING
    abort_overdue(state.transactions, at(TIMEOUT_MS + 1))
    state.settle_transactions(at(TIMEOUT_MS + 1))
    assert known(state.transactions).state is TransactionState.COMPLETE_ABORT
    fenced = ended(state.transactions, producer, commits=True)
    assert fenced is ErrorCode.PRODUCER_FENCED


def test_a_transaction_without_a_timeout_is_never_aborted() -> None:
    state = made_state()
    begun(state.transactions)
    open_one = known(state.transactions)
    state.transactions.put(replace(open_one, timeout_ms=NO_TIMEOUT_MS))
    abort_overdue(state.transactions, at(NO_TIMEOUT_MS + 1))
    assert known(state.transactions).state is TransactionState.ONGOING


def test_an_unused_transactional_id_expires_and_one_in_a_transaction_does_not() -> None:
    state = made_state(transactional_id_expiration_ms=str(EXPIRATION_MS))
    producer = begun(state.transactions)
    forget_expired(state.transactions, at(2 * EXPIRATION_MS))
    assert state.transactions.find(NAME) is not None
    ended(state.transactions, producer, commits=True)
    state.settle_transactions(NOW)
    forget_expired(state.transactions, at(EXPIRATION_MS - 1))
    assert state.transactions.find(NAME) is not None
    forget_expired(state.transactions, at(EXPIRATION_MS))
    gone = ended(state.transactions, producer, commits=True)
    assert gone is ErrorCode.INVALID_PRODUCER_ID_MAPPING


def test_an_expired_transactional_id_is_not_loaded_again() -> None:
    state = made_state(transactional_id_expiration_ms=str(EXPIRATION_MS))
    ended(state.transactions, begun(state.transactions), commits=True)
    state.settle_transactions(NOW)
    forget_expired(state.transactions, at(EXPIRATION_MS))
    partition = state.transactions.log.partition_of(NAME)
    assert partition is not None
    load_transactions(state.transactions, partition)
    assert state.transactions.find(NAME) is None
