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


def test_nothing_is_written_where_nothing_changes() -> None:
    assert change(registered([1, 2, 3], [1, 2, 3])) is None


@pytest.mark.parametrize("election", [Election.ONLINE, Election.UNCLEAN])
def test_the_leader_stays_though_another_one_is_preferred(election: Election) -> None:
    assert change(registered([1, 2, 3], [1, 2, 3], leader=2), election) is None


def test_the_preferred_leader_is_elected_when_it_is_asked_for() -> None:
    wanted = record(leader=1)
    assert change(registered([1, 2, 3], [1, 2, 3], leader=2), Election.PREFERRED) == wanted


@pytest.mark.parametrize(
    ("isr", "alive"), [([2, 3], (1, 2, 3)), ([1, 2, 3], (2, 3))], ids=["not in sync", "not there"]
)
def test_a_preferred_leader_that_may_not_lead_changes_nothing(
    isr: list[int], alive: tuple[int, ...]
) -> None:
    assert change(registered([1, 2, 3], isr, leader=2), Election.PREFERRED, alive=alive) is None


def test_who_goes_is_followed_by_the_first_replica_that_is_in_sync_and_there() -> None:
    wanted = record(leader=3, isr=[2, 3])
    assert change(registered([1, 2, 3], [1, 2, 3]), alive=(3,), isr=(2, 3)) == wanted


def test_without_eligible_leaders_the_last_in_sync_stays_that() -> None:
    found = change(registered([1, 2], [1]), isr=(), alive=(2,), keeps_eligible=False)
    assert found == record(leader=NO_LEADER)


def test_with_eligible_leaders_nobody_may_be_in_sync() -> None:
    found = change(registered([1, 2], [1]), isr=(), alive=(2,))
    assert found == record(
        leader=NO_LEADER, isr=[], eligible_leader_replicas=[1], last_known_elr=[1]
    )


def test_who_leaves_an_isr_that_is_too_small_then_is_eligible() -> None:
    found = change(registered([1, 2, 3], [1, 2], elr=(3,)), isr=(1,), minimum=2)
    assert found == record(isr=[1], eligible_leader_replicas=[2, 3])


def test_nobody_is_eligible_while_enough_are_in_sync() -> None:
    assert change(registered([1, 2, 3], [1, 2, 3]), isr=(1, 2), minimum=2) == record(isr=[1, 2])
    found = change(registered([1, 2, 3], [1], elr=(3,)), isr=(1, 2), minimum=2)
    assert found == record(isr=[1, 2], eligible_leader_replicas=[])


def test_who_is_in_sync_again_is_not_eligible_beside() -> None:
    found = change(registered([1, 2, 3], [1], elr=(2, 3)), isr=(1, 2), minimum=3)
    assert found == record(isr=[1, 2], eligible_leader_replicas=[3])


def test_who_came_back_without_a_whole_log_is_not_eligible() -> None:
    gone = frozenset({BrokerId(2)})
    found = change(
        registered([1, 2, 3], [1, 2], elr=(3,)), isr=(1,), minimum=2, shut_down_unclean=gone
    )
    assert found == record(isr=[1])


def test_who_is_no_replica_any_more_is_not_eligible() -> None:
    found = change(registered([1, 2, 3], [1, 2, 3]), replicas=(1, 2, 3), removing=(3,), minimum=3)
    assert found is not None
    assert (found.replicas, found.isr) == ([1, 2], [1, 2])
    assert found.eligible_leader_replicas is None


def test_an_eligible_one_leads_when_nobody_is_in_sync() -> None:
    found = change(registered([1, 2, 3], [], elr=(2, 3), last_known_elr=(1,)), alive=(3,))
    assert found == record(leader=3, isr=[3], eligible_leader_replicas=[2], last_known_elr=[])


def test_an_eligible_one_does_not_lead_while_others_are_in_sync() -> None:
    found = change(registered([1, 2, 3], [1], elr=(2,)), alive=(2,), minimum=2)
    assert found == record(leader=NO_LEADER)


def test_the_last_leader_is_elected_when_nobody_else_is_left() -> None:
    found = change(registered([1, 2, 3], [], last_known_elr=(3,)), alive=(1, 3))
    assert found == record(leader=3, isr=[3], leader_recovery_state=RECOVERING, last_known_elr=[])


