"""Producers of a transactional id: their epochs, and the fence between two of them."""

from __future__ import annotations

import pytest

from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.initializing import initialize
from harness.reference_broker.state.transactions.transaction import NOT_STARTED
from harness.reference_broker.state.transactions.transaction_records import (
    key_of,
    read_transaction,
    value_of,
)
from harness.reference_broker.state.transactions.transaction_states import TransactionState
from harness.reference_broker.state.transactions.transactions import Transactions
from tests.reference_broker.made_transactions import (
    NAME,
    NOW,
    TIMEOUT_MS,
    begun,
    ended,
    identity,
    known,
    made_state,
    made_transactions,
    markers,
    partition_of,
)

LAST_EPOCH = 2**15 - 2
FENCED = ErrorCode.PRODUCER_FENCED


def init(
    transactions: Transactions, expected: ProducerIdentity | None = None, name: str = NAME
) -> ProducerIdentity | ErrorCode:
    return initialize(transactions, name, TIMEOUT_MS, expected, NOW)


def test_a_transactional_id_keeps_its_producer_id_and_raises_the_epoch() -> None:
    transactions = made_transactions()
    assert init(transactions) == identity(0, 0)
    assert init(transactions) == identity(0, 1)
    assert init(transactions, name="another") == identity(1, 0)


def test_a_repeated_identity_gets_the_same_epoch_and_an_older_one_is_fenced() -> None:
    transactions = made_transactions()
    init(transactions)
    assert init(transactions, identity(0, 0)) == identity(0, 1)
    assert init(transactions, identity(0, 0)) == identity(0, 1)
    assert init(transactions, identity(0, 1)) == identity(0, 2)
    assert init(transactions, identity(0, 0)) is FENCED
    assert init(transactions, identity(5, 2)) is FENCED


def test_an_epoch_that_another_producer_raised_is_fenced() -> None:
    transactions = made_transactions()
    init(transactions)
    init(transactions)
    assert init(transactions, identity(0, 0)) is FENCED


@pytest.mark.rotates(8)
def test_the_last_epoch_is_followed_by_another_producer_id() -> None:
    transactions = made_transactions()
    for _ in range(LAST_EPOCH + 1):
        last = init(transactions)
    assert last == identity(0, LAST_EPOCH)
    assert init(transactions, last) == identity(1, 0)
    assert init(transactions, last) == identity(1, 0)  # the answer was lost
    assert init(transactions, identity(0, LAST_EPOCH - 1)) is FENCED


@pytest.mark.parametrize("version", [0, 2])
def test_another_producer_aborts_the_transaction_and_gets_a_higher_epoch_than_the_abort(
    version: int,
) -> None:
    state = made_state()
    transactions = state.transactions
    begun(transactions, version=version)
    assert init(transactions) is ErrorCode.CONCURRENT_TRANSACTIONS
    assert known(transactions).state is TransactionState.PREPARE_ABORT
    assert init(transactions) is ErrorCode.CONCURRENT_TRANSACTIONS
    state.settle_transactions(NOW)
    assert known(transactions).state is TransactionState.COMPLETE_ABORT
    (marker,) = markers(partition_of(state))
    assert (marker.producer_id, marker.producer_epoch, marker.aborts) == (0, 1, True)
    assert init(transactions) == identity(0, 2)


@pytest.mark.parametrize(("like", "after"), [("4.4.0", identity(0, 1)), ("3.9.2", FENCED)])
def test_a_producer_that_aborts_by_its_own_identity_gets_the_raised_epoch_since_4_0(
    like: str, after: ProducerIdentity | ErrorCode
) -> None:
    state = made_state(like)
    producer = begun(state.transactions)
    assert init(state.transactions, producer) is ErrorCode.CONCURRENT_TRANSACTIONS
    state.settle_transactions(NOW)
    assert init(state.transactions, producer) == after


@pytest.mark.parametrize(("like", "is_kept"), [("4.4.0", False), ("3.9.2", True)])
def test_before_4_1_the_next_producer_keeps_the_start_of_the_transaction_before_it(
    like: str, is_kept: bool
) -> None:
    """In memory; its record has none."""
    state = made_state(like)
    transactions = state.transactions
    producer = begun(transactions)
    ended(transactions, producer, 0, commits=True)
    state.settle_transactions(NOW)
    init(transactions)
    one = known(transactions)
    assert (one.state, one.started_at) == (TransactionState.EMPTY, NOW if is_kept else NOT_STARTED)
    _, written = read_transaction(key_of(NAME), value_of(one, 1))
    assert written is not None
    assert written.started_at == NOT_STARTED


def test_a_producer_without_a_coordinator_log_gets_no_epoch() -> None:
    state = made_state()
    leader = state.transactions.log.partition_of(NAME)
    assert leader is not None
    leader.leading = None
    assert init(state.transactions) is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert state.transactions.find(NAME) is None
