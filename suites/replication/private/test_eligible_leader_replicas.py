"""ELECT: replicas that left the ISR and may lead all the same (KIP-966)."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import values_of
from suites.replication.support.eligible import (
    Eligible,
    described,
    described_by,
    need_eligible_leaders,
)
from suites.replication.support.failover import await_in_sync
from suites.replication.support.reading import await_served_by
from suites.replication.support.sampled import sampled


def _topic(cluster: Cluster) -> Topic:
    """Create a topic on two brokers that both have to be in sync; the third receives the requests.

    Both brokers must know that the record is committed: a replica that leads alone commits nothing,
    and without that knowledge it would return no end of its log.
    """
    need_eligible_leaders(cluster.front)
    topic = cluster.create_topic([cluster.nodes[1:3]], {"min.insync.replicas": "2"})
    append(cluster.leader_client(topic), topic, batch_of(b"r"))
    for node in cluster.nodes[1:3]:
        await_served_by(cluster, node, topic, 1)
    return topic


def _await(cluster: Cluster, topic: Topic, isr: set[int], elr: set[int], when: str) -> Eligible:
    """ISR and ELR have to become so, and soon."""
    found = cluster.last_seen(
        lambda: described(cluster, topic), lambda seen: (seen.isr, seen.elr) == (isr, elr)
    )
    assert (found.isr, found.elr) == (isr, elr), f"{when}: {found}, expected ISR {isr}, ELR {elr}"
    return found


@judges("ELECT-015")
@needs_broker(Use.CLUSTER)
def test_replica_leaving_isr_below_min_stays_eligible_and_is_elected(cluster: Cluster) -> None:
    """Both are stopped; the first to leave comes back alone, and leads with all records."""
    topic = _topic(cluster)
    first, last = cluster.nodes[1:3]
    with requirement("ELECT-015"):
        cluster.stop(first)
        _await(cluster, topic, {last}, {first}, "one is left")
        cluster.stop(last)
        _await(cluster, topic, set(), {first, last}, "nobody is left")
        cluster.restart(first)
        leader = cluster.leader(topic)
        assert leader == first, f"{leader} leads, back is {first}"
        found = described(cluster, topic)
        assert found.isr == {first}, f"one is back: {found}"
        cluster.restart(last)
        await_in_sync(cluster, topic, last)
        values = values_of(cluster.leader_client(topic).fetch(topic, 0))
        assert values == [b"r"], f"the records are {values}"


@judges("ELECT-016")
@needs_broker(Use.CLUSTER)
def test_elr_is_empty_at_min_isr_and_drops_killed_replica(cluster: Cluster) -> None:
    """No replica is eligible when enough are in sync again, nor a killed one when it is back."""
    topic = _topic(cluster)
    first, last = cluster.nodes[1:3]
    with requirement("ELECT-016"):
        cluster.stop(first)
        _await(cluster, topic, {last}, {first}, "one was stopped")
        cluster.restart(first)
        _await(cluster, topic, {first, last}, set(), "it is back")
        cluster.kill(first)
        _await(cluster, topic, {last}, {first}, "one was killed")
        cluster.stop(last)
        cluster.restart(first)
        cluster.await_brokers(cluster.up)
        found = described(cluster, topic)
        assert first not in found.elr, f"the one that was killed is back: {found}"
        assert found.leader != first, f"the one that was killed leads: {found}"


@judges("ELECT-017")
@needs_broker(Use.CLUSTER)
def test_last_known_leader_is_elected_with_empty_isr_and_elr(cluster: Cluster) -> None:
    """Both are killed, so that no replica is eligible; the last leader leads when it is back."""
    topic = _topic(cluster)
    first, last = cluster.nodes[1:3]
    with requirement("ELECT-017"):
        cluster.kill(first)
        _await(cluster, topic, {last}, {first}, "one was killed")
        cluster.kill(last)
        cluster.await_brokers(cluster.up)
        cluster.restart(first)
        cluster.await_brokers(cluster.up)
        cluster.restart(last)
        leader = cluster.leader(topic)
        assert leader == last, f"{leader} leads, the last leader was {last}"


@judges("ELECT-018")
@needs_broker(Use.CLUSTER)
def test_elr_and_isr_never_overlap_and_contain_only_replicas(cluster: Cluster) -> None:
    """By every answer of every broker while both are stopped or killed, and come back."""
    topic = _topic(cluster)
    first, last = replicas = cluster.nodes[1:3]
    with requirement("ELECT-018"):
        with sampled(cluster, lambda client: [described_by(client, topic)]) as seen:
            cluster.stop(first)
            _await(cluster, topic, {last}, {first}, "one was stopped")
            cluster.kill(last)
            cluster.await_brokers(cluster.up)
            cluster.restart(first)
            _await(cluster, topic, {first}, {last}, "one is back")
            cluster.restart(last)
            await_in_sync(cluster, topic, last)
            _await(cluster, topic, {first, last}, set(), "both are back")
        for node, found in seen:
            assert not found.isr & found.elr, f"by broker {node} ISR and ELR overlap: {found}"
            everyone = found.isr | found.elr
            assert everyone <= set(replicas), f"by broker {node} no replicas: {found}"
