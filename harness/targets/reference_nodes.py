"""The settings of the nodes of our own clusters."""

from __future__ import annotations

REPLICATION, MIN_IN_SYNC = 3, 2
SETTINGS = {
    "auto.leader.rebalance.enable": "false",
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "6000",
    "replica.fetch.wait.max.ms": "100",
    "replica.lag.time.max.ms": "6000",
}
"""No test stops a broker of a cluster that others use: on a machine that stands still for seconds
all its brokers stay alive and in sync."""
QUICK_NOTICE = {
    "broker.heartbeat.interval.ms": "300",
    "broker.session.timeout.ms": "1500",
    "replica.lag.time.max.ms": "2000",
}
"""For private clusters, with the values of `kafka:`: the cluster notices within seconds that a
broker is slow or gone."""


def settings_of_node(node: int, brokers: int, *, is_broker: bool) -> dict[str, str]:
    """Return the settings of one node of a cluster with so many brokers."""
    replicas = min(REPLICATION, brokers)
    own = {
        "node.id": str(node),
        "default.replication.factor": str(replicas),
        "min.insync.replicas": str(MIN_IN_SYNC if replicas == REPLICATION else 1),
        "offsets.topic.num.partitions": str(brokers),  # each coordinates some groups
    }
    if brokers > 1 and is_broker:
        own["broker.rack"] = f"r{node}"
    return {**SETTINGS, **own}
