"""Offsets that were committed in transactions, before and after the decision."""

from __future__ import annotations

import pytest

from harness.base.ids import LeaderEpoch, Offset, PartitionIndex, ProducerId
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.broker import BrokerState
from harness.reference_broker.state.groups.committed_offset import CommittedOffset, Place
from harness.reference_broker.state.groups.group_loading import load_groups, unload_groups
from harness.reference_broker.state.groups.pending_offsets import PendingOffsets
from harness.reference_broker.state.topics.topic_names import GROUP_METADATA_TOPIC
from tests.reference_broker.made_transactions import (
    NAME,
    NOW,
    begun,
    ended,
    identity,
    made_state,
    partition_of,
)

GROUP, PLACE, OTHER = "g", ("orders", PartitionIndex(0)), ("orders", PartitionIndex(1))
OFFSETS: Place = (GROUP_METADATA_TOPIC, PartitionIndex(0))


def offset(value: int) -> CommittedOffset:
    return CommittedOffset(Offset(value), LeaderEpoch(-1), "", committed_at=NOW)


def with_pending(state: BrokerState, *values: tuple[Place, int]) -> None:
    """Commit in a transaction that has the partition of the offsets."""
    producer = begun(state.transactions, [OFFSETS])
    commits = [(place, offset(value)) for place, value in values]
    error = state.committed_offsets.commit_in_transaction(GROUP, commits, producer, NOW)
    assert error is ErrorCode.NONE


def end(state: BrokerState, *, commits: bool) -> None:
    known = state.transactions.find(NAME)
    assert known is not None
    ended(state.transactions, known.identity, commits=commits)
    state.settle_transactions(NOW)


def held(state: BrokerState) -> dict[Place, int]:
    found = state.committed_offsets.of_group(GROUP)
    return {place: committed.offset for place, committed in found.items()}


def reload(state: BrokerState) -> None:
    """Read the groups again, as another coordinator does."""
    partition = partition_of(state, OFFSETS)
    state.groups.find_or_create(GROUP, NOW)
    unload_groups(state.groups, state.committed_offsets, state.group_log, partition)
    assert not held(state)
    load_groups(state.groups, state.committed_offsets, partition, NOW)


@pytest.mark.parametrize("loads", [False, True])
@pytest.mark.parametrize(("commits", "after"), [(True, {PLACE: 5, OTHER: 7}), (False, {PLACE: 1})])
def test_offsets_of_a_transaction_become_visible_with_its_commit_only(
    after: dict[Place, int], *, commits: bool, loads: bool
) -> None:
    state = made_state()
    state.committed_offsets.commit(GROUP, [(PLACE, offset(1))], NOW)
    with_pending(state, (PLACE, 5), (OTHER, 7))
    if loads:
        reload(state)
    pending = state.committed_offsets.pending
    assert held(state) == {PLACE: 1}
    assert [pending.is_pending(GROUP, place) for place in (PLACE, OTHER)] == [True, True]
    end(state, commits=commits)
    assert held(state) == after
    assert not pending.has_any(GROUP)


@pytest.mark.parametrize("commits", [True, False])
def test_decided_offsets_are_loaded_as_they_were_decided(*, commits: bool) -> None:
    state = made_state()
    with_pending(state, (PLACE, 5))
    end(state, commits=commits)
    reload(state)
    assert held(state) == ({PLACE: 5} if commits else {})
    assert not state.committed_offsets.pending.has_any(GROUP)


@pytest.mark.parametrize("loads", [False, True])
def test_a_commit_outside_of_a_transaction_wins_if_it_is_stored_later(*, loads: bool) -> None:
    state = made_state()
    with_pending(state, (PLACE, 5), (OTHER, 7))
    state.committed_offsets.commit(GROUP, [(PLACE, offset(9))], NOW)
    if loads:
        reload(state)
    assert state.committed_offsets.pending.is_pending(GROUP, PLACE)
    end(state, commits=True)
    assert held(state) == {PLACE: 9, OTHER: 7}


