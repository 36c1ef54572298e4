"""``python -m checks.state_diagram``: the diagrams of state machines, drawn from their tables.

docs/groups.md contains the output; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from harness.reference_broker.state.groups.group_states import TRANSITIONS


def diagram(transitions: Mapping[Enum, Mapping[Enum, Enum]], begins: Enum) -> str:
    """Return the table as a state diagram in Mermaid's language; events in their own words."""
    return "\n".join(_lines(transitions, begins))


def _lines(transitions: Mapping[Enum, Mapping[Enum, Enum]], begins: Enum) -> Iterator[str]:
    yield "stateDiagram-v2"
    yield f"    [*] --> {begins.value}"
    for state, events in transitions.items():
        for event, following in events.items():
            yield f"    {state.value} --> {following.value}: {event.value}"
        if not events:
            yield f"    {state.value} --> [*]"


def group_diagram() -> str:
    """The states of a classic group."""
    return diagram(TRANSITIONS, next(iter(TRANSITIONS)))  # type: ignore[arg-type]


if __name__ == "__main__":
    print(group_diagram())
