"""The tables of states and decisions: drawn in the documents, complete and connected."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from checks.state_diagram import Drawing, drawings
from harness.reference_broker.state.controller import broker_states, leadership_states
from harness.reference_broker.state.groups import group_states

ROOT = Path(__file__).resolve().parents[2]
Table = Mapping[Any, Mapping[Any, Any]]
TABLES = pytest.mark.parametrize(
    ("table", "states", "events"),
    [
        (group_states.TRANSITIONS, group_states.GroupState, group_states.GroupEvent),
        (
            broker_states.TRANSITIONS,
            broker_states.BrokerControlState,
            broker_states.BrokerEvent,
        ),
        (
            leadership_states.TRANSITIONS,
            leadership_states.LeadershipState,
            leadership_states.LeadershipEvent,
        ),
    ],
    ids=["groups", "brokers", "leaderships"],
)


@pytest.mark.parametrize("drawing", list(drawings()), ids=lambda one: one.page)
def test_document_shows_the_table(drawing: Drawing) -> None:
    assert drawing.text in (ROOT / drawing.page).read_text("utf-8")


@TABLES
def test_every_state_has_a_row_and_every_event_occurs(
    table: Table, states: type[Enum], events: type[Enum]
) -> None:
    assert list(table) == list(states)
    assert {event for row in table.values() for event in row} == set(events)


@TABLES
def test_every_state_can_be_reached_from_the_first(
    table: Table, states: type[Enum], events: type[Enum]
) -> None:
    reached = {next(iter(states))}
    while more := {state for one in reached for state in table[one].values()} - reached:
        reached |= more
    assert reached == set(states)
