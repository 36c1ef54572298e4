"""Limits on objects that clients may create, and their release when some are gone."""

from __future__ import annotations

from harness.base.ids import MemberId, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.fetch.fetch_sessions import FetchSessions
from harness.reference_broker.state.groups.committed_offsets import CommittedOffsets, OffsetLimits
from harness.reference_broker.state.groups.group_membership import (
    Caller,
    Leaver,
    WantedSync,
    leave,
    sync,
)
from harness.reference_broker.state.groups.groups import GroupLimits, Groups
from harness.reference_broker.state.memory_budget import MemoryBudget
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.initializing import initialize
from tests.reference_broker.group_logs import nowhere
from tests.reference_broker.made_transactions import made_transactions
from tests.reference_broker.state.fetch.test_fetch_sessions import NOW, Increasing, want
from tests.reference_broker.state.groups.test_committed_offsets import PLACE, committed
from tests.reference_broker.state.groups.test_groups import NAME, SESSION_MS, ask, group_of, outcome


def small_groups() -> Groups:
    return Groups(GroupLimits(0, 6_000, 1_800_000, 100, memory_bytes=10_000), nowhere())


def test_exhausted_budget_recounts_released_memory() -> None:
    held = [60]
    budget = MemoryBudget(100, lambda: sum(held))
    assert budget.take(60, NOW)
    held.clear()
    assert budget.take(90, NOW)
    held.append(90)
    assert not budget.take(20, NOW)


def test_exhausted_budget_is_recounted_at_intervals() -> None:
    counts: list[int] = []
    budget = MemoryBudget(100, lambda: counts.append(1) or 99)  # type: ignore[func-returns-value]
    assert budget.take(100, NOW)
    for _ in range(10):
        assert not budget.take(50, NOW)
    assert len(counts) == 1
    assert not budget.take(50, TimeMs(NOW + 1_000))
    assert len(counts) == 2


def test_join_above_memory_limit_returns_coordinator_not_available() -> None:
    groups = small_groups()
    assert outcome(ask(groups, 0, fresh_id="b", metadata=bytes(9_000))).error is (
        ErrorCode.COORDINATOR_NOT_AVAILABLE
    )
    assert groups.find(NAME) is None


def test_groups_created_by_commits_count_for_memory_limit() -> None:
    groups = small_groups()
    made = 0
    while groups.has_room_for(f"g{made}", NOW):
        groups.find_or_create(f"g{made}", NOW)
        made += 1
    assert made == 19
    assert groups.has_room_for("g0", NOW)


def test_pending_member_ids_count_for_memory_limit_until_session_end() -> None:
    groups = small_groups()

    def more(now: int) -> int:
        for number in range(100):
            parked = ask(groups, now, fresh_id=f"{now}-{number}", needs_known_id=True)
            if outcome(parked).error is not ErrorCode.MEMBER_ID_REQUIRED:
                return number
        return 100

    assert 1 < more(0) < 20
    assert more(2_000) < 10
    groups.ring(TimeMs(SESSION_MS + 2_000))
    assert more(SESSION_MS + 4_000) > 1


def test_assignment_above_memory_limit_returns_coordinator_not_available() -> None:
    groups = small_groups()
    joined = ask(groups, 0, fresh_id="a")
    groups.ring(TimeMs(0))
    leader = outcome(joined).member_id
    caller = Caller(NAME, leader, 1, None)
    refused = sync(groups, WantedSync(caller, None, None, {leader: bytes(20_000)}), TimeMs(1))
    assert refused.outcome is not None
    assert refused.outcome.error is ErrorCode.COORDINATOR_NOT_AVAILABLE
    taken = sync(groups, WantedSync(caller, None, None, {leader: bytes(2_000)}), TimeMs(1))
    assert taken.outcome is not None
    assert taken.outcome.error is ErrorCode.NONE
    size_bytes = group_of(groups).size_bytes
    assert leave(groups, NAME, [Leaver(MemberId(leader), None)], TimeMs(2)) == [ErrorCode.NONE]
    assert group_of(groups).size_bytes < size_bytes - 2_000


def test_committed_offsets_above_memory_limit_are_refused() -> None:
    offsets = CommittedOffsets(OffsetLimits(1_000, 4, memory_bytes=10_000), nowhere())
    groups = 0
    while offsets.has_room_for(f"g{groups}", [""], NOW):
        offsets.commit(f"g{groups}", [(PLACE, committed(at=0))], NOW)
        groups += 1
    assert 1 < groups < 10
    offsets.commit_aside("more", PLACE, committed(at=0).offset)
    offsets.remove_group("g0", NOW)
    assert not offsets.has_room_for("another", [""], TimeMs(NOW + 1_000))
    offsets.remove_group("g1", NOW)
    assert offsets.has_room_for("another", [""], TimeMs(NOW + 2_000))


def test_fetch_session_above_memory_limit_is_closed() -> None:
    sessions = FetchSessions(5, memory_bytes=10_000)
    assert sessions.create([want(i) for i in range(100)], False, NOW, Increasing()) is None
    session = sessions.create([want(0)], False, NOW, Increasing())
    assert session is not None
    for epoch in range(1, 100):  # the same again and again is nothing more
        assert sessions.resume(session.session_id, epoch, False, NOW) is session
        assert sessions.update(session, [want(0, offset=epoch)], [], NOW)
    assert not sessions.update(session, [want(i) for i in range(100)], [], NOW)
    again = sessions.resume(session.session_id, 100, False, NOW)
    assert again is ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_transactional_id_above_the_memory_limit_is_refused_and_a_known_one_is_not() -> None:
    transactions = made_transactions(memory_bytes=1_200)
    begun = [initialize(transactions, name, 1_000, None, NOW) for name in ("a", "b", "c", "a")]
    assert begun[2] is ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert begun[3] == ProducerIdentity(ProducerId(0), ProducerEpoch(1))
