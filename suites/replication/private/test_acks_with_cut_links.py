"""ACKS: records that the leader alone had, and lost with it."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import records_of
from suites.replication.support.asked_as import produce_as, read_as
from suites.replication.support.cutting import linked_cluster, plain_brokers
from suites.replication.support.failover import bring_back

EARLIER = [b"earlier-%d" % number for number in range(3)]
ALONE = [b"alone-%d" % number for number in range(3)]
LATER = [b"later-%d" % number for number in range(3)]
SOON_MS = 1_000


@judges("ACKS-016")
@linked_cluster()
def test_unreplicated_acks_1_records_of_dead_leader_leave_no_gap(cluster: Cluster) -> None:
    """Followers are cut off, records are taken with acks=1, and the leader is killed."""
    old, *others = plain_brokers(cluster)
    topic = cluster.create_topic([[old, *others]])
    append(cluster.at(old), topic, *map(batch_of, EARLIER))
    for follower in others:
        cluster.links[follower, old].cut()
    with requirement("ACKS-016"):
        for value in ALONE:
            answer = produce_as("alone", cluster.at(old), topic, value, acks=1, timeout_ms=SOON_MS)
            code = None if answer is None else answer.error_code
            assert code == ErrorCode.NONE, f"acks=1 without followers: {code}"
        cluster.kill(old)
        now = cluster.await_leader(topic, among=others)
        append(cluster.at(now), topic, *map(batch_of, LATER))
        _expect_in_order(cluster, topic, now)
        cluster.links.heal()
        bring_back(cluster, topic, old)
        for node in (old, *others):
            _expect_in_order(cluster, topic, node)


def _expect_in_order(cluster: Cluster, topic: Topic, node: int) -> None:
    """The records left of those on the leader alone are a prefix of them, in their place."""
    kept = len(EARLIER) + len(LATER)
    data = cluster.last_seen(
        lambda: read_as("ACKS-016", cluster.at(node), topic),
        lambda seen: seen.high_watermark >= kept,
    )
    offsets, values = zip(*records_of(data), strict=True) if record_bytes(data) else ((), ())
    there = f"broker {node} has {dict(zip(offsets, values, strict=True))}"
    assert list(offsets) == list(range(len(offsets))), f"offsets leave a gap: {there}"
    left = [value for value in values if value in ALONE]
    assert list(values) == [*EARLIER, *ALONE[: len(left)], *LATER], f"lost or reordered: {there}"
