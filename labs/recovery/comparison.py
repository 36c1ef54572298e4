"""Comparison of two brokers' outcomes of the same case, and the differences that have a reason."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labs.recovery.case import Damage, DamageCase
from labs.recovery.observing import Outcome
from labs.recovery.recovery_side import REFUSED

EXPLAINED = Path(__file__).with_name("explained.toml")
EXPLAINED_VERSION = 1
_NOT_COMPARED = {"why"}


class RecoveryTableError(ValueError):
    """The file of explained differences is wrong; the text says how."""


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason of a difference.

    ``sides``: the two sides as named on the command line; ``kinds``: kinds of damage; ``names``:
    the values that may differ. ``says``: a pattern that must be found in the words of the damage,
    None for all damages. ``refuses``: the one side that must refuse to start, None for no such
    condition.
    """

    sides: frozenset[str]
    kinds: frozenset[str]
    names: frozenset[str]
    reason: str
    says: str | None = None
    refuses: str | None = None

    def covers(self, difference: RecoveryDifference) -> bool:
        return (
            self.sides == difference.sides
            and difference.kind in self.kinds
            and self.names.issuperset(difference.names)
            and (self.says is None or re.search(self.says, difference.says) is not None)
            and (self.refuses is None or difference.refusing == {self.refuses})
        )


@dataclass(frozen=True, slots=True)
class RecoveryDifference:
    """``says``: the damage in words; ``refusing``: of the sides those that do not start."""

    kind: str
    says: str
    names: Sequence[str]
    sides: frozenset[str]
    refusing: frozenset[str]


@dataclass(frozen=True, slots=True)
class ComparedCopies:
    """``names``: of what differs, see :data:`labs.recovery.observing.Outcome`."""

    case: DamageCase
    damage: Damage
    left: Outcome
    right: Outcome
    reason: str

    @property
    def names(self) -> list[str]:
        return differing(self.left, self.right)

    @property
    def verdict(self) -> str:
        return "same" if not self.names else "explained" if self.reason else "differs"

    def told(self) -> str:
        """A difference in full."""
        lines = [f"{self.case}: {self.damage.says}"]
        for name in (*self.names, *sorted(_NOT_COMPARED)):
            for side, outcome in (("left", self.left), ("right", self.right)):
                if name in outcome:
                    lines.append(f"  {name}, {side}: {outcome[name]}")
        return "\n".join([*lines, f"  explained: {self.reason}"] if self.reason else lines)


def differing(left: Outcome, right: Outcome) -> list[str]:
    names = sorted((left.keys() | right.keys()) - _NOT_COMPARED)
    return [name for name in names if left.get(name) != right.get(name)]


def what_became(case: DamageCase, damage: Damage, seen: Outcome) -> str:
    """Where a log ends behind the recovery, in words that many cases share."""
    if seen["start"] == REFUSED:
        return REFUSED
    (error, end, _), (_, start, _) = seen["log end"], seen["log start"]
    if error:
        return f"error {error}"
    words = [_place_of(end, damage.offset, case.source.end_offset)]
    if start:
        words.append("starts later")
    records = seen["records"]
    if records[0]:
        words.append(f"reading gives error {records[0]}")
    elif records[1] != end:
        words.append("reading ends early" if records[1] < end else "reading goes beyond")
    return ", ".join(words)


def _place_of(end: int, struck: int | None, whole: int) -> str:
    if end == whole:
        return "keeps its end"
    if end > whole:
        return "ends higher"
    if struck is None:
        return "ends lower"
    if end == struck:
        return "ends at the damage"
    return "ends before the damage" if end < struck else "ends behind the damage"


# -- reasons -------------------------------------------------------------------------------------


def read_reasons(path: Path = EXPLAINED) -> list[Reason]:
    """Raises ExplainedError."""
    table = tomllib.loads(path.read_text("utf-8"))
    if table.pop("explained_version", None) != EXPLAINED_VERSION:
        raise RecoveryTableError(f"{path}: explained_version must be {EXPLAINED_VERSION}")
    return [_reason(entry, path) for entry in table.get("difference", ())]


def _reason(entry: Mapping[str, Any], path: Path) -> Reason:
    needed, more = {"sides", "kinds", "names", "reason"}, {"says", "refuses"}
    if not needed <= entry.keys() <= needed | more or not entry["reason"]:
        raise RecoveryTableError(
            f"{path}: {dict(entry)} needs {', '.join(sorted(needed))} and may have"
            f" {', '.join(sorted(more))}"
        )
    sides, refuses = frozenset(entry["sides"]), entry.get("refuses")
    if refuses is not None and refuses not in sides:
        raise RecoveryTableError(f"{path}: {refuses} is none of {', '.join(sorted(sides))}")
    return Reason(
        sides,
        frozenset(entry["kinds"]),
        frozenset(entry["names"]),
        entry["reason"],
        entry.get("says"),
        refuses,
    )


def difference_of(
    case: DamageCase, damage: Damage, outcomes: Mapping[str, Outcome]
) -> RecoveryDifference:
    """``outcomes``: of the two sides, the left one first."""
    left, *others = outcomes.values()
    return RecoveryDifference(
        case.kind.name,
        damage.says,
        differing(left, others[0] if others else left),
        frozenset(outcomes),
        frozenset(side for side, seen in outcomes.items() if seen["start"] == REFUSED),
    )


def reason_for(difference: RecoveryDifference, reasons: Sequence[Reason]) -> str:
    """All that differs has to be covered by one reason; empty without one."""
    if difference.names:
        for each in reasons:
            if each.covers(difference):
                return each.reason
    return ""
