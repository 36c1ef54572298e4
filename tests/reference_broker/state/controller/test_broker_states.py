"""The sessions of the controller obey the table of a broker's states."""

from __future__ import annotations

from itertools import product

import pytest

from harness.base.ids import BrokerId, TimeMs
from harness.reference_broker.state.controller.broker_states import (
    TRANSITIONS,
    BrokerControlState,
    BrokerEvent,
    next_state,
)
from harness.reference_broker.state.controller.sessions import BrokerSessions, Wish
from harness.reference_broker.state.transitions import IllegalTransitionError

OWN, NOW = BrokerId(1), TimeMs(1_000)
REGISTERED_AT, SHUT_DOWN_AT = 10, 20
REGISTERED = [one for one in BrokerControlState if one is not BrokerControlState.UNREGISTERED]


def sessions_with(state: BrokerControlState) -> BrokerSessions:
    """Sessions with one broker in this state."""
    sessions = BrokerSessions(timeout_ms=100)
    if state is not BrokerControlState.UNREGISTERED:
        sessions.load(OWN, NOW, is_fenced=state is BrokerControlState.FENCED)
    if state is BrokerControlState.CONTROLLED_SHUTDOWN:
        sessions.await_shutdown(OWN, SHUT_DOWN_AT)
    assert sessions.state_of(OWN) is state
    return sessions


@pytest.mark.parametrize(("state", "event"), list(product(REGISTERED, BrokerEvent)))
def test_event_leads_to_the_next_state_or_is_illegal(
    state: BrokerControlState, event: BrokerEvent
) -> None:
    sessions = sessions_with(state)
    if event not in TRANSITIONS[state]:
        with pytest.raises(IllegalTransitionError, match=f"{event.name} in a broker that is"):
            sessions.apply(OWN, event)
        assert sessions.state_of(OWN) is state
        return
    sessions.apply(OWN, event)
    assert sessions.state_of(OWN) is next_state(state, event)


def test_an_unregistered_broker_sends_no_heartbeats_and_is_not_unregistered_again() -> None:
    state = BrokerControlState.UNREGISTERED
    assert sorted(one.name for one in TRANSITIONS[state]) == [
        "LOADED_FENCED", "LOADED_UNFENCED", "REGISTERED",
    ]  # fmt: skip
    with pytest.raises(IllegalTransitionError, match="REGISTERED_AGAIN in a broker that is"):
        sessions_with(state).begin(OWN, is_same=True)


@pytest.mark.parametrize(
    ("state", "wants_fence", "wants_shut_down", "leads", "metadata_offset"),
    list(product(REGISTERED, (False, True), (False, True), (False, True), (9, 10, 20))),
)
def test_every_heartbeat_is_an_event_of_its_state(
    state: BrokerControlState,
    wants_fence: bool,
    wants_shut_down: bool,
    leads: bool,
    metadata_offset: int,
) -> None:
    wish = Wish(metadata_offset, wants_fence, wants_shut_down)
    event = sessions_with(state).event_of(OWN, wish, REGISTERED_AT, leads=leads)
    assert event in TRANSITIONS[state]


@pytest.mark.parametrize("state", REGISTERED)
def test_a_new_incarnation_begins_fenced_and_the_same_one_keeps_its_state(
    state: BrokerControlState,
) -> None:
    for is_same, following in ((True, state), (False, BrokerControlState.FENCED)):
        sessions = sessions_with(state)
        sessions.touch(OWN, NOW, REGISTERED_AT)
        sessions.begin(OWN, is_same=is_same)
        assert sessions.state_of(OWN) is following
        assert sessions.is_valid(OWN, NOW) == is_same


def test_a_shutdown_that_has_begun_keeps_its_offset() -> None:
    sessions = sessions_with(BrokerControlState.CONTROLLED_SHUTDOWN)
    sessions.await_shutdown(OWN, SHUT_DOWN_AT + 5)
    sessions.load(BrokerId(2), NOW, is_fenced=False)
    sessions.touch(BrokerId(2), NOW, SHUT_DOWN_AT)
    wish = Wish(SHUT_DOWN_AT, wants_fence=False, wants_shut_down=True)
    assert sessions.event_of(OWN, wish, REGISTERED_AT, leads=False) is BrokerEvent.MAY_STOP
