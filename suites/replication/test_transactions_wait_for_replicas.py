"""TXN: decisions and markers count when the replicas in sync have them (KIP-98)."""

from __future__ import annotations

import pytest

from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.client.preparing import preparing
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    EndTxnResponse,
    WriteTxnMarkersRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.partition import WatchedPartition
from suites.protocol.support.transaction_log import (
    READ_COMMITTED,
    aborted_in,
    fetched,
    markers_of,
    values_in,
)
from suites.protocol.support.transactional import TxnProducer
from suites.replication.support.asked_as import produce_as
from suites.replication.support.expect import expect_error, expect_log_end, expect_sound
from suites.replication.support.followed_logs import followed_log

LOG = "__transaction_state"
ONE_LOG = {"transaction.state.log.num.partitions": "1", "replica.lag.time.max.ms": "60000"}
"""All transactional ids are in partition 0; its follower may be behind for the whole test. The
coordinator makes that topic before a virtual broker joins, which would get replicas of it."""
HELD_MS, SOON_MS = 500, 1_000
BOTH = pytest.mark.parametrize("commits", [True, False], ids=["commit", "abort"])


def _write(producer: TxnProducer, topic: Topic, value: bytes) -> None:
    """Append a record in the transaction without a wait for the followers."""
    producer.begin({topic: [0]})
    version = producer.version("Produce")
    request = produce_request(topic, producer.batch(0, [value]), version, acks=1)
    request.transactional_id = producer.name
    with preparing("Produce in a transaction"):
        answer = producer.connection.ask(request, version)
    code = only(only(answer.responses, "topic").partition_responses, "partition").error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"Produce: {ErrorCode.describe(code)}", code)


def _expect_stable(
    reader: TxnProducer, topic: Topic, high_watermark: int, stable: int, values: list[bytes]
) -> None:
    """A consumer with read_committed gets these offsets and these values."""
    answer = fetched(reader, topic, reader.broker.reading_version(topic), READ_COMMITTED)
    found = (answer.high_watermark, answer.last_stable_offset)
    expected = (high_watermark, stable)
    told = f"(high watermark, last stable offset) is {found}, expected {expected}"
    assert found == expected, told
    read = values_in(answer)
    assert read == values, f"the last stable offset is {stable}, and a consumer receives {read}"


@judges("TXN-067")
@needs_broker(Use.JOINABLE, ONE_LOG)
@BOTH
def test_last_stable_offset_passes_transaction_when_its_marker_is_committed(
    peers: JoinedCluster, commits: bool
) -> None:
    """The follower has the record, and then the marker at offset 1."""
    producer, follower = TxnProducer(peers.broker, "TXN-067"), peers.join()
    partition = peers.partition([follower])
    topic = partition.topic
    _write(producer, topic, b"x")
    partition.follow(follower, 1)
    code = producer.end(commit=commits).error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"EndTxn: {ErrorCode.describe(code)}", code)
    peers.broker.eventually(lambda: partition.log_end() == 2, "the marker is written")
    with requirement("TXN-067"):
        partition.follow(follower, 1)
        _expect_stable(producer, topic, 1, 0, [])
        partition.follow(follower, 2)
        _expect_stable(producer, topic, 2, 2, [b"x"])
        answer = fetched(producer, topic, peers.broker.reading_version(topic), READ_COMMITTED)
        aborted = [] if commits else [(producer.id, 0)]
        found = aborted_in(answer)
        assert found == aborted, f"the aborted transactions are {found}, expected {aborted}"
        expect_sound(partition)


@judges("TXN-068")
@needs_broker(Use.JOINABLE, ONE_LOG)
@BOTH
def test_end_of_transaction_waits_for_replicas_of_its_coordinator(
    peers: JoinedCluster, commits: bool
) -> None:
    """The follower of the coordinator's partition does not fetch the decision at first."""
    broker = peers.broker
    producer, topic = TxnProducer(broker, "TXN-068"), broker.create_topic()
    producer.write(topic, b"x")
    reader, version = producer.through(broker), producer.version("EndTxn")
    follower = peers.join()
    log = followed_log(peers, follower, LOG)
    end = log.log_end()
    with requirement("TXN-068"):
        producer.connection.send(producer.end_request(commits), version)
        broker.eventually(lambda: log.log_end() > end, "the decision is written")
        producer.connection.expect_silence(for_ms=HELD_MS)
        markers = markers_of(reader, topic)
        assert not markers, f"the follower lacks the decision, and the markers are {markers}"
        log.follow(follower, log.log_end())
        answer = producer.connection.receive()
        assert isinstance(answer, EndTxnResponse)
        expect_error(answer.error_code, ErrorCode.NONE, "EndTxn, and the follower has the decision")
        markers = broker.last_seen(lambda: markers_of(reader, topic), bool)
        assert markers == [(1, commits)], f"the markers (offset, is a commit) are {markers}"


def _abort_marker(producer: TxnProducer, topic: Topic) -> int:
    """The error of a marker that an admin writes."""
    kinds = WriteTxnMarkersRequest
    marker = kinds.WritableTxnMarker(
        producer_id=producer.id,
        producer_epoch=producer.epoch,
        transaction_result=False,
        topics=[kinds.WritableTxnMarkerTopic(name=topic.name, partition_indexes=[0])],
    )
    answer = producer.connection.ask(kinds(markers=[marker]), producer.version("WriteTxnMarkers"))
    found = only(only(answer.markers, "marker").topics, "topic")
    return only(found.partitions, "partition").error_code


def _await_too_few(partition: WatchedPartition) -> None:
    """Wait until the leader knows that too few replicas are in sync."""

    def is_refused() -> bool:
        answer = produce_as(
            "TXN-070", partition.broker, partition.topic, b"x", acks=-1, timeout_ms=SOON_MS
        )
        return answer is not None and answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS

    partition.broker.eventually(is_refused, "acks=all is refused")


@judges("TXN-070")
@needs_broker(Use.JOINABLE, ONE_LOG)
def test_marker_is_not_written_below_min_insync_replicas(peers: JoinedCluster) -> None:
    """The follower goes; the transaction is aborted, and gets its marker when it is back."""
    producer, follower = TxnProducer(peers.broker, "TXN-070"), peers.join()
    partition = peers.partition([follower], configs={"min.insync.replicas": "2"})
    topic = partition.topic
    _write(producer, topic, b"x")
    partition.follow(follower, 1)
    follower.leave()
    partition.await_isr(peers.leader)
    _await_too_few(partition)
    end = partition.log_end()
    with requirement("TXN-070"):
        code = _abort_marker(producer, topic)
        expect_error(code, ErrorCode.NOT_ENOUGH_REPLICAS, "a marker, and one replica is in sync")
        expect_log_end(partition, end, "after the refusal")
        code = producer.end(commit=False).error_code
        expect_error(code, ErrorCode.NONE, "EndTxn")
        expect_log_end(partition, end, "one replica is in sync, not two")
        follower.come_back()

        def ends_at() -> int:
            partition.follow(follower, end)
            return partition.log_end()

        found = peers.broker.last_seen(ends_at, (end + 1).__eq__)
        assert found == end + 1, f"two are in sync again, and the log ends at {found}"
        partition.follow(follower, end + 1)
        markers = markers_of(producer, topic)
        assert markers == [(end, False)], f"the markers (offset, is a commit) are {markers}"
