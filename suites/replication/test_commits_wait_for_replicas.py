"""OFFS: commits of offsets count when the replicas in sync have them (KIP-98, KIP-848)."""

from __future__ import annotations

from harness.client.coordinator import await_coordinator
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetCommitResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from suites.protocol.support.committed_offsets import (
    FIRST_IN_KAFKA,
    ask_to_commit,
    commit_request,
    entry,
    fetch_offsets,
)
from suites.protocol.support.config_admin import TOPIC, prepare_key
from suites.protocol.support.internal_topics import OFFSETS_TOPIC
from suites.replication.support.expect import expect_error
from suites.replication.support.followed_logs import followed_log, let_follower_lead

TIMEOUT_MS, HELD_MS = 4_000, 500
ONE_LOG = {
    "offsets.topic.num.partitions": "1",
    "offsets.commit.timeout.ms": str(TIMEOUT_MS),
    "replica.lag.time.max.ms": "60000",
}
"""All groups are in partition 0; its follower may be behind for the whole test."""
TOO_LATE = {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.REQUEST_TIMED_OUT}
"""The second up to 3.9."""
BEFORE, IN_TIME, LATE, MOVED, ALONE = 11, 22, 33, 44, 55


@judges("OFFS-035")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_commit_waits_for_replicas_until_its_timeout(peers: JoinedCluster) -> None:
    """The follower in sync fetches the first commit after a while, the second one not at all."""
    broker, group = peers.broker, peers.broker.unique_group()
    topic, version = broker.create_topic(), broker.version("OffsetCommit", FIRST_IN_KAFKA)
    await_coordinator(broker)

    def first() -> int:
        return ask_to_commit(broker, group, {topic: [entry(BEFORE)]}, version)[topic.name, 0]

    broker.eventually(lambda: first() == ErrorCode.NONE, "the coordinator takes commits")
    follower = peers.join()
    log = followed_log(peers, follower, OFFSETS_TOPIC)
    with broker.connect("OFFS-035") as connection, requirement("OFFS-035"):

        def send(offset: int) -> None:
            end = log.log_end()
            connection.send(commit_request(group, {topic: [entry(offset)]}, version), version)
            broker.eventually(lambda: log.log_end() > end, "the commit is written")
            connection.expect_silence(for_ms=HELD_MS)

        def code() -> int:
            answer = connection.receive()
            assert isinstance(answer, OffsetCommitResponse)
            return answer.topics[0].partitions[0].error_code

        send(IN_TIME)
        log.follow(follower, log.log_end())
        expect_error(code(), ErrorCode.NONE, "the follower has the commit")
        fetch_offsets(broker, group, {topic: [0]}).expect(topic, IN_TIME, where="the coordinator")
        send(LATE)
        late = code()
        told = f"the follower does not fetch the commit: error is {ErrorCode.describe(late)}"
        assert late in TOO_LATE, told
        log.follow(follower, log.log_end())


@judges("OFFS-036")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_commit_that_waits_fails_where_another_broker_becomes_coordinator(
    peers: JoinedCluster,
) -> None:
    """The follower in sync does not fetch the commit, and becomes the leader of the log."""
    broker, group = peers.broker, peers.broker.unique_group()
    topic, version = broker.create_topic(), broker.version("OffsetCommit", FIRST_IN_KAFKA)
    await_coordinator(broker)

    def first() -> int:
        return ask_to_commit(broker, group, {topic: [entry(BEFORE)]}, version)[topic.name, 0]

    broker.eventually(lambda: first() == ErrorCode.NONE, "the coordinator takes commits")
    follower = peers.join()
    log = followed_log(peers, follower, OFFSETS_TOPIC)
    with broker.connect("OFFS-036") as connection:
        end = log.log_end()
        connection.send(commit_request(group, {topic: [entry(MOVED)]}, version), version)
        broker.eventually(lambda: log.log_end() > end, "the commit is written")
        let_follower_lead(log, follower)
        with requirement("OFFS-036"):
            answer = connection.receive()
            assert isinstance(answer, OffsetCommitResponse)
            code = answer.topics[0].partitions[0].error_code
            expect_error(code, ErrorCode.NOT_COORDINATOR, "the coordinator has changed")


@judges("OFFS-037")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_commit_that_waits_fails_where_too_few_replicas_are_left_in_sync(
    peers: JoinedCluster,
) -> None:
    """Two replicas have to be in sync; the follower leaves the ISR before it has the commit."""
    broker, group = peers.broker, peers.broker.unique_group()
    topic, version = broker.create_topic(), broker.version("OffsetCommit", FIRST_IN_KAFKA)
    await_coordinator(broker)

    def first() -> int:
        return ask_to_commit(broker, group, {topic: [entry(BEFORE)]}, version)[topic.name, 0]

    broker.eventually(lambda: first() == ErrorCode.NONE, "the coordinator takes commits")
    follower = peers.join()
    log = followed_log(peers, follower, OFFSETS_TOPIC)
    prepare_key(broker, (TOPIC, OFFSETS_TOPIC), "min.insync.replicas", "2")
    with broker.connect("OFFS-037") as connection:
        end = log.log_end()
        connection.send(commit_request(group, {topic: [entry(ALONE)]}, version), version)
        broker.eventually(lambda: log.log_end() > end, "the commit is written")
        follower.leave()
        log.await_isr(peers.leader)
        with requirement("OFFS-037"):
            answer = connection.receive()
            assert isinstance(answer, OffsetCommitResponse)
            code = answer.topics[0].partitions[0].error_code
            told = f"one of two replicas is left in sync: error is {ErrorCode.describe(code)}"
            assert code in TOO_LATE, told
            again = ask_to_commit(broker, group, {topic: [entry(BEFORE)]}, version)[topic.name, 0]
            told = f"the next commit: error is {ErrorCode.describe(again)}"
            assert again == ErrorCode.COORDINATOR_NOT_AVAILABLE, told
