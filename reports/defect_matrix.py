"""Defects x requirements: which named mistake of a broker is noticed by which requirement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ChangedVerdict:
    """A requirement with another verdict under a defect; None: it had no verdict."""

    requirement: str
    was: str | None
    now: str | None


@dataclass(frozen=True)
class DefectRow:
    """One defect in front of one target.

    `killed`: `requirement` alone noticed it, for the stated reason; else `problem` is the cause.
    `changed` are all requirements with a changed verdict, its own among them.
    """

    requirement: str
    defect: str
    target: str
    meaning: str
    killed: bool
    reason: str
    problem: str
    changed: tuple[ChangedVerdict, ...]


def defect_rows(table: Iterable[Mapping[str, Any]]) -> tuple[DefectRow, ...]:
    """The rows of `defects.parquet`."""
    return tuple(
        DefectRow(
            **{**row, "changed": tuple(ChangedVerdict(**change) for change in row["changed"])}
        )
        for row in table
    )
