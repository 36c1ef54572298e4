"""BROK: brokers that leave a cluster and come back."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.replication.support.served import checked, served
from suites.replication.support.told import told_by


@judges("BROK-005")
@needs_broker(Use.CLUSTER)
def test_metadata_drops_killed_broker_and_lists_it_after_restart(cluster: Cluster) -> None:
    """After a kill no broker lists it; after a restart all list its address, and it serves."""
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[one, two]])
    versions = served(cluster.front, "Metadata")
    address = tuple(cluster.at(three).address)
    cluster.kill(three)
    with requirement("BROK-005"):
        cluster.await_brokers(cluster.up)
        cluster.restart(three)
        cluster.await_brokers(cluster.nodes)
    for version in versions:
        with checked("BROK-005", "Metadata", version):
            for node in cluster.nodes:
                told = told_by(cluster, node, topic, version).brokers
                assert told.get(three) == address, f"broker {node} tells {told.get(three)}"
    with requirement("BROK-005"):
        new: Topic = cluster.create_topic([[three]], {"min.insync.replicas": "1"})
        answer = cluster.at(three).produce(new, batch_of(b"r"))
        expect_error(answer.error_code, ErrorCode.NONE, "Produce at the broker that came back")
