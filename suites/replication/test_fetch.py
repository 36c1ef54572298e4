"""FETCH: the replicas that a consumer can read."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_waits import PATIENCE_MS, PROMPT, within
from suites.protocol.support.fetching import partition_of, values_of
from suites.replication.support.expect import expect_endpoint
from suites.replication.support.reading import await_served_by

NO_REPLICA = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
"""Errors of a broker without a replica; FETCH-016 says which since when."""

READ_BY_ALL = [b"a", b"b", b"c"]


def _ask(
    client: BrokerUnderTest, topic: Topic, version: int, partitions: Sequence[int] = (0,)
) -> FetchResponse:
    wanted = fetch_topic(
        topic, version, [fetch_partition(0, partition=index) for index in partitions]
    )
    return client.ask(fetch_request([wanted]), version)


def _partition(answer: FetchResponse) -> FetchResponse.PartitionData:
    return only(only(answer.responses, "topic").partitions, "partition")


@judges("FETCH-016")
@at_versions("Fetch")
def test_fetch_at_broker_without_replica_returns_not_leader_or_follower(
    cluster: Cluster, api_version: int
) -> None:
    """It knows the topic, and refuses."""
    leader, follower, stranger = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, follower]])
    append(cluster.at(leader), topic, batch_of(*READ_BY_ALL))
    with requirement("FETCH-016"):
        refused = _partition(_ask(cluster.at(stranger), topic, api_version))
        expect_error(refused.error_code, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        assert not record_bytes(refused), f"{len(record_bytes(refused))} bytes of records came"


@judges("FETCH-010")
@at_versions("Fetch")
def test_partition_without_replica_completes_fetch_of_idle_partition_immediately(
    cluster: Cluster, api_version: int
) -> None:
    """An empty partition that the broker leads, and a partition that it has no replica of."""
    first, second, third = cluster.nodes[:3]
    topic = cluster.create_topic([[third, first], [first, second]])
    client = cluster.at(third)
    wait_ms = int(client.scaled_ms(PATIENCE_MS))
    wanted = [fetch_partition(0, partition=index) for index in range(2)]
    request = fetch_request(
        [fetch_topic(topic, api_version, wanted)], max_wait_ms=wait_ms, min_bytes=1
    )
    with requirement("FETCH-010"):
        connection = client.connect()
        with within(PROMPT, wait_ms):
            answer = connection.ask(request, api_version)
        idle, refused = (partition_of(answer, index) for index in range(2))
        told = f"without a replica: {ErrorCode.describe(refused.error_code)}"
        assert refused.error_code in NO_REPLICA, told
        expect_error(idle.error_code, ErrorCode.NONE, "the idle partition")


@judges("FETCH-017")
@at_versions("Fetch", "11+")
def test_fetch_at_follower_returns_records_up_to_high_watermark(
    cluster: Cluster, api_version: int
) -> None:
    """A follower returns records up to its high watermark, which is not beyond the leader's."""
    topic = cluster.create_topic()
    leader = cluster.leader_client(topic)
    append(leader, topic, batch_of(*READ_BY_ALL))
    with requirement("FETCH-017") as check:
        for node in cluster.others(cluster.leader(topic)):
            with check.subtest(f"follower {node}"):
                data = await_served_by(cluster, node, topic, len(READ_BY_ALL), api_version)
                expect_error(data.error_code, ErrorCode.NONE, f"follower {node}")
                assert values_of(data) == READ_BY_ALL, f"follower {node} gives {values_of(data)}"
                high, end = data.high_watermark, leader.end_offset(topic)
                assert high == len(READ_BY_ALL) == end, f"follower {node}: {high}, leader: {end}"


@judges("FETCH-025")
@at_versions("Fetch", "16+")
def test_fetch_at_broker_without_replica_returns_current_leader_and_endpoint(
    cluster: Cluster, api_version: int
) -> None:
    """Its id and epoch, and where it is reached: once, though it leads both partitions."""
    leader, follower, stranger = cluster.nodes[:3]
    topic = cluster.create_topic([[leader, follower]] * 2)
    epoch = cluster.view(topic).epoch
    with requirement("FETCH-025") as check:
        answer = _ask(cluster.at(stranger), topic, api_version, (0, 1))
        found = only(answer.responses, "topic").partitions
        assert len(found) == 2, f"{len(found)} partitions of 2 came"
        for index, refused in enumerate(found):
            with check.subtest(f"partition {index}"):
                expect_error(refused.error_code, ErrorCode.NOT_LEADER_OR_FOLLOWER)
                told = refused.current_leader
                assert (told.leader_id, told.leader_epoch) == (leader, epoch), (
                    f"told of {told.leader_id} at epoch {told.leader_epoch}, "
                    f"it is {leader} at {epoch}"
                )
        expect_endpoint(answer.node_endpoints, leader, cluster.at(leader).address)
