"""GRP: sessions that begin anew: after a long wait, by commits, and with another timeout."""

from __future__ import annotations

import time

import pytest

from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
)
from harness.codec.structs import Message
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
    subscription,
    sync_all,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.group_times import (
    AT_ONCE_SHARE,
    SHORT_MS,
    commit_of,
    elapsed_ms,
    expect_alone,
    patient,
    short_ms_of,
    signs_of_life,
)
from suites.protocol.support.joined_generation import expect_next_generation, send_joins

BEFORE_A_SESSION_ENDS = 0.8  # a share of a session

JOIN = api_named("JoinGroup").key
HEARTBEAT = api_named("Heartbeat").key
OFFSET_COMMIT = api_named("OffsetCommit").key
short_sessions = needs_broker(Use.OWN, {"group.min.session.timeout.ms": "1"})


def _expect_other_session_ends(witness: ClientMember, short_ms: int) -> None:
    """The silent member is removed after its session, no sooner; the witness joins alone."""
    since = time.monotonic()
    await_rebalance(witness, 5 * SHORT_MS)
    took_ms, least_ms = elapsed_ms(since), AT_ONCE_SHARE * short_ms
    assert took_ms >= least_ms, f"the session ended after {took_ms:.0f} ms, too soon"
    expect_alone(witness.remember(witness.ask_join()), witness)


def _joining_with_short_session(
    group: ClassicGroup, short_ms: int, instance_id: str | None = None
) -> tuple[ClientMember, ClientMember]:
    """Return a leader that has to join again, and a follower with a short session that waits."""
    leader, follower = group.member(), group.member(instance_id=instance_id)
    leader.join()
    sync_all([leader])
    long_ms, group.session_ms = group.session_ms, short_ms
    follower.be_given_an_id()
    follower.send_join()
    group.session_ms = long_ms
    await_rebalance(leader)
    return leader, follower


def _joined_with_short_session(
    group: ClassicGroup, short_ms: int, instance_id: str | None = None
) -> tuple[ClientMember, ClientMember]:
    """Return a leader, and a follower with a short session, that have joined and not synced yet."""
    leader, follower = _joining_with_short_session(group, short_ms, instance_id)
    leader.send_join()
    for member in (leader, follower):
        member.take_joined()
    return leader, follower


@judges("GRP-014")
@short_sessions
def test_session_begins_when_sync_that_waited_for_leader_is_answered(group: ClassicGroup) -> None:
    """A member stays while its SyncGroup waits, for two of its sessions; silent afterwards it goes.

    The leader has a long session.
    """
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-014", api_key=HEARTBEAT, api_version=group.version("Heartbeat")),
        in_time(short_ms),
    ):
        leader, waits = _joined_with_short_session(group, short_ms)
        waits.send_sync()
        waits.connection.expect_silence(2 * short_ms)
        leader.send_sync({member.member_id: b"part" for member in (leader, waits)})
        for role, member in (("leader", leader), ("waiting member", waits)):
            expect_error(member.take_sync().error_code, ErrorCode.NONE, f"sync of the {role}")
        _expect_other_session_ends(leader, short_ms)
        sync_all([leader])  # up to 0.9 a group is looked at before its members
        expect_error(waits.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID, "the silent one's heartbeat")


@judges("GRP-073")
@short_sessions
def test_new_member_stays_while_its_first_join_waits_longer_than_its_session(
    group: ClassicGroup,
) -> None:
    """The leader joins again after two sessions of the new member. Its own session is long."""
    short_ms, version = short_ms_of(group), group.version("JoinGroup")
    with requirement("GRP-073", api_key=JOIN, api_version=version), in_time(short_ms):
        leader, newcomer = _joining_with_short_session(group, short_ms)
        newcomer.connection.expect_silence(2 * short_ms)
        leader.send_join()
        expect_next_generation([leader, newcomer], leader.generation)


