"""REASG, REPL: a reassignment in progress; the new replicas follow when the test lets them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterPartitionReassignmentsRequest,
    ListPartitionReassignmentsRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.membership import Membership
from harness.virtual_broker.partition import WatchedPartition
from suites.replication.support.deleting import delete_below
from suites.replication.support.elections import await_alive
from suites.replication.support.expect import (
    expect_error,
    expect_high_watermark,
    expect_sound,
)

TIMEOUT_MS = 10_000
TRIES = 3


class Move(NamedTuple):
    """A partition with one follower, and two brokers that have nothing of it yet."""

    partition: WatchedPartition
    follower: Membership
    new: list[Membership]

    @property
    def broker(self) -> BrokerUnderTest:
        """The real one, which leads."""
        return self.partition.broker

    def ids(self, *members: Membership) -> list[int]:
        """The leader's and theirs."""
        return [self.partition.leader, *(each.broker_id for each in members)]

    def ask(self, replicas: Sequence[int] | None) -> int:
        """Move it there; None cancels. The error of the partition."""
        request = AlterPartitionReassignmentsRequest
        wanted = request.ReassignablePartition(
            partition_index=0, replicas=None if replicas is None else list(replicas)
        )
        topic = request.ReassignableTopic(name=self.partition.topic.name, partitions=[wanted])
        answer = self.broker.ask(request(topics=[topic], timeout_ms=TIMEOUT_MS))
        expect_error(answer.error_code, ErrorCode.NONE, "the answer as a whole")
        return only(only(answer.responses, "topic").partitions, "partition").error_code

    def begin(self, replicas: Sequence[int]) -> None:
        """It is taken, or AssertionError."""
        expect_error(self.ask(replicas), ErrorCode.NONE, f"a move to {list(replicas)}")

    def under_way(self) -> tuple[set[int], set[int]] | None:
        """The replicas that are added and removed; None when nothing moves."""
        request = ListPartitionReassignmentsRequest
        name = self.partition.topic.name
        asked = request.ListPartitionReassignmentsTopics(name=name, partition_indexes=[0])
        topics = self.broker.ask(request(topics=[asked], timeout_ms=TIMEOUT_MS)).topics
        if not topics:
            return None
        told = only(only(topics, "topic").partitions, "partition")
        return set(told.adding_replicas), set(told.removing_replicas)

    def replicas(self) -> list[int]:
        """Return the replicas in Metadata."""
        topic = only(self.broker.metadata([self.partition.topic.name]).topics, "topic")
        return list(only(topic.partitions, "partition").replica_nodes)

    def await_replicas(self, *expected: int) -> None:
        """Wait until Metadata has these replicas, in any order."""
        self.broker.eventually(
            lambda: sorted(self.replicas()) == sorted(expected), f"the replicas are {expected}"
        )

    def await_done(self, replicas: Sequence[int], *, fetching: Membership | None = None) -> None:
        """Wait until no move is in progress, and Metadata has these replicas in this order.

        ``fetching``: a replica of the empty log that goes on fetching meanwhile.
        """

        def is_done() -> bool:
            if fetching is not None:
                self.partition.follow(fetching, 0)
            return self.under_way() is None and self.replicas() == list(replicas)

        self.broker.eventually(is_done, f"nothing moves, and the replicas are {list(replicas)}")

    def catch_up(self, member: Membership) -> None:
        """It fetches to the end."""
        for offset in (0, 2):
            self.partition.follow(member, offset)


@pytest.fixture
def move(peers: JoinedCluster) -> Move:
    """Two records, which the follower has."""
    follower = peers.join()
    new = [peers.join(), peers.join()]
    partition = peers.partition([follower])
    partition.produce(2)
    partition.follow(follower, 2)
    # The observations are sound only if no other broker is ever a member.
    partition.replicas = (*partition.replicas, *(each.broker_id for each in new))
    return Move(partition, follower, new)


