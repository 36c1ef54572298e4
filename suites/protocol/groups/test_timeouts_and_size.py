"""GRP: time limits of sessions and rebalances, and the largest size of a group.

Sessions and rebalances end in these tests, and members must send requests often enough for that:
in_time judges whether the machine was fast enough.
"""

from __future__ import annotations

import time

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    followers_of,
    leader_of,
    sync_all,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.group_times import (
    AT_ONCE_SHARE,
    SHORT_MS,
    commit_of,
    elapsed_ms,
    expect_alone,
    join_again,
    patient,
    short_ms_of,
    signs_of_life,
)

HAS_REBALANCE_TIMEOUT = 1  # from this version of JoinGroup on
LEAST_SESSION_MS = 6_000  # the default of group.min.session.timeout.ms

BEFORE_A_SESSION_ENDS = 0.8
"""A share of a session: an effect after it was not due to the rebalance timeout."""

DELAY_MS = 1_000  # as the own broker of GRP-002 has it
LONG_MS = 120_000
JOIN = api_named("JoinGroup").key
HEARTBEAT = api_named("Heartbeat").key


def _patient_with_rebalance(member: ClientMember, group: ClassicGroup) -> ClientMember:
    """Let the member wait for several rebalance timeouts.

    It waits for less than a session, the end of which would also end the wait.
    """
    patient(member, group.rebalance_ms)
    if group.session_ms > group.rebalance_ms:  # at version 0 they are the same
        limit_ms = BEFORE_A_SESSION_ENDS * group.session_ms
        member.connection.timeout_ms = min(member.connection.timeout_ms, limit_ms)
    return member


# -- the join phase --------------------------------------------------------------------------------


@judges("GRP-002")
@needs_broker(Use.OWN, {"group.initial.rebalance.delay.ms": str(DELAY_MS)})
def test_joins_within_initial_rebalance_delay_form_one_generation(group: ClassicGroup) -> None:
    """Two members that join an empty group one after the other are one generation, the first."""
    group.rebalance_ms = DELAY_MS  # so one delay is all that there is
    members = [patient(group.member(), group.broker.scaled_ms(SHORT_MS)) for _ in range(2)]
    version = group.version("JoinGroup")
    with requirement("GRP-002", api_key=JOIN, api_version=version):
        for member in members:
            member.be_given_an_id()  # not before: a join phase waits for it without a delay, too
            member.send_join()
        told = [member.take_join() for member in members]
        for answer in told:
            expect_error(answer.error_code, ErrorCode.NONE, "join")
        generations = [answer.generation_id for answer in told]
        assert generations == [1, 1], f"the generations are {generations}, expected 1 for both"
        counts = sorted(len(answer.members) for answer in told)
        assert counts == [0, 2], f"the members are told of {counts} members, expected [0, 2]"


def _without_the_silent_ones(
    group: ClassicGroup, short_ms: int
) -> tuple[ClientMember, list[ClientMember], float]:
    """Return the leader, two silent followers and the time: only the leader joins again.

    The join phase has to end in ``group.rebalance_ms``; at version 0 it lasts for a session
    (KIP-62).
    """
    group.rebalance_ms = short_ms
    if group.version("JoinGroup") < HAS_REBALANCE_TIMEOUT:
        group.session_ms = group.rebalance_ms = LEAST_SESSION_MS
    members = group.stable(None, None, None)
    leader, silent = leader_of(members), followers_of(members)
    since = time.monotonic()
    _patient_with_rebalance(leader, group).send_join()
    return leader, silent, since


@judges("GRP-012")
def test_member_not_rejoining_within_rebalance_timeout_is_removed(group: ClassicGroup) -> None:
    """When the rebalance timeout is over; their heartbeats, and their sessions, are no help."""
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-012", api_key=JOIN, api_version=group.version("JoinGroup")),
        in_time(short_ms),
    ):
        leader, silent, since = _without_the_silent_ones(group, short_ms)
        for member in silent:
            await_rebalance(member)  # the broker may see its heartbeat before the leader's join
        answer = leader.take_join()
        took_ms = elapsed_ms(since)
        expect_alone(answer, leader)
        least_ms = AT_ONCE_SHARE * group.rebalance_ms
        assert took_ms >= least_ms, f"the join phase ended in {took_ms:.0f} ms, too soon"


