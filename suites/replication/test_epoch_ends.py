"""EPOCH, LISTO: where an epoch ends that the leader's log knows, or knows no more."""

from __future__ import annotations

from harness.client.only import only
from harness.client.requests import list_offsets_request
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
TIMEOUT_MS, EARLIEST = 10_000, -2


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


def _three_epochs(peers: JoinedCluster) -> tuple[WatchedPartition, list[int]]:
    """Return a partition of two, three and four records in three epochs of the real broker."""
    member = peers.join()
    partition = peers.beside(member)
    epochs, end = [], 0
    for count in (2, 3, 4):
        epochs.append(_led_by_real_broker(peers, partition, member))
        partition.produce(count)
        end += count
        if count < 4:
            _led_by_member(peers, partition, member, end)
    return partition, epochs


@judges("EPOCH-019")
@needs_broker(Use.JOINABLE)
@at_versions("OffsetForLeaderEpoch", "0", "1+")
def test_deleted_records_take_the_epochs_with_them_that_have_no_others(
    peers: JoinedCluster, api_version: int
) -> None:
    """Up to the second of two records, both, one and all three of the next epoch, and all."""
    partition, (first, second, third) = _three_epochs(peers)
    known = {first: 2, second: 5, third: 9}
    cases = {
        **dict.fromkeys((0, 1, 2), known),
        3: {**known, first: 3},
        5: {**known, first: 5},
        6: {**known, first: 6, second: 6},
        9: {**known, first: 9, second: 9},
    }
    with requirement("EPOCH-019") as check:
        for offset, ends in cases.items():
            where = f"deleted to {offset}"
            with check.subtest(where):
                _delete_below(partition, offset)
                _expect_end(partition, first, (first, ends[first]), where, api_version)
                _expect_end(partition, second, (second, ends[second]), where, api_version)
                _expect_end(partition, third, (third, ends[third]), where, api_version)


@judges("LISTO-010")
@needs_broker(Use.JOINABLE)
@at_versions("ListOffsets", "4+")
def test_list_offsets_earliest_returns_the_epoch_of_the_first_record_that_is_left(
    peers: JoinedCluster, api_version: int
) -> None:
    """The current epoch is that of the last four records of nine."""
    partition, (first, second, third) = _three_epochs(peers)
    epochs = {0: first, 1: first, 2: second, 4: second, 5: third, 9: third}
    with requirement("LISTO-010") as check:
        for offset, epoch in epochs.items():
            where = f"deleted to {offset}"
            with check.subtest(where):
                _delete_below(partition, offset)
                request = list_offsets_request(partition.topic, EARLIEST)
                answer = partition.broker.ask(request, api_version)
                earliest = only(only(answer.topics, "topic").partitions, "partition")
                expect_error(earliest.error_code, ErrorCode.NONE, where)
                found, expected = (earliest.offset, earliest.leader_epoch), (offset, epoch)
                assert found == expected, f"{where}: (offset, epoch) is {found}, not {expected}"


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
