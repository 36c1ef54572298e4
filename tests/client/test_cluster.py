"""A cluster as a test sees it: its leaders, the conditions that a test awaits, the repairs."""

from __future__ import annotations

from typing import Any

import pytest

from harness.client.cluster import Cluster
from harness.client.errors import ConnectionClosed, ResponseTimeout
from harness.client.requests import Topic
from harness.codec.messages import ListOffsetsResponse, MetadataResponse
from harness.codec.versions import VersionRange
from suites.replication.support.reassigning import elect

TOPIC = Topic("t")
QUICK_MS = 100


class ScriptedClient:
    """The answers of one broker; ``fails``: the number of requests that end with a closed
    connection.
    """

    def __init__(self, leader: int, isr: list[int], number: int = 0) -> None:
        self.leader, self.isr, self.number, self.fails = leader, isr, number, 0

    def scaled_ms(self, base_ms: float) -> float:
        return base_ms

    def version(self, api_name: str) -> int:
        return 1

    def advertised(self, api_name: str) -> VersionRange:
        return VersionRange(0, 1)

    def unique_topic(self) -> str:
        return f"name-{self.number}"

    def metadata(self, names: list[str] | None) -> MetadataResponse:
        if self.fails:
            self.fails -= 1
            raise ConnectionClosed("gone")
        entry = MetadataResponse.MetadataResponsePartition(
            partition_index=0, leader_id=self.leader, replica_nodes=[1, 2], isr_nodes=self.isr
        )
        topic = MetadataResponse.MetadataResponseTopic(name="t", partitions=[entry])
        brokers = [MetadataResponse.MetadataResponseBroker(node_id=node) for node in (1, 2)]
        return MetadataResponse(brokers=brokers, topics=[] if names == [] else [topic])

    def list_offset(self, topic: Topic, timestamp: int, *, partition: int) -> object:
        return ListOffsetsResponse.ListOffsetsPartitionResponse(error_code=0)


class Nodes:
    """Records the actions on each node."""

    def __init__(self) -> None:
        self.done: list[tuple[str, int | None]] = []
        self.controller_nodes: tuple[int, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return lambda node=None: self.done.append((name, node))


def cluster_of(*clients: ScriptedClient) -> Cluster:
    made = dict(enumerate(clients, start=1))

    def connect(node: int, number: int) -> Any:
        made[node].number = number
        return made[node]

    return Cluster(list(made), connect)


def test_leader_is_broker_named_by_all_brokers() -> None:
    cluster = cluster_of(ScriptedClient(2, [1, 2]), ScriptedClient(2, [1, 2]))
    assert cluster.leader(TOPIC) == 2
    assert cluster.await_leader(TOPIC, among=[2]) == 2


def test_request_to_failing_broker_is_retried() -> None:
    first = ScriptedClient(1, [1, 2])
    cluster = cluster_of(first, ScriptedClient(1, [1, 2]))
    first.fails = 2
    assert cluster.leader(TOPIC) == 1


def test_wait_timeout_error_contains_last_value() -> None:
    cluster = cluster_of(ScriptedClient(1, [1]), ScriptedClient(1, [1]))
    with pytest.raises(ResponseTimeout, match=r"the ISR is whole; last seen: \{1\}"):
        cluster.await_that(
            lambda: cluster.isr(TOPIC), lambda isr: isr == {1, 2}, "the ISR is whole", QUICK_MS
        )
    seen = cluster.last_seen(lambda: cluster.isr(TOPIC), lambda isr: isr == {1, 2}, QUICK_MS)
    assert seen == {1}


def test_cluster_without_responses_raises_response_timeout() -> None:
    silent = ScriptedClient(1, [1])
    silent.fails = 10_000
    cluster = cluster_of(silent)
    with pytest.raises(ResponseTimeout, match="ConnectionClosed: gone"):
        cluster.last_seen(lambda: cluster.isr(TOPIC), bool, QUICK_MS)


def test_election_of_all_partitions_on_shared_cluster_is_refused() -> None:
    """All partitions are elected on a cluster that no other test asks, and on no other."""
    shared = cluster_of(ScriptedClient(1, [1, 2]), ScriptedClient(1, [1, 2]))
    with pytest.raises(RuntimeError, match="other tests use this cluster too"):
        elect(shared, None)
    alone = cluster_of(ScriptedClient(1, [1, 2]), ScriptedClient(1, [1, 2]))
    alone.control = Nodes()
    alone.expect_alone()


def test_heal_resumes_and_restarts_nodes() -> None:
    cluster = cluster_of(ScriptedClient(1, [1, 2]), ScriptedClient(1, [1, 2]))
    nodes = Nodes()
    cluster.control = nodes
    cluster.kill(1)
    cluster.pause(2)
    assert cluster.up == []
    cluster.heal()
    assert cluster.up == [1, 2]
    assert nodes.done == [
        ("kill_node", 1),
        ("pause_node", 2),
        ("resume_node", 2),
        ("restart_node", 1),
    ]


def test_heal_restores_links_and_controllers_before_brokers() -> None:
    cluster = cluster_of(ScriptedClient(1, [1, 2]), ScriptedClient(1, [1, 2]))
    nodes = Nodes()
    nodes.controller_nodes = (100, 101)
    cluster.control, cluster.links = nodes, nodes
    cluster.kill(1)
    cluster.kill(100)
    assert (cluster.controller_nodes, cluster.up) == ((100, 101), [2])
    cluster.heal_faults()
    assert nodes.done[2:] == [("heal", None), ("restart_node", 100), ("restart_node", 1)]


def test_cluster_without_links_raises_error_naming_required_mark() -> None:
    with pytest.raises(RuntimeError, match=r"Use\.CLUSTER, links=True"):
        _ = cluster_of(ScriptedClient(1, [1])).links


def test_restarted_node_gives_new_unique_names() -> None:
    cluster = cluster_of(ScriptedClient(1, [1, 2]), ScriptedClient(1, [1, 2]))
    cluster.control = Nodes()
    before = cluster.unique_topic()
    cluster.stop(1)
    cluster.restart(1)
    assert cluster.unique_topic() != before


def test_kill_of_shared_node_is_refused() -> None:
    with pytest.raises(RuntimeError, match=r"needs_broker\(Use\.CLUSTER\)"):
        cluster_of(ScriptedClient(1, [1])).kill(1)
