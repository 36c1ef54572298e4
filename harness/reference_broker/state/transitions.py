"""Tables of transitions: states, the events that may occur in each, and the state that follows.

A table decides: code that changes a state calls `state_after`, which refuses an event that the
table does not have. `python -m checks.state_diagram` draws the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeVar

StateT = TypeVar("StateT", bound=Enum)
EventT = TypeVar("EventT", bound=Enum)


class IllegalTransitionError(Exception):
    """An event in a state that does not have it: a defect of the caller, never an answer."""


def state_after(
    transitions: Mapping[StateT, Mapping[EventT, StateT]], state: StateT, event: EventT, thing: str
) -> StateT:
    """Return the state of `thing` after an event. Raises IllegalTransitionError."""
    try:
        return transitions[state][event]
    except KeyError:
        raise IllegalTransitionError(f"{event.name} in a {thing} that is {state.value}") from None
