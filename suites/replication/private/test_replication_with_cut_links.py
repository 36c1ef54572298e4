"""REPL: replication while links are cut and healed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial

from harness.client.cluster import NOBODY, Cluster
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.record_formats import batches_in
from suites.replication.support.alike import expect_alike
from suites.replication.support.asked_as import produce_as
from suites.replication.support.cutting import (
    DEPOSED_MS,
    coordinator_of,
    cut_off,
    leader_without,
    linked_cluster,
    plain_brokers,
)
from suites.replication.support.epochs import WITH_EPOCHS
from suites.replication.support.failover import await_in_sync
from suites.replication.support.workload import under_load

SOON_MS = 500
FIRST_VALUE = 1_000


@dataclass(slots=True)
class SeenRound:
    """``leaders``: named by brokers, by epoch; ``acknowledged``: broker and value, by offset."""

    leaders: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    acknowledged: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)
    sent: int = 0


@judges("REPL-022")
@linked_cluster()
def test_leader_epoch_has_one_leader_while_links_are_cut(cluster: Cluster) -> None:
    """A leader is cut from its controller, and one from everybody; all brokers are written to."""
    cluster.front.version("Metadata", WITH_EPOCHS)
    topic, seen = cluster.create_topic([plain_brokers(cluster)]), SeenRound()
    with requirement("REPL-022"):
        for cut in (_cut_from_controller, cut_off):
            old = cluster.leader(topic)
            cut(cluster, old)
            now = cluster.last_seen(
                partial(_write_to_all, cluster, topic, seen, old),
                lambda leader: leader != NOBODY,
                DEPOSED_MS,
            )
            assert now != NOBODY, f"{old} is cut off, and the others name no other leader"
            _write_to_all(cluster, topic, seen, old)
            cluster.links.heal()
            await_in_sync(cluster, topic, old)
        for epoch, leaders in seen.leaders.items():
            assert len(leaders) == 1, f"epoch {epoch} was led by {sorted(leaders)}"
        _expect_kept(cluster, topic, seen)


def _cut_from_controller(cluster: Cluster, node: int) -> None:
    cluster.links[node, coordinator_of(cluster)].cut()


def _write_to_all(cluster: Cluster, topic: Topic, seen: SeenRound, old: int) -> int:
    """Write with acks=all to each broker, also to those that do not lead.

    Return the new leader that the other brokers name.
    """
    for node in cluster.nodes[:3]:
        view = cluster.view(topic, by=node)
        if view.leader != NOBODY:
            seen.leaders[view.epoch].add(view.leader)
        seen.sent += 1
        value = b"%d" % seen.sent
        answer = produce_as("REPL-022", cluster.at(node), topic, value, acks=-1, timeout_ms=SOON_MS)
        if answer is not None and answer.error_code == ErrorCode.NONE:
            seen.acknowledged.setdefault(answer.base_offset, []).append((node, value))
    return leader_without(cluster, topic, old)


def _expect_kept(cluster: Cluster, topic: Topic, seen: SeenRound) -> None:
    """All acknowledged records are in the log; in one epoch one broker alone acknowledged."""
    data = cluster.leader_client(topic).fetch(topic, 0)
    there = {batch.base_offset: batch for batch in batches_in(record_bytes(data))}
    by_epoch: defaultdict[int, set[int]] = defaultdict(set)
    for offset, every in seen.acknowledged.items():
        for node, value in every:
            batch = there.get(offset)
            found = None if batch is None else batch.records[0].value
            told = f"broker {node} acknowledged {value!r} at offset {offset}, there is {found!r}"
            assert batch is not None, told
            assert found == value, told
            by_epoch[batch.partition_leader_epoch].add(node)
    assert by_epoch, "nothing was acknowledged"
    for epoch, nodes in by_epoch.items():
        assert len(nodes) == 1, f"in epoch {epoch} the brokers {sorted(nodes)} acknowledged"


@judges("REPL-025")
@linked_cluster()
def test_replication_continues_without_loss_after_links_are_restored(cluster: Cluster) -> None:
    """Each directed link for the time of a record, each follower's until it is out of sync."""
    nodes = plain_brokers(cluster)
    topic = cluster.create_topic([nodes])
    ends: list[int | str] = [*nodes, coordinator_of(cluster)]
    pairs = [(source, to) for source in nodes for to in ends if source != to]
    with requirement("REPL-025"):
        with under_load(cluster, topic, first=FIRST_VALUE) as workload:
            for source, destination in pairs:
                cluster.links[source, destination].cut()
                workload.await_next()
                cluster.links.heal()
                workload.await_more()
            leader = cluster.leader(topic)
            for follower in cluster.others(leader)[:2]:
                cluster.links[follower, leader].cut()
                cluster.await_isr(topic, set(nodes) - {follower})
                workload.await_more()
                cluster.links.heal()
                await_in_sync(cluster, topic, follower)
        workload.expect_nothing_lost()
        expect_alike(cluster, topic, "REPL-025")
