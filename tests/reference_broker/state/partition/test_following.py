"""A follower: what it appends, and where it cuts its log off (class AbstractFetcherThread)."""

import pytest

from harness.base.ids import LeaderEpoch, Offset
from harness.codec.records import BatchHeader
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.settings import BrokerSettings
from harness.reference_broker.state.log.stored_batch import NO_EPOCH, stored_batches
from harness.reference_broker.state.partition.following import (
    append_fetched,
    needs_truncation,
    position_of,
    restart_at,
    truncate,
    truncate_to_leader,
)
from harness.reference_broker.state.partition.partition import Partition
from tests.reference_broker.made_replicas import NOW, batches, copy, decided, replica, write


def led(*values: str, epoch: int = 0) -> Partition:
    """A partition that broker 1 leads alone, with a batch for each value."""
    partition = replica(1, decided(1, epoch, isr=(1,)))
    for value in values:
        write(partition, *value)
    return partition


def of(leader: Partition, follower: int = 2) -> Partition:
    """An empty follower of it."""
    registration = leader.registration
    return replica(follower, decided(registration.leader, registration.leader_epoch, isr=(1,)))


def whole(leader: Partition) -> bytes:
    return leader.log.read(Offset(0), 10_000, at_least_one=True)


def with_messages(own: int, leader: int) -> Partition:
    """A replica of a topic with messages of magic 1 in its log, not batches."""
    like = EmulatedRelease.of("2.8.2")
    registration = decided(leader, 0, isr=(1,))
    return replica(own, registration, like=like, message_format_version="0.10.2")


# -- appending -------------------------------------------------------------------------------------


def test_follower_log_is_byte_identical_to_leader_log() -> None:
    leader = led("ab", "c")
    follower = of(leader)
    copy(leader, follower)
    assert batches(follower) == batches(leader)
    assert follower.epochs.entries == leader.epochs.entries
    assert (follower.log.end_offset, follower.high_watermark) == (3, 3)


def test_repeated_fetch_appends_no_batch_twice() -> None:
    leader = led("a", "b")
    follower = of(leader)
    append_fetched(follower, whole(leader), 2, 0, NOW)
    append_fetched(follower, whole(leader), 2, 0, NOW)
    assert batches(follower) == batches(leader)


def test_partial_batch_is_appended_after_next_fetch() -> None:
    leader = led("a", "b")
    follower = of(leader)
    append_fetched(follower, whole(leader)[:-1], 2, 0, NOW)
    assert (follower.log.end_offset, follower.high_watermark) == (1, 1)
    copy(leader, follower)
    assert batches(follower) == batches(leader)


def test_follower_high_watermark_is_limited_by_its_log_end_offset() -> None:
    leader = led("a", "b")
    follower = of(leader)
    for told, watermark in ((1, 1), (9, 2), (0, 0)):
        append_fetched(follower, whole(leader), told, 0, NOW)
        assert follower.high_watermark == watermark


def test_follower_advances_log_start_offset_up_to_high_watermark() -> None:
    leader = led("a", "b", "c")
    follower = of(leader)
    append_fetched(follower, whole(leader), 2, 2, NOW)
    assert (follower.log.start_offset, follower.epochs.entries) == (2, ((0, 2),))
    append_fetched(follower, b"", 2, 3, NOW)
    assert follower.log.start_offset == 2  # not what may still be cut off


def test_follower_tracks_producers_of_its_batches_until_truncation() -> None:
    leader = replica(1, decided(1, isr=(1,)))
    write(leader, "a", producer_id=5, producer_epoch=0, base_sequence=0)
    follower = of(leader)
    copy(leader, follower)
    (producer,) = follower.active_producers(NOW)
    assert producer.producer_id == 5
    truncate(follower, Offset(0))
    assert follower.active_producers(NOW) == []


def test_follower_of_old_message_format_has_no_leader_epochs() -> None:
    old = BrokerSettings.of({}, "2.8.2").like
    leader = replica(1, decided(1, 3, isr=(1,)), like=old, message_format_version="0.10.2")
    write(leader, "a", "b")
    follower = of(leader)
    copy(leader, follower)
    assert follower.log.end_offset == 2
    assert follower.epochs.entries == ()


# -- positions -------------------------------------------------------------------------------------


def test_follower_position_has_end_offset_and_last_epoch() -> None:
    leader = led("a", epoch=4)
    follower = of(leader)
    assert position_of(follower) == (0, -1, 0, 4)
    copy(leader, follower)
    assert position_of(follower) == (1, 4, 0, 4)


# -- cutting off -----------------------------------------------------------------------------------


def in_epochs(own: int, *epochs: tuple[int, str]) -> Partition:
    """A log in which each epoch has a batch of one record for each letter."""
    partition = replica(own, decided(own, epochs[0][0], isr=(own,)))
    for epoch, letters in epochs:
        partition.register(decided(own, epoch, isr=(own,), partition_epoch=epoch), NOW)
        for letter in letters:
            write(partition, letter)
    return partition


def follows(partition: Partition, epoch: int) -> Partition:
    partition.register(decided(3, epoch, partition_epoch=epoch), NOW)
    assert partition.leading is None
    return partition


def until_alike(leader: Partition, follower: Partition) -> int:
    """The number of fetches until the logs are equal."""
    for count in range(1, 10):
        copy(leader, follower)
        if batches(leader) == batches(follower):
            return count
    raise AssertionError(f"{batches(follower)} is not {batches(leader)}")


