"""LEG: mirroring, as tools do it since the first releases: consume here, produce there."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.older_forms import records_for
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceResponse
from harness.conformance.checks import requirement
from harness.runner.marks import judges, needs_nodes
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import records_of

PARTITIONS, BATCHES = 3, 20
AT_ONCE_BYTES = 400
"""So few bytes a fetch that a mirror needs many fetches."""


@judges("LEG-015")
@needs_nodes(3)
def test_mirrored_partition_keeps_order_of_source(cluster: Cluster) -> None:
    """Source and target are led by different brokers; the produces are on their way together."""
    one, two, three = cluster.nodes[:3]
    alone = {"min.insync.replicas": "1"}
    source = cluster.create_topic([[one], [two], [three]], alone)
    target = cluster.create_topic([[two], [three], [one]], alone)
    for number in range(BATCHES):
        for partition in range(PARTITIONS):
            client = cluster.leader_client(source, partition)
            append(client, source, batch_of(b"%d-%d" % (partition, number)), partition=partition)
    with requirement("LEG-015"):
        for partition in range(PARTITIONS):
            there = _values(cluster, source, partition)
            if len(there) != BATCHES:
                raise PreparationFailed(f"the source has {there}")
            _mirror(cluster, source, target, partition)
            mirrored = _values(cluster, target, partition)
            assert mirrored == there, f"partition {partition}: {mirrored}, mirrored were {there}"


def _mirror(cluster: Cluster, source: Topic, target: Topic, partition: int) -> None:
    """All of one partition, a produce for each record that was read, answered when all are sent."""
    client = cluster.leader_client(target, partition)
    version = client.version("Produce")
    connection = client.connect("mirror")
    sent = 0
    for value in _values(cluster, source, partition):
        records = records_for(version, batch_of(value or b""))
        connection.send(produce_request(target, records, version, partition=partition), version)
        sent += 1
    for _ in range(sent):
        answer = connection.receive()
        assert isinstance(answer, ProduceResponse)
        told = only(only(answer.responses, "topic").partition_responses, "partition")
        if told.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"Produce: {ErrorCode.describe(told.error_code)}")


def _values(cluster: Cluster, topic: Topic, partition: int) -> list[bytes | None]:
    """Return the values in the order of their offsets, read in small fetches."""
    client = cluster.leader_client(topic, partition)
    end, found = client.end_offset(topic, partition), list[bytes | None]()
    while len(found) < end:
        told = client.fetch(
            topic, len(found), partition=partition, partition_max_bytes=AT_ONCE_BYTES
        )
        news = [value for offset, value in records_of(told) if offset >= len(found)]
        if not news:
            raise PreparationFailed(f"a fetch from {len(found)} gives nothing, the end is {end}")
        found += news
    return found
