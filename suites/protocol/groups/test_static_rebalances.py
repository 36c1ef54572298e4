"""GRP: static members and rebalances: those that are absent, and those that come back in one."""

from __future__ import annotations

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    await_rebalance_soon,
    followers_of,
    leader_of,
    subscription,
    sync_all,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_waits import await_waiting
from suites.protocol.support.group_times import (
    SHORT_MS,
    expect_alone,
    join_again,
    patient,
    short_ms_of,
)
from suites.protocol.support.joined_generation import expect_next_generation, send_joins

JOIN = api_named("JoinGroup").key
STILL_WAITS_MS = 150


def _two_statics(group: ClassicGroup) -> tuple[ClientMember, ClientMember]:
    """Leader and follower of a stable group."""
    members = group.grown([group.member(instance_id=f"instance-{n}") for n in range(2)])
    (follower,) = followers_of(members)
    return leader_of(members), follower


def _begin_rebalance(follower: ClientMember) -> None:
    """Join again, with news, and wait for the others."""
    follower.protocols = dict.fromkeys(follower.protocols, subscription(b"news"))
    follower.send_join()


@judges("GRP-036")
@at_versions("JoinGroup", "5+")
def test_waiting_join_of_replaced_static_member_returns_fenced_instance_id(
    group: ClassicGroup, api_version: int
) -> None:
    """Its JoinGroup waits for another member when its instance joins without a member id."""
    leader, old = _two_statics(group.at("JoinGroup", api_version))
    _begin_rebalance(old)
    await_rebalance(leader)
    again = group.member(old.protocols, old.instance_id)
    with requirement("GRP-036"):
        again.send_join()
        answer = old.take_join()
        expect_error(answer.error_code, ErrorCode.FENCED_INSTANCE_ID, "the join that waited")
    leader.send_join()
    for member in (leader, again):
        member.take_join()


@judges("GRP-036")
@at_versions("SyncGroup", "3+")
def test_waiting_sync_of_replaced_static_member_returns_fenced_instance_id(
    group: ClassicGroup, api_version: int
) -> None:
    """Its SyncGroup waits for the leader's when its instance joins without a member id."""
    group.broker.version("JoinGroup", "5+")
    leader, old = _two_statics(group.at("SyncGroup", api_version))
    join_again(leader, [old])
    again = group.member(old.protocols, old.instance_id)
    old.send_sync()
    with requirement("GRP-036"):
        old.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        again.send_join()
        answer = old.take_sync()
        expect_error(answer.error_code, ErrorCode.FENCED_INSTANCE_ID, "the sync that waited")


@judges("GRP-051")
@at_versions("JoinGroup", "5+")
def test_join_phase_ends_when_absent_static_member_comes_back(
    group: ClassicGroup, api_version: int
) -> None:
    """The leader waits for the other instance, which joins without a member id."""
    leader, old = _two_statics(group.at("JoinGroup", api_version))
    again = group.member(old.protocols, old.instance_id)
    leader.send_join()
    await_rebalance(old)
    with requirement("GRP-051"):
        again.send_join()
        expect_next_generation([leader, again], leader.generation)
        assert again.member_id != old.member_id, "it has its old member id"


@judges("GRP-030")
@at_versions("JoinGroup", "5+")
def test_describe_groups_returns_metadata_with_which_static_member_came_back(
    group: ClassicGroup, api_version: int
) -> None:
    """A follower comes back with another subscription, and the group stays stable."""
    leader, old = _two_statics(group.at("JoinGroup", api_version))
    again = group.member(dict.fromkeys(old.protocols, subscription(b"news")), old.instance_id)
    again.join()
    with requirement("GRP-030"):
        described = group.described()
        found = {each.member_id: bytes(each.member_metadata) for each in described.members}
        known = {each.member_id: each.protocols["range"] for each in (leader, again)}
        assert found == known, f"the members are {found}, expected {known}"


