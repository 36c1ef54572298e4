"""GRP: SyncGroup returns each member's part of the assignment."""

from __future__ import annotations

from itertools import product

import pytest

from harness.codec.error_code import ErrorCode
from harness.codec.header import DEFAULT_CLIENT_ID
from harness.codec.messages import JoinGroupResponse, SyncGroupRequest, SyncGroupResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    followers_of,
    leader_of,
    leave,
    subscription,
    sync_all,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.joined_generation import expect_next_generation, send_joins

STILL_WAITS_MS = 150


def _generation_without_sync(
    group: ClassicGroup, count: int, client_id: str = DEFAULT_CLIENT_ID
) -> list[ClientMember]:
    """Return so many members that have joined, and have no assignment of their generation yet."""
    members = group.grown([group.member(client_id=client_id) for _ in range(count)])
    leader = leader_of(members)
    others = followers_of(members)
    for member in others:
        # With news a follower begins a rebalance and waits for the leader.
        member.protocols = dict.fromkeys(member.protocols, subscription(b"news"))
        member.send_join()
    if others:
        await_rebalance(leader)
    leader.send_join()
    for member in members:
        member.take_joined()
    return members


def _expect_part(member: ClientMember, expected: bytes) -> None:
    answer = member.take_sync()
    expect_error(answer.error_code, ErrorCode.NONE, "sync")
    found = bytes(answer.assignment)
    assert found == expected, f"the part is {found!r}, the leader gave {expected!r}"


@judges("GRP-016")
@at_versions("SyncGroup")
def test_sync_waits_for_leader_and_returns_its_assignment_unchanged(
    group: ClassicGroup, api_version: int
) -> None:
    """One follower asks before the leader and waits, one after it.

    Assignments of the followers, and a second one of the leader, change nothing.
    """
    members = _generation_without_sync(group.at("SyncGroup", api_version), 3)
    leader, (early, late) = leader_of(members), followers_of(members)
    parts = {
        member.member_id: b"\x00\xff" + group.broker.random.randbytes(30) for member in members
    }
    others = dict.fromkeys(parts, b"of a follower, or too late")
    early.send_sync(others)
    with requirement("GRP-016"):
        early.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        leader.send_sync(parts)
        _expect_part(leader, parts[leader.member_id])
        _expect_part(early, parts[early.member_id])
        late.send_sync(others)
        _expect_part(late, parts[late.member_id])
        leader.send_sync(others)
        _expect_part(leader, parts[leader.member_id])
        early.send_sync()
        _expect_part(early, parts[early.member_id])


@judges("GRP-060")
@at_versions("SyncGroup", "5+")
def test_join_and_sync_return_protocol_type_and_name_to_every_member(
    group: ClassicGroup, api_version: int
) -> None:
    """To the leader, to a follower that syncs before it and to one that syncs after it."""
    group.broker.version("JoinGroup", "7+")
    group.at("SyncGroup", api_version)
    members = group.grown([group.member(client_id="GRP-060") for _ in range(3)])
    leader, (early, late) = leader_of(members), followers_of(members)
    expected = (group.protocol_type, "range")
    with requirement("GRP-060") as check:
        joined = _joined_again(leader, [early, late])
        early.send_sync()
        early.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        leader.send_sync({member.member_id: b"part" for member in members})
        synced = [member.take_sync() for member in (leader, early)]
        synced.append(late.ask_sync())
        for role, of_join, of_sync in zip(("leader", "early", "late"), joined, synced, strict=True):
            answers: list[tuple[str, JoinGroupResponse | SyncGroupResponse]]
            answers = [("join", of_join), ("sync", of_sync)]
            for api, answer in answers:
                where = f"{api} of the {role} member"
                with check.subtest(where):
                    expect_error(answer.error_code, ErrorCode.NONE, where)
                    found = (answer.protocol_type, answer.protocol_name)
                    assert found == expected, f"{where}: type and name are {found}, not {expected}"


def _joined_again(leader: ClientMember, followers: list[ClientMember]) -> list[JoinGroupResponse]:
    leader.send_join()
    for follower in followers:
        await_rebalance(follower)
        follower.send_join()
    return [member.take_joined() for member in (leader, *followers)]


@judges("GRP-062")
@at_versions("SyncGroup")
@pytest.mark.parametrize("event", ["leave", "join"])
def test_sync_that_waits_returns_rebalance_in_progress_when_members_change(
    group: ClassicGroup, api_version: int, event: str
) -> None:
    """Another follower leaves, or a new member joins, before the leader has assigned.

    All that remain or arrive are members of the next generation.
    """
    members = _generation_without_sync(group.at("SyncGroup", api_version), 3, "GRP-062")
    leader, (waits, other) = leader_of(members), followers_of(members)
    before = leader.generation
    newcomer = group.member()
    if event == "join":
        newcomer.be_given_an_id()
    waits.send_sync()
    with requirement("GRP-062"):
        waits.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        if event == "leave":
            code = leave(group.broker, group.group_id, other.member_id)
            expect_error(code, ErrorCode.NONE, "leave before the assignment")
            rest = [leader, waits]
        else:
            newcomer.send_join()
            rest = [leader, waits, other, newcomer]
        code = waits.take_sync().error_code
        expect_error(code, ErrorCode.REBALANCE_IN_PROGRESS, f"the sync that waits at a {event}")
        expect_error(leader.heartbeat(), ErrorCode.REBALANCE_IN_PROGRESS, "the leader's heartbeat")
        send_joins([member for member in rest if member is not newcomer])
        expect_next_generation(rest, before)


