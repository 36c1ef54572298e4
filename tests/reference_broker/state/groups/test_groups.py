"""Classic groups in cases that depend on time or on a rare order of events."""

from __future__ import annotations

import pytest

from harness.base.ids import GroupId, MemberId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import GroupMoved
from harness.reference_broker.state.alarms import Alarms
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_joining import WantedJoin, join
from harness.reference_broker.state.groups.group_member import NO_MEMBER, Joined, Parked, Protocol
from harness.reference_broker.state.groups.group_membership import (
    Caller,
    Leaver,
    WantedSync,
    heartbeat,
    leave,
    sync,
)
from harness.reference_broker.state.groups.group_states import GroupState
from harness.reference_broker.state.groups.groups import GroupLimits, Groups
from tests.reference_broker.group_logs import nowhere

NAME = "g"
DELAY_MS, SESSION_MS, REBALANCE_MS = 3_000, 10_000, 60_000


def groups_with(delay_ms: int = 0, max_size: int = 100) -> Groups:
    return Groups(GroupLimits(delay_ms, 6_000, 1_800_000, max_size), nowhere())


def ask(
    groups: Groups,
    now: int,
    member_id: str = "",
    *,
    fresh_id: str = "",
    instance_id: str | None = None,
    needs_known_id: bool = False,
    metadata: bytes = b"",
    protocols: tuple[str, ...] = ("range",),
) -> Parked[Joined]:
    wanted = WantedJoin(
        NAME,
        MemberId(member_id),
        instance_id,
        "client",
        "/host",
        SESSION_MS,
        REBALANCE_MS,
        "consumer",
        tuple(Protocol(name, metadata) for name in protocols),
        MemberId(fresh_id),
        needs_known_id,
        may_skip_assignment=True,
    )
    return join(groups, wanted, TimeMs(now))


def group_of(groups: Groups) -> Group:
    found = groups.find(NAME)
    assert found is not None
    return found


def outcome(parked: Parked[Joined]) -> Joined:
    assert parked.outcome is not None
    return parked.outcome


def assigned(groups: Groups, leader: str, generation: int, now: int) -> None:
    caller = Caller(NAME, MemberId(leader), generation, None)
    members = group_of(groups).members
    parts = {str(name): name.encode() for name in members}
    sync(groups, WantedSync(caller, None, None, parts), TimeMs(now))
    assert group_of(groups).state is GroupState.STABLE
    for name in members:
        told = sync(
            groups,
            WantedSync(Caller(NAME, name, generation, members[name].instance_id), None, None, {}),
            TimeMs(now),
        )
        assert told.outcome is not None


def ring_until(groups: Groups, until: int) -> None:
    """Ring the alarms as the shell does: at each time at which one is due."""
    while (at := groups.next_alarm_at) is not None and at <= until:
        assert groups.ring(at) == [GroupMoved(GroupId(NAME))]


def test_new_member_extends_initial_rebalance_delay() -> None:
    groups = groups_with(DELAY_MS)
    first = ask(groups, 0, fresh_id="a")
    assert groups.next_alarm_at == DELAY_MS
    ask(groups, 1_000, fresh_id="b")
    ring_until(groups, DELAY_MS)
    assert first.outcome is None
    assert groups.next_alarm_at == 2 * DELAY_MS
    ring_until(groups, 2 * DELAY_MS)
    assert [entry.member_id for entry in outcome(first).roster] == ["a", "b"]


@pytest.mark.parametrize("ends", [True, False])
def test_expired_id_ends_initial_rebalance_delay_since_4_0(ends: bool) -> None:
    """GroupMetadataManager.removePendingMemberAndUpdateClassicGroup; before, InitialDelayedJoin."""
    limits = GroupLimits(2 * SESSION_MS, 6_000, 1_800_000, 100, expired_ids_end_delay=ends)
    groups = Groups(limits, nowhere())
    ask(groups, 0, fresh_id="pending", needs_known_id=True)
    first = ask(groups, 1, fresh_id="a")
    ring_until(groups, SESSION_MS)
    assert (first.outcome is not None) is ends


@pytest.mark.parametrize("ends", [True, False])
def test_full_group_removes_id_that_it_refuses_since_3_0(ends: bool) -> None:
    groups = Groups(GroupLimits(0, 6_000, 1_800_000, 1, refused_ids_end=ends), nowhere())
    ask(groups, 0, fresh_id="pending", needs_known_id=True)
    ask(groups, 0, fresh_id="a")
    ring_until(groups, 0)
    refused = outcome(ask(groups, 1, "pending", needs_known_id=True))
    assert (refused.error, refused.member_id) == (ErrorCode.GROUP_MAX_SIZE_REACHED, NO_MEMBER)
    assert ("pending" in group_of(groups).pending_members) is not ends


