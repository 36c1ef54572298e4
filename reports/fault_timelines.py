"""Timelines of faults: what was done, in one attempt of a case, on the way to the broker."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class FaultEvent:
    """As docs/results.md has it; None: not about one."""

    at_ms: float
    what: str
    link: str | None
    connection: int | None
    direction: str | None
    frame: int | None
    rule: str | None
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class FaultTimeline:
    """One attempt of a case on one target; `count` events, of which `events` are the first."""

    target: str
    case: str
    attempt: int
    count: int
    events: tuple[FaultEvent, ...]


def timelines(table: Iterable[Mapping[str, Any]]) -> tuple[FaultTimeline, ...]:
    """The rows of `faults.parquet`."""
    return tuple(
        FaultTimeline(**{**row, "events": tuple(_event(event) for event in row["events"])})
        for row in table
    )


def _event(event: Mapping[str, Any]) -> FaultEvent:
    given = {field.name: event[field.name] for field in fields(FaultEvent)}
    return FaultEvent(**{**given, "detail": json.loads(event["detail"])})


def detail_words(event: FaultEvent) -> str:
    """The details in one line: `action: drop, api: Produce`."""
    return ", ".join(
        f"{name.replace('_', ' ')}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in event.detail.items()
        if value is not None
    )
