"""EPOCH: where an epoch ends that is older than all that the leader's log knows."""

from __future__ import annotations

from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import OffsetForLeaderEpochRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.membership import Membership
from harness.virtual_broker.partition import WatchedPartition
from suites.replication.support.deleting import delete_below
from suites.replication.support.elections import await_alive, elect_preferred
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


@judges("EPOCH-003")
@needs_broker(Use.JOINABLE)
@at_versions("OffsetForLeaderEpoch", "1+")
def test_offset_for_epoch_without_records_returns_largest_epoch_before_it(
    peers: JoinedCluster, api_version: int
) -> None:
    """The real broker leads three times and writes one, two and three records.

    A virtual one, which writes nothing, leads before, between and so in two epochs.
    """
    member = peers.join()
    partition = peers.beside(member)
    known, end = [_led_by_real_broker(peers, partition, member)], 1
    partition.produce()
    unknown = []
    for count in (2, 3):
        unknown.append(_led_by_member(peers, partition, member, end))
        known.append(_led_by_real_broker(peers, partition, member))
        partition.produce(count)
        end += count
    with requirement("EPOCH-003") as check:
        for epoch, before, offset in zip(unknown, known, (1, 3), strict=False):
            with check.subtest(f"between the epochs that end at {offset} and behind it"):
                assert before < epoch, f"the leader epochs are {known} and {unknown}"
                _expect_end(
                    partition, epoch, (before, offset), f"it follows epoch {before}", api_version
                )


@judges("EPOCH-003")
@needs_broker(Use.JOINABLE)
@at_versions("OffsetForLeaderEpoch", "1+")
def test_offset_for_own_epoch_without_records_returns_largest_epoch_before_it(
    peers: JoinedCluster, api_version: int
) -> None:
    """The real broker leads three times, and writes in the first and in the last of these epochs.

    The epoch between them begins where the last one does.
    """
    member = peers.join()
    partition = peers.beside(member)
    first = _led_by_real_broker(peers, partition, member)
    partition.produce(2)
    _led_by_member(peers, partition, member, 2)
    empty = _led_by_real_broker(peers, partition, member)
    _led_by_member(peers, partition, member, 2)
    last = _led_by_real_broker(peers, partition, member)
    partition.produce()
    with requirement("EPOCH-003"):
        assert first < empty < last, f"the leader epochs are {first}, {empty} and {last}"
        _expect_end(partition, empty, (first, 2), "it wrote nothing", api_version)
        _expect_end(partition, first, (first, 2), "the epoch before", api_version)
        _expect_end(partition, last, (last, 3), "the epoch after", api_version)


def _led_by_real_broker(
    peers: JoinedCluster, partition: WatchedPartition, member: Membership
) -> int:
    """The virtual leader goes; return the epoch of the real broker."""
    member.leave()
    epoch = partition.await_isr(peers.leader).leader_epoch
    peers.await_led(partition)
    return epoch


def _led_by_member(
    peers: JoinedCluster, partition: WatchedPartition, member: Membership, end: int
) -> int:
    """The member comes back with the records up to ``end``; return the epoch in which it leads."""
    member.come_back()
    await_alive(peers.broker, member.broker_id)
    partition.follow(member, end)
    partition.await_isr(*partition.replicas)
    elect_preferred(peers.broker, partition, member.broker_id)
    return partition.state().leader_epoch
