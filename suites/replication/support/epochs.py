"""Leader epochs of a partition as its leader returns them, with their ends (KIP-101, KIP-320)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.only import only
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.messages import (
    FetchResponse,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
)

CONSUMER = -1
NO_EPOCH = -1
WITH_EPOCHS = "7+"
"""The versions of Metadata that contain the leader epoch."""


def epoch_of(cluster: Cluster, topic: Topic) -> int:
    """Return the current epoch, once all brokers that are up agree.

    Raises ApiNotAdvertised if Metadata has no leader epoch.
    """
    cluster.front.version("Metadata", WITH_EPOCHS)
    cluster.leader(topic)
    views = cluster.await_that(
        lambda: {cluster.view(topic, by=node).epoch for node in cluster.up},
        lambda epochs: len(epochs) == 1,
        f"all brokers tell the same leader epoch of {topic.name}",
    )
    return views.pop()


def end_of(
    client: BrokerUnderTest, topic: Topic, epoch: int, version: int, current: int = NO_EPOCH
) -> OffsetForLeaderEpochResponse.EpochEndOffset:
    """Return the end of the epoch; ``current``: the leader epoch of the request."""
    asked = OffsetForLeaderEpochRequest.OffsetForLeaderPartition(
        partition=0, leader_epoch=epoch, current_leader_epoch=current
    )
    entry = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=topic.name, partitions=[asked])
    request = OffsetForLeaderEpochRequest(replica_id=CONSUMER, topics=[entry])
    return only(only(client.ask(request, version).topics, "topic").partitions, "partition")


def fetched_in(
    client: BrokerUnderTest, topic: Topic, version: int, current: int
) -> FetchResponse.PartitionData:
    """Return a fetch from offset 0; ``current``: the leader epoch of the request."""
    wanted = fetch_partition(0)
    wanted.current_leader_epoch = current
    answer = client.ask(fetch_request([fetch_topic(topic, version, [wanted])]), version)
    return only(only(answer.responses, "topic").partitions, "partition")
