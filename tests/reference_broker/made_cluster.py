"""A cluster of one broker as plain state, and topics in it."""

import random

from harness.ids import BrokerId
from harness.reference_broker.state.cluster import Cluster
from harness.reference_broker.state.producer_states import ProducerExpiration
from harness.reference_broker.state.topic import Topic
from harness.reference_broker.state.topic_configs import TopicConfig

OWN = BrokerId(7)
CHANCE = random.Random(0)


def cluster_with(**partition_counts: int) -> Cluster:
    """Topics of these names."""
    cluster = Cluster(ProducerExpiration(60_000, 1_000))
    for name, count in partition_counts.items():
        add(cluster, name, count)
    return cluster


def add(cluster: Cluster, name: str, partition_count: int = 1) -> Topic:
    """One more topic."""
    return cluster.create(name, TopicConfig.of({}, {}), partition_count, (OWN,), CHANCE)
