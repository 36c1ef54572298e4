"""Records that a change of a partition writes (class PartitionChangeBuilder)."""

from typing import Any
from uuid import UUID

import pytest

from harness.base.ids import BrokerId
from harness.codec.messages import PartitionChangeRecord
from harness.reference_broker.state.controller.leader_election import Election
from harness.reference_broker.state.controller.partition_change import (
    Circumstances,
    TargetReplicas,
    change_of,
)
from harness.reference_broker.state.registrations.partition_registration import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    RECOVERING,
    PartitionRegistration,
    ids_of,
)
from tests.reference_broker.made_controller import TOPIC_ID, registered

DIRECTORY = UUID(int=4_000)


def change(
    registration: PartitionRegistration,
    election: Election = Election.ONLINE,
    *,
    alive: tuple[int, ...] = (1, 2, 3, 4),
    minimum: int = 1,
    keeps_eligible: bool = True,
    shrinks_in_new_epoch: bool = False,
    **target: Any,
) -> PartitionChangeRecord | None:
    ids: dict[str, Any] = {
        key: ids_of(value) if isinstance(value, tuple) else value for key, value in target.items()
    }
    around = Circumstances(
        lambda each: each in alive, minimum, keeps_eligible, shrinks_in_new_epoch
    )
    return change_of(
        (TOPIC_ID, 0), registration, TargetReplicas(**ids), around, election, lambda _: DIRECTORY
    )


def record(**fields: Any) -> PartitionChangeRecord:
    return PartitionChangeRecord(topic_id=TOPIC_ID, partition_id=0, **fields)


def test_unchanged_partition_writes_no_record() -> None:
    assert change(registered([1, 2, 3], [1, 2, 3])) is None


@pytest.mark.parametrize("election", [Election.ONLINE, Election.UNCLEAN])
def test_active_leader_is_kept_by_online_and_unclean_elections(election: Election) -> None:
    assert change(registered([1, 2, 3], [1, 2, 3], leader=2), election) is None


def test_preferred_election_record_names_preferred_leader() -> None:
    wanted = record(leader=1)
    assert change(registered([1, 2, 3], [1, 2, 3], leader=2), Election.PREFERRED) == wanted


@pytest.mark.parametrize(
    ("isr", "alive"), [([2, 3], (1, 2, 3)), ([1, 2, 3], (2, 3))], ids=["not in sync", "not there"]
)
def test_preferred_election_of_ineligible_replica_writes_no_record(
    isr: list[int], alive: tuple[int, ...]
) -> None:
    assert change(registered([1, 2, 3], isr, leader=2), Election.PREFERRED, alive=alive) is None


def test_first_active_in_sync_replica_becomes_leader() -> None:
    wanted = record(leader=3, isr=[2, 3])
    assert change(registered([1, 2, 3], [1, 2, 3]), alive=(3,), isr=(2, 3)) == wanted


def test_isr_keeps_last_member_if_elr_is_disabled() -> None:
    found = change(registered([1, 2], [1]), isr=(), alive=(2,), keeps_eligible=False)
    assert found == record(leader=NO_LEADER)


def test_last_isr_member_moves_to_elr_if_elr_is_enabled() -> None:
    found = change(registered([1, 2], [1]), isr=(), alive=(2,))
    assert found == record(
        leader=NO_LEADER, isr=[], eligible_leader_replicas=[1], last_known_elr=[1]
    )


def test_replica_removed_from_isr_below_minimum_joins_elr() -> None:
    found = change(registered([1, 2, 3], [1, 2], elr=(3,)), isr=(1,), minimum=2)
    assert found == record(isr=[1], eligible_leader_replicas=[2, 3])


def test_elr_is_empty_while_isr_has_minimum_size() -> None:
    assert change(registered([1, 2, 3], [1, 2, 3]), isr=(1, 2), minimum=2) == record(isr=[1, 2])
    found = change(registered([1, 2, 3], [1], elr=(3,)), isr=(1, 2), minimum=2)
    assert found == record(isr=[1, 2], eligible_leader_replicas=[])


def test_replica_added_to_isr_leaves_elr() -> None:
    found = change(registered([1, 2, 3], [1], elr=(2, 3)), isr=(1, 2), minimum=3)
    assert found == record(isr=[1, 2], eligible_leader_replicas=[3])


def test_replica_with_unclean_shutdown_is_not_in_elr() -> None:
    gone = frozenset({BrokerId(2)})
    found = change(
        registered([1, 2, 3], [1, 2], elr=(3,)), isr=(1,), minimum=2, shut_down_unclean=gone
    )
    assert found == record(isr=[1])


def test_removed_replica_is_not_in_elr() -> None:
    found = change(registered([1, 2, 3], [1, 2, 3]), replicas=(1, 2, 3), removing=(3,), minimum=3)
    assert found is not None
    assert (found.replicas, found.isr) == ([1, 2], [1, 2])
    assert found.eligible_leader_replicas is None


def test_elr_member_is_elected_if_isr_is_empty() -> None:
    found = change(registered([1, 2, 3], [], elr=(2, 3), last_known_elr=(1,)), alive=(3,))
    assert found == record(leader=3, isr=[3], eligible_leader_replicas=[2], last_known_elr=[])


def test_elr_member_is_not_elected_while_isr_has_members() -> None:
    found = change(registered([1, 2, 3], [1], elr=(2,)), alive=(2,), minimum=2)
    assert found == record(leader=NO_LEADER)


def test_last_known_leader_is_elected_if_isr_and_elr_are_empty() -> None:
    found = change(registered([1, 2, 3], [], last_known_elr=(3,)), alive=(1, 3))
    assert found == record(leader=3, isr=[3], leader_recovery_state=RECOVERING, last_known_elr=[])


