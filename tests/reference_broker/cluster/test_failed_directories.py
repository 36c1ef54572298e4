"""The controller learns in which directories replicas are, and which of those have failed."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.codec.error_code import ErrorCode
from harness.codec.messages import AssignReplicasToDirsRequest
from harness.reference_broker.handlers import api_73_assign_replicas_to_dirs
from harness.reference_broker.state.controller.elections import preferred_leaders, unclean_leaders
from harness.reference_broker.state.registrations.directory_ids import LOST, MIGRATING, UNASSIGNED
from harness.reference_broker.state.registrations.partition_registration import (
    NO_LEADER,
    PartitionRegistration,
)
from tests.reference_broker.made_controller import TOPIC_ID, MadeController, registered
from tests.reference_broker.state.controller.test_registration import beat, context, register

UNCLEAN: dict[str, Any] = {"unclean_leader_election_enable": "true"}


def directory(number: int, place: int = 1) -> UUID:
    """The id of a broker's first or second directory."""
    return UUID(int=1_000 * place + number)


def in_place(replicas: list[int], isr: list[int], place: int = 1, **more: Any) -> Any:
    """A partition with all replicas in the first, or the second, directories."""
    where = tuple(directory(each, place) for each in replicas)
    return registered(replicas, isr, directories=where, **more)


def with_two_each(
    *numbers: int, of: PartitionRegistration, keeps_eligible: bool = True, **configs: str
) -> MadeController:
    """Brokers with two directories each, and a partition."""
    made = MadeController([], keeps_eligible=keeps_eligible)
    for number in numbers:
        log_dirs = [directory(number), directory(number, 2)]
        assert register(made, number, log_dirs=log_dirs).error_code == ErrorCode.NONE
        assert not beat(made, number).is_fenced
    made.with_partition(of, **configs)
    return made


def fail(made: MadeController, number: int, place: int) -> None:
    answer = beat(made, number, offline_log_dirs=[directory(number, place)])
    assert (answer.error_code, answer.is_fenced) == (ErrorCode.NONE, False)


def directories_of(made: MadeController, number: int) -> tuple[UUID, ...]:
    known = made.state.brokers.get(number)
    assert known is not None
    return known.directories


# -- heartbeats ------------------------------------------------------------------------------------


def test_leader_in_failed_directory_is_replaced_from_isr() -> None:
    made = with_two_each(1, 2, 3, of=in_place([1, 2, 3], [1, 2, 3], 2))
    fail(made, 1, 2)
    assert (made.partition.leader, made.partition.isr) == (2, (2, 3))
    assert (made.partition.leader_epoch, made.partition.replicas) == (6, (1, 2, 3))
    assert directories_of(made, 1) == (directory(1),)
    assert made.state.brokers.is_active(1)


def test_partition_in_other_directory_keeps_its_leader_and_isr() -> None:
    made = with_two_each(1, 2, of=in_place([1, 2], [1, 2]))
    before = made.partition
    fail(made, 1, 2)
    assert made.partition == before
    assert directories_of(made, 1) == (directory(1),)


def test_follower_in_failed_directory_leaves_isr() -> None:
    made = with_two_each(1, 2, of=in_place([1, 2], [1, 2]))
    fail(made, 2, 1)
    assert (made.partition.leader, made.partition.isr) == (1, (1,))
    assert made.partition.leader_epoch == 5


def test_repeated_or_foreign_directory_failure_changes_nothing() -> None:
    made = with_two_each(1, 2, of=in_place([1, 2], [1, 2]))
    fail(made, 1, 1)
    before, end = made.partition, made.role.log.end_offset
    fail(made, 1, 1)
    beat(made, 1, offline_log_dirs=[directory(2), UUID(int=9)])  # not its own, and an unknown one
    assert (made.partition, made.role.log.end_offset) == (before, end)


@pytest.mark.parametrize(
    ("keeps_eligible", "isr", "eligible"), [(False, (1,), ()), (True, (), (1,))]
)
def test_failed_directory_of_last_isr_member_leaves_no_leader(
    keeps_eligible: bool, isr: tuple[int, ...], eligible: tuple[int, ...]
) -> None:
    made = with_two_each(1, 2, of=in_place([1, 2], [1]), keeps_eligible=keeps_eligible)
    fail(made, 1, 1)
    assert (made.partition.leader, made.partition.isr) == (NO_LEADER, isr)
    assert made.partition.elr == eligible


def test_directory_failure_elects_out_of_sync_replica_if_unclean_enabled() -> None:
    made = with_two_each(1, 2, of=in_place([1, 2], [1]), **UNCLEAN)
    fail(made, 1, 1)
    assert (made.partition.leader, made.partition.isr) == (2, (2,))
    assert made.partition.is_recovering


