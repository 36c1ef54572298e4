"""GRP: how many members a join phase accepts, and how long it lasts: the first one, and others."""

from __future__ import annotations

import contextlib
import time

from harness.client.errors import PreparationFailed, ResponseTimeout
from harness.client.preparing import preparing
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import JoinGroupResponse
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
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.group_times import (
    AT_ONCE_SHARE,
    elapsed_ms,
    expect_alone,
    patient,
    short_ms_of,
    signs_of_life,
)
from suites.protocol.support.joined_generation import expect_one_generation, send_joins

JOIN = api_named("JoinGroup").key
REFUSED = ErrorCode.GROUP_MAX_SIZE_REACHED
DELAY_MS = 1_000  # as the own brokers of GRP-059 have it
DELAYS, LIMIT = 2, 8
"""The rebalance timeout, and the time for which new members join, in delays."""
LONG_MS = 120_000


@judges("GRP-058")
@needs_broker(Use.OWN, {"group.max.size": "2"})
def test_join_phase_accepts_group_max_size_members_that_join_first(group: ClassicGroup) -> None:
    """Two members are the most: the leader joins again, then a newcomer and the follower.

    The broker may read the requests of the last two in either order.
    """
    version = group.broker.version("JoinGroup")
    short_ms = short_ms_of(group)
    with requirement("GRP-058", api_key=JOIN, api_version=version), in_time(short_ms):
        # A member that is refused leaves a join phase that ends with the rebalance timeout.
        group.rebalance_ms = short_ms
        members = group.grown([group.member(), group.member(client_id="GRP-058")])
        leader, (follower,) = leader_of(members), followers_of(members)
        third = group.member(client_id="GRP-058")
        patient(leader, short_ms).send_join()
        await_rebalance(follower)
        _receive_id(third)
        third.send_join()
        follower.send_join()
        answer = leader.take_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join of the leader")
        codes = {patient(each, short_ms).take_join().error_code for each in (follower, third)}
        told = sorted(ErrorCode.describe(code) for code in codes)
        assert codes == {ErrorCode.NONE, REFUSED}, f"the errors of the last two are {told}"
        found = len(answer.members)
        assert found == 2, f"the leader receives {found} members, expected 2"


def _receive_id(member: ClientMember) -> None:
    try:
        member.be_given_an_id()
    except PreparationFailed as problem:
        # Kafka 2.4 and 2.5 count the members of the last generation.
        if REFUSED.name in str(problem):
            raise AssertionError(
                f"a newcomer is too many in the join phase: {problem}"
            ) from problem
        raise


@judges("GRP-059")
@needs_broker(Use.OWN, {"group.initial.rebalance.delay.ms": str(DELAY_MS)})
def test_newcomer_prolongs_first_join_phase_by_one_more_delay(group: ClassicGroup) -> None:
    """The second member joins within the delay: both wait for two delays, and no longer."""
    version = group.version("JoinGroup")
    with requirement("GRP-059", api_key=JOIN, api_version=version), in_time(DELAY_MS):
        group.rebalance_ms = LONG_MS
        first, second = members = [group.member(client_id="GRP-059") for _ in range(2)]
        patient(first, DELAY_MS).be_given_an_id()
        patient(second, DELAY_MS).be_given_an_id()
        since = time.monotonic()
        send_joins(members)
        expect_one_generation(members)
        took_ms = elapsed_ms(since)
        assert took_ms >= 1.5 * DELAY_MS, f"the join phase ended in {took_ms:.0f} ms, too soon"


@judges("GRP-059")
@needs_broker(Use.OWN, {"group.initial.rebalance.delay.ms": str(DELAY_MS)})
def test_first_join_phase_ends_with_rebalance_timeout_though_newcomers_join(
    group: ClassicGroup,
) -> None:
    """The rebalance timeout is two delays; a member joins twice a delay, for eight at most."""
    version = group.version("JoinGroup")
    with requirement("GRP-059", api_key=JOIN, api_version=version), in_time(DELAY_MS):
        group.rebalance_ms = DELAYS * DELAY_MS
        first = group.member(client_id="GRP-059")
        first.be_given_an_id()
        first.send_join()
        _await_first_member(group)
        answer = _answered_while_others_join(group, first, DELAY_MS)
        assert answer is not None, f"the first member still waits after {LIMIT} delays"
        expect_error(answer.error_code, ErrorCode.NONE, "join of the first")
        found = len(answer.members)
        assert found >= 2, f"the first member receives {found} members, expected the newcomers too"


