"""Replicas move to other brokers, and new ones are placed."""

from collections import Counter
from typing import Any

import pytest

from harness.codec import messages
from harness.codec.error_code import ErrorCode
from harness.reference_broker.handlers import (
    api_45_alter_partition_reassignments,
    api_46_list_partition_reassignments,
)
from harness.reference_broker.handlers.outcome import Advertised, RequestContext
from harness.reference_broker.state.registrations.brokers import BrokerRegistration
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.replica_placement import PlacementRefused, place
from tests.reference_broker.made_controller import (
    CHANCE,
    NOW,
    MadeController,
    broker,
    registered,
)


def made_with(registration: PartitionRegistration, **configs: str) -> MadeController:
    made = MadeController([broker(1), broker(2), broker(3), broker(4), broker(5, is_fenced=True)])
    made.with_partition(registration, **configs)
    return made


def context(made: MadeController) -> RequestContext:
    return RequestContext(
        1, None, 0, made.state, Advertised(()), lambda: NOW, CHANCE, [], role=made.role
    )


def move(made: MadeController, *replicas: int, **fields: Any) -> int:
    """Request a reassignment and return the error; no replicas cancel it."""
    request = messages.AlterPartitionReassignmentsRequest
    wanted = [*replicas] or None
    given = {"partition_index": 0, "replicas": wanted, **fields}
    topic = request.ReassignableTopic(
        name=given.pop("name", "t"), partitions=[request.ReassignablePartition(**_part(given))]
    )
    rest = {key: value for key, value in given.items() if key not in _part(given)}
    message = request(topics=[topic], **rest)
    answer = api_45_alter_partition_reassignments.handle(message, context(made)).message
    assert isinstance(answer, messages.AlterPartitionReassignmentsResponse)
    return answer.responses[0].partitions[0].error_code


def _part(given: dict[str, Any]) -> dict[str, Any]:
    return {key: given[key] for key in ("partition_index", "replicas")}


def moving(made: MadeController) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    return made.partition.replicas, made.partition.adding, made.partition.removing


def test_reassignment_puts_new_replicas_first_and_keeps_old_ones() -> None:
    made = made_with(registered([1, 2], [1, 2]))
    assert move(made, 3, 4) == 0
    assert moving(made) == ((3, 4, 1, 2), (3, 4), (1, 2))
    assert made.partition.isr == (1, 2)
    assert made.partition.leader == 1


def test_list_partition_reassignments_returns_running_reassignment() -> None:
    made = made_with(registered([1, 2], [1, 2]))
    request = messages.ListPartitionReassignmentsRequest(topics=None)
    handle = api_46_list_partition_reassignments.handle
    assert handle(request, context(made)).message.topics == []  # type: ignore[attr-defined]
    move(made, 3, 2)
    (topic,) = handle(request, context(made)).message.topics  # type: ignore[attr-defined]
    (told,) = topic.partitions
    assert (told.replicas, told.adding_replicas, told.removing_replicas) == ([3, 2, 1], [3], [1])


def test_reassignment_to_in_sync_replicas_completes_immediately() -> None:
    made = made_with(registered([1, 2, 3], [1, 2, 3]))
    assert move(made, 2, 1) == 0
    assert moving(made) == ((2, 1), (), ())
    assert (made.partition.isr, made.partition.leader_epoch) == ((1, 2), 6)
    assert move(made, 1, 2) == 0
    assert moving(made) == ((1, 2), (), ())
    assert made.partition.leader_epoch == 6


def test_reassignment_to_current_replicas_writes_no_record() -> None:
    made = made_with(registered([1, 2], [1, 2]))
    assert move(made, 1, 2) == 0
    assert made.partition.partition_epoch == 7


def test_second_reassignment_replaces_running_one() -> None:
    made = made_with(registered([1, 2], [1, 2]))
    move(made, 3, 2)
    assert move(made, 4, 2) == 0
    assert moving(made) == ((4, 2, 1, 3), (4,), (1, 3))


def test_cancelled_reassignment_restores_old_replicas() -> None:
    made = made_with(registered([1, 2], [1, 2]))
    move(made, 3, 4)
    assert move(made) == 0
    assert moving(made) == ((1, 2), (), ())
    assert made.partition.isr == (1, 2)
    assert move(made) == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


MOVED = registered([3, 1, 2], [3], adding=(3,), removing=(1, 2), leader=3)


