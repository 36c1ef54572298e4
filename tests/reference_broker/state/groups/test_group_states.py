"""A group obeys the table of its states."""

from __future__ import annotations

from itertools import product

import pytest

from harness.base.ids import GroupId, TimeMs
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_states import (
    TRANSITIONS,
    GroupEvent,
    GroupState,
    next_state,
)
from harness.reference_broker.state.transitions import IllegalTransitionError


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
