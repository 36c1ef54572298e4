"""The built-in cluster behind proxies: each link carries traffic, and a cut one does not."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from harness.proxies.event import Event
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.linked_reference import LinkedReference
from harness.targets.process import ChildProcess
from harness.targets.reference_cluster import CONTROLLER_ID, ReferenceCluster
from tests.targets.round_trip import Talk, eventually, round_trip
from tests.targets.watched_partition import WatchedPartition, watched

pytestmark = pytest.mark.rotates(8)

TOPIC = "watched"
PATIENT = {"broker.session.timeout.ms": "10000", "replica.lag.time.max.ms": "4000"}


@pytest.fixture(scope="module")
def told() -> list[Event]:
    return []


@pytest.fixture(scope="module")
def target(
    tmp_path_factory: pytest.TempPathFactory, told: list[Event]
) -> Iterator[LinkedReference]:
    log_dir = tmp_path_factory.mktemp("linked")
    with LinkedReference(3, log_dir=log_dir, settings=PATIENT, tell=told.append) as made:
        round_trip(made)
        yield made
    with pytest.raises(TargetError, match="only while it runs"):
        _ = made.links


@pytest.fixture(scope="module")
def partition(target: LinkedReference) -> Iterator[WatchedPartition]:
    with watched(target, TOPIC) as found:
        yield found


def test_every_directed_pair_of_nodes_has_link(target: LinkedReference) -> None:
    nodes = [str(node) for node in target.nodes]
    expected = {(one, other) for one in nodes for other in nodes if one != other}
    expected |= {pair for node in nodes for pair in (("client", node), (node, "controller"))}
    assert set(target.links) == expected


def test_broker_connections_pass_through_links(
    target: LinkedReference, partition: WatchedPartition
) -> None:
    leader = partition.await_agreement()
    for node in target.nodes:
        assert target.links[node, "controller"].proxy.counters.open
        if node != leader:
            fetching = target.links[node, leader].proxy.counters
            eventually(partial(lambda each: each.open or None, fetching), f"{node} fetches")


def test_cut_link_removes_one_follower_from_isr(
    target: LinkedReference, partition: WatchedPartition, told: list[Event]
) -> None:
    leader = partition.await_agreement()
    follower, other = (node for node in target.nodes if node != leader)
    target.links[follower, leader].cut()
    Talk(target).write(TOPIC, b"without the follower", target.address_of(leader))
    partition.await_isr({leader, other}, by=leader)
    assert partition.leader_by(other) == leader
    target.links.heal()
    partition.await_isr(set(target.nodes), by=leader)
    assert [(each.what, each.link) for each in told] == [
        ("cut", f"{follower}->{leader}"),
        ("healed", f"{follower}->{leader}"),
    ]


def test_leader_cut_from_controller_is_deposed_and_unaware(
    target: LinkedReference, partition: WatchedPartition
) -> None:
    old = partition.await_agreement()
    witness = next(node for node in target.nodes if node != old)
    target.links[old, "controller"].cut()
    eventually(lambda: partition.leader_by(witness) != old or None, "another broker leads")
    assert partition.leader_by(old) == old
    target.links.heal()
    eventually(lambda: partition.leader_by(old) != old or None, "it learns of it")
    partition.await_agreement()


def test_restarted_node_uses_its_links_again(
    target: LinkedReference, partition: WatchedPartition
) -> None:
    leader = partition.await_agreement()
    for node in (leader, CONTROLLER_ID):
        target.kill_node(node)
        assert not target.node_is_alive(node)
        assert target.is_alive()
        target.restart_node(node)
    partition.await_isr(set(target.nodes), by=target.nodes[0])
    Talk(target).write(TOPIC, b"afterwards", target.address_of(partition.await_agreement()))


def test_cluster_without_links_raises_missing_capability(tmp_path: Path) -> None:
    with pytest.raises(MissingCapability, match="links"):
        _ = ReferenceCluster(3, log_dir=tmp_path).links


class _TakenOnce(LinkedReference):
    """At the first attempt another server listens at the port of a broker."""

    taken: socket.socket | None = None
    begun: tuple[ChildProcess, ...] = ()

    def _choose_ports(self) -> dict[int, int]:
        ports = super()._choose_ports()
        if self.taken is None:
            self.taken = socket.create_server(("127.0.0.1", ports[1]))
        return ports

    def _check(self, child: ChildProcess, log_path: Path) -> None:
        if not child.is_alive() and not self.begun:
            self.begun = tuple(self._launched)
        super()._check(child, log_path)


def test_failed_start_ends_its_processes(tmp_path: Path) -> None:
    with _TakenOnce(3, log_dir=tmp_path, settings=PATIENT) as target:
        assert len(target.addresses) == 3
        assert target.taken is not None
        target.taken.close()
        # The controller, the broker with the taken port, and those that had begun when it ended.
        assert 2 <= len(target.begun) <= 4
        assert not [each for each in target.begun if each.is_alive()]
