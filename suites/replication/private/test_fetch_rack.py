"""FETCH: a consumer is sent to the replica in its rack (KIP-392)."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.messages import FetchResponse
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import values_of
from suites.replication.support.reading import await_served_by

SELECTOR = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
NOBODY = -1
NO_RACK = "a-rack-without-a-broker"


def _ask(
    cluster: Cluster, node: int, topic: Topic, rack: str, version: int
) -> FetchResponse.PartitionData:
    request = fetch_request([fetch_topic(topic, version, [fetch_partition(0)])])
    request.rack_id = rack
    answer = cluster.at(node).ask(request, version)
    return only(only(answer.responses, "topic").partitions, "partition")


@judges("FETCH-018")
@needs_broker(Use.CLUSTER, {"replica.selector.class": SELECTOR})
@at_versions("Fetch", "11+")
def test_fetch_from_other_rack_returns_preferred_read_replica_no_records(
    cluster: Cluster, api_version: int
) -> None:
    """The leader names the follower there and gives nothing.

    To a client in its own rack, in one without a replica, and in none, it gives all.
    """
    racks = {each.node_id: each.rack for each in cluster.front.metadata([]).brokers}
    if len(set(racks.values())) < len(racks) or not all(racks.values()):
        raise NotApplicable("racks", f"the brokers have not a rack each: {racks}")
    topic = cluster.create_topic()
    leader = cluster.leader(topic)
    append(cluster.at(leader), topic, batch_of(b"r"))
    follower = cluster.others(leader)[0]
    await_served_by(cluster, follower, topic, 1)
    with requirement("FETCH-018"):
        sent = cluster.last_seen(
            lambda: _ask(cluster, leader, topic, racks[follower] or "", api_version),
            lambda data: data.preferred_read_replica != NOBODY,
        )
        assert sent.preferred_read_replica == follower, (
            f"sent to {sent.preferred_read_replica}, in the rack is {follower}"
        )
        assert not record_bytes(sent), f"records came with it: {values_of(sent)}"
        for node, rack in (
            (follower, racks[follower]),
            (leader, racks[leader]),
            (leader, NO_RACK),
            (leader, ""),
        ):
            here = _ask(cluster, node, topic, rack or "", api_version)
            sent_to, came = here.preferred_read_replica, values_of(here)
            assert sent_to == NOBODY, f"{node} sends a client in the rack {rack!r} to {sent_to}"
            assert came == [b"r"], f"{node} gives {came} to a client in the rack {rack!r}"
