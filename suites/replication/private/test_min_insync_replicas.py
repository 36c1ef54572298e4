"""ACKS, ELECT: four replicas of which two are needed, and what becomes of the last in sync."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import NotSupported, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import values_of
from suites.replication.support.failover import await_in_sync

ALL, ONE = -1, 1
TOO_FEW = {ErrorCode.NOT_ENOUGH_REPLICAS, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND}
COMMITTED, ALONE = b"committed", b"by the leader alone"
HELD_SINCE = 16
"""A broker with this version of Fetch commits nothing below min.insync.replicas (KAFKA-15583)."""


def _left(cluster: Cluster, *, with_one: bool) -> Topic:
    """The leader, and one more; a record is committed; then perhaps the leader alone."""
    if HELD_SINCE not in cluster.front.advertised("Fetch"):
        raise NotSupported(f"who serves no Fetch v{HELD_SINCE} has REPL-013")
    one, two, three, leader = cluster.nodes[:4]
    topic = cluster.create_topic([[leader, one, two, three]], {"min.insync.replicas": "2"})
    _lose(cluster, topic, three)
    _lose(cluster, topic, two)
    append(cluster.leader_client(topic), topic, batch_of(COMMITTED))
    if not with_one:
        _lose(cluster, topic, one)
    return topic


def _lose(cluster: Cluster, topic: Topic, node: int) -> None:
    """Kill it; until it is out of sync, by the word of the leader too."""
    cluster.kill(node)
    cluster.await_isr(topic, cluster.up)
    leader, left = cluster.leader(topic), set(cluster.up)
    cluster.await_that(
        lambda: set(cluster.view(topic, by=leader).isr),
        lambda isr: isr == left,
        f"{leader} knows that {node} is out of sync",
    )


def _expect_read(client: BrokerUnderTest, topic: Topic, values: Sequence[bytes], when: str) -> None:
    """A consumer reads all these values, up to the high watermark."""
    data = client.fetch(topic, 0)
    expect_error(data.error_code, ErrorCode.NONE, f"{when}: Fetch")
    found = values_of(data)
    assert found == list(values), f"{when}: a consumer is given {found}, expected {list(values)}"
    told = (data.high_watermark, client.end_offset(topic))
    expected = (len(values), len(values))
    assert told == expected, f"{when}: (high watermark, end) is {told}, expected {expected}"


@judges("ELECT-009")
@needs_broker(Use.CLUSTER, nodes=4)
def test_last_follower_crash_fails_acks_all_and_stops_high_watermark(cluster: Cluster) -> None:
    """acks=all fails, acks=1 goes on, and consumers read on to the high watermark, which stands."""
    topic = _left(cluster, with_one=True)
    client = cluster.leader_client(topic)
    with requirement("ELECT-009"):
        _expect_read(client, topic, [COMMITTED], "two are in sync")
        _lose(cluster, topic, cluster.nodes[0])
        code = client.produce(topic, batch_of(b"refused"), acks=ALL).error_code
        assert code in TOO_FEW, f"acks=all with the leader alone: {ErrorCode.describe(code)}"
        answer = client.produce(topic, batch_of(ALONE), acks=ONE)
        expect_error(answer.error_code, ErrorCode.NONE, "acks=1 with the leader alone")
        _expect_read(client, topic, [COMMITTED], "the leader alone has a record more")


@judges("ACKS-013")
@needs_broker(Use.CLUSTER, nodes=4)
def test_acks_1_record_below_min_isr_is_visible_once_second_member_joins(cluster: Cluster) -> None:
    """Producers with acks=1 can lose three of four; consumers wait for a second in-sync replica."""
    topic = _left(cluster, with_one=False)
    client, back = cluster.leader_client(topic), cluster.nodes[0]
    with requirement("ACKS-013"):
        answer = client.produce(topic, batch_of(ALONE), acks=ONE)
        expect_error(answer.error_code, ErrorCode.NONE, "three are lost: Produce")
        _expect_read(client, topic, [COMMITTED], "three are lost")
        cluster.restart(back)
        await_in_sync(cluster, topic, back)
        cluster.await_that(
            lambda: client.end_offset(topic), lambda end: end == 2, "the record is committed"
        )
        _expect_read(client, topic, [COMMITTED, ALONE], "two are in sync")
