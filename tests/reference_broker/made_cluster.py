"""A cluster of one broker as plain state, and topics in it."""

import random
from uuid import UUID

from harness.base.ids import BrokerId
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.partition.replica_host import ReplicaHost
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.registrations.brokers import (
    CLIENT_LISTENER,
    BrokerRegistration,
    Endpoint,
)
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.state.topics.topic import TopicState

OWN = BrokerId(7)
CHANCE = random.Random(0)


def cluster_with(**partition_counts: int) -> ClusterState:
    """A cluster with topics of these names."""
    host = ReplicaHost(OWN)
    host.brokers.put(registered(OWN))
    cluster = ClusterState(ProducerExpiration(60_000, 1_000), host)
    for name, count in partition_counts.items():
        add(cluster, name, count)
    return cluster


def registered(broker_id: BrokerId) -> BrokerRegistration:
    """A registered broker."""
    at = {CLIENT_LISTENER: Endpoint("localhost", 9092)}
    return BrokerRegistration(broker_id, 0, UUID(int=broker_id), at, is_fenced=False)


def add(cluster: ClusterState, name: str, partition_count: int = 1) -> TopicState:
    """Add one more topic."""
    return cluster.create(name, TopicConfig.of({}, {}), partition_count, (OWN,), CHANCE)