def test_former_leader_truncates_batches_that_new_leader_lacks() -> None:
    follower = follows(in_epochs(1, (0, "ab")), 1)
    leader = in_epochs(2, (0, "a"), (1, "c"))
    assert until_alike(leader, follower) == 2
    assert follower.epochs.entries == ((0, 0), (1, 1))


def test_follower_truncates_by_epoch_and_not_by_high_watermark() -> None:
    """The case of KIP-101: by its high watermark the follower keeps records the leader lacks."""
    follower = follows(in_epochs(1, (0, "ab"), (1, "cd")), 2)
    leader = in_epochs(2, (0, "ab"), (2, "xyz"))
    assert until_alike(leader, follower) == 2
    assert [BatchHeader.read(each.data).partition_leader_epoch for each in batches(follower)] == [
        0, 0, 2, 2, 2,
    ]  # fmt: skip


def test_unshared_epochs_are_truncated_one_per_fetch() -> None:
    """The case of KIP-279: the leader has neither of the follower's last epochs."""
    follower = follows(in_epochs(1, (0, "a"), (2, "bb"), (4, "cc")), 5)
    leader = in_epochs(2, (0, "a"), (1, "x"), (3, "yyy"), (5, "z"))
    assert until_alike(leader, follower) == 3


def test_epoch_without_records_is_removed_when_following() -> None:
    follower = follows(in_epochs(1, (0, "a"), (1, "")), 2)
    leader = in_epochs(2, (0, "a"), (2, ""))
    copy(leader, follower)
    assert follower.epochs.entries == ((0, 0),)
    assert position_of(follower)[:2] == (1, 0)


@pytest.mark.parametrize(
    ("epoch", "end", "left"),
    [(-1, -1, 2), (-1, 3, 3), (-1, 9, 4), (0, 1, 1), (0, 9, 2), (1, 3, 3), (2, 3, 4), (9, 3, 3)],
    ids=["leader knows nothing", "leader without epochs", "longer leader", "leader has less",
         "follower has less", "same epoch", "epoch between", "epoch to come"],
)  # fmt: skip
def test_truncate_to_leader_ends_log_at_divergence(epoch: int, end: int, left: int) -> None:
    partition = follows(in_epochs(1, (0, "ab"), (1, "cd"), (3, "")), 4)
    partition.epochs.assign(LeaderEpoch(3), Offset(4))
    partition.high_watermark = Offset(2)
    truncate_to_leader(partition, epoch, end)
    assert partition.log.end_offset == left


def test_log_without_epochs_is_truncated_to_high_watermark_in_new_epoch() -> None:
    leader, follower = with_messages(1, 1), with_messages(2, 1)
    for value in "abc":
        write(leader, value)
    assert leader.epochs.latest is None
    assert {batch.leader_epoch for batch in batches(leader)} == {NO_EPOCH}
    append_fetched(follower, whole(leader), 2, 0, NOW)
    assert batches(follower) == batches(leader)
    needs_truncation(follower)
    assert follower.log.end_offset == 2
    append_fetched(follower, whole(leader), 2, 0, NOW)
    assert not needs_truncation(follower)
    follower.register(decided(3, 1, isr=(2, 3)), NOW)
    assert follower.log.end_offset == 3
    assert needs_truncation(follower)
    assert follower.log.end_offset == 2
    assert not needs_truncation(follower)


def test_truncation_resets_epochs_high_watermark_and_first_dirty_offset() -> None:
    partition = in_epochs(1, (0, "ab"), (1, "cd"))
    partition.first_dirty = Offset(3)
    follows(partition, 2)
    truncate(partition, Offset(2))
    assert partition.epochs.entries == ((0, 0),)
    assert (partition.high_watermark, partition.first_dirty) == (2, 2)
    assert partition.segments.active.size_bytes == partition.log.size_bytes


def test_truncation_within_batch_removes_batch_and_keeps_end_offset() -> None:
    leader = led("ab", "cde")
    follower = of(leader)
    copy(leader, follower)
    truncate(follower, Offset(3))
    assert [each.base_offset for each in batches(follower)] == [0]
    assert follower.log.end_offset == 3
    copy(leader, follower)
    assert batches(follower) == batches(leader)
    assert follower.log.end_offset == 5


def test_truncation_below_log_start_offset_empties_log() -> None:
    partition = follows(in_epochs(1, (0, "abcd")), 1)
    partition.start_at(Offset(3))
    truncate(partition, Offset(1))
    assert (partition.log.start_offset, partition.log.end_offset) == (1, 1)
    assert batches(partition) == []
    assert partition.epochs.entries == ()


def test_follower_below_leader_log_start_restarts_at_log_start_offset() -> None:
    leader = led("ab", "cde")
    follower = of(leader)
    leader.start_at(Offset(2))
    restart_at(follower, Offset(2), NOW)
    assert (follower.log.start_offset, follower.high_watermark) == (2, 2)
    copy(leader, follower)
    assert batches(follower) == batches(leader)


def test_follower_copies_whole_batch_that_contains_log_start_offset() -> None:
    leader = led("ab", "cde")
    leader.start_at(Offset(3))
    follower = of(leader)
    restart_at(follower, Offset(3), NOW)
    copy(leader, follower)
    assert batches(follower) == batches(leader)
    assert (follower.log.start_offset, follower.log.end_offset) == (3, 5)


def test_stored_batches_omits_partial_batch() -> None:
    leader = led("a", "bc")
    data = whole(leader)
    assert [*stored_batches(data)] == batches(leader)
    assert [*stored_batches(data[:-1])] == batches(leader)[:1]
    assert [*stored_batches(b"")] == []
