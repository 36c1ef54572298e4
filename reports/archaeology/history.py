"""Requirement x release as plain values: what each cell says beside the catalogue's dates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeAlias

from .given import Given, KnownBug, Promise
from .observe import ObservedRows


class State(StrEnum):
    """The state of a promise in a release."""

    HOLDS = "holds"
    BROKEN = "broken"
    ABSENT = "absent"
    OPEN = "open"
    """Not run, not asked, or asked without an answer that proves anything."""


class DateAgreement(StrEnum):
    """The agreement of a state with the catalogue, in joining order: the first stands for all."""

    CONTRADICTS = "contradicts"
    NOTED = "noted"
    """It contradicts the date alone, and the entry's note says what the release does not."""
    KNOWN_BUG = "known_bug"
    AGREES = "agrees"
    UNKNOWN = "unknown"


STATES = {
    "passed": State.HOLDS,
    "failed": State.BROKEN,
    "warning": State.BROKEN,
    "not_supported": State.ABSENT,
}
NOT_RUN = "not_run"
NOT_APPLICABLE = "not_applicable"
Lineage: TypeAlias = Sequence[Sequence[int]]
_ORDER = list(DateAgreement)


@dataclass(frozen=True)
class ReleaseColumn:
    """One release in one mode; `alone` when the release was run in this mode only."""

    release: str
    mode: str
    numbers: tuple[int, ...]
    targets: tuple[str, ...]
    runs: tuple[str, ...]
    complete: bool
    alone: bool

    @property
    def name(self) -> str:
        return self.release if self.alone else f"{self.release}/{self.mode}"


@dataclass(frozen=True)
class ReleaseCell:
    """One requirement in one column. `promised` None: the catalogue gives no date."""

    verdict: str
    state: State
    promised: bool | None
    agreement: DateAgreement
    reasons: tuple[str, ...] = ()
    bug: KnownBug | None = None


@dataclass(frozen=True)
class VerdictChange:
    """A point of change: two columns (by number) next to each other, as far as they say anything,
    and whether the catalogue's dates agree with it.
    """

    before: int
    after: int
    was: State
    now: State
    agreement: DateAgreement


@dataclass(frozen=True)
class RequirementHistory:
    """One requirement over all columns."""

    id: str
    promise: Promise
    cells: tuple[ReleaseCell, ...]
    changes: tuple[VerdictChange, ...]

    @cached_property
    def agreement(self) -> DateAgreement:
        """That of the whole: the worst of its cells."""
        return joined(cell.agreement for cell in self.cells)


@dataclass(frozen=True)
class Archaeology:
    """All that the renderings say. `incomplete`: a sentence for each run without an end."""

    columns: tuple[ReleaseColumn, ...]
    rows: tuple[RequirementHistory, ...]
    incomplete: tuple[str, ...]
    suite_versions: tuple[str, ...]
    catalogue_versions: tuple[str, ...]

    @property
    def contradictions(self) -> tuple[RequirementHistory, ...]:
        return tuple(row for row in self.rows if row.agreement is DateAgreement.CONTRADICTS)


def joined(agreements: Iterable[DateAgreement]) -> DateAgreement:
    """The one that stands for all; unknown where nothing is said."""
    return min(agreements, key=_ORDER.index, default=DateAgreement.UNKNOWN)


def archaeology(observed: ObservedRows, given: Given) -> Archaeology:
    """The rows of all requirements that a run has judged, in the order of the catalogue."""
    columns = _columns(observed, given)
    bugs = [_bugs(column, given) for column in columns]
    lineage = _lineage(columns)
    number = {(column.release, column.mode): at for at, column in enumerate(columns)}
    found: dict[str, dict[int, Mapping[str, Any]]] = {}
    for cell in observed.cells:
        found.setdefault(cell["requirement"], {})[number[cell["release"], cell["mode"]]] = cell
    for name in [name for name, cells in found.items() if _asked_of_none(cells.values())]:
        del found[name]
    known = [name for name in given.promises if name in found]
    foreign = sorted(found.keys() - given.promises.keys())
    counted = [r for r in observed.runs if r["counts"] and r["target"] in observed.places]
    return Archaeology(
        columns=columns,
        rows=tuple(
            _history(name, _promise(given, found, name), found[name], columns, bugs, lineage)
            for name in [*known, *foreign]
        ),
        incomplete=(*_incomplete(observed), *given.unreadable),
        suite_versions=tuple(sorted({run["suite_version"] for run in counted})),
        catalogue_versions=tuple(sorted({run["catalogue_version"] for run in counted})),
    )


def _asked_of_none(cells: Iterable[Mapping[str, Any]]) -> bool:
    """It needs what no run had, or no broker at all: no release has anything to say of it."""
    return all(cell["verdict"] == NOT_APPLICABLE for cell in cells)


