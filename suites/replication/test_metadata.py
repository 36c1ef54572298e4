"""META: the Metadata that each broker of a cluster returns of the whole cluster."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreatePartitionsRequest,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    MetadataRequest,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.replication.support.spread import follower_of, one_leader_each, ring
from suites.replication.support.told import ReportedValue, told_by

Described = DescribeTopicPartitionsResponse.DescribeTopicPartitionsResponsePartition
NO_TOPIC = MetadataRequest(topics=[])


@judges("META-001")
@at_versions("Metadata")
def test_metadata_at_any_broker_returns_whole_cluster(cluster: Cluster, api_version: int) -> None:
    """A topic has one partition on each broker alone; every broker returns all partitions."""
    topic = cluster.create_topic(one_leader_each(cluster))
    with requirement("META-001") as check:
        leaders = dict(enumerate(cluster.nodes))
        for node in cluster.nodes:
            with check.subtest(f"broker {node}"):
                told = told_by(cluster, node, topic, api_version)
                assert told.brokers.keys() == set(cluster.nodes), (
                    f"broker {node} lists the brokers {sorted(told.brokers)} of {cluster.nodes}"
                )
                found = {index: view.leader for index, view in told.partitions.items()}
                assert found == leaders, (
                    f"broker {node} tells of the leaders {found}, not {leaders}"
                )


@judges("META-002")
@at_versions("Metadata")
def test_metadata_returns_broker_addresses_leader_replicas_and_isr(
    cluster: Cluster, api_version: int
) -> None:
    """By every broker: each broker with the address at which the test connects to it; by one of
    them each partition with its replicas, none of them twice.
    """
    assignment = ring(cluster)
    topic = cluster.create_topic(assignment)
    addresses = {node: cluster.at(node).address for node in cluster.nodes}
    with requirement("META-002") as check:
        for node in cluster.nodes:
            with check.subtest(f"addresses by {node}"):
                told = told_by(cluster, node, topic, api_version)
                found = {one: told.brokers.get(one) for one in addresses}
                assert found == addresses, (
                    f"broker {node} returns the addresses {found}, expected {addresses}"
                )
        told = told_by(cluster, cluster.nodes[0], topic, api_version)
        assert len(told.partitions) == len(assignment), f"told of {sorted(told.partitions)}"
        for index, replicas in enumerate(assignment):
            with check.subtest(f"partition {index}"):
                view = told.partitions[index]
                assert view.leader == replicas[0], f"partition {index}: leader {view.leader}"
                expect_error(view.error_code, ErrorCode.NONE, f"partition {index}")
                assert sorted(view.replicas) == sorted(replicas), (
                    f"partition {index}: replicas {view.replicas}, not {replicas}"
                )
                assert sorted(view.isr) == sorted(replicas), f"partition {index}: ISR {view.isr}"


@judges("META-018")
@at_versions("Metadata", "2+")
def test_metadata_at_all_brokers_returns_same_cluster_id(
    cluster: Cluster, api_version: int
) -> None:
    """Not empty, and the same at each."""
    with requirement("META-018"):
        ids = {
            node: cluster.at(node).ask(NO_TOPIC, api_version).cluster_id for node in cluster.nodes
        }
        assert all(ids.values()), f"there is a broker without a cluster id: {ids}"
        assert len(set(ids.values())) == 1, f"the brokers tell different cluster ids: {ids}"


def _await_alike(cluster: Cluster, topic: Topic, version: int, expected: ReportedValue) -> None:
    """All brokers soon return the expected partitions; ISRs are compared as sets."""
    seen = cluster.last_seen(
        lambda: {node: told_by(cluster, node, topic, version).shown for node in cluster.nodes},
        lambda told: all(each == expected.shown for each in told.values()),
    )
    for node, told in seen.items():
        assert told == expected.shown, f"broker {node} still tells {told}, not {expected.shown}"


@judges("META-025")
@at_versions("Metadata")
def test_metadata_at_all_brokers_lists_new_topic_after_create_topics(
    cluster: Cluster, api_version: int
) -> None:
    """After the controller has responded, every broker soon returns all partitions of the topic."""
    assignment, name = ring(cluster), cluster.unique_topic()
    cluster.order_topic(name, assignment, {})
    with requirement("META-025"):
        _await_alike(cluster, Topic(name), api_version, ReportedValue.expected(assignment))


@judges("META-025")
@at_versions("CreatePartitions")
def test_metadata_at_all_brokers_lists_new_partition_after_create_partitions(
    cluster: Cluster, api_version: int
) -> None:
    """One more, with replicas of our choice."""
    assignment = ring(cluster)
    topic = cluster.create_topic(assignment[:1])
    entry = CreatePartitionsRequest.CreatePartitionsTopic(
        name=topic.name,
        count=2,
        assignments=[CreatePartitionsRequest.CreatePartitionsAssignment(broker_ids=assignment[1])],
    )
    request = CreatePartitionsRequest(topics=[entry], timeout_ms=30_000)
    answer = cluster.at(cluster.controller()).ask(request, api_version)
    with requirement("META-025"):
        expect_error(only(answer.results, "topic").error_code, ErrorCode.NONE)
        version = cluster.front.version("Metadata")
        _await_alike(cluster, topic, version, ReportedValue.expected(assignment[:2]))


@judges("META-026")
@at_versions("Produce")
def test_metadata_after_produce_at_follower_names_leader_that_accepts(
    cluster: Cluster, api_version: int
) -> None:
    """The refusal of a follower, its metadata, and the leader that this names."""
    topic = cluster.create_topic()
    other = follower_of(cluster, topic)
    with requirement("META-026"):
        refused = other.produce(topic, batch_of(b"r", version=api_version), api_version)
        expect_error(refused.error_code, ErrorCode.NOT_LEADER_OR_FOLLOWER, "at a follower")
        leader = only(only(other.metadata([topic.name]).topics, "topic").partitions, "partition")
        assert leader.leader_id in cluster.nodes, f"then it names the leader {leader.leader_id}"
        there = cluster.at(leader.leader_id)
        taken = there.produce(topic, batch_of(b"r", version=api_version), api_version)
        expect_error(taken.error_code, ErrorCode.NONE, f"at {leader.leader_id}, the leader named")


@judges("META-029")
@at_versions("DescribeTopicPartitions")
def test_describe_topic_partitions_matches_metadata_with_empty_elr(
    cluster: Cluster, api_version: int
) -> None:
    """Each broker describes the partitions as in Metadata; a fully replicated one has no ELR."""
    assignment = ring(cluster)
    topic = cluster.create_topic(assignment)
    append(cluster.leader_client(topic), topic, batch_of(b"r"))
    with requirement("META-029") as check:
        for node in cluster.nodes:
            with check.subtest(f"broker {node}"):
                described = _described(cluster.at(node), topic, api_version)
                for index, view in cluster.topic_by(node, topic.name).items():
                    found = described[index]
                    where = f"broker {node}, partition {index}"
                    told = (found.leader_id, tuple(found.replica_nodes), set(found.isr_nodes))
                    expected = (view.leader, view.replicas, set(view.isr))
                    assert told == expected, f"{where}: {told}, in Metadata {expected}"
                    eligible = (found.eligible_leader_replicas, found.last_known_elr)
                    assert not any(eligible), f"{where}: ELR and last known ELR are {eligible}"


def _described(broker: BrokerUnderTest, topic: Topic, version: int) -> dict[int, Described]:
    entry = DescribeTopicPartitionsRequest.TopicRequest(name=topic.name)
    answer = broker.ask(DescribeTopicPartitionsRequest(topics=[entry]), version)
    described = only(answer.topics, "topic")
    expect_error(described.error_code, ErrorCode.NONE)
    return {each.partition_index: each for each in described.partitions}
