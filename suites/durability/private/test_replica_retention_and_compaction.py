"""STOR: what replicas remove from their logs, and that all are left with the same."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.record_bytes import record_bytes
from harness.client.requests import LATEST, Topic
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
from suites.protocol.support.expect import expect_error
from suites.protocol.support.record_formats import records_in
from suites.replication.support.cutting import plain_brokers
from suites.replication.support.failover import change_leader

FOREVER_MS = "600000"
GIVE_UP_MS = "3000"
COMMITTED, MORE = 2, 3
LEADERS = 3
TOO_OLD = {"segment.ms": str(SEGMENT_MS), "retention.ms": str(DAY_MS)}
TOO_LARGE = {"segment.ms": str(SEGMENT_MS), "retention.bytes": "1", "retention.ms": "-1"}


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
    """The followers have only the first records; each record has a segment of its own.

    In one topic all is too old; in partition 1 of the other, all but the last segment is too much.
    The followers stay in the ISR. When they can fetch again all is committed, and goes.
    """
    leader, *followers = plain_brokers(cluster)
    client = cluster.at(leader)
    witness = Witness(client, cluster.create_topic([[leader]], WITNESSED))
    replicas = [leader, *followers]
    logs = {
        "too large": (cluster.create_topic([replicas] * 2, TOO_LARGE), 1),
        "too old": (cluster.create_topic([replicas], TOO_OLD), 0),
    }
    old = [aged(3 * DAY_MS - place * 2 * SEGMENT_MS, b"r") for place in range(COMMITTED + MORE)]
    for topic, partition in logs.values():
        append(client, topic, *old[:COMMITTED], partition=partition)
        begin_once(client, topic, COMMITTED - partition, partition)
    for follower in followers:
        cluster.links[follower, leader].cut()
    for topic, partition in logs.values():
        _append_uncommitted(client, topic, partition, old[COMMITTED:])
    with requirement("STOR-005") as check:
        witness.look()
        for what, log in logs.items():
            with check.subtest(what):
                begin, end = _ends(client, *log)
                told = f"{what}: the log begins at {begin}, committed is what is below {end}"
                expected = (COMMITTED, COMMITTED)
                assert (begin, end) == expected, f"{told}, expected is {COMMITTED} for both"
        cluster.links.heal()
        for what, (topic, partition) in logs.items():
            with check.subtest(f"{what}, later"):
                last = COMMITTED + MORE - partition  # the last segment is not too much
                begin = begin_once(client, topic, last, partition)
                assert begin == last, f"all is committed and {what}, the log begins at {begin}"


def _append_uncommitted(
    client: BrokerUnderTest, topic: Topic, partition: int, batches: list[bytes]
) -> None:
    for batch in batches:
        answer = client.produce(topic, batch, acks=1, partition=partition)
        if answer.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")


def _ends(client: BrokerUnderTest, topic: Topic, partition: int) -> tuple[int, int]:
    """The earliest and the latest offset."""
    latest = client.list_offset(topic, LATEST, partition=partition).offset
    return begin_of(client, topic, partition), latest


@judges("STOR-019")
@needs_broker(Use.CLUSTER, {"log.cleaner.backoff.ms": "200"})
def test_compacted_log_keeps_last_values_on_each_replica_after_failover(cluster: Cluster) -> None:
    """Each of three leads, after a broker was killed and one came back; each has every key's last
    value where it was, and no other that compaction takes. At each old offset it returns the record
    that is there, or the next one."""
    topic = cluster.create_topic(configs=USUAL)
    log = KeyedLog(cluster.leader_client(topic), topic)
    log.append((b"once", b"in front of what goes"))
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
    offsets = range(len(log.written))
    found = {offset: _first_from(log, offset, leader) for offset in offsets}
    expected = {at: next(each.offset for each in left if each.offset >= at) for at in offsets}
    assert found == expected, f"broker {leader}: first offsets are {found}, expected {expected}"


def _first_from(log: KeyedLog, offset: int, leader: int) -> int | None:
    """The offset of the first record that a consumer at ``offset`` gets; None without any."""
    answer = log.broker.fetch(log.topic, offset)
    expect_error(answer.error_code, ErrorCode.NONE, f"broker {leader}: Fetch at {offset}")
    found = (each.offset for each in records_in(record_bytes(answer)))
    return next((each for each in found if each >= offset), None)
