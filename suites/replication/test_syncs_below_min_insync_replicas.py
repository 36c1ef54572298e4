"""GRP: assignments while fewer replicas are in sync than min.insync.replicas (KIP-98)."""

from __future__ import annotations

from harness.client.coordinator import await_coordinator
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from suites.protocol.support.classic_group import (
    ClassicGroup,
    subscription,
    sync_all,
)
from suites.protocol.support.config_admin import TOPIC, prepare_key
from suites.protocol.support.internal_topics import OFFSETS_TOPIC
from suites.replication.support.expect import expect_error
from suites.replication.support.followed_logs import followed_log

ONE_LOG = {
    "offsets.topic.num.partitions": "1",
    "offsets.commit.timeout.ms": "60000",
    "replica.lag.time.max.ms": "60000",
}
"""All groups are in partition 0. A SyncGroup that waits for replicas waits longer than the test."""
FIRST_PRODUCE_OF_4_0 = 12
"""In this release groups have the coordinator of KIP-848."""


@judges("GRP-086")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_sync_is_refused_at_once_while_too_few_replicas_are_in_sync(peers: JoinedCluster) -> None:
    """Two have to be in sync; the follower leaves, and comes back for the next generation."""
    if FIRST_PRODUCE_OF_4_0 in peers.broker.advertised("Produce"):
        raise NotApplicable("the classic coordinator", "Produce v12 is advertised, of 4.0")
    await_coordinator(peers.broker)
    member = ClassicGroup(peers.broker).member()
    member.join()
    sync_all([member])
    follower = peers.join()
    log = followed_log(peers, follower, OFFSETS_TOPIC)
    prepare_key(peers.broker, (TOPIC, OFFSETS_TOPIC), "min.insync.replicas", "2")
    member.protocols = {"range": subscription(b"of the next generation")}
    member.join()
    log.follow(follower, log.log_end())
    follower.leave()
    log.await_isr(peers.leader)
    end = log.log_end()
    with requirement("GRP-086"):
        member.send_sync({member.member_id: b"part"})
        answer = member.take_sync()
        where = "SyncGroup, one of two replicas is in sync"
        expect_error(answer.error_code, ErrorCode.COORDINATOR_NOT_AVAILABLE, where)
        assert not answer.assignment, f"beside the error the part is {answer.assignment!r}"
        assert log.log_end() == end, f"the log went from {end} to {log.log_end()}"
        expect_error(member.heartbeat(), ErrorCode.REBALANCE_IN_PROGRESS, "Heartbeat afterwards")