def _await_first_member(group: ClassicGroup) -> None:
    """A starved broker may read the next member's request first, which leads the group then."""
    with preparing("a member that joins first"):
        group.broker.eventually(lambda: bool(group.described().members), "the group has a member")


def _answered_while_others_join(
    group: ClassicGroup, first: ClientMember, delay_ms: float
) -> JoinGroupResponse | None:
    """Let a new member join twice a delay, until the first one is answered; None if it is not."""
    first.connection.timeout_ms = delay_ms / 2
    for _ in range(2 * LIMIT):
        # Not by group.member, which joins another group before, to see that the broker serves.
        newcomer = ClientMember(group, group.broker.connect(), first.protocols, None)
        group.members.append(newcomer)
        newcomer.be_given_an_id()
        newcomer.send_join()
        with contextlib.suppress(ResponseTimeout):
            return first.take_join()
    return None


@judges("GRP-012")
@needs_broker(Use.OWN, {"group.min.session.timeout.ms": "1"})
def test_join_phase_at_v0_lasts_for_session_timeout(group: ClassicGroup) -> None:
    """The follower sends heartbeats and does not join again: the leader is alone after a session.

    Both have joined at version 0, which has no rebalance timeout.
    """
    group.at("JoinGroup", group.broker.version("JoinGroup", "0"))
    short_ms = short_ms_of(group)
    with requirement("GRP-012", api_key=JOIN, api_version=0), in_time(short_ms):
        group.session_ms = short_ms
        members = group.stable(None, None)
        leader, (other,) = leader_of(members), followers_of(members)
        since = time.monotonic()
        leader.send_join()
        await_rebalance(other)
        ended_ms = [
            elapsed_ms(since)
            for code, _ in signs_of_life(short_ms, 2, other.heartbeat)
            if code != ErrorCode.REBALANCE_IN_PROGRESS
        ]
        assert ended_ms, "the join phase lasts for more than two sessions"
        least_ms = AT_ONCE_SHARE * short_ms
        took_ms = ended_ms[0]
        assert took_ms >= least_ms, f"the join phase ended in {took_ms:.0f} ms, too soon"
        expect_alone(leader.take_join(), leader)


@judges("GRP-012")
def test_join_phase_ends_with_rebalance_timeout_though_newcomers_join(group: ClassicGroup) -> None:
    """The follower does not join again; a member joins twice a timeout, for eight at most."""
    version, short_ms = group.broker.version("JoinGroup", "1+"), short_ms_of(group)
    with requirement("GRP-012", api_key=JOIN, api_version=version), in_time(short_ms):
        group.rebalance_ms = short_ms
        members = group.grown([group.member(client_id="GRP-012"), group.member()])
        leader, (silent,) = leader_of(members), followers_of(members)
        leader.send_join()
        await_rebalance(silent)
        answer = _answered_while_others_join(group, leader, short_ms)
        assert answer is not None, f"the leader still waits after {LIMIT} rebalance timeouts"
        expect_error(answer.error_code, ErrorCode.NONE, "join of the leader")
        found = [entry.member_id for entry in answer.members]
        assert silent.member_id not in found, (
            f"the members are {found}, expected without the silent one"
        )


@judges("GRP-012")
def test_join_phases_of_two_groups_end_separately(group: ClassicGroup) -> None:
    """In both a follower does not join again: one phase is short, the other one begins later.

    The long one waits still when the short one has ended.
    """
    version, short_ms = group.version("JoinGroup"), short_ms_of(group)
    group.broker.version("JoinGroup", "1+")
    with requirement("GRP-012", api_key=JOIN, api_version=version), in_time(short_ms):
        group.rebalance_ms = short_ms
        lasting = ClassicGroup(group.broker)
        members, others = group.stable(None, None), lasting.stable(None, None)
        leader, waits = leader_of(members), leader_of(others)
        since = time.monotonic()
        patient(leader, short_ms).send_join()
        await_rebalance(followers_of(members)[0])
        waits.send_join()
        await_rebalance(followers_of(others)[0])
        answer = leader.take_join()
        took_ms, least_ms = elapsed_ms(since), AT_ONCE_SHARE * short_ms
        expect_alone(answer, leader)
        assert took_ms >= least_ms, f"the join phase ended in {took_ms:.0f} ms, too soon"
        waits.connection.expect_silence(short_ms)
    lasting.close()