@judges("GRP-052")
@short_sessions
def test_session_of_static_member_begins_anew_when_it_comes_back(group: ClassicGroup) -> None:
    """It comes back without its member id, is answered at once, and is silent from then on.

    The leader has a long session.
    """
    short_ms = short_ms_of(group)
    join = group.broker.version("JoinGroup", "5+")
    group.broker.version("Heartbeat", "3+")
    with requirement("GRP-052", api_key=JOIN, api_version=join), in_time(short_ms):
        leader, static = _joined_with_short_session(group, short_ms, instance_id="instance")
        sync_all([leader, static])
        again = group.member(static.protocols, static.instance_id)
        long_ms, group.session_ms = group.session_ms, short_ms
        answer = again.remember(again.ask_join())
        group.session_ms = long_ms
        expect_error(answer.error_code, ErrorCode.NONE, "the join of the one that is back")
        assert again.generation == leader.generation, f"its generation is {again.generation}"
        _expect_other_session_ends(leader, short_ms)
        sync_all([leader])
        expect_error(again.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID, "the silent one's heartbeat")


@judges("GRP-015")
@short_sessions
def test_offset_commits_in_join_phase_keep_member_that_has_not_rejoined(
    group: ClassicGroup,
) -> None:
    """It commits for two sessions without a heartbeat, and joins the next generation."""
    version = group.broker.version("OffsetCommit", "2-9")
    topic, short_ms = group.broker.create_topic(), short_ms_of(group)
    with (
        requirement("GRP-015", api_key=OFFSET_COMMIT, api_version=version),
        in_time(short_ms),
    ):
        group.session_ms = short_ms
        members = group.stable(None, None)
        leader, (other,) = leader_of(members), followers_of(members)
        patient(leader, short_ms).send_join()
        await_rebalance(other)
        request = commit_of(other, topic.name)
        answers = signs_of_life(short_ms, 2, lambda: other.connection.ask(request, version))
        for answer, when in answers:
            code = answer.topics[0].partitions[0].error_code
            expect_error(code, ErrorCode.NONE, f"commit {when}")
        other.send_join()
        counts = []
        for role, member in (("leader", leader), ("other member", other)):
            joined = member.take_join()
            expect_error(joined.error_code, ErrorCode.NONE, f"join of the {role}")
            counts.append(len(joined.members))
        assert counts == [2, 0], f"the members receive {counts} members, expected [2, 0]"


def _stale_request(
    api: str, member: ClientMember, topic: Topic
) -> HeartbeatRequest | OffsetCommitRequest:
    """Return the member's next request with the generation before its own."""
    if api == "Heartbeat":
        heartbeat = member.heartbeat_request()
        heartbeat.generation_id -= 1
        return heartbeat
    stale = commit_of(member, topic.name)
    stale.generation_id_or_member_epoch -= 1
    return stale


def _code_of(answer: Message) -> int:
    if isinstance(answer, HeartbeatResponse):
        return answer.error_code
    assert isinstance(answer, OffsetCommitResponse)
    return answer.topics[0].partitions[0].error_code


@judges("GRP-057")
@short_sessions
@pytest.mark.parametrize("api", ["Heartbeat", "OffsetCommit"])
def test_requests_of_another_generation_keep_no_member(group: ClassicGroup, api: str) -> None:
    """A follower sends them for three of its sessions: the leader has to join without it."""
    version = group.broker.version(api, "2-9" if api == "OffsetCommit" else "0+")
    topic, short_ms = group.broker.create_topic(), short_ms_of(group)
    with (
        requirement("GRP-057", api_key=api_named(api).key, api_version=version),
        in_time(short_ms),
    ):
        leader, follower = _joined_with_short_session(group, short_ms)
        sync_all([leader, follower])
        request = _stale_request(api, follower, topic)
        codes = [
            _code_of(answer)
            for answer, _ in signs_of_life(
                short_ms, 3, lambda: follower.connection.ask(request, version)
            )
        ]
        expect_error(codes[0], ErrorCode.ILLEGAL_GENERATION, "the first request")
        expect_error(leader.heartbeat(), ErrorCode.REBALANCE_IN_PROGRESS, "the leader's heartbeat")
        expect_alone(leader.remember(leader.ask_join()), leader)


def _rejoin_with_shorter(
    group: ClassicGroup, timeout: str, short_ms: int
) -> tuple[ClientMember, ClientMember]:
    """Let two members of a stable group join again: the follower with a shorter session timeout.

    Or both with a shorter rebalance timeout, because the largest one counts (GRP-043).
    """
    members = group.stable(None, None)
    leader, (follower,) = leader_of(members), followers_of(members)
    long_ms = group.session_ms
    if timeout == "session":
        group.session_ms = short_ms
    else:
        group.rebalance_ms = short_ms
    # With news the follower begins a rebalance.
    follower.protocols = dict.fromkeys(follower.protocols, subscription(b"news"))
    follower.send_join()
    group.session_ms = long_ms
    await_rebalance(leader)
    leader.send_join()
    for member in members:
        member.take_joined()
    sync_all(members)
    return leader, follower


