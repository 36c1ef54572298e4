"""GRP: the heartbeats of members, their notice of a rebalance, and their leaving."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import LeaveGroupRequest, LeaveGroupResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import (
    KNOWN_ID,
    ClassicGroup,
    ClientMember,
    await_rebalance,
    await_rebalance_soon,
    followers_of,
    leader_of,
    leave,
    sync_all,
)
from suites.protocol.support.expect import expect_error

STILL_WAITS_MS = 150
LONG_SESSION_MS = 240_000  # below every default of group.max.session.timeout.ms
Leaver = LeaveGroupRequest.MemberIdentity


@judges("GRP-011")
@at_versions("Heartbeat")
def test_heartbeat_returns_rebalance_in_progress_while_new_member_joins(
    group: ClassicGroup, api_version: int
) -> None:
    """REBALANCE_IN_PROGRESS for all; the newcomer is in when they have joined with their ids."""
    members = group.stable(None, None)
    group.at("Heartbeat", api_version)
    ids = {member.member_id for member in members}
    newcomer = group.member()
    with requirement("GRP-011"):
        newcomer.be_given_an_id()
        for member in members:
            expect_error(member.heartbeat(), ErrorCode.NONE, "before the join")
        newcomer.send_join()
        for member in members:
            await_rebalance_soon(member)
        newcomer.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        for member in members:
            member.send_join()
        told = [member.take_join() for member in [*members, newcomer]]
        for answer in told:
            expect_error(answer.error_code, ErrorCode.NONE, "join")
        kept = {answer.member_id for answer in told[:2]}
        assert kept == ids, f"the members have the ids {sorted(kept)}, they had {sorted(ids)}"
        generations = {answer.generation_id for answer in told}
        assert len(generations) == 1, f"they are told of the generations {sorted(generations)}"
        newcomer.remember(told[2])


@judges("GRP-021")
@at_versions("Heartbeat")
def test_heartbeat_before_assignment_and_in_stable_group_returns_no_error(
    group: ClassicGroup, api_version: int
) -> None:
    """After the join, before the leader has assigned; and in a stable group."""
    member = group.at("Heartbeat", api_version).member()
    member.join()
    with requirement("GRP-021"):
        expect_error(member.heartbeat(), ErrorCode.NONE, "before the assignment")
        sync_all([member])
        expect_error(member.heartbeat(), ErrorCode.NONE, "in a stable group")


@judges("GRP-021")
@at_versions("Heartbeat")
def test_heartbeat_with_wrong_generation_member_or_group_returns_error(
    group: ClassicGroup, api_version: int
) -> None:
    """Another generation, a member that the group does not have, a group that is not there.

    In a stable group, and in one whose leader has not assigned yet.
    """
    (member,) = group.at("Heartbeat", api_version).stable(None)
    with requirement("GRP-021") as check:
        for state in ("stable", "before the assignment"):
            if state != "stable":
                member.join()
            for field, value, expected in _wrong_heartbeats(member):
                where = f"{field} {value}" if field == "generation_id" else field
                with check.subtest(f"{state}, {where}"):
                    member.reconnect()
                    request = member.heartbeat_request()
                    setattr(request, field, value)
                    expect_error(member.heartbeat(request), expected, f"{state}, {field} {value}")
            member.reconnect()


@judges("GRP-021")
@at_versions("Heartbeat")
def test_heartbeat_with_wrong_generation_or_member_while_members_join_returns_error(
    group: ClassicGroup, api_version: int
) -> None:
    """Before the follower has joined again; with its generation it gets REBALANCE_IN_PROGRESS."""
    members = group.at("Heartbeat", api_version).stable(None, None)
    leader, (follower,) = leader_of(members), followers_of(members)
    leader.send_join()
    await_rebalance(follower)
    with requirement("GRP-021") as check:
        for field, value, expected in _wrong_heartbeats(follower):
            with check.subtest(f"{field} {value}" if field == "generation_id" else field):
                follower.reconnect()
                request = follower.heartbeat_request()
                setattr(request, field, value)
                code = follower.heartbeat(request)
                expect_error(code, expected, f"while members join, {field} {value}")
    follower.reconnect()
    follower.send_join()
    for member in members:
        member.take_joined()


def _wrong_heartbeats(member: ClientMember) -> list[tuple[str, int | str, ErrorCode]]:
    """Return each field that may be wrong, a wrong value of it, and the error."""
    made_up = member.group.broker.unique_group()
    return [
        ("generation_id", member.generation - 1, ErrorCode.ILLEGAL_GENERATION),
        ("generation_id", member.generation + 1, ErrorCode.ILLEGAL_GENERATION),
        ("member_id", made_up, ErrorCode.UNKNOWN_MEMBER_ID),
        ("group_id", made_up, ErrorCode.UNKNOWN_MEMBER_ID),
    ]


@judges("GRP-023")
@at_versions("LeaveGroup")
def test_leave_removes_member_and_starts_rebalance_immediately(
    group: ClassicGroup, api_version: int
) -> None:
    """The member becomes unknown; the other rejoins and is alone, with no wait for a session."""
    members = group.stable(None, None)
    leaver, (stays,) = leader_of(members), followers_of(members)
    with requirement("GRP-023"):
        code = leave(group.broker, group.group_id, leaver.member_id, api_version)
        expect_error(code, ErrorCode.NONE, "leave")
        await_rebalance_soon(stays)
        answer = stays.ask_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join of the remaining member")
        stays.remember(answer)
        found = [entry.member_id for entry in answer.members]
        assert found == [stays.member_id], (
            f"the members are {found}, expected the remaining one alone"
        )
        sync_all([stays])
        expect_error(leaver.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID, "heartbeat of the leaver")


@judges("GRP-023")
@at_versions("LeaveGroup", "0-2", "3+")
def test_leave_of_member_that_has_not_joined_again_ends_join_phase(
    group: ClassicGroup, api_version: int
) -> None:
    """The join of the leader waits for the follower alone, and is answered when that one leaves."""
    group.session_ms = LONG_SESSION_MS
    members = group.stable(None, None)
    leader, (absent,) = leader_of(members), followers_of(members)
    leader.send_join()
    await_rebalance_soon(absent)
    with requirement("GRP-023"):
        leader.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        code = leave(group.broker, group.group_id, absent.member_id, api_version)
        expect_error(code, ErrorCode.NONE, "leave during the join phase")
        answer = leader.take_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join of the leader")
        found = [entry.member_id for entry in answer.members]
        assert found == [leader.member_id], f"the members are {found}, expected the leader alone"


@judges("GRP-024")
@at_versions("LeaveGroup", "0-2")
def test_leave_v0_to_v2_of_unknown_member_returns_unknown_member_id(
    group: ClassicGroup, api_version: int
) -> None:
    """UNKNOWN_MEMBER_ID, and the member that there is stays."""
    (member,) = group.stable(None)
    made_up = group.broker.unique_group()
    with requirement("GRP-024"):
        code = leave(group.broker, group.group_id, "made-up", api_version)
        expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, "a made-up member")
        code = leave(group.broker, made_up, member.member_id, api_version)
        expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, "a made-up group")
        expect_error(member.heartbeat(), ErrorCode.NONE, "the member's heartbeat")


def _ask_to_leave(
    group: ClassicGroup, version: int, *leavers: Leaver, group_id: str | None = None
) -> LeaveGroupResponse:
    named = group.group_id if group_id is None else group_id
    return group.broker.ask(LeaveGroupRequest(group_id=named, members=list(leavers)), version)


@judges("GRP-024")
@at_versions("LeaveGroup", "3+")
def test_leave_from_v3_of_unknown_member_returns_error_per_member(
    group: ClassicGroup, api_version: int
) -> None:
    """UNKNOWN_MEMBER_ID beside the member, none at the top."""
    (member,) = group.stable(None)
    made_up = group.broker.unique_group()
    with requirement("GRP-024") as check:
        for where, leaver in ((group.group_id, made_up), (made_up, member.member_id)):
            with check.subtest("unknown member" if leaver == made_up else "unknown group"):
                answer = _ask_to_leave(group, api_version, Leaver(member_id=leaver), group_id=where)
                expect_error(answer.error_code, ErrorCode.NONE, "at the top")
                codes = [each.error_code for each in answer.members]
                assert len(codes) == 1, f"{len(codes)} members in the answer, asked for one"
                expect_error(codes[0], ErrorCode.UNKNOWN_MEMBER_ID, f"{leaver} in {where}")
        expect_error(member.heartbeat(), ErrorCode.NONE, "the member's heartbeat")


@judges("GRP-024")
@at_versions("LeaveGroup", "3+")
def test_leave_with_empty_group_id_returns_invalid_group_id(
    group: ClassicGroup, api_version: int
) -> None:
    """INVALID_GROUP_ID at the top."""
    group.member()
    with requirement("GRP-024"):
        answer = _ask_to_leave(group, api_version, Leaver(member_id="made-up"), group_id="")
        expect_error(answer.error_code, ErrorCode.INVALID_GROUP_ID, 'group ""')


@judges("GRP-025")
@at_versions("LeaveGroup", "3+")
def test_leave_removes_several_members_despite_unknown_one(
    group: ClassicGroup, api_version: int
) -> None:
    """By member id, by instance id, by both, between two that are no members.

    The heartbeat of the member that stays returns REBALANCE_IN_PROGRESS before it joins again.
    """
    dynamic = group.member()
    statics = [group.member(instance_id=f"instance-{n}") for n in range(2)]
    stays = group.member()
    group.grown([stays, dynamic, *statics])
    leavers = [
        Leaver(member_id="made-up"),
        Leaver(member_id=dynamic.member_id),
        Leaver(member_id="", group_instance_id="instance-0"),
        Leaver(member_id=statics[1].member_id, group_instance_id="instance-1"),
        Leaver(member_id="", group_instance_id="made-up"),
    ]
    unknown = ErrorCode.UNKNOWN_MEMBER_ID
    expected = [unknown, ErrorCode.NONE, ErrorCode.NONE, ErrorCode.NONE, unknown]
    with requirement("GRP-025"):
        answer = _ask_to_leave(group, api_version, *leavers)
        expect_error(answer.error_code, ErrorCode.NONE, "at the top")
        named = [(each.member_id, each.group_instance_id) for each in answer.members]
        asked = [(each.member_id, each.group_instance_id) for each in leavers]
        assert named == asked, f"the answer names {named}, asked was {asked}"
        for leaver, each, error in zip(leavers, answer.members, expected, strict=True):
            told = f"leaver {leaver.member_id or leaver.group_instance_id}"
            expect_error(each.error_code, error, told)
        await_rebalance_soon(stays)
        stays.send_join()
        found = [entry.member_id for entry in stays.take_join().members]
        assert found == [stays.member_id], f"the members left are {found}"


@judges("GRP-074")
@at_versions("LeaveGroup", "3+")
def test_leave_of_member_that_is_named_twice_returns_unknown_member_id_the_second_time(
    group: ClassicGroup, api_version: int
) -> None:
    """A dynamic member by its id; static ones by instance id, and by both in either order."""
    dynamic = group.member()
    statics = [group.member(instance_id=f"instance-{n}") for n in range(3)]
    group.grown([group.member(), dynamic, *statics])
    by_id = [Leaver(member_id=dynamic.member_id)]
    by_instance = [Leaver(group_instance_id=static.instance_id) for static in statics]
    by_both = [
        Leaver(member_id=static.member_id, group_instance_id=static.instance_id)
        for static in statics
    ]
    first = [*by_id, by_instance[0], by_instance[1], by_both[2]]
    again = [*by_id, by_instance[0], by_both[1], by_instance[2]]
    with requirement("GRP-074"):
        answer = _ask_to_leave(group, api_version, *first, *again)
        expect_error(answer.error_code, ErrorCode.NONE, "at the top")
        codes = [ErrorCode.describe(each.error_code) for each in answer.members]
        known, unknown = (
            ErrorCode.describe(error) for error in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID)
        )
        assert codes == [known] * 4 + [unknown] * 4, f"of four named twice the errors are {codes}"


@judges("GRP-021")
@at_versions("Heartbeat", "3+")
def test_heartbeat_of_static_member_that_left_returns_unknown_member_id(
    group: ClassicGroup, api_version: int
) -> None:
    """UNKNOWN_MEMBER_ID, after which it joins again; FENCED_INSTANCE_ID would end the client."""
    _, left = group.grown([group.member(), group.member(instance_id="instance-0")])
    leave(group.broker, group.group_id, left.member_id)
    group.at("Heartbeat", api_version)
    with requirement("GRP-021"):
        expect_error(left.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID, "an instance that left")


@judges("GRP-047")
@at_versions("LeaveGroup", "3+")
def test_leave_with_instance_id_and_other_member_id_returns_fenced_instance_id(
    group: ClassicGroup, api_version: int
) -> None:
    """The instance's former member id, and that of another member: both members stay."""
    other, old = group.grown([group.member(), group.member(instance_id="instance-0")])
    again = group.member(old.protocols, old.instance_id)
    again.join()
    with requirement("GRP-047") as check:
        for which, member in (("its former", old), ("another", other)):
            with check.subtest(f"{which} member id"):
                leaver = Leaver(member_id=member.member_id, group_instance_id=old.instance_id)
                left = _ask_to_leave(group, api_version, leaver).members
                assert len(left) == 1, f"{len(left)} members in the answer, asked for one"
                code = left[0].error_code
                expect_error(code, ErrorCode.FENCED_INSTANCE_ID, f"{which} member id")
        for which, member in (("static", again), ("other", other)):
            with check.subtest(f"heartbeat of the {which} member"):
                expect_error(member.heartbeat(), ErrorCode.NONE, f"heartbeat of the {which} member")


