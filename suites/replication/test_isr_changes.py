"""ISR, REPL, EPOCH: members that join and leave an ISR, and the effect on the high watermark."""

from __future__ import annotations

from collections.abc import Callable

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised, PreparationFailed
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import NotApplicable, NotSupported, requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.membership import Membership
from harness.virtual_broker.partition import WatchedPartition
from harness.virtual_broker.timeline import R2, R3, Timeline
from suites.replication.support.deleting import delete_below
from suites.replication.support.elections import await_alive, elect_preferred
from suites.replication.support.expect import (
    expect_error,
    expect_high_watermark,
    expect_log_end,
    expect_records,
    expect_sound,
)

MIN_ISR_2, MIN_ISR_3 = {"min.insync.replicas": "2"}, {"min.insync.replicas": "3"}
FIRST_WITH_DIVERGENCE, FIRST_AFTER_THAT = 12, 16
TIMEOUT_MS = 10_000
TRIES = 5
"""Fetches after which a leader that takes the follower would have proposed it."""


@judges("REPL-012")
@needs_broker(Use.JOINABLE)
def test_acks_1_below_min_isr_does_not_advance_high_watermark(peers: JoinedCluster) -> None:
    """The ISR is the leader alone, two are wanted; acks=1 writes on. From 3.7 on."""
    if FIRST_AFTER_THAT not in peers.broker.advertised("Fetch"):
        raise NotSupported("a broker that does not serve Fetch v16 has REPL-013")
    partition = _leader_alone_of_two(peers)
    partition.produce(2)
    with requirement("REPL-012"):
        expect_log_end(partition, 3, "written with acks=1")
        read = expect_high_watermark(partition, 1, "the ISR is smaller than min.insync.replicas")
        expect_records(read, (0,), "a consumer")
        expect_sound(partition)


@judges("REPL-012")
@needs_broker(Use.JOINABLE)
def test_isr_of_two_below_min_isr_of_three_does_not_advance_high_watermark(
    peers: JoinedCluster,
) -> None:
    """The leader and a follower have two more records; the other follower is away, and joins."""
    if FIRST_AFTER_THAT not in peers.broker.advertised("Fetch"):
        raise NotSupported("a broker that does not serve Fetch v16 has REPL-013")
    followers = [peers.join(), peers.join()]
    timeline = Timeline(peers.partition(followers, configs=MIN_ISR_3), followers)
    partition = timeline.partition
    partition.produce()
    timeline.follow(R2, 1)
    timeline.follow(R3, 1)
    followers[1].leave()
    partition.await_isr(partition.leader, followers[0].broker_id)
    partition.produce(2)
    with requirement("REPL-012"):
        timeline.follow(R2, 3)
        read = expect_high_watermark(partition, 1, "two of three replicas are in the ISR")
        expect_records(read, (0,), "a consumer")
        followers[1].come_back()
        await_alive(partition.broker, followers[1].broker_id)
        timeline.follow(R3, 3)
        partition.await_isr(*partition.replicas)
        timeline.follow(R3, 3)
        partition.broker.last_seen(lambda: partition.consume(0).high_watermark, (3).__eq__)
        expect_high_watermark(partition, 3, "all replicas are in the ISR")
        expect_sound(partition)


@judges("REPL-013")
@needs_broker(Use.JOINABLE)
def test_acks_1_below_min_isr_before_3_7_advances_high_watermark(peers: JoinedCluster) -> None:
    """The same before 3.7, which began to serve Fetch v16."""
    if FIRST_AFTER_THAT in peers.broker.advertised("Fetch"):
        raise NotSupported("a broker that serves Fetch v16 has REPL-012")
    partition = _leader_alone_of_two(peers)
    partition.produce(2)
    with requirement("REPL-013"):
        read = expect_high_watermark(partition, 3, "the ISR is the leader alone")
        expect_records(read, (0, 1, 2), "a consumer")
        expect_sound(partition)


def _leader_alone_of_two(peers: JoinedCluster) -> WatchedPartition:
    """One record is committed; then the only follower leaves."""
    member = peers.join()
    partition = peers.partition([member], configs=MIN_ISR_2)
    partition.produce()
    partition.follow(member, 1)
    member.leave()
    partition.await_isr(peers.leader)
    return partition