def test_cancellation_is_refused_if_only_new_replicas_are_in_sync() -> None:
    made = made_with(MOVED)
    assert move(made) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert made.partition == MOVED


def test_cancellation_elects_unclean_leader_if_topic_enables_it() -> None:
    made = made_with(MOVED, unclean_leader_election_enable="true")
    assert move(made) == 0
    assert (made.partition.replicas, made.partition.leader) == ((1, 2), 1)
    assert made.partition.isr == (1,)


def test_reassignment_never_elects_unclean_leader() -> None:
    lost = registered([1, 2], [1], leader=-1)
    made = MadeController([broker(1, is_fenced=True), broker(2), broker(3)])
    made.with_partition(lost, unclean_leader_election_enable="true")
    assert move(made, 2, 3) == 0
    assert made.partition.leader == -1


@pytest.mark.parametrize("replicas", [(1, 1), (1, 9)], ids=["twice", "not registered"])
def test_reassignment_to_repeated_or_unregistered_broker_is_refused(
    replicas: tuple[int, ...],
) -> None:
    made = made_with(registered([1, 2, 3], [1]))
    error = move(made, *replicas, allow_replication_factor_change=False)
    assert error == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_reassignment_to_empty_replica_list_is_refused() -> None:
    error = move(made_with(registered([1], [1])), replicas=[])
    assert error == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_reassignment_that_changes_replication_factor_is_refused_on_request() -> None:
    made, insists = (
        made_with(registered([1, 2], [1, 2])),
        {"allow_replication_factor_change": False},
    )
    assert move(made, 1, 2, 3, **insists) == ErrorCode.INVALID_REPLICATION_FACTOR
    assert move(made, 3, 4, **insists) == 0
    assert move(made, 3, 1, **insists) == 0
    assert move(made, 3, **insists) == ErrorCode.INVALID_REPLICATION_FACTOR


def test_replication_factor_check_uses_target_of_running_reassignment() -> None:
    made, insists = (
        made_with(registered([1, 2], [1, 2])),
        {"allow_replication_factor_change": False},
    )
    assert move(made, 1, 2, 3) == 0
    assert move(made, 1, 4, **insists) == ErrorCode.INVALID_REPLICATION_FACTOR
    assert move(made, 1, 2, 4, **insists) == 0


def test_reassignment_of_unknown_topic_returns_error() -> None:
    made = made_with(registered([1], [1]))
    assert move(made, 2, name="none") == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# -- placement -------------------------------------------------------------------------------------


def placed(
    brokers: list[BrokerRegistration], partitions: int, factor: int
) -> list[tuple[int, ...]]:
    return [tuple(each) for each in place(brokers, partitions, factor, CHANCE)]


def test_placement_spreads_replicas_and_leaders_evenly() -> None:
    replicas = placed([broker(each) for each in (1, 2, 3, 4)], 40, 3)
    assert all(len({*each}) == 3 for each in replicas)
    assert Counter(each[0] for each in replicas) == dict.fromkeys((1, 2, 3, 4), 10)
    assert Counter(one for each in replicas for one in each) == dict.fromkeys((1, 2, 3, 4), 30)


def test_placement_puts_replica_of_each_partition_into_each_rack() -> None:
    brokers = [broker(each, rack="abc"[each % 3]) for each in range(6)]
    for each in placed(brokers, 24, 3):
        assert {"abc"[one % 3] for one in each} == {"a", "b", "c"}


def test_placement_uses_fenced_broker_last_and_never_as_leader() -> None:
    brokers = [broker(1), broker(2), broker(3, is_fenced=True)]
    assert {3} == {each[2] for each in placed(brokers, 20, 3)}
    assert 3 not in {one for each in placed(brokers, 20, 2) for one in each}


def test_placement_skips_broker_in_controlled_shutdown() -> None:
    brokers = [broker(1), broker(2), broker(3, is_shutting_down=True)]
    assert 3 not in {one for each in placed(brokers, 20, 2) for one in each}
    with pytest.raises(PlacementRefused, match="only 2 broker"):
        placed(brokers, 1, 3)


def test_placement_with_too_few_or_only_fenced_brokers_is_refused() -> None:
    with pytest.raises(PlacementRefused, match="only 1 broker"):
        placed([broker(1)], 1, 2)
    with pytest.raises(PlacementRefused, match="fenced"):
        placed([broker(1, is_fenced=True)], 1, 1)
