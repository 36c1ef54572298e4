"""Ends of transactions, once and repeated, with each transaction version."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from harness.base.ids import PartitionIndex, ProducerEpoch, ProducerId
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.partition.coordinator_append import (
    WantedMarker,
    append_in_transaction,
    append_marker,
)
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.adding import add, verify
from harness.reference_broker.state.transactions.ending import WantedEnd, end
from harness.reference_broker.state.transactions.initializing import initialize
from harness.reference_broker.state.transactions.transaction_states import TransactionState
from tests.reference_broker.made_transactions import (
    NAME,
    NOW,
    PLACE,
    TIMEOUT_MS,
    TOPIC,
    begun,
    ended,
    identity,
    known,
    made_state,
    made_transactions,
    markers,
    partition_of,
)

OTHER = (TOPIC, PartitionIndex(1))
RAISES = 2  # the transaction version with KIP-890, part 2
BOTH = pytest.mark.parametrize("commits", [True, False])
STATES = {
    True: (TransactionState.PREPARE_COMMIT, TransactionState.COMPLETE_COMMIT),
    False: (TransactionState.PREPARE_ABORT, TransactionState.COMPLETE_ABORT),
}
FENCED = ErrorCode.PRODUCER_FENCED
CONCURRENT, WRONG_STATE = ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.INVALID_TXN_STATE


@BOTH
@pytest.mark.parametrize("version", [0, RAISES])
def test_each_partition_gets_one_marker_and_then_the_transaction_is_complete(
    version: int, *, commits: bool
) -> None:
    state = made_state()
    producer = begun(state.transactions, [PLACE, OTHER], version)
    next_one = ended(state.transactions, producer, version, commits=commits)
    epoch = 1 if version == RAISES else 0
    assert next_one == identity(0, epoch)
    assert known(state.transactions).state is STATES[commits][0]
    state.settle_transactions(NOW)
    assert known(state.transactions).state is STATES[commits][1]
    assert not known(state.transactions).places
    for place in (PLACE, OTHER):
        (marker,) = markers(partition_of(state, place))
        assert (marker.producer_epoch, marker.aborts) == (epoch, not commits)
    state.settle_transactions(NOW)
    assert partition_of(state).log.end_offset == 1


@BOTH
@pytest.mark.parametrize("version", [0, RAISES])
def test_the_same_end_again_is_no_error_and_the_other_one_is(
    version: int, *, commits: bool
) -> None:
    state = made_state()
    producer = begun(state.transactions, version=version)
    first = ended(state.transactions, producer, version, commits=commits)
    again = [ended(state.transactions, producer, version, commits=way) for way in (commits, False)]
    assert again == [CONCURRENT, WRONG_STATE if commits else CONCURRENT]
    state.settle_transactions(NOW)
    assert ended(state.transactions, producer, version, commits=commits) == first
    assert ended(state.transactions, producer, version, commits=not commits) is WRONG_STATE


@BOTH
def test_an_end_without_a_transaction_is_refused_where_epochs_are_not_raised(
    *, commits: bool
) -> None:
    transactions = made_transactions()
    given = initialize(transactions, NAME, TIMEOUT_MS, None, NOW)
    assert isinstance(given, ProducerIdentity)
    assert ended(transactions, given, commits=commits) is WRONG_STATE


def test_the_abort_of_nothing_raises_the_epoch_and_its_commit_is_refused() -> None:
    state = made_state()
    given = initialize(state.transactions, NAME, TIMEOUT_MS, None, NOW)
    assert isinstance(given, ProducerIdentity)
    assert ended(state.transactions, given, RAISES, commits=True) is WRONG_STATE
    first = ended(state.transactions, given, RAISES, commits=False)
    assert first == identity(0, 1)
    assert known(state.transactions).started_at == NOW
    state.settle_transactions(NOW)
    assert ended(state.transactions, given, RAISES, commits=False) == first
    assert ended(state.transactions, identity(0, 1), RAISES, commits=False) == identity(0, 2)


@pytest.mark.parametrize("version", [0, RAISES])
def test_a_wrong_producer_cannot_end_a_transaction(version: int) -> None:
    transactions = made_transactions()
    begun(transactions, version=version)
    wrong = {identity(5, 0): ErrorCode.INVALID_PRODUCER_ID_MAPPING}
    wrong |= dict.fromkeys([identity(0, 1), identity(0, -1)], ErrorCode.PRODUCER_FENCED)
    for producer, error in wrong.items():
        assert ended(transactions, producer, version, commits=True) is error
    assert known(transactions).state is TransactionState.ONGOING


def test_an_end_at_the_last_epoch_returns_the_next_producer_id() -> None:
    state = made_state()
    producer = begun(state.transactions, version=RAISES)
    last = ProducerEpoch(2**15 - 2)
    state.transactions.put(replace(known(state.transactions), producer_epoch=last))
    at_last = identity(producer.producer_id, last)
    assert ended(state.transactions, at_last, RAISES, commits=True) == identity(1, 0)
    state.settle_transactions(NOW)
    assert known(state.transactions).identity == identity(1, 0)
    (marker,) = markers(partition_of(state))
    assert (marker.producer_id, marker.producer_epoch) == (0, last + 1)
    assert ended(state.transactions, at_last, RAISES, commits=True) == identity(1, 0)
    assert ended(state.transactions, at_last, RAISES, commits=False) is WRONG_STATE


def test_partitions_are_added_once_and_not_while_an_end_is_decided() -> None:
    state = made_state()
    producer = begun(state.transactions)
    written = state.transactions.log.partition_of(NAME)
    assert written is not None
    end = written.log.end_offset
    assert add(state.transactions, NAME, producer, [PLACE], 0, NOW) is ErrorCode.NONE
    assert written.log.end_offset == end
    assert verify(state.transactions, NAME, producer, OTHER) is ErrorCode.TRANSACTION_ABORTABLE
    ended(state.transactions, producer, commits=True)
    assert add(state.transactions, NAME, producer, [OTHER], 0, NOW) is CONCURRENT
    assert verify(state.transactions, NAME, producer, PLACE) is CONCURRENT


def test_a_partition_that_was_deleted_needs_no_marker() -> None:
    state = made_state()
    producer = begun(state.transactions, [PLACE, ("gone", PartitionIndex(0))])
    ended(state.transactions, producer, commits=True)
    state.settle_transactions(NOW)
    assert known(state.transactions).state is TransactionState.COMPLETE_COMMIT


def test_a_coordinator_sends_no_more_markers_when_a_leader_takes_it_for_a_former_one() -> None:
    state = made_state()
    producer = begun(state.transactions)
    partition = partition_of(state)
    later = WantedMarker(producer.producer_id, ProducerEpoch(7), 1, aborts=True)
    append_marker(partition, later, NOW)
    ended(state.transactions, producer, commits=True)
    state.settle_transactions(NOW)
    assert known(state.transactions).state is TransactionState.PREPARE_COMMIT
    assert not len(state.transactions.rounds)
    assert len(markers(partition)) == 1


def test_a_transaction_waits_for_the_marker_of_a_partition_without_a_leader() -> None:
    state = made_state()
    producer = begun(state.transactions, [PLACE, OTHER])
    ended(state.transactions, producer, commits=True)
    partition = partition_of(state, OTHER)
    leading, partition.leading = partition.leading, None
    state.settle_transactions(NOW)
    assert known(state.transactions).state is TransactionState.PREPARE_COMMIT
    assert len(markers(partition_of(state))) == 1
    partition.leading = leading
    state.settle_transactions(NOW)
    assert known(state.transactions).state is TransactionState.COMPLETE_COMMIT
    assert [len(markers(partition_of(state, place))) for place in (PLACE, OTHER)] == [1, 1]


@pytest.mark.parametrize(("like", "error"), [("4.4.0", FENCED), ("1.1.1", WRONG_STATE)])
def test_up_to_2_5_an_end_with_a_later_epoch_is_judged_by_the_state(
    like: str, error: ErrorCode
) -> None:
    """KAFKA-9600. An open transaction is not ended by it, and an earlier epoch is never taken."""
    state = made_state(like)
    initialize(state.transactions, NAME, TIMEOUT_MS, None, NOW)

    def found(epoch: int, *, commits: bool) -> ProducerIdentity | ErrorCode:
        wanted = WantedEnd(NAME, identity(0, epoch), commits=commits)
        return end(state.transactions, wanted, NOW)

    assert [found(epoch, commits=True) for epoch in (-1, 2)] == [FENCED, error]
    producer = begun(state.transactions)
    assert found(2, commits=True) is FENCED
    ended(state.transactions, producer, 0, commits=True)
    state.settle_transactions(NOW)
    assert found(2, commits=False) is error
    repeated = producer if error is WRONG_STATE else FENCED
    assert found(2, commits=True) == repeated


@pytest.mark.parametrize(("like", "is_refused"), [("4.4.0", True), ("1.1.1", False)])
def test_up_to_2_4_offsets_of_an_earlier_epoch_are_appended(like: str, is_refused: bool) -> None:
    """KAFKA-9144; the marker of an earlier epoch is refused by all releases."""
    partition = partition_of(made_state(like))
    later = WantedMarker(ProducerId(7), ProducerEpoch(1), 0, aborts=True)
    append_marker(partition, later, NOW)
    earlier = replace(later, producer_epoch=ProducerEpoch(0))
    with pytest.raises(AppendRefused):
        append_marker(partition, earlier, NOW)
    with pytest.raises(AppendRefused) if is_refused else nullcontext():
        append_in_transaction(partition, [(NOW, b"k", b"v")], identity(7, 0), NOW)
    assert partition.log.end_offset == (1 if is_refused else 2)
