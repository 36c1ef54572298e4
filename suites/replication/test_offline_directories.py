"""LDIR: a broker reports a log directory as offline to the controller; it is a virtual broker."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple
from uuid import UUID, uuid4

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ApiNotAdvertised, PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AssignReplicasToDirsRequest,
    BrokerHeartbeatRequest,
    DescribeTopicPartitionsRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.kraft import CAUGHT_UP, KraftMember
from harness.virtual_broker.leader import LedPartition
from suites.replication.support.elections import UNCLEAN, election_result
from suites.replication.support.expect import expect_error

NO_LEADER = -1
FIRST_WITH_OFFLINE_DIRECTORIES = 1


class Damaged(NamedTuple):
    """A broker with two directories, where the second will fail, and partitions with replicas
    on it and on ``other``. It leads ``kept``, ``lost`` and ``late``, and follows in ``followed``.
    ``kept`` is in the first directory, ``lost`` and ``followed`` are in the second; no directory
    is known of ``late``.
    """

    member: KraftMember
    other: KraftMember
    kept: LedPartition
    lost: LedPartition
    followed: LedPartition
    late: LedPartition

    def assign(self, directory: UUID, *partitions: LedPartition) -> list[int]:
        """Report that these replicas are in this directory; return the error codes."""
        kinds = AssignReplicasToDirsRequest
        topics = [
            kinds.TopicData(topic_id=each.topic.id, partitions=[kinds.PartitionData()])
            for each in partitions
        ]
        request = kinds(
            broker_id=self.member.broker_id,
            broker_epoch=self.member.broker_epoch,
            directories=[kinds.DirectoryData(id=directory, topics=topics)],
        )
        answer = self.member.controller.ask(request)
        if answer.error_code != ErrorCode.NONE:
            told = ErrorCode.describe(answer.error_code)
            raise PreparationFailed(f"AssignReplicasToDirs: {told}", answer.error_code)
        found = only(answer.directories, "directory").topics
        return [only(each.partitions, "partition").error_code for each in found]

    def fail_second_directory(self) -> None:
        """Report it as offline in a heartbeat. Raises PreparationFailed."""
        member = self.member
        answer = member.controller.ask(
            BrokerHeartbeatRequest(
                broker_id=member.broker_id,
                broker_epoch=member.broker_epoch,
                current_metadata_offset=CAUGHT_UP,
                offline_log_dirs=[member.log_dirs[1]],
            )
        )
        if answer.error_code != ErrorCode.NONE or answer.is_fenced:
            told = f"{ErrorCode.describe(answer.error_code)}, fenced: {answer.is_fenced}"
            raise PreparationFailed(f"a heartbeat with an offline directory: {told}")


@pytest.fixture
def damaged(peers: JoinedCluster) -> Damaged:
    """Each replica is in the ISR, and no directory is offline yet."""
    member, other = peers.newcomer(), peers.joined()
    if member.controller.version("BrokerHeartbeat") < FIRST_WITH_OFFLINE_DIRECTORIES:
        raise ApiNotAdvertised("BrokerHeartbeat v0 has no offline directories")
    member.controller.version("AssignReplicasToDirs")
    member.log_dirs = [uuid4(), uuid4()]
    member.register()
    member.come_back()
    peers.kraft_world.await_shown(member.broker_id)
    kept, lost, late = (peers.led_by(member, other) for _ in range(3))
    made = Damaged(member, other, kept, lost, peers.led_by(other, member), late)
    first, second = member.log_dirs
    codes = [*made.assign(first, kept), *made.assign(second, lost, made.followed)]
    if any(codes):
        raise PreparationFailed(f"assignments to directories: {codes}")
    return made


def _expect(
    broker: BrokerUnderTest, led: LedPartition, what: str, leader: int, *isr: KraftMember
) -> None:
    """Await leader and ISR. Raises AssertionError."""
    wanted = leader, tuple(sorted(each.broker_id for each in isr))

    def shown() -> tuple[int, tuple[int, ...]]:
        state = led.state()
        return state.leader, state.isr

    found = broker.last_seen(shown, wanted.__eq__)
    assert found == wanted, f"{what}: leader and ISR are {found}, expected {wanted}"


@judges("LDIR-010")
@needs_broker(Use.JOINABLE)
def test_replicas_in_offline_directory_alone_leave_isr_and_leadership(
    damaged: Damaged, broker: BrokerUnderTest
) -> None:
    """It leads one partition there and follows in another; a third is in the other directory."""
    member, other = damaged.member, damaged.other
    with requirement("LDIR-010") as check:
        damaged.fail_second_directory()
        with check.subtest("led there"):
            _expect(broker, damaged.lost, "led there", other.broker_id, other)
        with check.subtest("followed there"):
            _expect(broker, damaged.followed, "followed there", other.broker_id, other)
        with check.subtest("elsewhere"):
            _expect(broker, damaged.kept, "elsewhere", member.broker_id, member, other)


@judges("LDIR-011")
@needs_broker(Use.JOINABLE)
def test_metadata_lists_replica_in_offline_directory_as_offline(
    damaged: Damaged, broker: BrokerUnderTest
) -> None:
    """The broker itself is alive, and its replica in the other directory is not offline."""
    gone = [damaged.member.broker_id]
    cases: tuple[tuple[str, LedPartition, list[int]], ...] = (
        ("led there", damaged.lost, gone),
        ("followed there", damaged.followed, gone),
        ("elsewhere", damaged.kept, []),
    )
    looks = {"Metadata": _offline}
    if broker.advertised("DescribeTopicPartitions"):
        looks["DescribeTopicPartitions"] = _offline_described
    with requirement("LDIR-011") as check:
        damaged.fail_second_directory()
        for name, look in looks.items():
            for what, led, wanted in cases:
                with check.subtest(f"{name}, {what}"):
                    found = broker.last_seen(partial(look, broker, led), wanted.__eq__)
                    assert found == wanted, f"{what}: offline are {found}, expected {wanted}"
        alive = {each.node_id for each in broker.metadata([]).brokers}
        assert gone[0] in alive, "Metadata does not list the broker of the directory"


def _offline(broker: BrokerUnderTest, led: LedPartition) -> list[int]:
    topic = only(broker.metadata([led.topic.name]).topics, "topic")
    return list(only(topic.partitions, "partition").offline_replicas)


def _offline_described(broker: BrokerUnderTest, led: LedPartition) -> list[int]:
    entry = DescribeTopicPartitionsRequest.TopicRequest(name=led.topic.name)
    topics = broker.ask(DescribeTopicPartitionsRequest(topics=[entry])).topics
    return list(only(only(topics, "topic").partitions, "partition").offline_replicas)


@judges("LDIR-012")
@needs_broker(Use.JOINABLE)
def test_replica_that_is_assigned_to_offline_directory_leaves_isr_and_leadership(
    damaged: Damaged, broker: BrokerUnderTest
) -> None:
    """The broker reports the directory of a replica after it has reported the failure."""
    member, other, late = damaged.member, damaged.other, damaged.late
    with requirement("LDIR-012"):
        damaged.fail_second_directory()
        _expect(broker, damaged.lost, "led there", other.broker_id, other)
        _expect(broker, late, "in no known directory", member.broker_id, member, other)
        (code,) = damaged.assign(member.log_dirs[1], late)
        expect_error(code, ErrorCode.NONE, "an assignment to the offline directory")
        _expect(broker, late, "assigned to the offline directory", other.broker_id, other)


@judges("LDIR-013")
@needs_broker(Use.JOINABLE)
def test_replica_in_offline_directory_is_not_elected(
    damaged: Damaged, broker: BrokerUnderTest
) -> None:
    """The only other replica leaves; the broker with the failed directory is alive."""
    other, lost = damaged.other, damaged.lost
    damaged.fail_second_directory()
    _expect(broker, lost, "preparation", other.broker_id, other)
    other.leave()
    with requirement("LDIR-013"):
        found = broker.last_seen(lambda: lost.state().leader, NO_LEADER.__eq__)
        assert found == NO_LEADER, f"the leader is {found}, its only live replica is offline"
        code = election_result(broker, lost.topic, UNCLEAN)
        expect_error(code, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "an unclean election")


@judges("BROK-020")
@needs_broker(Use.JOINABLE)
def test_assignment_to_present_directory_keeps_partition_epoch(damaged: Damaged) -> None:
    """The leader proposes with the partition epoch that it knew before."""
    kept, member = damaged.kept, damaged.member
    isr = [each.broker_id for each in kept.replicas]
    kept.partition_epoch = 1  # after the first assignment
    with requirement("BROK-020"):
        (code,) = damaged.assign(member.log_dirs[0], kept)
        expect_error(code, ErrorCode.NONE, "an assignment to the present directory")
        found = kept.propose(kept.proposal(isr))
        expect_error(found.error_code, ErrorCode.NONE, "the present ISR and partition epoch")
        assert found.partition_epoch == 1, f"the partition epoch is {found.partition_epoch}"