@pytest.mark.parametrize("later_ends_first", [False, True])
def test_of_two_transactions_the_offset_that_is_stored_later_wins(
    *, later_ends_first: bool
) -> None:
    pending, first, second = PendingOffsets(), ProducerId(1), ProducerId(2)
    pending.put(first, GROUP, [(PLACE, offset(5)), (OTHER, offset(6))])
    pending.put(second, GROUP, [(PLACE, offset(7))])
    order = (second, first) if later_ends_first else (first, second)
    shown: dict[Place, int] = {}
    for producer in order:
        assert pending.is_pending(GROUP, PLACE)
        visible = pending.end(producer, lambda _group_id: True, aborts=False)
        shown |= {place: one.offset for place, one in visible[GROUP].items()}
    assert shown == {PLACE: 7, OTHER: 6}
    assert not pending.has_any(GROUP)


def test_an_abort_leaves_the_offset_of_another_transaction() -> None:
    pending, first, second = PendingOffsets(), ProducerId(1), ProducerId(2)
    for producer, value in ((first, 5), (second, 7)):
        pending.put(producer, GROUP, [(PLACE, offset(value))])
    assert pending.end(second, lambda _group_id: True, aborts=True) == {}
    visible = pending.end(first, lambda _group_id: True, aborts=False)
    assert visible[GROUP][PLACE].offset == 5


def test_a_fenced_producer_cannot_commit_offsets() -> None:
    state = made_state()
    with_pending(state, (PLACE, 5))
    offsets = state.committed_offsets
    partition_of(state, OFFSETS).producers.forget([ProducerId(0)])
    newer, older = identity(0, 4), identity(0, 3)
    assert offsets.commit_in_transaction(GROUP, [(PLACE, offset(6))], newer, NOW) is ErrorCode.NONE
    error = offsets.commit_in_transaction(GROUP, [(PLACE, offset(7))], older, NOW)
    assert error is ErrorCode.INVALID_PRODUCER_EPOCH


def test_an_offset_does_not_expire_while_a_transaction_has_another() -> None:
    state = made_state(offsets_retention_minutes="1")
    state.groups.find_or_create(GROUP, NOW)
    state.committed_offsets.commit(GROUP, [(PLACE, offset(1)), (OTHER, offset(2))], NOW)
    with_pending(state, (PLACE, 5))
    state.expire_offsets(type(NOW)(NOW + 600_000))
    assert held(state) == {PLACE: 1}
    assert state.groups.find(GROUP) is not None


def test_the_offsets_of_a_deleted_topic_are_not_pending() -> None:
    state = made_state()
    with_pending(state, (PLACE, 5))
    topic = state.cluster.named("orders")
    assert topic is not None
    state.forget_topic(topic, NOW)
    end(state, commits=True)
    assert not held(state)


@pytest.mark.parametrize("loads", [False, True])
@pytest.mark.parametrize("committed_before", [False, True])
def test_a_deleted_offset_does_not_become_visible_with_the_commit(
    *, committed_before: bool, loads: bool
) -> None:
    state = made_state()
    if committed_before:
        state.committed_offsets.commit(GROUP, [(PLACE, offset(1))], NOW)
    with_pending(state, (PLACE, 5), (OTHER, 7))
    state.committed_offsets.remove(GROUP, PLACE, NOW)
    if loads:
        reload(state)
    pending = state.committed_offsets.pending
    assert [pending.is_pending(GROUP, place) for place in (PLACE, OTHER)] == [False, True]
    end(state, commits=True)
    assert held(state) == {OTHER: 7}


def test_a_deletion_leaves_the_pending_offsets_of_other_groups() -> None:
    state = made_state()
    with_pending(state, (PLACE, 5))
    state.committed_offsets.remove("another", PLACE, NOW)
    end(state, commits=True)
    assert held(state) == {PLACE: 5}


@pytest.mark.parametrize(("like", "stays"), [("3.9.2", True), ("4.4.0", False)])
@pytest.mark.parametrize("deletes_topic", [False, True])
def test_up_to_3_9_a_group_stays_for_a_transaction_of_which_all_offsets_are_deleted(
    like: str, *, stays: bool, deletes_topic: bool
) -> None:
    """It goes when the transaction has ended (seen on 3.9.2 and 4.4.0)."""
    state = made_state(like)
    state.groups.find_or_create(GROUP, NOW)
    with_pending(state, (PLACE, 5))
    topic = state.cluster.named("orders")
    assert topic is not None
    if deletes_topic:
        state.forget_topic(topic, NOW)
    else:
        state.committed_offsets.remove(GROUP, PLACE, NOW)
    state.expire_offsets(NOW)
    assert (state.groups.find(GROUP) is not None) is stays
    end(state, commits=True)
    state.expire_offsets(NOW)
    assert not held(state)
    assert state.groups.find(GROUP) is None
