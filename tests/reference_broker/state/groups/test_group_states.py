"""The table of a group's states: complete, connected, and drawn in the document."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from checks.state_diagram import group_diagram
from harness.base.ids import GroupId, TimeMs
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_states import (
    TRANSITIONS,
    GroupEvent,
    GroupState,
    IllegalTransitionError,
    next_state,
)

DOCUMENT = Path(__file__).resolve().parents[4] / "docs/groups.md"


def test_transition_table_has_all_states_and_events() -> None:
    assert list(TRANSITIONS) == list(GroupState)
    assert {event for events in TRANSITIONS.values() for event in events} == set(GroupEvent)


def test_each_group_state_is_reachable_from_empty() -> None:
    reached = {GroupState.EMPTY}
    while more := {s for one in reached for s in TRANSITIONS[one].values()} - reached:
        reached |= more
    assert reached == set(GroupState)


@pytest.mark.parametrize(("state", "event"), list(product(GroupState, GroupEvent)))
def test_group_event_applies_transition_or_raises_illegal_transition_error(
    state: GroupState, event: GroupEvent
) -> None:
    group = Group(GroupId("g"), TimeMs(0))
    group.state = state
    if event not in TRANSITIONS[state]:
        with pytest.raises(IllegalTransitionError, match=f"{event.name} in a group that is"):
            group.apply(event, TimeMs(5))
        assert (group.state, group.state_since) == (state, 0)
        return
    group.apply(event, TimeMs(5))
    assert group.state is next_state(state, event)
    assert (group.previous_state, group.state_since) == (state, 5)


def test_document_contains_diagram_of_transition_table() -> None:
    assert f"```mermaid\n{group_diagram()}\n```" in DOCUMENT.read_text("utf-8")
