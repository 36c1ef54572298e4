"""PROD: a broker appends to what it leads, and to nothing else."""

from __future__ import annotations

from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.only import only
from harness.client.requests import PRODUCE_BY_ID, Topic
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest, ProduceResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of
from suites.protocol.support.expect import expect_error
from suites.replication.support.expect import expect_endpoint

REFUSED = ErrorCode.NOT_LEADER_OR_FOLLOWER
MISSING = 7  # a partition that no topic here has
Answered = ProduceResponse.PartitionProduceResponse


def _ask(
    client: BrokerUnderTest, version: int, wanted: dict[Topic, list[int]]
) -> dict[tuple[str, int], Answered]:
    """One record for each partition, all in one request; answers by topic and index.

    With acks=1: a topic with one replica may need more in sync for acks=all.
    """
    by_id = version >= PRODUCE_BY_ID
    topics = [
        ProduceRequest.TopicProduceData(
            name="" if by_id else topic.name,
            topic_id=topic.id if by_id else ZERO_UUID,
            partition_data=[
                ProduceRequest.PartitionProduceData(
                    index=index, records=batch_of(b"r", version=version)
                )
                for index in indexes
            ],
        )
        for topic, indexes in wanted.items()
    ]
    answer = client.ask(ProduceRequest(acks=1, timeout_ms=10_000, topic_data=topics), version)
    names = {topic.id if by_id else topic.name: topic.name for topic in wanted}
    return {
        (names[topic.topic_id if by_id else topic.name], each.index): each
        for topic in answer.responses
        for each in topic.partition_responses
    }


@judges("PROD-004")
@at_versions("Produce")
def test_produce_to_many_partitions_returns_result_per_partition(
    cluster: Cluster, api_version: int
) -> None:
    """Two topics, each with a partition that is led here, one led elsewhere, one missing."""
    here, there = cluster.nodes[:2]
    topics = [cluster.create_topic([[here, there], [there, here]]) for _ in range(2)]
    client = cluster.at(here)
    with requirement("PROD-004"):
        answers = _ask(client, api_version, {topic: [1, 0, MISSING] for topic in topics})
        for topic in topics:
            expected = {
                0: ErrorCode.NONE,
                1: REFUSED,
                MISSING: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            }
            for index, code in expected.items():
                assert (topic.name, index) in answers, f"no result for partition {index}"
                expect_error(answers[topic.name, index].error_code, code, f"partition {index}")
            end = cluster.last_seen(partial(client.end_offset, topic, 0), bool)
            assert end == 1, f"the good partition ends at {end}, not at 1"
            assert cluster.at(there).end_offset(topic, 1) == 0, "the record went elsewhere"


@judges("PROD-006")
@at_versions("Produce")
def test_produce_at_follower_returns_not_leader_or_follower(
    cluster: Cluster, api_version: int
) -> None:
    """The record is refused, and the log stays empty."""
    leader, follower, _ = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, follower]])
    _expect_refused(cluster, topic, follower, api_version, "at a follower")


@judges("PROD-006")
@at_versions("Produce")
def test_produce_at_broker_without_replica_returns_not_leader_or_follower(
    cluster: Cluster, api_version: int
) -> None:
    """The same where the broker has no replica at all."""
    leader, follower, stranger = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, follower]])
    _expect_refused(cluster, topic, stranger, api_version, "without a replica")


def _expect_refused(cluster: Cluster, topic: Topic, node: int, version: int, where: str) -> None:
    with requirement("PROD-006"):
        answer = cluster.at(node).produce(topic, batch_of(b"r", version=version), version)
        expect_error(answer.error_code, REFUSED, where)
        assert cluster.leader_client(topic).end_offset(topic) == 0, "something was appended"


@judges("PROD-007")
@at_versions("Produce", "10+")
def test_produce_at_follower_returns_current_leader_and_endpoint(
    cluster: Cluster, api_version: int
) -> None:
    """Its id and epoch, and where it is reached: once, though it leads both partitions."""
    leader, follower, _ = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, follower]] * 2)
    epoch = cluster.view(topic).epoch
    wanted = ProduceRequest(acks=-1, timeout_ms=10_000)
    by_id = api_version >= PRODUCE_BY_ID
    wanted.topic_data = [
        ProduceRequest.TopicProduceData(
            name="" if by_id else topic.name,
            topic_id=topic.id if by_id else ZERO_UUID,
            partition_data=[
                ProduceRequest.PartitionProduceData(index=index, records=batch_of(b"r"))
                for index in range(2)
            ],
        )
    ]
    with requirement("PROD-007") as check:
        answer = cluster.at(follower).ask(wanted, api_version)
        found = only(answer.responses, "topic").partition_responses
        assert len(found) == 2, f"{len(found)} partitions of 2 came"
        for index, refused in enumerate(found):
            with check.subtest(f"partition {index}"):
                expect_error(refused.error_code, REFUSED)
                told = refused.current_leader
                assert (told.leader_id, told.leader_epoch) == (leader, epoch), (
                    f"told of {told.leader_id} at epoch {told.leader_epoch}, "
                    f"it is {leader} at {epoch}"
                )
        expect_endpoint(answer.node_endpoints, leader, cluster.at(leader).address)
