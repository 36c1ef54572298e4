"""SHUT: a broker that is stopped in good order (controlled shutdown)."""

from __future__ import annotations

import threading
from functools import partial

from harness.client.cluster import NOBODY, Cluster
from harness.client.errors import ConnectionClosed
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.replication.support.eligible import eligible_leaders
from suites.replication.support.failover import await_in_sync
from suites.replication.support.workload import under_load

LONG_SESSION_MS = 15_000
AT_ONCE_MS = 3_000


@judges("SHUT-001")
@needs_broker(
    Use.CLUSTER,
    {
        "broker.session.timeout.ms": str(LONG_SESSION_MS),
        "zookeeper.session.timeout.ms": str(LONG_SESSION_MS),
    },
)
def test_controlled_shutdown_moves_leadership_before_connection_closes(cluster: Cluster) -> None:
    """The partition has a leader at all times, and another one when the connection ends.

    The session of the broker lasts much longer than that, so its end does not move the leader.
    """
    topic = cluster.create_topic()
    leaving = cluster.leader(topic)
    connection = cluster.at(leaving).connect(timeout_ms=LONG_SESSION_MS)
    stopping = threading.Thread(target=cluster.stop, args=(leaving,))
    witness = cluster.others(leaving)[0]
    with requirement("SHUT-001"):
        stopping.start()
        try:
            while not _is_closed(connection.expect_silence):
                leader = cluster.view(topic, by=witness).leader
                assert leader != NOBODY, "nobody leads while the broker stops"
            now = cluster.last_seen(
                lambda: cluster.view(topic, by=witness).leader,
                lambda leader: leader not in (leaving, NOBODY),
                AT_ONCE_MS,
            )
            assert now != leaving, f"the connection has ended, and {leaving} is told to lead"
            assert now != NOBODY, "the connection has ended, and no broker leads"
        finally:
            stopping.join()


def _is_closed(expect_silence: object) -> bool:
    assert callable(expect_silence)
    try:
        expect_silence(for_ms=10)
    except ConnectionClosed:
        return True
    return False


@judges("SHUT-002")
@needs_broker(Use.CLUSTER)
def test_stopped_broker_leaves_every_isr_except_as_only_member(cluster: Cluster) -> None:
    """One that it led, one that it followed; where it is alone, it stays, or stays eligible."""
    one, two, three = cluster.nodes[:3]
    shared = cluster.create_topic([[three, one, two], [one, three, two]])
    alone = cluster.create_topic([[three]])
    cluster.stop(three)
    with requirement("SHUT-002"):
        for partition in (0, 1):
            isr = cluster.last_seen(
                partial(cluster.isr, shared, partition), lambda isr: three not in isr
            )
            assert isr == {one, two}, f"partition {partition}: the ISR is {isr}"
        cluster.await_brokers(cluster.up)
        isr, eligible = cluster.isr(alone), eligible_leaders(cluster, alone)
        assert isr | eligible == {three}, f"its own: the ISR is {isr}, the ELR {eligible}"


@judges("SHUT-003")
@needs_broker(Use.CLUSTER)
def test_rolling_restart_loses_no_record_and_returns_only_retriable_errors(
    cluster: Cluster,
) -> None:
    """Each broker is stopped and started under load; producers receive only retriable errors."""
    topic = cluster.create_topic()
    with requirement("SHUT-003"):
        with under_load(cluster, topic) as workload:
            for node in cluster.nodes[:3]:
                workload.await_more()
                cluster.stop(node)
                workload.await_more()
                cluster.restart(node)
                await_in_sync(cluster, topic, node)
        workload.expect_retriable()
        workload.expect_nothing_lost()
