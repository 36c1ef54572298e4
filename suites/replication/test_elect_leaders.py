"""ELECT: elections that are asked for (KIP-183), with all brokers there."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.expect import expect_error
from suites.replication.support.reassigning import elect

MISSING = 7  # a partition that no topic here has


@judges("ELECT-011")
@at_versions("ElectLeaders", "1+")
def test_elect_leaders_where_preferred_leads_returns_election_not_needed(
    cluster: Cluster, api_version: int
) -> None:
    """It returns ELECTION_NOT_NEEDED, and an error for an unknown partition."""
    topic, unknown = cluster.create_topic(), cluster.unique_topic()
    with requirement("ELECT-011"):
        codes = elect(cluster, {topic.name: [0, MISSING], unknown: [0]}, api_version)
        expect_error(codes[topic.name, 0], ErrorCode.ELECTION_NOT_NEEDED, "it leads")
        for place in ((topic.name, MISSING), (unknown, 0)):
            expect_error(codes[place], ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{place}")
