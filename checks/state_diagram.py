"""``python -m checks.state_diagram``: tables of states as diagrams, tables of decisions as tables.

The documents contain the output; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from harness.reference_broker.state.controller import broker_states, leadership_states
from harness.reference_broker.state.controller.leader_election import (
    ELECTION_RULES,
    Election,
    ElectionRule,
)
from harness.reference_broker.state.groups import group_states
from harness.reference_broker.state.transactions import transaction_states
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


def rules_table() -> str:
    """Return the rules of an election as a table in Markdown, in their order."""
    rows = [
        "| | elections | candidates | a candidate leads if it is | the election is |",
        "|---|---|---|---|---|",
        *(_row(number, rule) for number, rule in enumerate(ELECTION_RULES, start=1)),
        f"| {len(ELECTION_RULES) + 1} | all | none | | in vain: the partition is offline |",
    ]
    return "\n".join(rows)


def _row(number: int, rule: ElectionRule) -> str:
    elections = " ".join(one.name for one in Election if one in rule.elections)
    is_all = rule.elections == frozenset(Election)
    kind = "unclean" if rule.is_unclean else "clean"
    return (
        f"| {number} | {'all' if is_all else elections} | {rule.named} | {rule.if_it_is} | {kind} |"
    )


def drawings() -> Iterator[Drawing]:
    """Yield all tables of the documents."""
    yield Drawing("docs/groups.md", diagram(group_states.TRANSITIONS))
    yield Drawing("docs/transactions.md", diagram(transaction_states.TRANSITIONS))
    yield Drawing("docs/broker-states.md", diagram(broker_states.TRANSITIONS))
    yield Drawing("docs/elections.md", diagram(leadership_states.TRANSITIONS))
    yield Drawing("docs/elections.md", rules_table())


if __name__ == "__main__":
    for drawing in drawings():
        print(f"{drawing.page}\n\n{drawing.text}\n")