@judges("GRP-048")
@at_versions("LeaveGroup", "0-2", "3+")
def test_leave_with_assigned_member_id_ends_wait_of_join_phase_for_it(
    group: ClassicGroup, api_version: int
) -> None:
    """The client has received an id, and does not join: the join phase waits until it leaves."""
    group.broker.version("JoinGroup", f"{KNOWN_ID}+")
    group.session_ms = LONG_SESSION_MS  # for which the broker keeps the id
    (member,) = group.stable(None)
    pending = group.member()
    pending.be_given_an_id()
    member.send_join()
    with requirement("GRP-048"):
        member.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        code = leave(group.broker, group.group_id, pending.member_id, api_version)
        expect_error(code, ErrorCode.NONE, "leave with the id")
        answer = member.take_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join of the member")
        found = [entry.member_id for entry in answer.members]
        assert found == [member.member_id], f"the members are {found}, expected one"
        code = pending.ask_join().error_code
        expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, "join with the id that left")
    member.remember(answer)


@judges("GRP-054")
@at_versions("JoinGroup")
def test_join_that_waits_returns_unknown_member_id_when_its_member_leaves(
    group: ClassicGroup, api_version: int
) -> None:
    """The leader's join waits for the other member; the leader leaves by another connection."""
    group.session_ms = LONG_SESSION_MS
    members = group.stable(None, None)
    leaver, (stays,) = leader_of(members), followers_of(members)
    group.at("JoinGroup", api_version)
    with requirement("GRP-054"):
        leaver.send_join()
        await_rebalance_soon(stays)
        leaver.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        code = leave(group.broker, group.group_id, leaver.member_id)
        expect_error(code, ErrorCode.NONE, "leave during the join")
        answer = leaver.take_join()
        expect_error(answer.error_code, ErrorCode.UNKNOWN_MEMBER_ID, "the join that waits")
        found = [entry.member_id for entry in answer.members]
        assert found == [], f"the join that waits returns the members {found}"
        stays.send_join()
        last = stays.take_join()
        expect_error(last.error_code, ErrorCode.NONE, "join of the other member")
        found = [entry.member_id for entry in last.members]
        assert found == [stays.member_id], f"the members are {found}, expected one"