@judges("GRP-049")
def test_absent_static_leader_stays_member_and_another_member_leads(group: ClassicGroup) -> None:
    """Only the follower joins again: it leads both after the rebalance timeout, and assigns."""
    version = group.broker.version("JoinGroup", "5+")
    short_ms = short_ms_of(group)
    with requirement("GRP-049", api_key=JOIN, api_version=version), in_time(short_ms):
        group.rebalance_ms = short_ms
        absent, follower = _two_statics(group)
        before = absent.generation
        _begin_rebalance(patient(follower, short_ms))
        answer = follower.take_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join of the follower")
        follower.remember(answer)
        found = answer.leader
        assert found == follower.member_id, f"the leader is {found}, not the member that joined"
        roster = {entry.group_instance_id for entry in answer.members}
        expected = {absent.instance_id, follower.instance_id}
        assert roster == expected, f"the new leader receives {roster}, not {expected}"
        sync_all([follower])
        expect_error(absent.heartbeat(), ErrorCode.ILLEGAL_GENERATION, "the absent member")
        assert follower.generation == before + 1, f"generation {follower.generation}"


@judges("GRP-020")
def test_static_member_that_neither_joins_nor_syncs_is_removed(group: ClassicGroup) -> None:
    """The leader stays a member of the next generation (GRP-049), which it does not sync.

    So it goes a rebalance timeout later, long before its session is over: the other one joins
    again, alone.
    """
    version = group.broker.version("JoinGroup", "5+")
    short_ms = short_ms_of(group)
    with requirement("GRP-020", api_key=JOIN, api_version=version), in_time(short_ms):
        group.rebalance_ms = short_ms
        absent, follower = _two_statics(group)
        _begin_rebalance(patient(follower, short_ms))
        follower.take_joined()
        sync_all([follower])
        await_rebalance(follower, 10 * SHORT_MS)
        expect_error(absent.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID, "the absent member")
        expect_alone(follower.ask_join(), follower)


@judges("GRP-063")
@at_versions("JoinGroup", "5+")
def test_static_member_that_comes_back_with_other_choice_of_protocol_starts_rebalance(
    group: ClassicGroup, api_version: int
) -> None:
    """Both offered "a" and "b"; one comes back with "b" alone, which the next generation has."""
    group.at("JoinGroup", api_version)
    offer = dict.fromkeys("ab", subscription())
    members = [group.member(offer, instance_id=f"instance-{n}") for n in range(2)]
    members = group.grown(members)
    leader, (old,) = leader_of(members), followers_of(members)
    again = group.member({"b": subscription()}, old.instance_id)
    with requirement("GRP-063"):
        again.send_join()
        await_rebalance_soon(leader)
        leader.send_join()
        expect_next_generation([leader, again], leader.generation)
        found = {leader.protocol_name, again.protocol_name}
        assert found == {"b"}, f"the protocols of the members are {found}, expected 'b' for both"


@judges("GRP-070")
@at_versions("JoinGroup", "5+")
def test_static_member_that_comes_back_before_assignment_starts_rebalance(
    group: ClassicGroup, api_version: int
) -> None:
    """The leader has assigned nothing yet, and the SyncGroup of a third member waits."""
    group.at("JoinGroup", api_version)
    members = group.grown([group.member(instance_id=f"instance-{n}") for n in range(3)])
    leader, (old, waits) = leader_of(members), followers_of(members)
    join_again(leader, [old, waits])
    generation = leader.generation
    again = group.member(old.protocols, old.instance_id)
    waits.send_sync()
    with requirement("GRP-070"):
        await_waiting(group.broker, waits.connection)
        again.send_join()
        expect_error(
            waits.take_sync().error_code, ErrorCode.REBALANCE_IN_PROGRESS, "the sync that waits"
        )
        await_rebalance_soon(leader)
        send_joins([leader, waits])
        expect_next_generation([leader, waits, again], generation)


@judges("GRP-071")
@at_versions("JoinGroup", "5-8", "9+")
def test_static_leader_that_comes_back_leads_next_generation(
    group: ClassicGroup, api_version: int
) -> None:
    """The other member starts the next generation, and both join it."""
    leader, follower = _two_statics(group.at("JoinGroup", api_version))
    again = group.member(leader.protocols, leader.instance_id)
    again.join()
    _begin_rebalance(follower)
    await_rebalance(again)
    with requirement("GRP-071"):
        again.send_join()
        expect_next_generation([again, follower], leader.generation)
        found = {again.leader_id, follower.leader_id}
        assert found == {again.member_id}, f"the leaders are {found}, not {again.member_id}"
