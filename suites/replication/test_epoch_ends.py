"""EPOCH: where an epoch ends that is older than all that the leader's log knows."""

from __future__ import annotations

from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetForLeaderEpochRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.partition import WatchedPartition
from suites.replication.support.deleting import delete_below
from suites.replication.support.expect import expect_error

FIRST_WITH_EPOCH = 1
"""The first version whose answer has the epoch too (KIP-279)."""
TIMEOUT_MS = 10_000


def _expect_end(
    partition: WatchedPartition, epoch: int, expected: tuple[int, int], when: str, version: int
) -> None:
    """The leader returns this epoch and end offset."""
    kinds = OffsetForLeaderEpochRequest
    wanted = kinds.OffsetForLeaderPartition(partition=0, leader_epoch=epoch)
    topic = kinds.OffsetForLeaderTopic(topic=partition.topic.name, partitions=[wanted])
    answer = partition.broker.ask(kinds(replica_id=-1, topics=[topic]), version)
    found = only(only(answer.topics, "topic").partitions, "partition")
    where = f"{when}: epoch {epoch}"
    expect_error(found.error_code, ErrorCode.NONE, where)
    told = (found.leader_epoch, found.end_offset)
    if version < FIRST_WITH_EPOCH:
        told = (expected[0], found.end_offset)
    assert told == expected, f"{where}: (epoch, end) is {told}, expected {expected}"


def _delete_below(partition: WatchedPartition, offset: int) -> None:
    """Delete the records below this offset. AssertionError: an error."""
    found = delete_below(partition, offset, TIMEOUT_MS)
    expect_error(found.error_code, ErrorCode.NONE, f"DeleteRecords to {offset}")


@judges("EPOCH-004")
@needs_broker(Use.JOINABLE)
@at_versions("OffsetForLeaderEpoch", "0", "1+")
def test_offset_for_epoch_before_first_known_returns_it_with_first_start_offset(
    peers: JoinedCluster, api_version: int
) -> None:
    """The log begins in the second epoch, at offset 0; then two of three records are deleted."""
    member = peers.join()
    partition = peers.beside(member)
    before = partition.state().leader_epoch
    member.leave()
    known = partition.await_isr(peers.leader).leader_epoch
    peers.await_led(partition)
    partition.produce(3)
    with requirement("EPOCH-004"):
        assert before < known, f"the leader epochs are {before} and {known}"
        _expect_end(partition, before, (before, 0), "the log begins at 0", api_version)
        _delete_below(partition, 2)
        _expect_end(partition, before, (before, 2), "the log begins at 2", api_version)
        _expect_end(partition, known, (known, 3), "the log begins at 2", api_version)
