"""LISTO, REPL: a new leader that does not know yet how far its predecessor had committed."""

from __future__ import annotations

from harness.client.only import only
from harness.client.requests import LATEST, list_offsets_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListOffsetsResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.leader_endpoint import LeaderEndpoint
from harness.virtual_broker.partition import WatchedPartition
from harness.virtual_broker.served_log import ServedLog
from suites.replication.support.expect import expect_error, expect_records

FIRST_WITH_NOT_AVAILABLE = 5
RECORDS = 2


def _latest(
    partition: WatchedPartition, version: int
) -> ListOffsetsResponse.ListOffsetsPartitionResponse:
    answer = partition.broker.ask(list_offsets_request(partition.topic, LATEST), version)
    return only(only(answer.topics, "topic").partitions, "partition")


@judges("LISTO-014")
@needs_broker(Use.JOINABLE)
@at_versions("ListOffsets", "1-4", "5+")
def test_list_offsets_latest_at_new_leader_fails_until_epoch_is_committed(
    peers: JoinedCluster, api_version: int
) -> None:
    """It leads with two records; the other replica has confirmed neither."""
    with LeaderEndpoint() as endpoint:
        first, other = peers.joined(endpoint.address), peers.joined()
        partition = peers.beside(first, other)
        log = ServedLog()
        log.append(partition.state().leader_epoch, *[b"r"] * RECORDS)
        log.high_watermark = 0
        endpoint.serve(partition.topic, log)
        partition.broker.eventually(
            lambda: partition.log_end() == RECORDS, "the real broker has all records"
        )
        endpoint.serve(partition.topic, None)
        first.leave()
        partition.await_isr(peers.leader, other.broker_id)
        peers.await_led(partition)
    late = ErrorCode.LEADER_NOT_AVAILABLE
    if api_version >= FIRST_WITH_NOT_AVAILABLE:
        late = ErrorCode.OFFSET_NOT_AVAILABLE
    with requirement("LISTO-014"):
        told = _latest(partition, api_version)
        expect_error(told.error_code, late, "the other replica has confirmed nothing")
        partition.follow(other, RECORDS)
        told = _latest(partition, api_version)
        expect_error(told.error_code, ErrorCode.NONE, "the other replica has all")
        assert told.offset == RECORDS, f"the end is {told.offset}, expected {RECORDS}"


@judges("REPL-019")
@needs_broker(Use.JOINABLE)
def test_new_leader_returns_only_records_below_known_high_watermark(peers: JoinedCluster) -> None:
    """It leads with three records; its predecessor had reported one as committed."""
    with LeaderEndpoint() as endpoint:
        first, other = peers.joined(endpoint.address), peers.joined()
        partition = peers.beside(first, other)
        log = ServedLog()
        log.append(partition.state().leader_epoch, *[b"r"] * 3)
        log.high_watermark = 1
        endpoint.serve(partition.topic, log)
        partition.broker.eventually(
            lambda: partition.consume(0).high_watermark == 1 and partition.log_end() == 3,
            "the real broker has all records and the high watermark",
        )
        endpoint.serve(partition.topic, None)
        first.leave()
        partition.await_isr(peers.leader, other.broker_id)
        peers.await_led(partition)
    with requirement("REPL-019"):
        _expect_read(partition, 1, "the other replica has not fetched")
        partition.follow(other, 2)
        _expect_read(partition, 2, "the other replica has two records")
        partition.follow(other, 3)
        _expect_read(partition, 3, "the other replica has all")


def _expect_read(partition: WatchedPartition, end: int, when: str) -> None:
    """A consumer reads the records below this high watermark."""
    read = partition.consume(0)
    expect_records(read, range(end), f"{when}: a consumer")
    found = f"{when}: the high watermark is {read.high_watermark}, expected {end}"
    assert read.high_watermark == end, found