@judges("GRP-017")
@at_versions("SyncGroup")
def test_sync_of_member_without_assignment_entry_returns_empty_bytes(
    group: ClassicGroup, api_version: int
) -> None:
    """The leader gives a part to itself only."""
    members = _generation_without_sync(group.at("SyncGroup", api_version), 2)
    leader, (follower,) = leader_of(members), followers_of(members)
    with requirement("GRP-017"):
        follower.send_sync()
        leader.send_sync({leader.member_id: b"all of it"})
        _expect_part(leader, b"all of it")
        _expect_part(follower, b"")


@judges("GRP-083")
@at_versions("SyncGroup")
def test_sync_ignores_assignments_of_ids_that_are_no_members(
    group: ClassicGroup, api_version: int
) -> None:
    """The leader gives parts to an unknown id and to an empty one beside the two members."""
    members = _generation_without_sync(group.at("SyncGroup", api_version), 2, "GRP-083")
    leader, (follower,) = leader_of(members), followers_of(members)
    parts = {leader.member_id: b"first", "no-such-member": b"none", "": b"empty"}
    with requirement("GRP-083"):
        follower.send_sync()
        leader.send_sync(parts | {follower.member_id: b"second"})
        _expect_part(leader, b"first")
        _expect_part(follower, b"second")
        described = {each.member_id for each in group.described().members}
        expected = {leader.member_id, follower.member_id}
        assert described == expected, f"the members are {described}, expected {expected}"


@judges("GRP-018")
@at_versions("SyncGroup")
def test_sync_with_wrong_generation_returns_illegal_generation(
    group: ClassicGroup, api_version: int
) -> None:
    """Of the one before and of the next; the right one is served afterwards."""
    (member,) = _generation_without_sync(group.at("SyncGroup", api_version), 1)
    with requirement("GRP-018") as check:
        for generation in (member.generation - 1, member.generation + 1):
            with check.subtest(f"generation {generation}"):
                member.reconnect()
                request = member.sync_request({member.member_id: b"part"})
                request.generation_id = generation
                code = member.ask_sync(request).error_code
                expect_error(code, ErrorCode.ILLEGAL_GENERATION, f"generation {generation}")
    sync_all([member])


@judges("GRP-018")
@at_versions("SyncGroup")
def test_sync_with_unknown_member_or_group_returns_unknown_member_id(
    group: ClassicGroup, api_version: int
) -> None:
    """Of a member that the group does not have, and of one of a group that is not there."""
    (member,) = group.at("SyncGroup", api_version).stable(None)
    made_up = group.broker.unique_group()
    with requirement("GRP-018") as check:
        for field in ("member_id", "group_id"):
            with check.subtest(field):
                member.reconnect()
                request = member.sync_request()
                setattr(request, field, made_up)
                code = member.ask_sync(request).error_code
                expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, f"made-up {field}")


@judges("GRP-018")
@at_versions("SyncGroup")
def test_sync_during_join_phase_returns_rebalance_in_progress(
    group: ClassicGroup, api_version: int
) -> None:
    """A member that has not joined again receives REBALANCE_IN_PROGRESS.

    Only a member of the last generation does: member and generation are looked at first.
    """
    members = group.at("SyncGroup", api_version).stable(None, None)
    leader, (follower,) = leader_of(members), followers_of(members)
    leader.send_join()
    await_rebalance(follower)
    wrong = (
        ("member_id", "made-up", ErrorCode.UNKNOWN_MEMBER_ID),
        ("generation_id", follower.generation - 1, ErrorCode.ILLEGAL_GENERATION),
        ("generation_id", follower.generation + 1, ErrorCode.ILLEGAL_GENERATION),
    )
    with requirement("GRP-018") as check:
        code = follower.ask_sync().error_code
        expect_error(code, ErrorCode.REBALANCE_IN_PROGRESS, "sync while members join")
        for field, value, error in wrong:
            where = f"{field} {value} while members join"
            with check.subtest(where):
                follower.reconnect()
                request = follower.sync_request()
                setattr(request, field, value)
                expect_error(follower.ask_sync(request).error_code, error, where)
    follower.send_join()
    for member in members:
        member.take_joined()


@judges("GRP-019")
@at_versions("SyncGroup", "5+")
def test_sync_with_wrong_or_null_protocol_returns_inconsistent_group_protocol(
    group: ClassicGroup, api_version: int
) -> None:
    """Another type or name, or none: refused. The right ones are served afterwards.

    Before the assignment, where the group remains without one, and in the stable group.
    """
    (member,) = _generation_without_sync(group.at("SyncGroup", api_version), 1)
    with requirement("GRP-019") as check:
        for state in ("before the assignment", "stable"):
            for field, value in product(("protocol_type", "protocol_name"), ("another", None)):
                with check.subtest(f"{state}, {field} {value!r}"):
                    member.reconnect()
                    request: SyncGroupRequest = member.sync_request({member.member_id: b"wrong"})
                    setattr(request, field, value)
                    code = member.ask_sync(request).error_code
                    expect_error(
                        code,
                        ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
                        f"{state}, {field} is {value!r}",
                    )
            member.reconnect()
            answer = member.ask_sync(member.sync_request({member.member_id: b"part"}))
            expect_error(answer.error_code, ErrorCode.NONE, "the group's own type and name")
            found = bytes(answer.assignment)
            assert found == b"part", f"{state}: the part is {found!r}, the leader gave b'part'"
