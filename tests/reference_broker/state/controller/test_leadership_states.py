"""Changes of a partition obey the table of a leadership's states."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from harness.reference_broker.state.controller.leader_election import Election
from harness.reference_broker.state.controller.leadership_states import (
    TRANSITIONS,
    LeadershipEvent,
    LeadershipState,
    leadership_of,
    next_state,
)
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.transitions import IllegalTransitionError
from tests.reference_broker.made_controller import registered
from tests.reference_broker.state.controller.test_partition_change import change

UNCLEAN = Election.UNCLEAN
CHANGES: dict[LeadershipEvent, dict[str, Any]] = {
    LeadershipEvent.CLEANLY_ELECTED: {"alive": (2,)},
    LeadershipEvent.UNCLEANLY_ELECTED: {"alive": (3,), "election": UNCLEAN},
    LeadershipEvent.LEADER_LOST: {"alive": ()},
    LeadershipEvent.RECOVERED: {"has_recovered": True},
}


def partition_in(state: LeadershipState) -> PartitionRegistration:
    """A partition that broker 1 leads or led, alone in sync with broker 2."""
    leads = state in (LeadershipState.ONLINE, LeadershipState.RECOVERING)
    made = registered([1, 2, 3], [1, 2], 1 if leads else -1, is_recovering=state.is_recovering)
    assert leadership_of(made) is state
    return made


def events_of(state: LeadershipState) -> list[LeadershipEvent]:
    """The events that a change of a partition in this state can be."""
    is_offline = state in (LeadershipState.OFFLINE, LeadershipState.OFFLINE_RECOVERING)
    lost = LeadershipEvent.LEADER_LOST
    return [event for event in LeadershipEvent if not (is_offline and event is lost)]


@pytest.mark.parametrize(
    ("state", "event"), [(state, event) for state in LeadershipState for event in events_of(state)]
)
def test_change_leads_to_the_next_state_or_is_illegal(
    state: LeadershipState, event: LeadershipEvent
) -> None:
    before, given = partition_in(state), dict(CHANGES[event])
    if event is LeadershipEvent.RECOVERED and state is LeadershipState.OFFLINE_RECOVERING:
        given["alive"] = ()
    if event not in TRANSITIONS[state]:
        with pytest.raises(IllegalTransitionError, match=f"{event.name} in a partition that is"):
            change(before, **{"alive": (), **given} if before.leader < 0 else given)
        return
    record = change(before, **given)
    assert record is not None
    assert leadership_of(before.changed(record)) is next_state(state, event)


def test_an_offline_partition_loses_no_leader() -> None:
    assert change(partition_in(LeadershipState.OFFLINE), alive=()) is None
    for state in (LeadershipState.OFFLINE, LeadershipState.OFFLINE_RECOVERING):
        assert LeadershipEvent.LEADER_LOST not in TRANSITIONS[state]


@pytest.mark.parametrize(
    ("alive", "following"),
    list(zip([(), (2,)], [LeadershipState.OFFLINE, LeadershipState.ONLINE], strict=True)),
)
def test_a_leader_that_has_recovered_may_be_lost_by_the_same_change(
    alive: tuple[int, ...], following: LeadershipState
) -> None:
    before = partition_in(LeadershipState.RECOVERING)
    record = change(before, alive=alive, has_recovered=True)
    assert record is not None
    assert leadership_of(before.changed(record)) is following


@pytest.mark.parametrize(("leader", "is_recovering"), list(product((1, -1), (False, True))))
def test_every_registration_has_a_state(leader: int, is_recovering: bool) -> None:
    state = leadership_of(registered([1, 2], [1], leader, is_recovering=is_recovering))
    assert state.is_recovering == is_recovering
    assert state in TRANSITIONS
