"""A new coordinator has the state that the former one wrote, and completes its work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.base.ids import ProducerEpoch
from harness.codec.data_framing.coordinator_records import TRANSACTION_STATE
from harness.codec.records.any_format import read_records
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.transactions.initializing import initialize
from harness.reference_broker.state.transactions.transaction import NO_EPOCH
from harness.reference_broker.state.transactions.transaction_loading import (
    load_transactions,
    unload_transactions,
)
from harness.reference_broker.state.transactions.transaction_states import TransactionState
from tests.reference_broker.made_transactions import (
    NAME,
    NOW,
    TIMEOUT_MS,
    begun,
    ended,
    known,
    made_state,
    markers,
    partition_of,
)


def reload(state: BrokerState) -> None:
    partition = state.transactions.log.partition_of(NAME)
    assert partition is not None
    unload_transactions(state.transactions, partition)
    assert state.transactions.find(NAME) is None
    load_transactions(state.transactions, partition)


def in_empty(state: BrokerState) -> None:
    initialize(state.transactions, NAME, TIMEOUT_MS, None, NOW)


def in_ongoing(state: BrokerState) -> None:
    begun(state.transactions, version=2)


def in_complete(state: BrokerState) -> None:
    ended(state.transactions, begun(state.transactions, version=2), 2, commits=True)
    state.settle_transactions(NOW)


@pytest.mark.parametrize("prepare", [in_empty, in_ongoing, in_complete])
def test_a_loaded_transactional_id_equals_the_written_one(
    prepare: Callable[[BrokerState], None],
) -> None:
    """All but the epoch before the current one, which no record has."""
    state = made_state()
    prepare(state)
    before = replace(known(state.transactions), last_epoch=NO_EPOCH)
    reload(state)
    assert known(state.transactions) == before


@pytest.mark.parametrize("commits", [True, False])
def test_a_loaded_decision_gets_its_markers(*, commits: bool) -> None:
    state = made_state()
    ended(state.transactions, begun(state.transactions), commits=commits)
    reload(state)
    assert not markers(partition_of(state))
    state.settle_transactions(NOW)
    (marker,) = markers(partition_of(state))
    assert marker.aborts is not commits
    done = TransactionState.COMPLETE_COMMIT if commits else TransactionState.COMPLETE_ABORT
    assert known(state.transactions).state is done


@pytest.mark.parametrize(("like", "version"), [("2.8.2", 0), ("3.9.2", 0), ("4.4.0", 1)])
def test_records_have_the_version_of_the_finalized_transaction_version(
    like: str, version: int
) -> None:
    state = made_state(like)
    begun(state.transactions)
    partition = state.transactions.log.partition_of(NAME)
    assert partition is not None
    log = partition.log
    versions = {
        TRANSACTION_STATE.read_record(key or b"", value).value_version
        for batch in log.between(log.start_offset, log.end_offset)
        for read in read_records(batch.data, limit_bytes=1_000_000).batches
        for _, _, key, value in read.records.rows()
    }
    assert versions == {version}


def test_the_next_producer_id_of_a_decision_is_loaded() -> None:
    state = made_state()
    begun(state.transactions, version=2)
    last = ProducerEpoch(2**15 - 2)
    state.transactions.put(replace(known(state.transactions), producer_epoch=last))
    ended(state.transactions, known(state.transactions).identity, 2, commits=True)
    reload(state)
    state.settle_transactions(NOW)
    assert known(state.transactions).identity.producer_id == 1
    assert known(state.transactions).previous_id == 0