@judges("GRP-050")
@short_sessions
@pytest.mark.parametrize("shorter", ["session", "rebalance"])
def test_rejoin_with_shorter_timeouts_replaces_those_of_first_join(
    group: ClassicGroup, shorter: str
) -> None:
    """The session of a silent member, or the join phase without it, ends after the new timeout."""
    short_ms = short_ms_of(group)
    with (
        requirement("GRP-050", api_key=JOIN, api_version=group.broker.version("JoinGroup", "1+")),
        in_time(short_ms),
    ):
        leader, _ = _rejoin_with_shorter(group, shorter, short_ms)
        if shorter == "session":
            _expect_other_session_ends(leader, short_ms)
            return
        since = time.monotonic()
        patient(leader, short_ms).send_join()
        # The end of the other member's session would end the join phase too.
        limit_ms = BEFORE_A_SESSION_ENDS * group.session_ms
        leader.connection.timeout_ms = min(leader.connection.timeout_ms, limit_ms)
        answer = leader.take_join()
        took_ms = elapsed_ms(since)
        expect_alone(answer, leader)
        least_ms = AT_ONCE_SHARE * short_ms
        assert took_ms >= least_ms, f"the join phase ended in {took_ms:.0f} ms, too soon"


@judges("GRP-050")
@short_sessions
def test_static_member_that_comes_back_with_shorter_session_has_that_session(
    group: ClassicGroup,
) -> None:
    """It comes back without its member id, sends one heartbeat and is silent from then on."""
    short_ms = short_ms_of(group)
    join = group.broker.version("JoinGroup", "5+")
    group.broker.version("Heartbeat", "3+")
    with requirement("GRP-050", api_key=JOIN, api_version=join), in_time(short_ms):
        leader, static = group.grown([group.member(), group.member(instance_id="instance")])
        again = group.member(static.protocols, static.instance_id)
        long_ms, group.session_ms = group.session_ms, short_ms
        answer = again.remember(again.ask_join())
        group.session_ms = long_ms
        expect_error(answer.error_code, ErrorCode.NONE, "the join of the one that is back")
        expect_error(again.heartbeat(), ErrorCode.NONE, "its heartbeat")
        _expect_other_session_ends(leader, short_ms)


@judges("GRP-062")
@short_sessions
def test_sync_that_waits_returns_rebalance_in_progress_when_session_ends(
    group: ClassicGroup,
) -> None:
    """A follower with a short session is silent between join and sync; another one's sync waits."""
    short_ms = short_ms_of(group)
    sync = group.version("SyncGroup")
    with (
        requirement("GRP-062", api_key=api_named("SyncGroup").key, api_version=sync),
        in_time(short_ms),
    ):
        leader, waits, silent = _generation_with_short_session(group, short_ms)
        since = time.monotonic()
        patient(waits, short_ms).send_sync()
        code = waits.take_sync().error_code
        took_ms, least_ms = elapsed_ms(since), AT_ONCE_SHARE * short_ms
        expect_error(code, ErrorCode.REBALANCE_IN_PROGRESS, "the sync that waits")
        assert took_ms >= least_ms, f"the session ended after {took_ms:.0f} ms, too soon"
        send_joins([leader, waits])
        expect_next_generation([leader, waits], silent.generation)
        sync_all([leader, waits])  # up to 0.9 a group is looked at before its members
        expect_error(silent.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID, "the silent one's heartbeat")


def _generation_with_short_session(
    group: ClassicGroup, short_ms: int
) -> tuple[ClientMember, ClientMember, ClientMember]:
    """Return leader and two followers that have joined and not synced; the last is short."""
    members = group.stable(None, None)
    leader, (waits,) = leader_of(members), followers_of(members)
    silent = group.member()
    long_ms, group.session_ms = group.session_ms, short_ms
    silent.be_given_an_id()
    silent.send_join()
    group.session_ms = long_ms
    await_rebalance(leader)
    for member in members:
        member.send_join()
    for member in (leader, waits, silent):
        member.take_joined()
    return leader, waits, silent