@judges("REPL-015")
@needs_broker(Use.JOINABLE)
def test_caught_up_follower_holds_back_high_watermark_before_joining_isr(
    timeline: Timeline,
) -> None:
    """R3 was away, is alive again and has not fetched yet."""
    partition = timeline.partition
    partition.produce(3)
    timeline.follow(R2, 3)
    timeline.follow(R3, 3)
    epoch = partition.state().leader_epoch
    _leave_and_return(timeline, R3)
    if partition.state().leader_epoch != epoch:
        raise NotApplicable(
            "isr_without_new_epoch",
            "a smaller ISR begins a leader epoch, in which R3 was never caught up",
        )
    partition.produce()
    with requirement("REPL-015"):
        timeline.follow(R2, 4)
        expect_high_watermark(partition, 3, "the whole ISR has the record, and R3 has not")
        timeline.follow(R3, 4)
        expect_high_watermark(partition, 4, "R3 has it too")
        expect_sound(partition)


def _leave_and_return(timeline: Timeline, follower: str) -> None:
    partition, member = timeline.partition, timeline.followers[follower]
    member.leave()
    left = [each for each in partition.replicas if each != member.broker_id]
    partition.await_isr(*left)
    member.come_back()
    await_alive(partition.broker, member.broker_id)


@judges("REPL-017")
@needs_broker(Use.JOINABLE)
def test_committed_isr_shrink_advances_high_watermark(timeline: Timeline) -> None:
    """R3 has nothing of the second part, and goes."""
    partition = timeline.partition
    timeline.play("T9")
    with requirement("REPL-017"):
        listed = partition.latest()
        assert listed == 3, f"R3 has three of five records: ListOffsets tells {listed}"
        timeline.followers[R3].leave()
        partition.await_isr(partition.leader, timeline.followers[R2].broker_id)
        partition.broker.eventually(lambda: _seen_by_both(timeline) == 5, "the watermark is 5")
        expect_records(partition.consume(0), range(5), "a consumer")
        expect_sound(partition)


def _seen_by_both(timeline: Timeline) -> int:
    """The high watermark; R2 fetches on, as before 0.9 nothing else moves it after a shrink."""
    timeline.follow(R2, 5)
    return timeline.partition.consume(0).high_watermark


@judges("ISR-009")
@needs_broker(Use.JOINABLE)
def test_follower_rejoins_isr_when_it_reaches_high_watermark(timeline: Timeline) -> None:
    """R3 was away while two records were committed; it fetches its way to them.

    Behind those are two that are not committed: R3 does not need them.
    """
    partition, back = timeline.partition, timeline.followers[R3]
    timeline.play("T9")
    _leave_and_return(timeline, R3)
    timeline.follow(R2, 5)
    without = tuple(sorted((partition.leader, timeline.followers[R2].broker_id)))
    with requirement("ISR-009"):
        expect_high_watermark(partition, 5, "the ISR has all five records")
        for offset in (3, 4):
            timeline.follow(R3, offset)
            _expect_isr_stays(timeline, without, f"R3 has fetched {offset}, 5 are committed")
        partition.produce(2)
        timeline.follow(R3, 5)
        partition.await_isr(*without, back.broker_id)
        expect_sound(partition)


def _expect_isr_stays(timeline: Timeline, isr: tuple[int, ...], when: str) -> None:
    """Looked at several times, with something asked of the leader in between."""
    for _ in range(TRIES):
        timeline.follow(R2, timeline.confirmed[R2])
        found = timeline.partition.state().isr
        assert found == isr, f"{when}: the ISR is {found}, expected {isr}"


