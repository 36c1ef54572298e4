"""CONN: the broker that a client is connected to goes away."""

from __future__ import annotations

import pytest

from harness.client.cluster import Cluster
from harness.client.errors import ConnectionClosed
from harness.codec.messages import MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker

FIRST_WITH_CREATION_ASKED_FOR = 4


@judges("CONN-028")
@needs_broker(Use.CLUSTER)
def test_killed_broker_closes_connection_and_others_serve_metadata(cluster: Cluster) -> None:
    """The connection ends, no client can connect; any other broker returns the metadata."""
    first = cluster.nodes[0]
    client = cluster.at(first)
    topic = cluster.create_topic([cluster.nodes[1:3]])
    version = client.version("Metadata")
    connection = client.connect()
    request = MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic.name)],
        allow_auto_topic_creation=version < FIRST_WITH_CREATION_ASKED_FOR,
    )
    connection.ask(request, version, tolerant=True)
    cluster.kill(first)
    with requirement("CONN-028"):
        with pytest.raises(ConnectionClosed):
            connection.ask(request, version)
        with pytest.raises(ConnectionClosed):
            client.connect()
        for node in cluster.up:
            view = cluster.view(topic, by=node)
            assert view.is_led, f"broker {node} tells of no leader: {view}"
        cluster.await_brokers(cluster.up)
