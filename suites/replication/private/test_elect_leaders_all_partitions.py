"""ELECT: an election of all partitions, which would move the leaders of other tests too."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.replication.support.reassigning import ask_to_move, await_moved, elect


@judges("ELECT-011")
@needs_broker(Use.CLUSTER)
@at_versions("ElectLeaders", "1+")
def test_elect_leaders_with_null_list_elects_only_where_needed(
    cluster: Cluster, api_version: int
) -> None:
    """Of two topics one is led by another than its preferred leader; the other is not named."""
    one, two = cluster.nodes[:2]
    quiet = cluster.create_topic([[one, two]])
    moved = cluster.create_topic([[one, two]])
    ask_to_move(cluster, moved.name, {0: [two, one]}, None)
    await_moved(cluster, moved, [two, one])
    with requirement("ELECT-011"):
        codes = elect(cluster, None, api_version)
        assert codes.get((moved.name, 0)) == ErrorCode.NONE, (
            f"the partition that needs it is answered with {codes.get((moved.name, 0))}"
        )
        assert (quiet.name, 0) not in codes, "a partition that needs no election is named"
        cluster.await_leader(moved, among=[two])
