"""REPL: what followers have, read from themselves (KIP-392)."""

from __future__ import annotations

import statistics
import time

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.served_log import ServedLog
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.replication.support.expect import expect_records
from suites.replication.support.reading import await_served_by, follower_version, read_all
from suites.replication.support.rivals import Rivals

BATCHES = 40
SAMPLES = 60
SLOWER = 3  # times: how much two medians of the same thing may differ


def _written(cluster: Cluster, topic: Topic) -> int:
    """Batches of one to three records; the end of the log."""
    client = cluster.leader_client(topic)
    for number in range(BATCHES):
        append(client, topic, batch_of(*[b"%d" % number] * (1 + number % 3)))
    return client.end_offset(topic)


@judges("REPL-014")
def test_every_isr_member_has_all_records_below_high_watermark(cluster: Cluster) -> None:
    """Each replica is read up to the high watermark; all give the same values (REPL-023 looks at
    offsets)."""
    topic = cluster.create_topic()
    follower_version(cluster, topic)
    end = _written(cluster, topic)
    leader = cluster.leader(topic)
    with requirement("REPL-014") as check:
        expected = [value for _, value in read_all(cluster, leader, topic, end)]
        assert len(expected) == end, f"the leader gives {len(expected)} of {end} records"
        for node in sorted(cluster.isr(topic) - {leader}):
            with check.subtest(f"replica {node}"):
                found = [value for _, value in read_all(cluster, node, topic, end)]
                same = sum(one == other for one, other in zip(found, expected, strict=False))
                assert found == expected, (
                    f"replica {node} gives {same} of {end} records as they are"
                )


@judges("REPL-018")
def test_follower_adopts_high_watermark_of_leader(cluster: Cluster) -> None:
    """It is never beyond the leader's, and comes to be the same."""
    topic = cluster.create_topic()
    version = follower_version(cluster, topic)
    leader = cluster.leader(topic)
    client, followers = cluster.at(leader), cluster.others(leader)
    with requirement("REPL-018"):
        for number in range(BATCHES):
            expect_error(
                client.produce(topic, batch_of(b"%d" % number), acks=1).error_code, ErrorCode.NONE
            )
            for node in followers:
                there = cluster.at(node).fetch(topic, 0, version).high_watermark
                here = client.fetch(topic, 0, version).high_watermark
                assert there <= here, f"follower {node} has {there}, then the leader has {here}"
        for node in followers:
            there = await_served_by(cluster, node, topic, BATCHES).high_watermark
            assert there == BATCHES, f"follower {node} stays at {there} of {BATCHES}"


@judges("REPL-018")
@needs_broker(Use.JOINABLE)
def test_high_watermark_of_follower_is_below_that_of_leader_and_own_log_end(
    rivals: Rivals,
) -> None:
    """A virtual leader reports a lower high watermark than the log end, then a higher one."""
    log, partition = ServedLog(), rivals.partition
    log.append(rivals.epoch, b"r0", b"r1", b"r2")
    with requirement("REPL-018") as check:
        for reported, expected in ((0, 0), (2, 2), (5, 3)):
            with check.subtest(f"the leader reports {reported}"):
                log.high_watermark = reported
                rivals.virtual_leads(log)
                rivals.endpoint.asked.clear()
                partition.broker.eventually(
                    lambda: len(rivals.endpoint.asked) > 1, "the follower fetches twice"
                )
                rivals.follows(3)
                read = partition.consume(0)
                told = f"3 records, the leader reports {reported}: {read.high_watermark}"
                assert read.high_watermark == expected, f"{told}, expected {expected}"
                expect_records(read, range(expected), f"{told}, a consumer of the follower")


@judges("REPL-023")
def test_followers_have_every_offset_without_gap(cluster: Cluster) -> None:
    """Offsets from 0 on without a gap, at each follower."""
    topic = cluster.create_topic()
    follower_version(cluster, topic)
    end = _written(cluster, topic)
    with requirement("REPL-023") as check:
        for node in cluster.others(cluster.leader(topic)):
            with check.subtest(f"follower {node}"):
                offsets = [offset for offset, _ in read_all(cluster, node, topic, end)]
                assert offsets == list(range(end)), (
                    f"follower {node} has the offsets {offsets[:20]}..."
                )


@judges("REPL-027")
def test_min_insync_replicas_does_not_slow_acks_all_with_full_isr(cluster: Cluster) -> None:
    """With min.insync.replicas 1 and 3, in turn: acks=all waits for the whole ISR either way."""
    topics = [cluster.create_topic(configs={"min.insync.replicas": count}) for count in ("1", "3")]
    clients = [cluster.leader_client(topic) for topic in topics]
    with requirement("REPL-027"):
        taken: list[list[float]] = [[], []]
        for _ in range(SAMPLES):
            for topic, client, times in zip(topics, clients, taken, strict=True):
                times.append(_time_taken(client, topic))
        one, three = map(statistics.median, taken)
        assert three <= SLOWER * one, f"medians: {one:.4f} s with 1, {three:.4f} s with 3"


def _time_taken(client: BrokerUnderTest, topic: Topic) -> float:
    begun = time.perf_counter()
    expect_error(client.produce(topic, batch_of(b"r"), acks=-1).error_code, ErrorCode.NONE)
    return time.perf_counter() - begun