@pytest.mark.parametrize(
    ("last_known", "alive", "keeps"),
    [((3,), (1,), True), ((2, 3), (2, 3), True), ((3,), (3,), False)],
    ids=["not there", "more than one", "none kept"],
)
def test_last_known_leader_is_not_elected_if_inactive_ambiguous_or_no_elr(
    last_known: tuple[int, ...], alive: tuple[int, ...], keeps: bool
) -> None:
    lost = registered([1, 2, 3], [], last_known_elr=last_known)
    assert change(lost, alive=alive, keeps_eligible=keeps) is None


def test_unclean_election_of_active_replica_clears_elr_and_last_known_elr() -> None:
    found = change(
        registered([1, 2, 3], [], elr=(1,), last_known_elr=(1,)), Election.UNCLEAN, alive=(3,)
    )
    assert found == record(
        leader=3,
        isr=[3],
        leader_recovery_state=RECOVERING,
        eligible_leader_replicas=[],
        last_known_elr=[],
    )


def test_unclean_election_of_elr_member_beside_isr_starts_recovery() -> None:
    lost = registered([1, 2, 3], [1], leader=-1, elr=(2, 3))
    found = change(lost, Election.UNCLEAN, alive=(2,), minimum=3)
    assert found == record(
        leader=2, isr=[2], leader_recovery_state=RECOVERING, eligible_leader_replicas=[]
    )


def test_unclean_election_prefers_in_sync_replica() -> None:
    found = change(registered([1, 2, 3], [3], leader=-1), Election.UNCLEAN)
    assert found == record(leader=3)


def test_second_unclean_election_omits_recovery_state() -> None:
    lost = registered([1, 2], [1], leader=-1, is_recovering=True)
    assert change(lost, Election.UNCLEAN, alive=(2,)) == record(leader=2, isr=[2])


def test_end_of_leader_recovery_writes_recovery_state() -> None:
    found = change(registered([1, 2], [1], is_recovering=True), has_recovered=True)
    assert found == record(leader_recovery_state=0)


def test_reassignment_adds_replicas_before_it_removes_any() -> None:
    found = change(
        registered([1, 2], [1, 2]), replicas=(3, 4, 1, 2), adding=(3, 4), removing=(1, 2)
    )
    assert found == record(
        replicas=[3, 4, 1, 2],
        adding_replicas=[3, 4],
        removing_replicas=[1, 2],
        directories=[DIRECTORY, DIRECTORY, UUID(int=1_001), UUID(int=1_002)],
    )


MOVING: dict[str, Any] = {"adding": (3,), "removing": (1,)}


def test_reassignment_completes_when_all_target_replicas_are_in_sync() -> None:
    found = change(registered([2, 3, 1], [1, 2], leader=1, **MOVING), isr=(1, 2, 3))
    assert found == record(
        leader=2,
        isr=[2, 3],
        replicas=[2, 3],
        adding_replicas=[],
        removing_replicas=[],
        directories=[UUID(int=1_002), UUID(int=1_003)],
    )


def test_reassignment_does_not_complete_while_target_is_out_of_sync() -> None:
    assert change(registered([2, 3, 1], [1, 2], leader=1, **MOVING)) is None


def test_reassignment_completes_without_kept_replica_if_replicas_are_not_fewer() -> None:
    found = change(registered([2, 3, 1], [1], leader=1, **MOVING), isr=(1, 3))
    assert found is not None
    assert (found.leader, found.isr, found.replicas) == (3, [3], [2, 3])


def test_removal_of_replicas_waits_for_remaining_replica_in_isr() -> None:
    found = change(registered([1, 2], [2], removing=(2,), leader=2))
    assert found is None
    found = change(registered([1, 2], [2], removing=(2,), leader=2), isr=(1, 2))
    assert found is not None
    assert (found.leader, found.isr, found.replicas) == (1, [1], [1])


def test_removal_of_replica_begins_new_leader_epoch() -> None:
    found = change(registered([1, 2, 3], [1, 2, 3]), replicas=(1, 2), isr=(1, 2))
    assert found is not None
    assert found.leader == 1
    another_order = change(registered([1, 2, 3], [1, 2, 3]), replicas=(2, 1, 3))
    assert another_order is not None
    assert another_order.leader == NO_LEADER_CHANGE


@pytest.mark.parametrize(("begins", "leader"), [(True, 1), (False, NO_LEADER_CHANGE)])
def test_isr_shrink_begins_leader_epoch_only_in_releases_up_to_3_5(
    begins: bool, leader: int
) -> None:
    found = change(registered([1, 2, 3], [1, 2, 3]), isr=(1, 2), shrinks_in_new_epoch=begins)
    assert found == record(leader=leader, isr=[1, 2])
    larger = change(registered([1, 2, 3], [1, 2]), isr=(1, 2, 3), shrinks_in_new_epoch=begins)
    assert larger == record(isr=[1, 2, 3])


def test_partition_change_record_raises_leader_and_partition_epochs() -> None:
    before = registered([1, 2, 3], [1, 2, 3])
    shrunk = before.changed(record(isr=[1, 2]))
    assert (shrunk.isr, shrunk.leader_epoch, shrunk.partition_epoch) == ((1, 2), 5, 8)
    led = shrunk.changed(record(leader=1))
    assert (led.leader, led.leader_epoch, led.partition_epoch) == (1, 6, 9)
    recovering = led.changed(record(leader_recovery_state=RECOVERING))
    assert recovering.is_recovering
    assert not recovering.changed(record(leader_recovery_state=0)).is_recovering
    assert PartitionRegistration.read(before.as_record(TOPIC_ID, 0)) == before