# -- elections -------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [directory(1, 9), LOST], ids=["not registered", "lost"])
def test_replica_outside_registered_directories_is_not_elected(place: UUID) -> None:
    lost = registered([1, 2], [1], leader=-1, directories=(place, directory(2)))
    made = with_two_each(1, 2, of=lost)
    beat(made, 1, want_fence=True)
    beat(made, 1)
    assert made.partition.leader == NO_LEADER
    made.carry_out(unclean_leaders(made.state))
    assert made.partition.leader == NO_LEADER


def test_unfenced_broker_does_not_lead_replica_in_reported_failed_directory() -> None:
    made = with_two_each(1, 2, of=in_place([1, 2], [1], leader=-1))
    beat(made, 1, want_fence=True)
    fail(made, 1, 1)
    assert made.state.brokers.is_active(1)
    assert made.partition.leader == NO_LEADER


@pytest.mark.parametrize("place", [MIGRATING, UNASSIGNED])
def test_replica_of_unassigned_or_migrating_directory_is_elected(place: UUID) -> None:
    unknown = registered([1, 2], [1], leader=-1, directories=(place, directory(2)))
    made = with_two_each(1, 2, of=unknown)
    beat(made, 1, want_fence=True)
    beat(made, 1)
    assert made.partition.leader == 1


def test_preferred_leader_in_failed_directory_is_not_elected() -> None:
    led = registered([1, 2], [2, 1], directories=(directory(1, 9), directory(2)))
    made = with_two_each(1, 2, of=led)
    made.carry_out(preferred_leaders(made.state))
    assert made.partition.leader == 2


# -- assignments -----------------------------------------------------------------------------------


def assign(
    made: MadeController,
    number: int,
    place: UUID,
    *,
    topic_id: UUID = TOPIC_ID,
    index: int = 0,
    epoch: int | None = None,
) -> Any:
    request, known = AssignReplicasToDirsRequest, made.state.brokers.get(number)
    partition = request.PartitionData(partition_index=index)
    topic = request.TopicData(topic_id=topic_id, partitions=[partition])
    asked = request(
        broker_id=number,
        broker_epoch=(-1 if known is None else known.epoch) if epoch is None else epoch,
        directories=[request.DirectoryData(id=place, topics=[topic])],
    )
    return api_73_assign_replicas_to_dirs.handle(asked, context(made, 0)).message


def error_of(answer: Any) -> int:
    """The error of the only partition in the answer."""
    assert answer.error_code == ErrorCode.NONE
    (told,) = answer.directories
    (topic,) = told.topics
    (partition,) = topic.partitions
    return int(partition.error_code)


@pytest.mark.parametrize(
    ("before", "other"), [((UNASSIGNED, MIGRATING), MIGRATING), ((), UNASSIGNED)]
)
def test_assign_replicas_to_dirs_sets_directory_and_repeat_writes_nothing(
    before: tuple[UUID, ...], other: UUID
) -> None:
    made = with_two_each(1, 2, of=registered([1, 2], [1, 2], directories=before))
    assert error_of(assign(made, 1, directory(1, 2))) == ErrorCode.NONE
    assert made.partition.directories == (directory(1, 2), other)
    assert (made.partition.leader, made.partition.isr) == (1, (1, 2))
    end = made.role.log.end_offset
    assert error_of(assign(made, 1, directory(1, 2))) == ErrorCode.NONE
    assert made.role.log.end_offset == end


@pytest.mark.parametrize(("number", "epoch"), [(1, 999), (3, 0)], ids=["another", "unknown"])
def test_assignment_with_wrong_broker_epoch_returns_stale_broker_epoch(
    number: int, epoch: int
) -> None:
    made = with_two_each(1, 2, of=in_place([1, 2], [1, 2]))
    answer = assign(made, number, directory(1, 2), epoch=epoch)
    assert (answer.error_code, answer.directories) == (ErrorCode.STALE_BROKER_EPOCH, [])
    assert made.partition.directories == (directory(1), directory(2))


@pytest.mark.parametrize(
    ("number", "named", "error"),
    [
        (1, {"topic_id": UUID(int=5)}, ErrorCode.UNKNOWN_TOPIC_ID),
        (1, {"index": 1}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (3, {}, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
    ids=["topic", "partition", "not a replica"],
)
def test_assignment_of_unknown_or_foreign_partition_returns_partition_error(
    number: int, named: Any, error: ErrorCode
) -> None:
    made = with_two_each(1, 2, 3, of=in_place([1, 2], [1, 2]))
    assert error_of(assign(made, number, directory(number, 2), **named)) == error
    assert made.partition.directories == (directory(1), directory(2))


def test_assignment_to_unregistered_directory_moves_leadership() -> None:
    made = with_two_each(1, 2, of=registered([1, 2], [1, 2], directories=(UNASSIGNED,) * 2))
    assert error_of(assign(made, 1, UUID(int=9))) == ErrorCode.NONE
    assert made.partition.directories == (UUID(int=9), UNASSIGNED)
    assert (made.partition.leader, made.partition.isr) == (2, (2,))
