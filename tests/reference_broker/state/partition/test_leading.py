"""A leader and its followers: the high watermark and the ISR."""

from typing import Any

import pytest

from harness.base.ids import BrokerId, LeaderEpoch, Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import IsrProposed, PartitionGrew
from harness.reference_broker.state.partition.leading import ANY_EPOCH, Leading
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.brokers import BrokerRegistration
from tests.reference_broker.made_controller import broker
from tests.reference_broker.made_replicas import LAG_MS, NOW, decided, replica, write


def leading(partition: Partition) -> Leading:
    assert partition.leading is not None
    return partition.leading


def fetch(
    partition: Partition, follower: int, offset: int, after_ms: int = 0, epoch: int | None = None
) -> list[type]:
    """The kinds of effects of a follower's Fetch."""
    broker_epoch = 10 * follower if epoch is None else epoch
    effects = partition.fetched_by(
        BrokerId(follower), Offset(offset), Offset(0), broker_epoch, TimeMs(NOW + after_ms)
    )
    return [type(one) for one in effects]


def ids(*numbers: int) -> frozenset[BrokerId]:
    return frozenset(map(BrokerId, numbers))


def led(isr: tuple[int, ...] = (1, 2, 3), **configs: Any) -> Partition:
    """A partition that broker 1 leads in epoch 0, with two records in two batches."""
    partition = replica(1, decided(1, isr=isr), **configs)
    write(partition, "a")
    write(partition, "b")
    return partition


# -- the high watermark ----------------------------------------------------------------------------


def test_high_watermark_is_lowest_end_offset_of_isr() -> None:
    partition = led()
    assert fetch(partition, 2, 2) == []
    assert partition.high_watermark == 0
    assert fetch(partition, 3, 1) == [PartitionGrew]
    assert partition.high_watermark == 1
    assert fetch(partition, 3, 2) == [PartitionGrew]
    assert partition.high_watermark == 2


def test_sole_isr_leader_advances_high_watermark_on_append() -> None:
    assert led(isr=(1,)).high_watermark == 2


def test_high_watermark_never_decreases() -> None:
    partition = led(isr=(1, 2))
    fetch(partition, 2, 2)
    fetch(partition, 2, 1)
    assert partition.high_watermark == 2


def test_high_watermark_waits_for_members_of_old_and_proposed_isr() -> None:
    partition = led(isr=(1, 2))
    leading(partition).proposed = ids(1, 2, 3)
    fetch(partition, 2, 2)
    assert partition.high_watermark == 0
    leading(partition).proposed = ids(1)
    partition = led(isr=(1, 2))
    leading(partition).proposed = ids(1)
    assert not partition.advance(NOW)
    leading(partition).committed(ids(1), 1)
    assert partition.advance(NOW)
    assert partition.high_watermark == 2


def test_high_watermark_waits_for_recently_caught_up_eligible_follower() -> None:
    partition = replica(1, decided(1, isr=(1,)))
    fetch(partition, 2, 0)  # it has all there is
    leading(partition).proposed = None
    write(partition, "a")
    assert partition.high_watermark == 0
    write(partition, "b", now=TimeMs(NOW + LAG_MS + 1))
    assert partition.high_watermark == 2


@pytest.mark.parametrize(
    "candidate",
    [broker(2, is_fenced=True), broker(2, is_shutting_down=True), broker(2, epoch=21)],
    ids=["fenced", "going away", "another incarnation"],
)
def test_high_watermark_does_not_wait_for_ineligible_follower(
    candidate: BrokerRegistration,
) -> None:
    partition = replica(1, decided(1, isr=(1,)), [broker(1), candidate, broker(3)])
    fetch(partition, 2, 0)
    assert leading(partition).proposed is None
    write(partition, "a")
    assert partition.high_watermark == 1