def _columns(observed: ObservedRows, given: Given) -> tuple[ReleaseColumn, ...]:
    runs: dict[Any, list[Mapping[str, Any]]] = {place: [] for place in observed.places.values()}
    for run in observed.runs:
        if run["counts"] and run["target"] in observed.places:
            runs[observed.places[run["target"]]].append(run)
    releases = [place.release for place in runs]
    places = sorted(runs, key=lambda place: (place.numbers, given.order.index(place.mode)))
    return tuple(
        ReleaseColumn(
            release=place.release,
            mode=place.mode,
            numbers=place.numbers,
            targets=tuple(t for t, at in sorted(observed.places.items()) if at == place),
            runs=tuple(sorted(run["run"] for run in runs[place])),
            complete=bool(runs[place]) and all(run["run_complete"] for run in runs[place]),
            alone=releases.count(place.release) == 1,
        )
        for place in places
    )


def _bugs(column: ReleaseColumn, given: Given) -> Mapping[str, KnownBug]:
    return {name: bug for target in column.targets for name, bug in given.bugs_of(target).items()}


def _incomplete(observed: ObservedRows) -> Iterable[str]:
    for run in observed.runs:
        if run["target"] in observed.places and run["counts"] and not run["run_complete"]:
            yield f"run {run['run']} of {run['target']} did not come to its end"
    for name, target in observed.empty:
        yield f"run {name} of {target} ended before its first check"


def _promise(
    given: Given, found: Mapping[str, Mapping[int, Mapping[str, Any]]], name: str
) -> Promise:
    """A requirement of another catalogue has no date and no words."""
    if name in given.promises:
        return given.promises[name]
    said = next(iter(found[name].values()))
    return Promise(said["area"], said["level"], "", "-", None, None, (), lambda _: True)


def _history(
    name: str,
    promise: Promise,
    found: Mapping[int, Mapping[str, Any]],
    columns: tuple[ReleaseColumn, ...],
    bugs: Sequence[Mapping[str, KnownBug]],
    lineage: Lineage,
) -> RequirementHistory:
    cells = tuple(
        _cell(promise, found.get(at), column.release, bugs[at].get(name))
        for at, column in enumerate(columns)
    )
    return RequirementHistory(name, promise, cells, tuple(_changes(cells, lineage)))


def _cell(
    promise: Promise, said: Mapping[str, Any] | None, release: str, bug: KnownBug | None
) -> ReleaseCell:
    verdict = NOT_RUN if said is None else said["verdict"]
    reasons = () if said is None else tuple(said["reasons"])
    state = STATES.get(verdict, State.OPEN)
    if promise.level == "MAY" and reasons and state is State.HOLDS:
        state = State.OPEN  # it does the other thing that conforms
    promised = None if promise.since == "-" else promise.holds_in(release)
    agreement = _agreement(promise, state, promised, bug)
    told = bug if agreement is DateAgreement.KNOWN_BUG else None
    return ReleaseCell(verdict, state, promised, agreement, reasons, told)


def _agreement(
    promise: Promise, state: State, promised: bool | None, bug: KnownBug | None
) -> DateAgreement:
    if promised is None or state is State.OPEN:
        return DateAgreement.UNKNOWN
    if promised is (state is State.HOLDS):
        return DateAgreement.AGREES
    if state is State.BROKEN and bug is not None:
        return DateAgreement.KNOWN_BUG
    return DateAgreement.CONTRADICTS if promise.note is None else DateAgreement.NOTED


def _changes(cells: tuple[ReleaseCell, ...], lineage: Lineage) -> Iterable[VerdictChange]:
    """Between each cell that says something and the one that did so before it."""
    for at, cell in enumerate(cells):
        before = next((n for n in lineage[at] if cells[n].state is not State.OPEN), None)
        if before is None or cell.state is State.OPEN or cells[before].state is cell.state:
            continue
        both = cells[before].agreement, cell.agreement
        agreement = DateAgreement.UNKNOWN if DateAgreement.UNKNOWN in both else joined(both)
        yield VerdictChange(before, at, cells[before].state, cell.state, agreement)


def _lineage(columns: tuple[ReleaseColumn, ...]) -> Lineage:
    """For each column those before it, the nearest first: a column a release, of the same mode
    where the release was run so.
    """
    by_release: dict[tuple[int, ...], list[int]] = {}
    for number, column in enumerate(columns):
        by_release.setdefault(column.numbers, []).append(number)
    return [
        [
            next((n for n in there if columns[n].mode == column.mode), there[-1])
            for numbers, there in reversed(by_release.items())
            if numbers < column.numbers
        ]
        for column in columns
    ]
