"""GRP: requests that a member sends again by a new connection: they wait, or lost their answer."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from harness.runner.refusal_judged import refusal_judged
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    followers_of,
    leader_of,
    sync_all,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.group_times import join_again
from suites.protocol.support.joined_generation import expect_next_generation

STILL_WAITS_MS = 150


def _two_members(
    group: ClassicGroup, client_id: str = "GRP-077"
) -> tuple[ClientMember, ClientMember]:
    """Return the leader and the follower of a stable group."""
    members = group.grown([group.member(client_id=client_id) for _ in range(2)])
    (follower,) = followers_of(members)
    return leader_of(members), follower


@judges("GRP-077")
@at_versions("JoinGroup")
def test_join_that_is_sent_again_by_new_connection_is_answered_there(
    group: ClassicGroup, api_version: int
) -> None:
    """The first connection is closed while the leader's join waits for the follower."""
    leader, follower = _two_members(group)
    group.at("JoinGroup", api_version)
    leader.send_join()
    await_rebalance(follower)
    leader.reconnect()
    with requirement("GRP-077"):
        leader.send_join()
        leader.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        follower.send_join()
        expect_next_generation([leader, follower], leader.generation)
    sync_all([leader, follower])


@judges("GRP-077")
@at_versions("SyncGroup")
def test_sync_that_is_sent_again_by_new_connection_is_answered_there(
    group: ClassicGroup, api_version: int
) -> None:
    """The first connection is closed while the follower's sync waits for the leader's."""
    leader, follower = _two_members(group)
    join_again(leader, [follower])
    group.at("SyncGroup", api_version)
    wait_ms = group.broker.scaled_ms(STILL_WAITS_MS)
    follower.send_sync()
    follower.connection.expect_silence(wait_ms)
    follower.reconnect()
    with requirement("GRP-077"):
        follower.send_sync()
        follower.connection.expect_silence(wait_ms)
        leader.send_sync({follower.member_id: b"part"})
        answer = follower.take_sync()
        expect_error(answer.error_code, ErrorCode.NONE, "the sync that was sent again")
        found = bytes(answer.assignment)
        assert found == b"part", f"the part is {found!r}, the leader gave b'part'"
        expect_error(leader.take_sync().error_code, ErrorCode.NONE, "the leader's sync")


@judges("GRP-082")
@at_versions("JoinGroup")
def test_join_that_is_sent_again_before_assignment_is_answered_with_same_generation(
    group: ClassicGroup, api_version: int
) -> None:
    """Both members have joined; each sends its join again, as a client without the answer does."""
    leader, follower = _two_members(group, "GRP-082")
    group.at("JoinGroup", api_version)
    join_again(leader, [follower])
    with requirement("GRP-082") as check:
        for role, member, count in (("follower", follower, 0), ("leader", leader, 2)):
            with check.subtest(role):
                member.reconnect()
                answer = member.ask_join()
                expect_error(answer.error_code, ErrorCode.NONE, f"the {role}'s join")
                found = answer.generation_id, answer.leader, len(answer.members)
                expected = leader.generation, leader.member_id, count
                told = f"the {role}'s generation, leader and number of members are {found}"
                assert found == expected, f"{told}, expected {expected}"
        with refusal_judged():
            sync_all([leader, follower])