@pytest.mark.parametrize(
    ("last_known", "alive", "keeps"),
    [((3,), (1,), True), ((2, 3), (2, 3), True), ((3,), (3,), False)],
    ids=["not there", "more than one", "none kept"],
)
def test_the_last_leader_is_not_elected(
    last_known: tuple[int, ...], alive: tuple[int, ...], keeps: bool
) -> None:
    lost = registered([1, 2, 3], [], last_known_elr=last_known)
    assert change(lost, alive=alive, keeps_eligible=keeps) is None


def test_an_unclean_election_takes_any_replica_that_is_there_and_forgets_the_others() -> None:
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


def test_an_unclean_election_of_an_eligible_one_beside_one_in_sync_is_unclean_all_the_same() -> (
    None
):
    lost = registered([1, 2, 3], [1], leader=-1, elr=(2, 3))
    found = change(lost, Election.UNCLEAN, alive=(2,), minimum=3)
    assert found == record(
        leader=2, isr=[2], leader_recovery_state=RECOVERING, eligible_leader_replicas=[]
    )


def test_an_unclean_election_prefers_who_is_in_sync() -> None:
    found = change(registered([1, 2, 3], [3], leader=-1), Election.UNCLEAN)
    assert found == record(leader=3)


def test_a_second_unclean_election_does_not_say_again_that_it_recovers() -> None:
    lost = registered([1, 2], [1], leader=-1, is_recovering=True)
    assert change(lost, Election.UNCLEAN, alive=(2,)) == record(leader=2, isr=[2])


def test_a_leader_tells_that_it_has_recovered() -> None:
    found = change(registered([1, 2], [1], is_recovering=True), has_recovered=True)
    assert found == record(leader_recovery_state=0)


def test_a_move_adds_first() -> None:
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


def test_a_move_is_done_when_all_that_stay_are_in_sync() -> None:
    found = change(registered([2, 3, 1], [1, 2], leader=1, **MOVING), isr=(1, 2, 3))
    assert found == record(
        leader=2,
        isr=[2, 3],
        replicas=[2, 3],
        adding_replicas=[],
        removing_replicas=[],
        directories=[UUID(int=1_002), UUID(int=1_003)],
    )


def test_a_move_is_not_done_before() -> None:
    assert change(registered([2, 3, 1], [1, 2], leader=1, **MOVING)) is None


def test_a_move_without_new_replicas_waits_for_one_that_stays() -> None:
    found = change(registered([1, 2], [2], removing=(2,), leader=2))
    assert found is None
    found = change(registered([1, 2], [2], removing=(2,), leader=2), isr=(1, 2))
    assert found is not None
    assert (found.leader, found.isr, found.replicas) == (1, [1], [1])


def test_a_replica_that_goes_is_shut_out_by_a_new_epoch() -> None:
    found = change(registered([1, 2, 3], [1, 2, 3]), replicas=(1, 2), isr=(1, 2))
    assert found is not None
    assert found.leader == 1
    another_order = change(registered([1, 2, 3], [1, 2, 3]), replicas=(2, 1, 3))
    assert another_order is not None
    assert another_order.leader == NO_LEADER_CHANGE


@pytest.mark.parametrize(("begins", "leader"), [(True, 1), (False, NO_LEADER_CHANGE)])
def test_a_smaller_isr_began_an_epoch_up_to_3_5(begins: bool, leader: int) -> None:
    found = change(registered([1, 2, 3], [1, 2, 3]), isr=(1, 2), shrinks_in_new_epoch=begins)
    assert found == record(leader=leader, isr=[1, 2])
    larger = change(registered([1, 2, 3], [1, 2]), isr=(1, 2, 3), shrinks_in_new_epoch=begins)
    assert larger == record(isr=[1, 2, 3])


def test_what_is_merged_changes_epochs_as_it_says() -> None:
    before = registered([1, 2, 3], [1, 2, 3])
    shrunk = before.changed(record(isr=[1, 2]))
    assert (shrunk.isr, shrunk.leader_epoch, shrunk.partition_epoch) == ((1, 2), 5, 8)
    led = shrunk.changed(record(leader=1))
    assert (led.leader, led.leader_epoch, led.partition_epoch) == (1, 6, 9)
    recovering = led.changed(record(leader_recovery_state=RECOVERING))
    assert recovering.is_recovering
    assert not recovering.changed(record(leader_recovery_state=0)).is_recovering
    assert PartitionRegistration.read(before.as_record(TOPIC_ID, 0)) == before
