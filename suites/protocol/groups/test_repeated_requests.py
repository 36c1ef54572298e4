"""GRP: requests that a member sends again by a new connection while the former one waits."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
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


def _two_members(group: ClassicGroup) -> tuple[ClientMember, ClientMember]:
    """Return the leader and the follower of a stable group."""
    members = group.grown([group.member(client_id="GRP-077") for _ in range(2)])
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
