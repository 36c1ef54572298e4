"""LDIR: the replicas in a broker's log directories are its own."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.messages import DescribeLogDirsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges

Places = list[tuple[int, int]]
"""Number of the topic, and partition."""
Wanted = list[DescribeLogDirsRequest.DescribableLogDirTopic] | None


def _listed(broker: BrokerUnderTest, topics: list[Topic], wanted: Wanted, version: int) -> Places:
    """The partitions of these topics in all directories."""
    names = {topic.name: number for number, topic in enumerate(topics)}
    answer = broker.ask(DescribeLogDirsRequest(topics=wanted), version)
    return sorted(
        (names[listed.name], part.partition_index)
        for directory in answer.results
        for listed in directory.topics
        for part in listed.partitions
        if listed.name in names
    )


@judges("LDIR-019")
@at_versions("DescribeLogDirs", "0-1", "2-3", "4+")
def test_describe_log_dirs_lists_no_replica_of_other_brokers(
    cluster: Cluster, api_version: int
) -> None:
    """The second of two partitions is elsewhere, and both of another topic are."""
    one, two, three = cluster.nodes[:3]
    partly = cluster.create_topic([[one, two], [two, three]])
    elsewhere = cluster.create_topic([[two], [three]])
    topics = [partly, elsewhere]
    kinds = DescribeLogDirsRequest.DescribableLogDirTopic
    named = [kinds(topic=each.name, partitions=[0, 1]) for each in topics]
    with requirement("LDIR-019") as check:
        for where, wanted in (("all topics", None), ("both topics by name", named)):
            for node, expected in (
                (one, [(0, 0)]),
                (two, [(0, 0), (0, 1), (1, 0)]),
                (three, [(0, 1), (1, 1)]),
            ):
                with check.subtest(f"broker {node}, {where}"):
                    found = _listed(cluster.at(node), topics, wanted, api_version)
                    told = f"broker {node}, {where}: (topic, partition) is {found}"
                    assert found == expected, f"{told}, expected {expected}"
