"""ELECT: the new leader after the loss of a leader, and the leader when replicas come back."""

from __future__ import annotations

import time

from harness.base.pace import time_left
from harness.client.cluster import NOBODY, Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.config_admin import BROKER, values_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import values_of as values_in
from suites.replication.support.failover import await_in_sync, bring_back, lose_leader
from suites.replication.support.lagging import NO_UNCLEAN, ON_BOTH, ON_LAST, left_behind
from suites.replication.support.reassigning import elect
from suites.replication.support.served import checked, served

SESSION_CONFIG = "broker.session.timeout.ms"
SHORT_DELAY_MS = 10_000
LOOK_MS = 2_000  # no election may happen for so long


@judges("ELECT-001")
@needs_broker(Use.CLUSTER)
def test_isr_member_becomes_leader_after_leader_is_killed(cluster: Cluster) -> None:
    """Any broker that is left names it, it takes records and has those from before."""
    topic = cluster.create_topic()
    append(cluster.leader_client(topic), topic, batch_of(b"before"))
    in_sync = cluster.isr(topic)
    with requirement("ELECT-001"):
        before, now = lose_leader(cluster, topic)
        assert now in in_sync - {before}, f"{now} leads, the ISR was {in_sync}"
        answer = cluster.at(now).produce(topic, batch_of(b"after"))
        expect_error(answer.error_code, ErrorCode.NONE, f"Produce at {now}")
        values = values_in(cluster.at(now).fetch(topic, 0))
        assert values == [b"before", b"after"], f"the new leader has {values}"


@judges("ELECT-002")
@needs_broker(Use.CLUSTER)
def test_leader_failover_completes_soon_after_session_timeout(cluster: Cluster) -> None:
    """Not much later than the session timeout of the broker that was killed."""
    front, node = cluster.front, cluster.up[0]
    told = values_of(front, (BROKER, str(node)), [SESSION_CONFIG])
    session_ms = int(told[SESSION_CONFIG] or 0)
    topic = cluster.create_topic()
    dead = cluster.leader(topic)
    cluster.kill(dead)
    within_ms = session_ms + SHORT_DELAY_MS
    with requirement("ELECT-002"), in_time(within_ms):
        cluster.await_that(
            lambda: cluster.view(topic).leader,
            lambda leader: leader not in (dead, NOBODY),
            f"another leader is told, the session timeout being {session_ms} ms",
            within_ms=within_ms,
        )


@judges("ELECT-003")
@needs_broker(Use.CLUSTER)
def test_first_live_isr_member_in_assignment_order_becomes_leader(cluster: Cluster) -> None:
    """In the order of the assignment, which differs between two partitions."""
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[one, two, three], [one, three, two]])
    with requirement("ELECT-003"):
        cluster.kill(one)
        for partition, expected in enumerate((two, three)):
            found = cluster.await_leader(topic, partition, among=[two, three])
            assert found == expected, f"partition {partition} is led by {found}, not {expected}"


@judges("ELECT-005")
@needs_broker(Use.CLUSTER)
def test_last_isr_member_becomes_leader_when_it_returns(cluster: Cluster) -> None:
    """The other replica is back first, lacks a record, and must not lead.

    A new leader may return its old high watermark for a moment.
    """
    (topic,), last, lagging = left_behind(cluster, [NO_UNCLEAN])
    cluster.restart(lagging)
    cluster.await_brokers(cluster.up)
    with requirement("ELECT-005"):
        cluster.restart(last)
        leader = cluster.leader(topic)
        assert leader == last, f"{leader} leads, the last in sync is {last}"
        values = cluster.last_seen(
            lambda: values_in(cluster.at(leader).fetch(topic, 0)), [ON_BOTH, ON_LAST].__eq__
        )
        assert values == [ON_BOTH, ON_LAST], f"it has {values}"


@judges("ISR-011")
@needs_broker(Use.CLUSTER)
def test_lagging_replica_does_not_join_isr_while_partition_has_no_leader(cluster: Cluster) -> None:
    """While the last in sync is away, the ISR stays; when it leads, the other joins."""
    (topic,), last, lagging = left_behind(cluster, [NO_UNCLEAN])
    with requirement("ISR-011"):
        cluster.restart(lagging)
        cluster.await_brokers(cluster.up)
        for _ in time_left(LOOK_MS):
            leader, isr = cluster.view(topic).leader, cluster.isr(topic)
            assert leader == NOBODY, f"{leader} leads, in sync was only {last}"
            assert lagging not in isr, f"the ISR is {isr} while nobody leads"
            time.sleep(0.1)
        cluster.restart(last)
        await_in_sync(cluster, topic, lagging)
        leader = cluster.leader(topic)
        assert leader == last, f"{leader} leads, in sync was {last}"


@judges("ELECT-010")
@needs_broker(Use.CLUSTER)
def test_elect_leaders_preferred_succeeds_only_when_preferred_is_available(
    cluster: Cluster,
) -> None:
    """Not while its broker is down; when it is in sync again, it leads."""
    versions = served(cluster.front, "ElectLeaders", "1+")
    topic = cluster.create_topic()
    preferred = cluster.leader(topic)
    for version in versions:
        lose_leader(cluster, topic)
        cluster.await_brokers(cluster.up)
        with checked("ELECT-010", "ElectLeaders", version):
            codes = elect(cluster, {topic.name: [0]}, version)
            expect_error(
                codes[topic.name, 0], ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, "it is down"
            )
        bring_back(cluster, topic, preferred)
        with checked("ELECT-010", "ElectLeaders", version):
            codes = elect(cluster, {topic.name: [0]}, version)
            expect_error(codes[topic.name, 0], ErrorCode.NONE, "it is back")
            cluster.await_leader(topic, among=[preferred])