@pytest.mark.parametrize(("holds", "watermark"), [(True, 0), (False, 2)])
def test_high_watermark_stops_below_min_insync_replicas_since_3_7(
    holds: bool, watermark: int
) -> None:
    partition = replica(1, decided(1, isr=(1,)), holds_below_minimum=holds, min_insync_replicas="2")
    write(partition, "a")
    write(partition, "b")
    assert partition.high_watermark == watermark


def test_min_isr_is_limited_by_replica_count_since_3_7() -> None:
    assert replica(1, decided(1), min_insync_replicas="9").min_isr == 3
    older = replica(1, decided(1), holds_below_minimum=False, min_insync_replicas="9")
    assert older.min_isr == 9


# -- joining the ISR ------------------------------------------------------------------------------


def test_follower_at_high_watermark_is_proposed_for_isr_once() -> None:
    partition = led(isr=(1, 2))
    fetch(partition, 2, 1)
    assert fetch(partition, 3, 0) == []
    assert fetch(partition, 3, 1) == [IsrProposed]
    assert leading(partition).proposed == ids(1, 2, 3)
    assert fetch(partition, 3, 2) == []


def test_follower_below_epoch_start_is_not_proposed_for_isr() -> None:
    partition = led(isr=(1, 2))
    partition.register(decided(1, 1, isr=(1, 2), partition_epoch=1), NOW)
    assert leading(partition).epoch_start == 2
    assert fetch(partition, 3, 1) == []
    assert fetch(partition, 3, 2) == [IsrProposed]


def test_isr_member_is_not_proposed_again() -> None:
    assert fetch(led(), 2, 2) == []


@pytest.mark.parametrize(
    ("known", "epoch", "joins"),
    [
        (broker(3), 30, True),
        (broker(3), ANY_EPOCH, True),
        (broker(3), 29, False),
        (broker(3, is_fenced=True), 30, False),
        (broker(3, is_shutting_down=True), 30, False),
    ],
    ids=["right", "says none", "another incarnation", "fenced", "going away"],
)
def test_only_active_follower_with_current_broker_epoch_is_proposed(
    known: BrokerRegistration, epoch: int, joins: bool
) -> None:
    partition = replica(1, decided(1, isr=(1, 2)), [broker(1), broker(2), known])
    fetch(partition, 3, 0, epoch=epoch)
    assert (leading(partition).proposed is not None) is joins


def test_isr_proposal_has_broker_epochs_of_last_fetches() -> None:
    partition = led(isr=(1, 2))
    fetch(partition, 3, 2)
    epochs = leading(partition).broker_epochs_of(ids(1, 2, 3), own_epoch=10)
    assert epochs == {1: 10, 2: ANY_EPOCH, 3: 30}


# -- leaving the ISR ------------------------------------------------------------------------------


def test_lagging_follower_is_proposed_for_removal_once() -> None:
    partition = led()
    fetch(partition, 2, 2)
    fetch(partition, 3, 1)
    assert partition.shrink_isr(TimeMs(NOW + LAG_MS)) == []
    effects = partition.shrink_isr(TimeMs(NOW + LAG_MS + 1))
    assert [type(one) for one in effects] == [IsrProposed]
    assert leading(partition).proposed == ids(1, 2)
    assert partition.shrink_isr(TimeMs(NOW + 2 * LAG_MS)) == []


def test_follower_at_end_offset_of_previous_fetch_counts_as_caught_up() -> None:
    partition = led(isr=(1, 2))
    fetch(partition, 2, 1, after_ms=100)
    write(partition, "c")
    fetch(partition, 2, 2, after_ms=400)
    assert leading(partition).followers[BrokerId(2)].caught_up_at == NOW + 100
    assert partition.shrink_isr(TimeMs(NOW + 100 + LAG_MS)) == []
    assert partition.shrink_isr(TimeMs(NOW + 101 + LAG_MS)) != []


