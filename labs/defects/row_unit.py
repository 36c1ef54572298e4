"""Units of work for a worker: rows that are judged against one run without any defect.

All objects here go between processes, so they contain the name of a defect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from harness.base.address import Address
from harness.targets.secured_cluster import SecuredWay
from labs.defects.defect import Defect, Where
from labs.defects.outcome import Changes

ROWS_IN_A_UNIT = 8
"""Larger units are cut, so that several workers share them."""
OWN_PROCESS = {
    Where.OFFLINE: "a wrong function of ours stays in place until its process ends",
}
"""Reasons by which a process cannot judge another row, by the thing that the row strikes."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Rows of one kind that watch the same requirements.

    Attributes:
        where: what their defects strike.
        watched: the requirements, as patterns; no pattern means all.
        rows: names of defects; without any, only the run without a defect counts.
        addresses: of the shared broker; none: the worker starts one for this unit.
        is_alone: a process of its own judges it.
        secured: the way into the shared broker; None: it is PLAINTEXT.
    """

    where: Where
    watched: tuple[str, ...]
    rows: tuple[str, ...]
    addresses: tuple[Address, ...] = ()
    is_alone: bool = False
    secured: SecuredWay | None = None

    @property
    def ends_at_failure(self) -> bool:
        """True if a failed check decides a row: no other requirement is judged under it."""
        return len(self.watched) == 1 and "*" not in self.watched[0]

    def one_by_one(self) -> list[Unit]:
        """The same rows for a second look: each in a new process and before a new broker."""
        return [replace(self, rows=(row,), addresses=(), is_alone=True) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Begun:
    """Message: the worker runs the tests under this defect now; "" for none."""

    row: str


@dataclass(frozen=True, slots=True)
class RowFound:
    """Message: a row was judged; see :class:`labs.defects.outcome.Outcome`."""

    row: str
    reason: str
    problem: str
    changed: Changes


@dataclass(frozen=True, slots=True)
class RowUnseen:
    """Message: the target does not serve the subject of this row's requirement."""

    row: str


@dataclass(frozen=True, slots=True)
class UnitDone:
    """Message: all rows were judged, and the tests pass without a defect.

    ``proved``: the MUST requirements that passed without a defect.
    """

    proved: frozenset[str]


@dataclass(frozen=True, slots=True)
class UnitFailed:
    """Message: the unit could not be judged, or not to its end."""

    problem: str


Message = Begun | RowFound | RowUnseen | UnitDone | UnitFailed


def units_of(rows: Iterable[Defect], watched: Callable[[Defect], tuple[str, ...]]) -> list[Unit]:
    """Units of all rows, each row once: those with the largest scope first, which take longest."""
    groups: dict[tuple[Where, tuple[str, ...]], list[str]] = {}
    for defect in rows:
        groups.setdefault((defect.where, watched(defect)), []).append(defect.name)
    units = []
    for (where, globs), names in groups.items():
        size = 1 if where in OWN_PROCESS else ROWS_IN_A_UNIT
        is_alone = where in OWN_PROCESS
        units += [Unit(where, globs, part, is_alone=is_alone) for part in parts_of(names, size)]
    return sorted(units, key=lambda unit: not any("*" in glob for glob in unit.watched))


def parts_of(names: Sequence[str], size: int) -> list[tuple[str, ...]]:
    """Cut the names of rows into parts of this size."""
    return [tuple(names[at : at + size]) for at in range(0, len(names), size)]
