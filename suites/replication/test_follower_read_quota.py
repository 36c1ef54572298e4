"""QUOTA: a consumer that reads from a follower has its quota there."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.client_quota import client_quota, fetched_by
from suites.protocol.support.quota_admin import CONSUMER, QUOTA_WITHIN_MS
from suites.replication.support.reading import await_served_by

BYTES_PER_S = 1_000
ABOVE = batch_of(b"x" * 20 * BYTES_PER_S)  # more than the quota in the ten seconds of the mean


@judges("QUOTA-022")
@at_versions("Fetch", "11+")
def test_consumer_above_quota_is_throttled_by_follower(cluster: Cluster, api_version: int) -> None:
    """A client with a quota and one without read 20 times the quota from a follower."""
    topic, client_id = cluster.create_topic(), cluster.front.unique_topic()
    leader = cluster.leader(topic)
    append(cluster.at(leader), topic, ABOVE)
    node = cluster.others(leader)[0]
    await_served_by(cluster, node, topic, 1)
    follower = cluster.at(node)
    with (
        client_quota(cluster.front, client_id, CONSUMER, BYTES_PER_S),
        requirement("QUOTA-022"),
    ):
        throttled = cluster.last_seen(
            lambda: fetched_by(client_id, follower, topic, api_version),
            lambda answer: answer.throttle_time_ms > 0,
            QUOTA_WITHIN_MS,
        )
        told = f"{len(ABOVE)} bytes from follower {node} at {BYTES_PER_S} bytes per second"
        assert throttled.throttle_time_ms > 0, f"{told}: the client is not throttled"
        free = fetched_by(cluster.front.unique_topic(), follower, topic, api_version)
        assert free.throttle_time_ms == 0, f"a client without a quota: {free.throttle_time_ms} ms"
        records = free.responses[0].partitions[0].records
        assert records, f"a client without a quota gets no records from follower {node}"
