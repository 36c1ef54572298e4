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
    """Of two topics one is led by another than its preferred leader; the other is not named.

    Of three partitions of that topic the first needs no election, and is not named either.
    """
    one, two = cluster.nodes[:2]
    quiet = cluster.create_topic([[one, two]])
    moved = cluster.create_topic([[one, two]] * 3)
    ask_to_move(cluster, moved.name, {index: [two, one] for index in (1, 2)}, None)
    for partition in (1, 2):
        await_moved(cluster, moved, [two, one], partition)
    with requirement("ELECT-011") as check:
        codes = elect(cluster, None, api_version)
        for partition in (1, 2):
            with check.subtest(f"partition {partition}"):
                found = codes.get((moved.name, partition))
                assert found == ErrorCode.NONE, (
                    f"the partition that needs it is answered with {found}"
                )
                cluster.await_leader(moved, partition, among=[two])
        needless = {(quiet.name, 0), (moved.name, 0)} & codes.keys()
        assert not needless, "a partition that needs no election is named"


@judges("ELECT-011")
@needs_broker(Use.CLUSTER)
@at_versions("ElectLeaders", "1+")
def test_elect_leaders_with_null_list_names_partitions_that_get_no_preferred_leader(
    cluster: Cluster, api_version: int
) -> None:
    """The preferred leader of the first partition is stopped; the other one has its own."""
    one, two, three = cluster.nodes[:3]
    topic = cluster.create_topic([[three, one], [two, three]])
    cluster.stop(three)
    cluster.await_leader(topic, 0, among=[one])
    with requirement("ELECT-011"):
        codes = elect(cluster, None, api_version)
        found = {place[1]: code for place, code in codes.items() if place[0] == topic.name}
        wanted = {0: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
        assert found == wanted, f"the codes by partition are {found}, expected {wanted}"