@judges("REASG-002")
@needs_broker(Use.JOINABLE)
def test_reassignment_in_progress_shows_adding_and_removing_replicas(move: Move) -> None:
    """And only the new ones when it is done."""
    (gone, comes, _), target = (move.follower, *move.new), move.ids(move.new[0])
    with requirement("REASG-002"):
        move.begin(target)
        move.await_replicas(*target, gone.broker_id)
        moving = move.under_way()
        expected = ({comes.broker_id}, {gone.broker_id})
        assert moving == expected, f"(adding, removing) is {moving}, expected {expected}"
        move.catch_up(comes)
        move.await_done(target)
        expect_sound(move.partition)


@judges("REASG-003")
@needs_broker(Use.JOINABLE)
def test_reassignment_completes_when_all_new_replicas_are_in_isr(move: Move) -> None:
    """The first of two is in sync and the other has nothing: nothing is removed yet."""
    first, second = move.new
    target = move.ids(first, second)
    with requirement("REASG-003"):
        move.begin(target)
        move.await_replicas(*target, move.follower.broker_id)
        move.catch_up(first)
        move.partition.await_isr(*move.ids(move.follower, first))
        for _ in range(TRIES):
            moving = move.under_way()
            assert moving is not None, "it is done, and one of the new replicas has nothing"
            assert move.follower.broker_id in move.replicas(), "the old replica is gone already"
        move.catch_up(second)
        move.await_done(target)
        expect_sound(move.partition)


@judges("REASG-003")
@needs_broker(Use.JOINABLE)
def test_removal_of_replica_waits_for_replica_that_stays_and_is_not_in_isr(
    peers: JoinedCluster,
) -> None:
    """Of two followers the one that is in sync is to go, and the other is away until the end."""
    stays, goes = peers.join(), peers.join()
    move = Move(peers.partition([stays, goes]), stays, [goes])
    stays.leave()
    move.partition.await_isr(*move.ids(goes))
    target = move.ids(stays)
    with requirement("REASG-003"):
        move.begin(target)
        for _ in range(TRIES):
            moving = move.under_way()
            assert moving == (set(), {goes.broker_id}), (
                f"(adding, removing) is {moving}, and a replica of the target is not in sync"
            )
        stays.come_back()
        await_alive(move.broker, stays.broker_id)
        move.await_done(target, fetching=stays)
        expect_sound(move.partition)


@judges("REPL-032")
@needs_broker(Use.JOINABLE)
def test_reassignment_completes_without_replica_that_stays_and_is_not_in_isr(move: Move) -> None:
    """The follower stays and is away; the move is done when the new replica is in sync."""
    stays, new = move.follower, move.new[0]
    stays.leave()
    move.partition.await_isr(*move.ids())
    target = move.ids(stays, new)
    with requirement("REPL-032"):
        move.begin(target)
        move.await_replicas(*target)
        moving = move.under_way()
        expected: tuple[set[int], set[int]] = ({new.broker_id}, set())
        assert moving == expected, f"(adding, removing) is {moving}, expected {expected}"
        move.catch_up(new)
        move.await_done(target)
        move.partition.await_isr(*move.ids(new))
        expect_sound(move.partition)


@judges("REASG-005")
@needs_broker(Use.JOINABLE)
def test_cancelled_reassignment_restores_old_replicas(move: Move) -> None:
    """Where nothing moves there is nothing to cancel."""
    before = move.ids(move.follower)
    with requirement("REASG-005"):
        nothing = move.ask(None)
        expect_error(nothing, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "nothing moves")
        move.begin(move.ids(move.new[0]))
        move.await_replicas(*move.ids(move.follower, move.new[0]))
        expect_error(move.ask(None), ErrorCode.NONE, "a move is cancelled")
        move.await_done(before)
        again = move.ask(None)
        expect_error(again, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "it is cancelled once more")
        expect_sound(move.partition)