@pytest.mark.parametrize("first", [("range", "sticky"), ("sticky", "range")])
def test_rejoin_of_static_member_with_tied_protocol_votes_skips_rebalance(
    first: tuple[str, str],
) -> None:
    """ClassicGroup.selectProtocol: a map by protocol name, for any order of the members."""
    groups = groups_with()
    ask(groups, 0, fresh_id="a", instance_id="i", protocols=first)
    ring_until(groups, 0)
    assigned(groups, "a", 1, 0)
    ask(groups, 1, fresh_id="b", instance_id="j", protocols=first[::-1])
    ask(groups, 1, "a", instance_id="i", protocols=first)
    assigned(groups, "a", 2, 1)
    back = ask(groups, 2, fresh_id="c", instance_id="i", protocols=first)
    assert outcome(back).skip_assignment
    assert group_of(groups).state is GroupState.STABLE


def test_pending_id_of_dynamic_member_is_refused_for_static_member() -> None:
    """IllegalStateException in classicGroupJoinExistingMember; it stays pending."""
    groups = groups_with()
    outcome(ask(groups, 0, fresh_id="a", needs_known_id=True))
    refused = outcome(ask(groups, 0, "a", instance_id="i"))
    assert (refused.error, refused.member_id) == (ErrorCode.UNKNOWN_SERVER_ERROR, NO_MEMBER)
    joined = ask(groups, 0, "a")
    ring_until(groups, 0)
    assert outcome(joined).error is ErrorCode.NONE


def test_pending_member_delays_rebalance_until_its_session_ends() -> None:
    groups = groups_with()
    ask(groups, 0, fresh_id="a")
    ring_until(groups, 0)
    assigned(groups, "a", 1, 0)
    given = ask(groups, 0, fresh_id="b", needs_known_id=True)
    assert outcome(given).error is ErrorCode.MEMBER_ID_REQUIRED
    again = ask(groups, 1, "a")
    assert again.outcome is None
    ring_until(groups, SESSION_MS)
    assert outcome(again).generation == 2


def test_static_member_that_does_not_rejoin_stays_in_next_generation() -> None:
    groups = groups_with()
    ask(groups, 0, fresh_id="a")
    ring_until(groups, 0)
    ask(groups, 0, fresh_id="s", instance_id="i")
    both = ask(groups, 0, "a")
    assert outcome(both).generation == 2
    assigned(groups, "a", 2, 0)
    alone = ask(groups, 1, "a")
    silent = Caller(NAME, MemberId("s"), 2, "i")
    for now in range(0, REBALANCE_MS, SESSION_MS // 2):
        assert heartbeat(groups, silent, TimeMs(now)) is ErrorCode.REBALANCE_IN_PROGRESS
        groups.ring(TimeMs(now))
        assert alone.outcome is None
    groups.ring(TimeMs(REBALANCE_MS + 1))
    assert [entry.member_id for entry in outcome(alone).roster] == ["a", "s"]


def test_waiting_static_member_is_fenced_by_next_join_of_its_instance() -> None:
    groups = groups_with(DELAY_MS)
    first = ask(groups, 0, fresh_id="s1", instance_id="i")
    second = ask(groups, 1, fresh_id="s2", instance_id="i")
    assert outcome(first).error is ErrorCode.FENCED_INSTANCE_ID
    ring_until(groups, DELAY_MS)
    assert outcome(second).member_id == "s2"
    assert outcome(second).leader_id == "s2"


def test_leave_of_last_member_makes_group_empty_in_next_generation() -> None:
    groups = groups_with()
    ask(groups, 0, fresh_id="a")
    ring_until(groups, 0)
    assigned(groups, "a", 1, 0)
    leaver = Leaver(MemberId("a"), None)
    assert leave(groups, NAME, [leaver, leaver], TimeMs(1)) == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_MEMBER_ID,
    ]
    group = group_of(groups)
    assert (group.state, group.generation, group.protocol_name) == (GroupState.EMPTY, 2, None)
    assert groups.next_alarm_at is None


@pytest.mark.parametrize("waits", [True, False])
def test_full_group_accepts_waiting_member_and_refuses_new_one(waits: bool) -> None:
    groups = groups_with(DELAY_MS, max_size=1)
    ask(groups, 0, fresh_id="a")
    member_id = "a" if waits else NO_MEMBER
    again = ask(groups, 1, member_id, fresh_id="b")
    if waits:
        assert again.outcome is None
    else:
        assert outcome(again).error is ErrorCode.GROUP_MAX_SIZE_REACHED


def test_reset_alarm_fires_once_per_ring_call() -> None:
    alarms, rung = Alarms(), list[int]()

    def again(now: TimeMs) -> None:
        rung.append(now)
        alarms.set("k", now, again)

    alarms.set("k", TimeMs(5), again)
    alarms.set("k", TimeMs(7), again)
    alarms.set("gone", TimeMs(1), again)
    alarms.cancel("gone")
    assert alarms.next_at == 7
    assert alarms.ring(TimeMs(6)) == []
    assert alarms.ring(TimeMs(9)) == ["k"]
    assert (rung, len(alarms), alarms.next_at) == ([9], 1, 9)


def test_repeatedly_reset_alarm_keeps_heap_bounded() -> None:
    alarms = Alarms()
    for at in range(10_000):
        alarms.set("k", TimeMs(at), lambda _now: None)
    assert len(alarms._heap) < 200
