"""Histories: what the clients of one attempt of a case did, beside what was done to the brokers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

FAULT: Final = "fault"


@dataclass(frozen=True)
class Span:
    """A send from its beginning to its end, or a moment; as docs/results.md has it.

    ``ended_ms`` None: it never ended. None elsewhere: not recorded.
    """

    process: str
    action: str
    partition: int | None
    outcome: str
    began_ms: float
    ended_ms: float | None
    offset: int | None
    value: str | None
    detail: str | None


@dataclass(frozen=True)
class History:
    """One attempt of a case on one target.

    ``sent`` records: some were certainly written (``acknowledged``), some certainly not
    (``failed``), of others it is ``unknown``. ``in_log``: those there at the end, None if the log
    was not read. ``spans``: each ``every``-th.
    """

    target: str
    case: str
    attempt: int
    sent: int
    acknowledged: int
    failed: int
    unknown: int
    in_log: int | None
    every: int
    spans: tuple[Span, ...]

    @property
    def faults(self) -> tuple[Span, ...]:
        """The faults of brokers and links meanwhile."""
        return tuple(span for span in self.spans if span.action == FAULT)


def histories(table: Iterable[Mapping[str, Any]]) -> tuple[History, ...]:
    """The rows of `histories.parquet`."""
    return tuple(
        History(**{**row, "spans": tuple(_span(span) for span in row["spans"])}) for row in table
    )


def _span(span: Mapping[str, Any]) -> Span:
    return Span(**{field.name: span[field.name] for field in fields(Span)})
