"""Short sessions and rebalances of a group that end in a test, and signs of life of its members.

Such tests use in_time, which judges whether the machine was fast enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from harness.codec.error_code import ErrorCode
from harness.codec.messages import JoinGroupResponse, OffsetCommitRequest
from harness.runner.in_time import TooSlow
from suites.protocol.support.classic_group import ClassicGroup, ClientMember, await_rebalance
from suites.protocol.support.expect import expect_error

SHORT_MS = 600
"""Duration in ms of a session or a rebalance that ends in the test, on a fast machine."""

AT_ONCE_SHARE = 0.5
"""A share of such a time: an effect before it was not due to its end."""

T = TypeVar("T")


def short_ms_of(group: ClassicGroup) -> int:
    """Return the short time on this machine."""
    return int(group.broker.scaled_ms(SHORT_MS))


def elapsed_ms(since: float) -> float:
    """Return the time since this reading of the monotonic clock."""
    return (time.monotonic() - since) * 1000


def patient(member: ClientMember, short_ms: float) -> ClientMember:
    """Let the member wait for a response for several of the short times."""
    member.connection.timeout_ms = 10 * short_ms
    return member


def signs_of_life(
    session_ms: float, sessions: int, ask: Callable[[], T]
) -> Iterator[tuple[T, str]]:
    """Call ``ask`` five times a session, as a sign of life; yield each result and its time.

    Raises TooSlow: a result came so late that the broker may have had no sign for a session.
    """
    since = last = time.monotonic()
    for number in range(5 * sessions):
        at_ms = number * session_ms / 5
        time.sleep(max(at_ms - elapsed_ms(since), 0) / 1000)
        before, last = last, time.monotonic()
        result = ask()
        if (silent_ms := elapsed_ms(before)) > session_ms:
            raise TooSlow(f"{silent_ms:.0f} ms from one sign of life to the answer to the next")
        yield result, f"after {at_ms:.0f} ms"


def commit_of(member: ClientMember, topic: str) -> OffsetCommitRequest:
    """Return the member's commit of offset 1 of partition 0."""
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(committed_offset=1)
    return OffsetCommitRequest(
        group_id=member.group.group_id,
        generation_id_or_member_epoch=member.generation,
        member_id=member.member_id,
        topics=[OffsetCommitRequest.OffsetCommitRequestTopic(name=topic, partitions=[partition])],
    )


def join_again(leader: ClientMember, followers: Sequence[ClientMember]) -> None:
    """Let all members join the next generation; none of them syncs."""
    leader.send_join()
    for follower in followers:
        await_rebalance(follower)
        follower.send_join()
    for member in (leader, *followers):
        member.take_joined()


def expect_alone(answer: JoinGroupResponse, member: ClientMember) -> None:
    """The member has joined, and leads a generation without other members."""
    expect_error(answer.error_code, ErrorCode.NONE, "join")
    found = [entry.member_id for entry in answer.members]
    assert found == [member.member_id], f"the members are {found}, expected one"