@judges("ISR-015")
@needs_broker(Use.JOINABLE)
def test_follower_below_start_of_leader_epoch_is_not_added_to_isr(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """The real broker leads anew with four records, of which two are committed.

    The first leader was away, and has those two. The other replica confirms no more of them.
    """
    first, other = peers.join(), peers.join()
    partition = peers.beside(first, other)
    _lead_without(partition, peers, first, other.broker_id)
    _commit(partition, 2, other)
    first.come_back()
    await_alive(broker, first.broker_id)
    partition.follow(first, 2)
    partition.await_isr(*partition.replicas)
    partition.produce(2)
    elect_preferred(broker, partition, first.broker_id)
    _lead_without(partition, peers, first, other.broker_id)
    without = tuple(sorted((peers.leader, other.broker_id)))
    first.come_back()
    await_alive(broker, first.broker_id)
    with requirement("ISR-015"):
        for offset in (2, 3):
            for _ in range(TRIES):
                partition.follow(first, offset)
                found = partition.state().isr
                when = f"it has {offset} of the 4 records at which the epoch begins"
                assert found == without, f"{when}: the ISR is {found}, expected {without}"
        read = partition.consume(0)
        expect_records(read, (0, 1), "a consumer, while the other replica has two records")
        partition.follow(first, 4)
        partition.await_isr(*partition.replicas)
        expect_sound(partition)


def _lead_without(
    partition: WatchedPartition, peers: JoinedCluster, gone: Membership, *others: int
) -> None:
    """This member goes; the real broker leads the others."""
    gone.leave()
    partition.await_isr(peers.leader, *others)
    peers.await_led(partition)


def _commit(partition: WatchedPartition, count: int, follower: Membership) -> None:
    """Write records that this follower confirms."""
    partition.produce(count)
    partition.follow(follower, 0)
    partition.follow(follower, count)


@judges("ISR-010")
@needs_broker(Use.JOINABLE)
def test_fenced_follower_at_log_end_is_not_added_to_isr(timeline: Timeline) -> None:
    """R3 goes on to fetch at the log end, fenced; it is taken as soon as it is alive again."""
    partition, gone = timeline.partition, timeline.followers[R3]
    partition.produce(2)
    timeline.follow(R2, 2)
    timeline.follow(R3, 2)
    gone.leave()
    without = tuple(sorted((partition.leader, timeline.followers[R2].broker_id)))
    partition.await_isr(*without)
    with requirement("ISR-010"):
        for _ in range(TRIES):
            timeline.follow(R3, 2)
            _expect_isr_stays(timeline, without, "R3 is fenced and fetches at the log end")
        gone.come_back()
        await_alive(partition.broker, gone.broker_id)
        timeline.follow(R3, 2)
        partition.await_isr(*without, gone.broker_id)
        expect_sound(partition)


@judges("ISR-014")
@needs_broker(Use.JOINABLE)
def test_isr_shrink_and_expand_leave_leader_epoch_unchanged(
    timeline: Timeline, peers: JoinedCluster
) -> None:
    """R3 goes and comes back. With a ZooKeeper the death of a broker is more than that."""
    assert peers.kraft_world
    partition, member = timeline.partition, timeline.followers[R3]
    partition.produce()
    epoch = partition.state().leader_epoch
    with requirement("ISR-014"):
        _leave_and_return(timeline, R3)
        found = partition.state().leader_epoch
        assert found == epoch, f"after the shrink the leader epoch is {found}, expected {epoch}"
        timeline.follow(R3, 1)
        found = partition.await_isr(*partition.replicas).leader_epoch
        assert found == epoch, f"after the expansion it is {found}, expected {epoch}"
        assert member.broker_id in partition.replicas
        expect_sound(partition)


def _with_member_as_leader_between(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> tuple[WatchedPartition, Membership, int]:
    """A partition with two records of the real broker's leadership, and that leader epoch.

    The virtual member has them too, and leads now.
    """
    member = peers.join()
    partition = peers.beside(member)
    if partition.fetch_version < FIRST_WITH_DIVERGENCE:
        raise ApiNotAdvertised("Fetch below v12 has no diverging epoch")
    first = _lead_alone(partition, peers, member_leaves=member.leave)
    partition.produce(2)
    member.come_back()
    await_alive(broker, member.broker_id)
    partition.follow(member, 2)
    partition.await_isr(*partition.replicas)
    elect_preferred(broker, partition, member.broker_id)
    return partition, member, first


@judges("EPOCH-006")
@needs_broker(Use.JOINABLE)
def test_follower_fetch_after_divergence_returns_diverging_epoch_no_records(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """The real broker has led twice: two records of the first time, two of the second."""
    partition, member, first = _with_member_as_leader_between(peers, broker)
    second = _lead_alone(partition, peers, member_leaves=member.leave)
    partition.produce(2)
    with requirement("EPOCH-006"):
        assert second > first, f"the leader epochs are {first} and {second}"
        for offset in (3, 4):
            read = partition.follow(member, offset, last_fetched_epoch=first)
            what = f"offset {offset} after epoch {first}"
            expect_records(read, (), what)
            told = (read.told.diverging_epoch.epoch, read.told.diverging_epoch.end_offset)
            assert told == (first, 2), f"{what}: the diverging epoch is {told}, not ({first}, 2)"
        read = partition.follow(member, 2, last_fetched_epoch=first)
        expect_records(read, (2, 3), f"offset 2 after epoch {first}")
        found = read.told.diverging_epoch
        assert found.epoch == -1, f"a diverging epoch {found.epoch} where nothing diverges"


@judges("REPL-036")
@needs_broker(Use.JOINABLE)
def test_follower_fetch_with_diverging_epoch_does_not_advance_high_watermark(
    timeline: Timeline,
) -> None:
    """R2 has both records; R3 asks behind the end of the epoch, and only then at the end."""
    partition = timeline.partition
    if partition.fetch_version < FIRST_WITH_DIVERGENCE:
        raise ApiNotAdvertised("Fetch below v12 has no diverging epoch")
    epoch = partition.state().leader_epoch
    partition.produce(2)
    for offset in (0, 2):
        timeline.follow(R2, offset)
    with requirement("REPL-036"):
        _expect_no_progress(timeline, epoch, 3)
        _expect_no_progress(timeline, epoch, 2**40)
        partition.follow(timeline.followers[R3], 2, last_fetched_epoch=epoch)
        expect_high_watermark(partition, 2, "R3 has both records")


def _expect_no_progress(timeline: Timeline, epoch: int, offset: int) -> None:
    """R3 fetches behind the end of the epoch, which is 2, and has no record."""
    partition, r3 = timeline.partition, timeline.followers[R3]
    answer = partition.follow(r3, offset, last_fetched_epoch=epoch).told
    diverging = (answer.diverging_epoch.epoch, answer.diverging_epoch.end_offset)
    what = f"R3 fetches {offset}"
    assert diverging == (epoch, 2), f"{what}: the diverging epoch is {diverging}"
    expect_high_watermark(partition, 0, f"{what}, and has no record")


@judges("FETCH-004")
@needs_broker(Use.JOINABLE)
def test_follower_fetch_below_log_start_after_unknown_epoch_returns_offset_out_of_range(
    peers: JoinedCluster, broker: BrokerUnderTest
) -> None:
    """The follower has an epoch that the leader's log lacks, between two that it has."""
    partition, member, first = _with_member_as_leader_between(peers, broker)
    unknown = partition.state().leader_epoch
    _lead_alone(partition, peers, member_leaves=member.leave)
    partition.produce()
    deleted = delete_below(partition, 1, TIMEOUT_MS)
    if deleted.error_code != ErrorCode.NONE:
        raise PreparationFailed("DeleteRecords", deleted.error_code)
    with requirement("FETCH-004"):
        read = partition.follow(member, 1, last_fetched_epoch=unknown)
        expect_records(read, (), "a fetch at the log start")
        assert read.told.diverging_epoch.epoch == first, "no diverging epoch is in the answer"
        read = partition.follow(member, 0, last_fetched_epoch=unknown)
        expect_error(read.error, ErrorCode.OFFSET_OUT_OF_RANGE, "a fetch below the log start")
        found = read.told.diverging_epoch.epoch
        assert found == -1, f"a fetch below the log start: the diverging epoch is {found}"


def _lead_alone(
    partition: WatchedPartition, peers: JoinedCluster, *, member_leaves: Callable[[], None]
) -> int:
    """The virtual leader goes, the real broker leads; the leader epoch."""
    member_leaves()
    state = partition.await_isr(peers.leader)
    peers.await_led(partition)
    return state.leader_epoch
