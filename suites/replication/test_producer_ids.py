"""IDEM: producer ids in a cluster, and where a partition's producers are known."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeProducersRequest, InitProducerIdRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import NO_TIMEOUT_MS, new_producer

CALLS = 99


@judges("IDEM-001")
@at_versions("InitProducerId")
def test_init_producer_id_at_any_broker_returns_unique_id_with_epoch_0(
    cluster: Cluster, api_version: int
) -> None:
    """All brokers are asked in turn; each id is new, each epoch 0."""
    for node in cluster.nodes:
        new_producer(cluster.at(node))
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=NO_TIMEOUT_MS)
    with requirement("IDEM-001"):
        seen: dict[int, int] = {}
        for call in range(CALLS):
            node = cluster.nodes[call % len(cluster.nodes)]
            answer = cluster.at(node).ask(request, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"broker {node}, call {call}")
            assert answer.producer_epoch == 0, f"broker {node} gives epoch {answer.producer_epoch}"
            before = seen.setdefault(answer.producer_id, node)
            is_new = len(seen) == call + 1
            assert is_new, f"broker {node} gives the id {answer.producer_id}, as {before} has"


@judges("IDEM-020")
@at_versions("DescribeProducers")
def test_describe_producers_succeeds_at_leader_and_follower_only(
    cluster: Cluster, api_version: int
) -> None:
    """The leader and its follower, which has the batch too; the third broker refuses."""
    first, second, third = cluster.nodes[:3]
    topic = cluster.create_topic([[first, second]])
    leader = cluster.leader_client(topic)
    producer = new_producer(leader)
    append(leader, topic, producer.batch(0, b"r"))
    entry = DescribeProducersRequest.TopicRequest(name=topic.name, partition_indexes=[0])
    request = DescribeProducersRequest(topics=[entry])
    with requirement("IDEM-020") as check:
        for node, code in (
            (first, ErrorCode.NONE),
            (second, ErrorCode.NONE),
            (third, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        ):
            with check.subtest(f"broker {node}"):
                answer = only(cluster.at(node).ask(request, api_version).topics, "topic")
                described = only(answer.partitions, "partition")
                expect_error(described.error_code, code, f"broker {node}")
                ids = [each.producer_id for each in described.active_producers]
                expected = [producer.id] if code == ErrorCode.NONE else []
                assert ids == expected, f"broker {node} tells of {ids}, expected {expected}"
