"""GRP: an assignment counts when the replicas in sync have it (KIP-98, KIP-848)."""

from __future__ import annotations

from harness.client.coordinator import await_coordinator
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.membership import Membership
from harness.virtual_broker.partition import WatchedPartition
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    subscription,
    sync_all,
)
from suites.protocol.support.internal_topics import OFFSETS_TOPIC
from suites.replication.support.expect import expect_error
from suites.replication.support.followed_logs import followed_log, let_follower_lead

HELD_MS, TIMEOUT_MS = 500, 3_000
TOO_LATE = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.REBALANCE_IN_PROGRESS}
"""The second up to 3.9."""
ONE_LOG = {"offsets.topic.num.partitions": "1", "replica.lag.time.max.ms": "60000"}
"""All groups are in partition 0; its follower may be behind for the whole test."""


def _written_assignment(
    peers: JoinedCluster, part: bytes
) -> tuple[ClientMember, Membership, WatchedPartition]:
    """Return a member; its SyncGroup with this part is in the leader's log alone."""
    await_coordinator(peers.broker)
    group = ClassicGroup(peers.broker)
    member = group.member()
    member.join()
    sync_all([member])
    follower = peers.join()
    log = followed_log(peers, follower, OFFSETS_TOPIC)
    member.protocols = {"range": subscription(b"of the next generation")}
    member.join()
    log.follow(follower, log.log_end())
    end = log.log_end()
    member.send_sync({member.member_id: part})
    peers.broker.eventually(lambda: log.log_end() > end, "the assignment is written")
    return member, follower, log


@judges("GRP-084")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_sync_waits_for_replicas(peers: JoinedCluster) -> None:
    """The follower in sync fetches the assignment of the second generation after a while."""
    member, follower, log = _written_assignment(peers, b"part")
    with requirement("GRP-084"):
        member.connection.expect_silence(for_ms=HELD_MS)
        log.follow(follower, log.log_end())
        answer = member.take_sync()
        expect_error(answer.error_code, ErrorCode.NONE, "the follower has the assignment")
        assert answer.assignment == b"part", f"the part is {answer.assignment!r}"


@judges("GRP-084")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_sync_that_waits_fails_where_another_broker_becomes_coordinator(
    peers: JoinedCluster,
) -> None:
    """The follower in sync does not fetch the assignment, and becomes the leader of the log."""
    member, follower, log = _written_assignment(peers, b"lost")
    let_follower_lead(log, follower)
    with requirement("GRP-084"):
        answer = member.take_sync()
        expect_error(answer.error_code, ErrorCode.NOT_COORDINATOR, "the coordinator has changed")
        assert not answer.assignment, f"beside the error the part is {answer.assignment!r}"


@judges("GRP-085")
@needs_broker(Use.JOINABLE, {**ONE_LOG, "offsets.commit.timeout.ms": str(TIMEOUT_MS)})
def test_sync_fails_and_group_rebalances_where_replicas_lack_assignment_in_time(
    peers: JoinedCluster,
) -> None:
    """The follower in sync fetches the assignment after the SyncGroup has failed."""
    member, follower, log = _written_assignment(peers, b"late")
    lost = member.generation
    with requirement("GRP-085"):
        answer = member.take_sync()
        told = f"the follower does not fetch: error is {ErrorCode.describe(answer.error_code)}"
        assert answer.error_code in TOO_LATE, told
        assert not answer.assignment, f"beside the error the part is {answer.assignment!r}"
        log.follow(follower, log.log_end())
        expect_error(member.heartbeat(), ErrorCode.REBALANCE_IN_PROGRESS, "Heartbeat afterwards")
        joined = member.join()
        assert joined.generation_id == lost + 1, f"then comes generation {joined.generation_id}"
        end = log.log_end()
        member.send_sync({member.member_id: b"part"})
        peers.broker.eventually(lambda: log.log_end() > end, "the next assignment is written")
        log.follow(follower, log.log_end())
        part = member.take_sync()
        expect_error(part.error_code, ErrorCode.NONE, "SyncGroup of the next generation")
        assert part.assignment == b"part", f"the part is then {part.assignment!r}"
