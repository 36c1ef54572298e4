"""GRP: the time for which a join phase waits: different timeouts, and ids that no client uses.

Session timeouts at the limits of the broker, too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.classic_group import (
    KNOWN_ID,
    ClassicGroup,
    ClientMember,
    await_rebalance,
    leader_of,
    sync_all,
)
from suites.protocol.support.expect import expect_error

JOIN = api_named("JoinGroup").key
SHORT_MS, TIMES_LONGER = 600, 4
"""Duration in ms of a rebalance or session that ends in the test, on a fast machine; the ratio of
the longer rebalance timeout to it."""
LEAST_MS, MOST_MS = 2_000, 40_000  # the limits of sessions of the own broker of GRP-008
PATIENCE = 10  # of such times: the longest wait for an answer
SHARE_OF_SESSION = 0.8  # a wait ends before the waiting member's session could end it


def _patient(member: ClientMember, time_ms: float) -> ClientMember:
    longest_ms = SHARE_OF_SESSION * member.group.session_ms
    member.connection.timeout_ms = min(PATIENCE * time_ms, longest_ms)
    return member


def _send_join(member: ClientMember, rebalance_ms: int) -> None:
    request = member.join_request()
    request.rebalance_timeout_ms = rebalance_ms
    member.send_join(request)


def _stable(group: ClassicGroup, timeouts_ms: Sequence[int]) -> dict[ClientMember, int]:
    """Two members of a stable group, each with its rebalance timeout."""
    first, second = group.member(), group.member()
    of_first, of_second = timeouts_ms
    first.be_given_an_id()
    _send_join(first, of_first)
    first.take_joined()
    sync_all([first])
    second.be_given_an_id()
    _send_join(second, of_second)
    await_rebalance(first)
    _send_join(first, of_first)
    for member in (first, second):
        member.take_joined()
    sync_all([first, second])
    return {first: of_first, second: of_second}


@judges("GRP-043")
@pytest.mark.parametrize("order", [(1, TIMES_LONGER), (TIMES_LONGER, 1)], ids=["later", "first"])
def test_join_phase_waits_for_largest_rebalance_timeout_of_members(
    group: ClassicGroup, order: tuple[int, int]
) -> None:
    """The first or the later member has the larger one; the leader joins again, alone."""
    version = group.broker.version("JoinGroup", "1+")
    short_ms = int(group.broker.scaled_ms(SHORT_MS))
    with requirement("GRP-043", api_key=JOIN, api_version=version), in_time(short_ms):
        timeouts_ms = _stable(group, [short_ms * times for times in order])
        leader, largest_ms = leader_of(list(timeouts_ms)), max(timeouts_ms.values())
        since = time.monotonic()
        _send_join(_patient(leader, largest_ms), timeouts_ms[leader])
        answer = leader.take_join()
        took_ms = (time.monotonic() - since) * 1000
        expect_error(answer.error_code, ErrorCode.NONE, "join")
        found = [entry.member_id for entry in answer.members]
        assert found == [leader.member_id], f"the members are {found}, expected one"
        least_ms = (short_ms + largest_ms) / 2
        told = f"the join phase ended in {took_ms:.0f} ms, the largest timeout is {largest_ms} ms"
        assert took_ms >= least_ms, told


@judges("GRP-045")
@needs_broker(Use.OWN, {"group.min.session.timeout.ms": "1"})
def test_assigned_member_id_expires_after_session_timeout(group: ClassicGroup) -> None:
    """A join phase waits for the member, and ends without it; then its id is unknown."""
    version = group.broker.version("JoinGroup", f"{KNOWN_ID}+")
    short_ms = int(group.broker.scaled_ms(SHORT_MS))
    with requirement("GRP-045", api_key=JOIN, api_version=version), in_time(short_ms):
        (member,) = group.stable(None)
        pending = group.member()
        request = pending.join_request()
        request.session_timeout_ms = short_ms
        since = time.monotonic()
        answer = pending.ask_join(request)
        expect_error(answer.error_code, ErrorCode.MEMBER_ID_REQUIRED, "join without an id")
        again = _patient(member, short_ms).ask_join()
        took_ms = (time.monotonic() - since) * 1000
        expect_error(again.error_code, ErrorCode.NONE, "join of the member")
        found = [entry.member_id for entry in again.members]
        assert found == [member.member_id], f"the members are {found}, expected one"
        assert took_ms >= short_ms / 2, f"the join phase ended in {took_ms:.0f} ms, too soon"
        request.member_id = answer.member_id
        code = pending.ask_join(request).error_code
        expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, "join with an id that has expired")


@judges("GRP-008")
@needs_broker(
    Use.OWN,
    {
        "group.min.session.timeout.ms": str(LEAST_MS),
        "group.max.session.timeout.ms": str(MOST_MS),
    },
)
def test_join_accepts_session_timeouts_at_limits_and_refuses_those_beyond(
    group: ClassicGroup,
) -> None:
    """Each limit itself, and one ms beyond it; each in a group of its own."""
    version, broker = group.version("JoinGroup"), group.broker
    accepted = ErrorCode.MEMBER_ID_REQUIRED if version >= KNOWN_ID else ErrorCode.NONE
    expected = {
        LEAST_MS - 1: ErrorCode.INVALID_SESSION_TIMEOUT,
        LEAST_MS: accepted,
        MOST_MS: accepted,
        MOST_MS + 1: ErrorCode.INVALID_SESSION_TIMEOUT,
    }
    with requirement("GRP-008", api_key=JOIN, api_version=version) as check:
        for timeout_ms, error in expected.items():
            with check.subtest(f"{timeout_ms} ms"):
                member = ClassicGroup(broker).member(client_id="GRP-008")
                request = member.join_request()
                request.session_timeout_ms = timeout_ms
                code = member.ask_join(request).error_code
                expect_error(code, error, f"session timeout of {timeout_ms} ms")
