"""STOR: what replicas remove from their logs, and that all are left with the same."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import LATEST
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.keyed import USUAL, Kept, KeyedLog
from suites.durability.support.segments import (
    DAY_MS,
    SEGMENT_MS,
    WITNESSED,
    Witness,
    aged,
    begin_of,
    begin_once,
)
from suites.protocol.support.appended import append
from suites.replication.support.cutting import plain_brokers
from suites.replication.support.failover import change_leader

FOREVER_MS = "600000"
GIVE_UP_MS = "3000"
COMMITTED, MORE = 2, 3
LEADERS = 3


@judges("STOR-005")
@needs_broker(
    Use.CLUSTER,
    {
        "log.retention.check.interval.ms": "300",
        "log.initial.task.delay.ms": "300",
        "replica.lag.time.max.ms": FOREVER_MS,
        "replica.socket.timeout.ms": GIVE_UP_MS,
    },
    links=True,
)
def test_retention_does_not_remove_uncommitted_records(cluster: Cluster) -> None:
    """All is too old, each record in a segment of its own; the followers have only the first ones.

    They stay in the ISR. When they can fetch again all is committed, and goes.
    """
    leader, *followers = plain_brokers(cluster)
    client = cluster.at(leader)
    witness = Witness(client, cluster.create_topic([[leader]], WITNESSED))
    configs = {"segment.ms": str(SEGMENT_MS), "retention.ms": str(DAY_MS)}
    topic = cluster.create_topic([[leader, *followers]], configs)
    old = [aged(3 * DAY_MS - place * 2 * SEGMENT_MS, b"r") for place in range(COMMITTED + MORE)]
    append(client, topic, *old[:COMMITTED])
    begin_once(client, topic, COMMITTED)
    for follower in followers:
        cluster.links[follower, leader].cut()
    for batch in old[COMMITTED:]:
        answer = client.produce(topic, batch, acks=1)
        if answer.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")
    with requirement("STOR-005"):
        witness.look()
        found = begin_of(client, topic), client.list_offset(topic, LATEST).offset
        told = f"the log begins at {found[0]}, committed is what is below {found[1]}"
        assert found == (COMMITTED, COMMITTED), f"{told}, expected is {COMMITTED} for both"
        cluster.links.heal()
        end = begin_once(client, topic, COMMITTED + MORE)
        assert end == COMMITTED + MORE, f"all is committed and too old, the log begins at {end}"


@judges("STOR-019")
@needs_broker(Use.CLUSTER, {"log.cleaner.backoff.ms": "200"})
def test_compacted_log_keeps_last_values_on_each_replica_after_failover(cluster: Cluster) -> None:
    """Each of three leads, after a broker was killed and one came back; each has every key's last
    value where it was, and no other that compaction takes."""
    topic = cluster.create_topic(configs=USUAL)
    log = KeyedLog(cluster.leader_client(topic), topic)
    for number in range(5):
        log.append(*((key, b"%s %d" % (key, number)) for key in (b"one", b"two", b"three")))
    first = log.await_compacted()
    with requirement("STOR-019"):
        _expect_same(log, first, cluster.leader(topic))
        for _ in range(LEADERS - 1):
            leader = change_leader(cluster, topic)
            log.broker = cluster.at(leader)
            _expect_same(log, log.await_compacted(), leader)


def _expect_same(log: KeyedLog, left: list[Kept], leader: int) -> None:
    """Both what a client reads and what it makes of it."""
    changed = [each for each in left if each not in log.written]
    assert not changed, f"broker {leader} has {changed}, which was never written"
    lost = [each for each in log.newest().values() if each not in left]
    assert not lost, f"broker {leader} lacks the last values {lost}"