@judges("REASG-005")
@needs_broker(Use.JOINABLE)
def test_cancelled_reassignment_restores_order_of_replicas(move: Move) -> None:
    """The replica with the larger id is the first one; a broker is added before both."""
    before = [move.follower.broker_id, move.partition.leader]
    move.begin(before)
    move.await_done(before)
    added = move.new[0].broker_id
    move.begin([added, *before])
    move.await_replicas(added, *before)
    with requirement("REASG-005"):
        expect_error(move.ask(None), ErrorCode.NONE, "a move is cancelled")
        found = move.broker.last_seen(move.replicas, before.__eq__)
        assert found == before, f"after the cancellation the replicas are {found}, not {before}"
        expect_sound(move.partition)


@judges("REASG-005")
@needs_broker(Use.JOINABLE)
def test_cancelled_reassignment_takes_added_replica_out_of_isr(move: Move) -> None:
    """One of two added replicas is in sync already; the records go on without it."""
    first, second = move.new
    before = move.ids(move.follower)
    move.begin(move.ids(first, second))
    move.await_replicas(*move.ids(move.follower, first, second))
    move.catch_up(first)
    move.partition.await_isr(*move.ids(move.follower, first))
    with requirement("REASG-005"):
        expect_error(move.ask(None), ErrorCode.NONE, "a move is cancelled")
        move.await_done(before)
        wanted = tuple(sorted(before))
        isr = move.broker.last_seen(lambda: move.partition.state().isr, wanted.__eq__)
        assert isr == wanted, f"after the cancellation the ISR is {isr}, expected {wanted}"
        expect_sound(move.partition)


@judges("REASG-013")
@needs_broker(Use.JOINABLE)
def test_removed_replica_delays_neither_high_watermark_nor_delete_records(move: Move) -> None:
    """It is alive, was caught up a moment ago, and its log still begins at 0."""
    (gone, new, _), target = (move.follower, *move.new), move.ids(move.new[0])
    move.begin(target)
    move.await_replicas(*target, gone.broker_id)
    move.catch_up(new)
    move.await_done(target)
    move.partition.await_isr(*target)
    with requirement("REASG-013"):
        move.partition.produce()
        move.partition.follow(new, 3)
        expect_high_watermark(move.partition, 3, "the replicas have three records")
        move.partition.follow(new, 3, log_start=2)
        found = delete_below(move.partition, 2, TIMEOUT_MS)
        expect_error(found.error_code, ErrorCode.NONE, "the replicas begin at 2")
        assert found.low_watermark == 2, f"the low watermark is {found.low_watermark}, expected 2"
        expect_sound(move.partition)


@judges("REASG-009")
@needs_broker(Use.JOINABLE)
def test_new_reassignment_replaces_running_one(move: Move) -> None:
    """To a broker that was not meant before; the one that was meant gets nothing."""
    first, second = move.new
    target = move.ids(second)
    with requirement("REASG-009"):
        move.begin(move.ids(first))
        move.await_replicas(*move.ids(move.follower, first))
        move.begin(target)
        move.broker.eventually(
            lambda: (move.under_way() or (set(),))[0] == {second.broker_id},
            "only the broker of the second move is added",
        )
        move.catch_up(second)
        move.await_done(target)
        expect_sound(move.partition)


@judges("REASG-012")
@needs_broker(Use.JOINABLE)
def test_reassignment_that_removes_follower_begins_leader_epoch(move: Move) -> None:
    """The leader stays, and one follower replaces another."""
    target, before = move.ids(move.new[0]), move.partition.state()
    with requirement("REASG-012"):
        move.begin(target)
        move.await_replicas(*target, move.follower.broker_id)
        move.catch_up(move.new[0])
        move.await_done(target)
        after = move.partition.state()
        assert after.leader == before.leader, f"the leader is {after.leader}"
        told = f"the leader epoch is {after.leader_epoch}, before it was {before.leader_epoch}"
        assert after.leader_epoch > before.leader_epoch, told
        expect_sound(move.partition)
