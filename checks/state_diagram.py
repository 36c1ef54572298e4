"""``python -m checks.state_diagram``: the diagrams of state machines, drawn from their tables.

The documents contain the output; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from harness.reference_broker.state.controller import broker_states
from harness.reference_broker.state.groups import group_states
from harness.reference_broker.state.transitions import EventT, StateT


class Drawing(NamedTuple):
    """A table as a page of the documents shows it, in Markdown."""

    page: str
    text: str


def diagram(transitions: Mapping[StateT, Mapping[EventT, StateT]]) -> str:
    """Return the table as a state diagram in Mermaid's language; events in their own words.

    The first state of the table is the one that everything begins in.
    """
    return "\n".join(("```mermaid", *_lines(transitions), "```"))


def _lines(transitions: Mapping[StateT, Mapping[EventT, StateT]]) -> Iterator[str]:
    yield "stateDiagram-v2"
    yield f"    [*] --> {_name(next(iter(transitions)))}"
    for state, events in transitions.items():
        for event, following in events.items():
            yield f"    {_name(state)} --> {_name(following)}: {event.value}"
        if not events:
            yield f"    {_name(state)} --> [*]"


def _name(state: Enum) -> str:
    return str(state.value)


def drawings() -> Iterator[Drawing]:
    """Yield all tables of the documents."""
    yield Drawing("docs/groups.md", diagram(group_states.TRANSITIONS))
    yield Drawing("docs/broker-states.md", diagram(broker_states.TRANSITIONS))


if __name__ == "__main__":
    for drawing in drawings():
        print(f"{drawing.page}\n\n{drawing.text}\n")