@judges("GRP-013")
def test_requests_of_removed_member_are_refused(group: ClassicGroup) -> None:
    """Heartbeat, sync, commit and join of each: UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION.

    The join is refused for its id, which the group does not have any more.
    """
    commits = group.broker.version("OffsetCommit", "1-9")
    topic = group.broker.create_topic()
    expected = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION)
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-013", api_key=HEARTBEAT, api_version=group.version("Heartbeat")),
        in_time(short_ms),
    ):
        leader, silent, _ = _without_the_silent_ones(group, short_ms)
        leader.take_joined()
        sync_all([leader])  # up to 0.9 a group is looked at before its members
        for member in silent:
            commit = member.connection.ask(commit_of(member, topic.name), commits)
            codes = {
                "heartbeat": member.heartbeat(),
                "sync": member.ask_sync().error_code,
                "commit": commit.topics[0].partitions[0].error_code,
                "join": member.ask_join().error_code,
            }
            for what, code in codes.items():
                told = f"{what}: error is {ErrorCode.describe(code)}"
                assert code in expected, f"{told}, expected UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION"


@judges("GRP-020")
def test_leader_not_syncing_within_rebalance_timeout_is_removed(group: ClassicGroup) -> None:
    """The leader and one follower send no SyncGroup: the other follower joins again, alone.

    It keeps its id, and has the next generation; the two that were removed are unknown.
    """
    version = group.version("SyncGroup")
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-020", api_key=api_named("SyncGroup").key, api_version=version),
        in_time(short_ms),
    ):
        group.rebalance_ms = short_ms
        members = group.stable(None, None, None)
        leader, (follower, silent) = leader_of(members), followers_of(members)
        join_again(leader, [follower, silent])
        since = time.monotonic()
        _patient_with_rebalance(follower, group).send_sync()
        for member in (leader, silent):
            expect_error(member.heartbeat(), ErrorCode.NONE, "heartbeat before the deadline")
        answer = follower.take_sync()
        took_ms = elapsed_ms(since)
        expect_error(answer.error_code, ErrorCode.REBALANCE_IN_PROGRESS, "the follower's sync")
        least_ms = AT_ONCE_SHARE * group.rebalance_ms
        assert took_ms >= least_ms, f"the sync phase ended in {took_ms:.0f} ms, too soon"
        _expect_next_generation_alone(follower)
        for what, member in (("leader", leader), ("silent follower", silent)):
            code = member.heartbeat()
            expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, f"heartbeat of the {what}")


def _expect_next_generation_alone(follower: ClientMember) -> None:
    generation = follower.generation
    joined = follower.ask_join()
    expect_error(joined.error_code, ErrorCode.NONE, "the follower's join")
    found = [entry.member_id for entry in joined.members]
    assert found == [follower.member_id], f"the members are {found}, expected the follower"
    expected = generation + 1
    seen = joined.generation_id
    assert seen == expected, f"the follower's generation is {seen}, expected {expected}"


@judges("GRP-020")
def test_follower_not_syncing_within_rebalance_timeout_is_removed(group: ClassicGroup) -> None:
    """The leader has sent the assignment, and stays; the followers that have not fetched it go.

    One of them is a static member.
    """
    group.broker.version("JoinGroup", "5+")
    version = group.version("SyncGroup")
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-020", api_key=api_named("SyncGroup").key, api_version=version),
        in_time(short_ms),
    ):
        group.rebalance_ms = short_ms
        newcomers = [group.member() for _ in range(2)]
        members = group.grown([*newcomers, group.member(instance_id="instance")])
        leader, silent = leader_of(members), followers_of(members)
        join_again(leader, silent)
        parts = {member.member_id: member.member_id.encode() for member in members}
        leader.send_sync(parts)
        expect_error(leader.take_sync().error_code, ErrorCode.NONE, "the leader's sync")
        await_rebalance(leader, 10 * SHORT_MS)
        codes = [ErrorCode.describe(each.heartbeat()) for each in silent]
        unknown = [ErrorCode.describe(ErrorCode.UNKNOWN_MEMBER_ID)] * 2
        assert codes == unknown, f"heartbeats of the followers: {codes}, expected {unknown}"
        expect_alone(leader.ask_join(), leader)


# -- sessions --------------------------------------------------------------------------------------


