"""The order of units: what takes longest begins first, so that no worker is alone at the end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.conformance.summary import RunSummary
from labs.defects.row_unit import Unit, parts_of

LONG_MS = 20_000
"""A unit of several rows takes no longer, so that several workers share its rows."""
Durations = Mapping[str, float]
"""Milliseconds by requirement."""


def durations_of(run: RunSummary) -> Durations:
    """The time of all checks of each requirement, without their preparations."""
    return {
        name: sum(check.duration_ms for check in one.checks)
        for name, one in run.requirements.items()
    }


def longest_first(units: Iterable[Unit], durations: Durations) -> list[Unit]:
    """Cut what takes longer than :data:`LONG_MS`, and order all by what they take.

    Units that watch an area or more come first: no table has their durations. Those of a
    requirement without a duration come last, in the order in which they were.
    """

    def row_ms(unit: Unit) -> float:
        return sum(durations.get(name, 0.0) for name in unit.watched)

    pieces = [piece for unit in units for piece in _cut(unit, row_ms(unit))]
    return sorted(
        pieces, key=lambda one: (one.ends_at_failure, -row_ms(one) * max(1, len(one.rows)))
    )


def _cut(unit: Unit, row_ms: float) -> list[Unit]:
    size = max(1, int(LONG_MS // row_ms)) if row_ms else len(unit.rows)
    return [replace(unit, rows=part) for part in parts_of(unit.rows, size)] or [unit]
