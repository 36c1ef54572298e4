"""The readiness of a node of ours: it answers, it is ours, and it sees all brokers alive."""

from __future__ import annotations

from collections.abc import Mapping

from harness.base.address import Address
from harness.targets.asking import (
    ProbedCluster,
    ask_api_versions,
    ask_cluster,
    ask_oldest_cluster,
)
from harness.targets.kafka.eras import Fact, knows
from harness.targets.kafka.node import KafkaNode
from harness.targets.kafka.zookeeper import ZooKeeper
from harness.targets.not_answered import NotAnswered
from harness.targets.ready import Question


def questions_for(
    node: KafkaNode,
    brokers: Mapping[int, Address],
    *,
    zookeeper: ZooKeeper | None,
    cluster_id: str | None,
) -> list[Question]:
    """Return the questions for a broker, to be asked in turn until it is ready.

    Our ZooKeeper, with which the broker registers after its bind, or the cluster id proves that the
    broker is ours. ``brokers``: those that Metadata must contain, by their ids. Up to 0.8 it
    contains none before there is a topic; there ZooKeeper is asked for all of them.
    """
    address, release = node.listens_at, node.config.release
    has_versions = knows(release, Fact.API_VERSIONS)
    questions: list[Question] = []
    if zookeeper is not None:
        awaited = {f"/brokers/ids/{broker}" for broker in brokers}
        if not node.config.migrates:  # a KRaft controller's registration is no session's
            awaited.add("/controller")
        questions.append(lambda _: _registered(zookeeper, awaited))
    if has_versions:
        questions.append(lambda wait_ms: ask_api_versions(address, wait_ms))
    ask = ask_cluster if has_versions else ask_oldest_cluster
    if knows(release, Fact.BROKERS_SHOWN):
        questions.append(lambda wait_ms: _shows(ask(address, wait_ms), brokers, cluster_id))
    else:
        questions.append(lambda wait_ms: ask(address, wait_ms))
    return questions


def _registered(zookeeper: ZooKeeper, awaited: set[str]) -> None:
    missing = awaited - zookeeper.ephemerals()
    if missing:
        raise NotAnswered(f"in ZooKeeper there is no {', '.join(sorted(missing))}")


def _shows(cluster: ProbedCluster, brokers: Mapping[int, Address], cluster_id: str | None) -> None:
    if cluster_id is not None and cluster.cluster_id != cluster_id:
        raise NotAnswered(
            f"the broker there is of cluster {cluster.cluster_id}, not of ours, {cluster_id}"
        )
    shown = dict(zip(cluster.nodes, cluster.brokers, strict=True))
    if not shown:
        raise NotAnswered("Metadata shows no live broker")
    if any(shown.get(node) != address for node, address in brokers.items()):
        there = ", ".join(f"{node} at {address}" for node, address in shown.items())
        raise NotAnswered(f"Metadata shows the brokers {there} and not ours, or not all of them")