@judges("GRP-014")
@needs_broker(Use.OWN, {"group.min.session.timeout.ms": "1"})
def test_member_without_heartbeats_is_removed_after_session_timeout(group: ClassicGroup) -> None:
    """Its session ends, and the other member takes part in a rebalance in which it is alone."""
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-014", api_key=HEARTBEAT, api_version=group.version("Heartbeat")),
        in_time(short_ms),
    ):
        group.session_ms = short_ms
        members = group.stable(None, None)
        lives, (silent,) = leader_of(members), followers_of(members)
        since = time.monotonic()
        await_rebalance(lives, 5 * SHORT_MS)
        took_ms = elapsed_ms(since)
        least_ms = AT_ONCE_SHARE * group.session_ms
        assert took_ms >= least_ms, f"the session ended after {took_ms:.0f} ms, too soon"
        answer = lives.remember(lives.ask_join())
        expect_error(answer.error_code, ErrorCode.NONE, "join of the other")
        found = [entry.member_id for entry in answer.members]
        assert found == [lives.member_id], f"the members are {found}, expected one"
        sync_all([lives])
        expect_error(silent.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID, "the silent one's heartbeat")


@judges("GRP-015")
@needs_broker(Use.OWN, {"group.min.session.timeout.ms": "1"})
def test_heartbeats_keep_member_in_group_beyond_session_timeout(group: ClassicGroup) -> None:
    """For three times the session timeout."""
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-015", api_key=HEARTBEAT, api_version=group.version("Heartbeat")),
        in_time(short_ms),
    ):
        group.session_ms = short_ms
        (member,) = group.stable(None)
        for code, when in signs_of_life(short_ms, 3, member.heartbeat):
            expect_error(code, ErrorCode.NONE, f"heartbeat {when}")


@judges("GRP-015")
@needs_broker(Use.OWN, {"group.min.session.timeout.ms": "1"})
def test_offset_commits_without_heartbeats_keep_member_in_group(group: ClassicGroup) -> None:
    """For three times the session timeout, without any heartbeat."""
    version = group.broker.version("OffsetCommit", "2-9")
    topic = group.broker.create_topic()
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-015", api_key=api_named("OffsetCommit").key, api_version=version),
        in_time(short_ms),
    ):
        group.session_ms = short_ms
        (member,) = group.stable(None)
        request = commit_of(member, topic.name)
        for answer, when in signs_of_life(
            short_ms, 3, lambda: member.connection.ask(request, version)
        ):
            code = answer.topics[0].partitions[0].error_code
            expect_error(code, ErrorCode.NONE, f"commit {when}")


@judges("GRP-042")
@needs_broker(Use.OWN, {"group.min.session.timeout.ms": "1"})
def test_session_timeout_during_rebalance_removes_member_that_has_not_rejoined(
    group: ClassicGroup,
) -> None:
    """A member that has not joined stays in the group while it sends heartbeats.

    After its last heartbeat its session ends, and the others no longer wait for it. The member that
    waits in its join sends no heartbeats either, and need not.
    """
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-042", api_key=JOIN, api_version=group.version("JoinGroup")),
        in_time(short_ms),
    ):
        group.session_ms = short_ms
        group.rebalance_ms = int(group.broker.scaled_ms(LONG_MS))
        members = group.stable(None, None)
        leader, (other,) = leader_of(members), followers_of(members)
        patient(leader, short_ms).send_join()
        await_rebalance(other)
        for code, when in signs_of_life(short_ms, 2, other.heartbeat):
            expect_error(code, ErrorCode.REBALANCE_IN_PROGRESS, f"heartbeat {when}")
        expect_alone(leader.take_join(), leader)


# -- size ------------------------------------------------------------------------------------------


@judges("GRP-038")
@needs_broker(Use.OWN, {"group.max.size": "2"})
def test_join_beyond_group_max_size_returns_group_max_size_reached(group: ClassicGroup) -> None:
    """Two are the most there may be: the third is refused, and the two stay.

    The second joins a group with one member, and then both join the next generation.
    """
    first, second, third = (group.member() for _ in range(3))
    group.grown([first])
    second.be_given_an_id()
    version = group.version("JoinGroup")
    with requirement("GRP-038", api_key=JOIN, api_version=version):
        for mover, other in ((second, first), (first, second)):
            mover.send_join()
            await_rebalance(other)
            other.send_join()
            for member in (mover, other):
                answer = member.take_join()
                expect_error(answer.error_code, ErrorCode.NONE, "join of one of two")
                member.remember(answer)
            sync_all([first, second])
            code = third.ask_join().error_code
            expect_error(code, ErrorCode.GROUP_MAX_SIZE_REACHED, "the third")
            for member in (first, second):
                expect_error(member.heartbeat(), ErrorCode.NONE, "heartbeat of a member")
