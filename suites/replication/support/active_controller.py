"""The active controller, and the possibility that another one takes over."""

from __future__ import annotations

from harness.client.cluster import FIRST_METADATA_WITH_CONTROLLER, Cluster
from harness.client.only import only
from harness.codec.messages import DescribeQuorumRequest
from harness.conformance.checks import NotApplicable, NotSupported

CONTROLLERS = "controllers"
"""The missing thing, as records name it, of a target without a possible successor."""
FEWEST = 3
FIRST_TOLD_BY_BROKERS = 1
METADATA_TOPIC = "__cluster_metadata"


def expect_successor(cluster: Cluster) -> None:
    """Raise NotApplicable if the controllers have no majority without one of them."""
    there = len(cluster.controller_nodes)
    if 0 < there < FEWEST:
        raise NotApplicable(
            CONTROLLERS,
            f"{FEWEST} controllers are needed, so that without one a majority elects another; "
            f"the cluster has {there}",
        )


def active_controller(cluster: Cluster) -> int:
    """The one controller there is, or the one that all brokers name.

    Raises NotSupported where there are several and brokers cannot be asked for it (before 3.3).
    """
    if len(cluster.controller_nodes) == 1:
        return cluster.controller_nodes[0]
    candidates = set(cluster.controller_nodes or cluster.up)
    named = cluster.await_that(
        lambda: controllers_named(cluster),
        lambda seen: is_one_of(seen, candidates),
        "all brokers name the same controller",
    )
    return next(iter(named.values()))


def controllers_named(cluster: Cluster) -> dict[int, int]:
    """The controller as each broker that is up names it."""
    return {node: _named_by(cluster, node) for node in cluster.up}


def is_one_of(named: dict[int, int], candidates: set[int]) -> bool:
    """True if all brokers name the same controller, and it is one of the candidates."""
    return len(set(named.values())) == 1 and set(named.values()) <= candidates


def _named_by(cluster: Cluster, node: int) -> int:
    """Return the controller that this broker names; with KRaft the leader of the quorum.

    With KRaft Metadata names any broker, which forwards requests. Before 0.10.0 brokers name no
    controller, and ZooKeeper has it.
    """
    client = cluster.at(node)
    if cluster.controller_nodes:
        return _quorum_leader(cluster, node)
    if client.version("Metadata") < FIRST_METADATA_WITH_CONTROLLER and cluster.registry is not None:
        return cluster.registry.controller()
    return client.metadata([]).controller_id


def _quorum_leader(cluster: Cluster, node: int) -> int:
    partition = DescribeQuorumRequest.PartitionData(partition_index=0)
    topic = DescribeQuorumRequest.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    client = cluster.at(node)
    if (version := client.version("DescribeQuorum")) < FIRST_TOLD_BY_BROKERS:
        raise NotSupported(
            "DescribeQuorum 0 (before 3.3): a broker may go on asking a controller that was active"
        )
    answer = client.ask(DescribeQuorumRequest(topics=[topic]), version)
    return only(only(answer.topics, "topic").partitions, "partition").leader_id