def test_follower_neither_shrinks_isr_nor_advances_high_watermark() -> None:
    partition = replica(2, decided(1))
    assert partition.shrink_isr(TimeMs(NOW + 10 * LAG_MS)) == []
    assert not partition.advance(NOW)


# -- decisions -------------------------------------------------------------------------------------


def test_new_leader_epoch_starts_at_log_end_and_drops_isr_proposal() -> None:
    partition = led(isr=(1, 2))
    fetch(partition, 3, 2)
    partition.register(decided(1, 4, isr=(1, 2), partition_epoch=9), NOW)
    reign = leading(partition)
    assert (reign.epoch, reign.epoch_start, reign.proposed) == (4, 2, None)
    assert partition.epochs.entries == ((0, 0), (4, 2))
    assert reign.followers[BrokerId(3)].caught_up_at == 0
    assert reign.followers[BrokerId(2)].caught_up_at == NOW


def test_new_leader_has_no_end_offsets_of_followers() -> None:
    partition = replica(1, decided(2))
    partition.register(decided(1, 1, partition_epoch=1), NOW)
    assert {one.end_offset for one in leading(partition).followers.values()} == {-1}
    assert leading(partition).isr == ids(1, 2, 3)


def test_older_partition_epoch_does_not_change_isr() -> None:
    partition = led(isr=(1, 2))
    leading(partition).committed(ids(1), 2)
    partition.register(decided(1, isr=(1, 2, 3), partition_epoch=1), NOW)
    assert (leading(partition).isr, leading(partition).partition_epoch) == (ids(1), 2)


def test_isr_proposal_survives_registration_of_known_partition_epoch() -> None:
    partition = led(isr=(1, 2))
    leading(partition).committed(ids(1), 1)
    leading(partition).proposed = ids(1, 2)
    partition.register(decided(1, isr=(1,), partition_epoch=1), NOW)
    assert leading(partition).proposed == ids(1, 2)
    partition.register(decided(1, isr=(1, 3), partition_epoch=2), NOW)
    assert (leading(partition).proposed, leading(partition).isr) == (None, ids(1, 3))


def test_former_leader_drops_followers_and_refuses_requests() -> None:
    partition = led()
    partition.register(decided(2, 1, partition_epoch=1), NOW)
    assert partition.leading is None
    assert partition.leader_epoch == LeaderEpoch(1)
    assert partition.leader_problem(1) is ErrorCode.NOT_LEADER_OR_FOLLOWER


# -- permission to fetch --------------------------------------------------------------------------


def test_fetch_of_non_replica_is_refused() -> None:
    partition = led()
    problem = partition.follower_problem
    stranger = BrokerId(4)
    assert problem(stranger, 40, knows_epoch=True) is ErrorCode.UNKNOWN_LEADER_EPOCH
    assert problem(stranger, 40, knows_epoch=False) is ErrorCode.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize(
    ("epoch", "is_fenced", "error"),
    [
        (20, False, ErrorCode.NONE),
        (21, False, ErrorCode.NONE),
        (ANY_EPOCH, False, ErrorCode.NONE),
        (19, False, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (19, True, ErrorCode.NONE),
    ],
    ids=["right", "newer", "says none", "older", "older, of one that is fenced"],
)
def test_fetch_with_older_broker_epoch_is_refused_unless_fenced(
    epoch: int, is_fenced: bool, error: ErrorCode
) -> None:
    partition = replica(1, decided(1), [broker(1), broker(2, is_fenced=is_fenced), broker(3)])
    assert partition.follower_problem(BrokerId(2), epoch, knows_epoch=True) is error


@pytest.mark.parametrize(
    ("epoch", "error"),
    [
        (-1, ErrorCode.NONE),
        (3, ErrorCode.NONE),
        (2, ErrorCode.FENCED_LEADER_EPOCH),
        (4, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_other_leader_epoch_of_client_returns_epoch_error(epoch: int, error: ErrorCode) -> None:
    assert replica(1, decided(1, 3)).leader_problem(epoch) is error
