"""LISTO, FETCH, DELR: epochs and log starts that a change of the leader leaves behind."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import (
    LATEST,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
    list_offsets_request,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import records_of
from suites.replication.support.epochs import epoch_of, fetched_in
from suites.replication.support.expect import expect_endpoint
from suites.replication.support.failover import await_in_sync, change_leader
from suites.replication.support.reading import follower_version
from suites.replication.support.served import checked, served

EARLIEST, NO_EPOCH, NO_OFFSET = -2, -1, -1
RECORDS, DELETED = 10, 6


def _offset(
    client: BrokerUnderTest, topic: Topic, timestamp: int, version: int, current: int = NO_EPOCH
) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
    request = list_offsets_request(topic, timestamp)
    request.topics[0].partitions[0].current_leader_epoch = current
    return only(only(client.ask(request, version).topics, "topic").partitions, "partition")


@judges("LISTO-010")
@needs_broker(Use.CLUSTER)
def test_list_offsets_returns_leader_epoch_of_batch(cluster: Cluster) -> None:
    """A batch before the leader changed, one after it; the end has the current epoch."""
    topic, base_ms = cluster.create_topic(), now_ms()
    versions = served(cluster.front, "ListOffsets", "4+")
    first = epoch_of(cluster, topic)
    append(cluster.leader_client(topic), topic, _at(base_ms))
    change_leader(cluster, topic)
    second = epoch_of(cluster, topic)
    append(cluster.leader_client(topic), topic, _at(base_ms + 1000))
    change_leader(cluster, topic)
    current = epoch_of(cluster, topic)
    client = cluster.leader_client(topic)
    for version in versions:
        with checked("LISTO-010", "ListOffsets", version):
            for timestamp, expected in (
                (EARLIEST, (0, first)),
                (base_ms, (0, first)),
                (base_ms + 1000, (1, second)),
                (LATEST, (2, current)),
            ):
                told = _offset(client, topic, timestamp, version)
                expect_error(told.error_code, ErrorCode.NONE, f"time {timestamp}")
                found = (told.offset, told.leader_epoch)
                assert found == expected, f"time {timestamp}: {found}, expected {expected}"


def _at(time_ms: int) -> bytes:
    return encode_batch(RecordBatch([Record(b"r")], base_timestamp=time_ms))


@judges("LISTO-012")
@needs_broker(Use.CLUSTER)
def test_list_offsets_validates_current_leader_epoch(cluster: Cluster) -> None:
    """One older than the leader's, one newer, none: whatever offset is wanted.

    A follower compares epochs, too, before it says that it does not lead.
    """
    topic, base_ms = cluster.create_topic(), now_ms()
    versions = served(cluster.front, "ListOffsets", "4+")
    append(cluster.leader_client(topic), topic, _at(base_ms))
    change_leader(cluster, topic)
    current, leader = epoch_of(cluster, topic), cluster.leader(topic)
    for version in versions:
        with checked("LISTO-012", "ListOffsets", version):
            for node in (leader, *cluster.others(leader)):
                accepted = ErrorCode.NONE if node == leader else ErrorCode.NOT_LEADER_OR_FOLLOWER
                for timestamp, offset in ((EARLIEST, 0), (base_ms, 0), (LATEST, 1)):
                    for known, code in _expected(current, accepted).items():
                        told = _offset(cluster.at(node), topic, timestamp, version, known)
                        where = f"broker {node}, time {timestamp}, epoch {known} of {current}"
                        expect_error(told.error_code, code, where)
                        expected = offset if code is ErrorCode.NONE else NO_OFFSET
                        assert told.offset == expected, f"{where}: the offset is {told.offset}"


def _expected(current: int, accepted: ErrorCode = ErrorCode.NONE) -> dict[int, ErrorCode]:
    return {
        NO_EPOCH: accepted,
        current: accepted,
        current - 1: ErrorCode.FENCED_LEADER_EPOCH,
        current + 1: ErrorCode.UNKNOWN_LEADER_EPOCH,
    }


@judges("FETCH-023")
@needs_broker(Use.CLUSTER)
def test_fetch_validates_current_leader_epoch(cluster: Cluster) -> None:
    """At the leader, and at a follower where that can be read."""
    topic = cluster.create_topic()
    versions = served(cluster.front, "Fetch", "9+")
    append(cluster.leader_client(topic), topic, batch_of(b"r"))
    change_leader(cluster, topic)
    current, leader = epoch_of(cluster, topic), cluster.leader(topic)
    for version in versions:
        nodes = [leader] if version < 11 else [leader, *cluster.others(leader)]
        with checked("FETCH-023", "Fetch", version):
            for node in nodes:
                for known, code in _expected(current).items():
                    data = fetched_in(cluster.at(node), topic, version, known)
                    where = f"broker {node}, epoch {known}, the leader {leader} has {current}"
                    expect_error(data.error_code, code, where)
                    if code is not ErrorCode.NONE:
                        assert not record_bytes(data), f"{where}: records beside the error"


@judges("FETCH-025")
@needs_broker(Use.CLUSTER)
def test_fetch_with_older_epoch_returns_current_leader_and_endpoint(cluster: Cluster) -> None:
    """The leader refuses the former epoch, with its own id, epoch and address."""
    topic = cluster.create_topic()
    versions = served(cluster.front, "Fetch", "16+")
    change_leader(cluster, topic)
    current, leader = epoch_of(cluster, topic), cluster.leader(topic)
    wanted = fetch_partition(0)
    wanted.current_leader_epoch = current - 1
    for version in versions:
        request = fetch_request([fetch_topic(topic, version, [wanted])])
        with checked("FETCH-025", "Fetch", version):
            answer = cluster.at(leader).ask(request, version)
            refused = only(only(answer.responses, "topic").partitions, "partition")
            expect_error(refused.error_code, ErrorCode.FENCED_LEADER_EPOCH)
            told = (refused.current_leader.leader_id, refused.current_leader.leader_epoch)
            assert told == (leader, current), (
                f"the leader is {told[0]} at epoch {told[1]}, it is {leader} at {current}"
            )
            expect_endpoint(answer.node_endpoints, leader, cluster.at(leader).address)


@judges("DELR-007")
@needs_broker(Use.CLUSTER)
def test_log_start_offset_survives_leader_changes_and_restarts(cluster: Cluster) -> None:
    """The log start stays when the leader changes, and when each broker has restarted.

    Brokers are stopped in order: a killed one has lost the log starts since its last checkpoint,
    and may be in sync a moment before the leader sends it the log start (class
    ReplicaFetcherThread).
    """
    topic = cluster.create_topic()
    cluster.front.version("DeleteRecords")
    append(cluster.leader_client(topic), topic, *[batch_of(b"r")] * RECORDS)
    delete_records(cluster.leader_client(topic), topic, DELETED)
    with requirement("DELR-007"):
        for _ in range(len(cluster.replicas(topic))):
            now = change_leader(cluster, topic, in_order=True)
            start = cluster.at(now).list_offset(topic, EARLIEST).offset
            assert start == DELETED, f"{now} leads, its log starts at {start}, not at {DELETED}"
            found = [offset for offset, _ in records_of(cluster.at(now).fetch(topic, DELETED))]
            assert found == list(range(DELETED, RECORDS)), f"{now} gives the offsets {found}"


@judges("DELR-008")
@needs_broker(Use.CLUSTER)
def test_lagging_follower_adopts_log_start_after_delete_records(cluster: Cluster) -> None:
    """It is away while records are written and deleted beyond what it has."""
    topic = cluster.create_topic([cluster.nodes[:3]], {"min.insync.replicas": "1"})
    version = follower_version(cluster, topic)
    leader, away = cluster.nodes[0], cluster.nodes[2]
    client = cluster.at(leader)
    append(client, topic, *[batch_of(b"r")] * 2)
    cluster.stop(away)
    cluster.await_isr(topic, cluster.up[:2])
    append(client, topic, *[batch_of(b"r")] * (RECORDS - 2))
    delete_records(client, topic, DELETED)
    with requirement("DELR-008"):
        cluster.restart(away)
        await_in_sync(cluster, topic, away)
        data = cluster.last_seen(
            lambda: cluster.at(away).fetch(topic, DELETED, version),
            lambda data: data.error_code == ErrorCode.NONE and data.high_watermark == RECORDS,
        )
        expect_error(data.error_code, ErrorCode.NONE, "the follower")
        assert data.log_start_offset == DELETED, f"its log starts at {data.log_start_offset}"
        found = [offset for offset, _ in records_of(data)]
        assert found == list(range(DELETED, RECORDS)), f"the follower has the offsets {found}"
        below = cluster.at(away).fetch(topic, DELETED - 1, version)
        expect_error(below.error_code, ErrorCode.OFFSET_OUT_OF_RANGE, "below its start")
