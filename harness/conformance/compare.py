"""Two results side by side: what is new, fixed, regressed, vanished.

Three states stand behind the words. A requirement *holds* (passed), is *broken* (failed, or a
SHOULD's warning), or is *undecided*: everything else, and not being there at all.

==========  ====================================  =============================================
kind        from                                  to
==========  ====================================  =============================================
new         undecided                             holds or broken
fixed       broken                                holds
regressed   holds                                 broken
vanished    holds or broken                       undecided
==========  ====================================  =============================================

They are said of a whole requirement by its joined verdict. Where that stays the same, its cases
still speak: one that held and is broken makes the requirement regressed, one that was decided and
is undecided makes it vanished (an API version that is no longer advertised, say). A case that the
later run did not plan is the suite's doing and counts only when the whole requirement went with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TypeAlias

from harness.conformance.flaky import Flake, flakes_in
from harness.conformance.journal import Journal
from harness.conformance.record import CheckRecord, RunHeader
from harness.conformance.summary import RequirementSummary, RunSummary, summarize
from harness.conformance.verdict import BROKEN, DECIDED, Verdict, worst


class CompareExit(IntEnum):
    """Exit codes of `compare`."""

    NOTHING_WORSE = 0
    WORSE = 1
    USAGE = 2


class ChangeKind(StrEnum):
    """The change of a requirement between two runs; in the order in which changes are shown."""

    REGRESSED = "regressed"
    VANISHED = "vanished"
    FIXED = "fixed"
    NEW = "new"


WORSE = frozenset({ChangeKind.REGRESSED, ChangeKind.VANISHED})


@dataclass(frozen=True, slots=True, kw_only=True)
class RequirementChange:
    """One requirement that is not as it was.

    Attributes:
        kind: see `ChangeKind`.
        requirement, area, level: as the later run has it, the earlier one where it has none.
        before, after: joined verdicts, None where the run has no check for it.
        cases: the cases that show it, sorted.
        reason: why the first of them does not pass now (or did not before, when fixed).
        flaky: the same release is known to go both ways (see `harness.conformance.flaky`), so
            this may be chance.
    """

    kind: ChangeKind
    requirement: str
    area: str
    level: str
    before: Verdict | None
    after: Verdict | None
    cases: tuple[str, ...]
    reason: str
    flaky: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One target's two runs.

    Attributes:
        before, after: the header of each run, None where a side has no run of this target.
        defects: why a run is not whole, one sentence each.
        changes: regressed first, then by requirement.
        unchanged: number of requirements without a change.
    """

    before: RunHeader | None
    after: RunHeader | None
    defects: tuple[str, ...]
    changes: tuple[RequirementChange, ...]
    unchanged: int

    @property
    def target(self) -> str:
        """The target's name; both names where two different targets were given."""
        names = [side.target for side in (self.before, self.after) if side]
        return " -> ".join(dict.fromkeys(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRuns:
    """Everything that `compare` found."""

    comparisons: tuple[Comparison, ...]
    flaky: tuple[Flake, ...]

    @property
    def exit_code(self) -> CompareExit:
        """Worse as soon as anything regressed or vanished, flaky or not."""
        kinds = {change.kind for one in self.comparisons for change in one.changes}
        return CompareExit.WORSE if kinds & WORSE else CompareExit.NOTHING_WORSE


def compare(before: Sequence[Journal], after: Sequence[Journal]) -> ComparedRuns:
    """Compare the newest run of each target; the older ones only show which cases are flaky.

    If each side has a single target, these two are compared even when their names differ, such as
    two releases of a broker.

    Args:
        before, after: the runs of each side, the oldest first.
    """
    flakes = flakes_in([*before, *after])
    comparisons = tuple(_compared(old, new, flakes) for old, new in _pairs(before, after))
    return ComparedRuns(comparisons=comparisons, flaky=flakes)


def _pairs(
    before: Sequence[Journal], after: Sequence[Journal]
) -> Iterator[tuple[Journal | None, Journal | None]]:
    old = {run.header.target: run for run in before}
    new = {run.header.target: run for run in after}
    if len(old) == len(new) == 1:
        yield *old.values(), *new.values()  # type: ignore[misc]  # one and one
        return
    for target in sorted(old | new):
        yield old.get(target), new.get(target)


def _compared(old: Journal | None, new: Journal | None, flakes: Sequence[Flake]) -> Comparison:
    sides = [(run, summarize(run)) if run else None for run in (old, new)]
    summaries = [side[1] if side else None for side in sides]
    before, after = (summary.requirements if summary else {} for summary in summaries)
    shaky = {
        flake.requirement
        for flake in flakes
        if any(run and flake.of_release(run.header) for run in (old, new))
    }
    changes = []
    for name in sorted(before.keys() | after.keys()):
        missing = [case for case, of in summaries[1].missing if of == name] if summaries[1] else []
        change = _change(before.get(name), after.get(name), missing, name in shaky)
        if change:
            changes.append(change)
    places = list(ChangeKind)
    changes.sort(key=lambda change: places.index(change.kind))
    return Comparison(
        before=old.header if old else None,
        after=new.header if new else None,
        defects=tuple(line for summary in summaries if summary for line in _defects(summary)),
        changes=tuple(changes),
        unchanged=len(before.keys() | after.keys()) - len(changes),
    )


def _defects(summary: RunSummary) -> Iterator[str]:
    run = summary.header.run
    if summary.defect is not None:
        yield f"run {run} is incomplete: {summary.defect}"
    if summary.missing:
        yield f"run {run} is incomplete: {len(summary.missing)} planned checks are missing"


def _change(
    old: RequirementSummary | None,
    new: RequirementSummary | None,
    missing: Sequence[str],
    flaky: bool,
) -> RequirementChange | None:
    """``missing``: cases of the later run that were planned and left no check."""
    before, after = old.verdict if old else None, new.verdict if new else None
    old_cases = _by_case(old)
    new_cases = dict.fromkeys(missing) | _by_case(new)
    kind = _kind(before, after)
    if kind is None:
        kind = _kind_of_cases(old_cases, new_cases)
    if kind is None:
        return None
    cases = _showing(kind, old_cases, new_cases)
    known = new or old
    assert known is not None
    told = old if kind is ChangeKind.FIXED or new is None else new
    return RequirementChange(
        kind=kind,
        requirement=known.requirement,
        area=known.area,
        level=known.level,
        before=before,
        after=after,
        cases=cases,
        reason=_reason(told, cases),
        flaky=flaky,
    )


def _kind(before: Verdict | None, after: Verdict | None) -> ChangeKind | None:
    if before not in DECIDED:
        return ChangeKind.NEW if after in DECIDED else None
    if after not in DECIDED:
        return ChangeKind.VANISHED
    if (before in BROKEN) == (after in BROKEN):
        return None
    return ChangeKind.REGRESSED if after in BROKEN else ChangeKind.FIXED


_Cases: TypeAlias = Mapping[str, Verdict | None]


def _kind_of_cases(old: _Cases, new: _Cases) -> ChangeKind | None:
    """The worst that became of a case which both runs have."""
    kinds = {_kind(old[case], new[case]) for case in old.keys() & new.keys()}
    return next((kind for kind in ChangeKind if kind in kinds and kind in WORSE), None)


def _showing(kind: ChangeKind, old: _Cases, new: _Cases) -> tuple[str, ...]:
    """The cases that went this very way; with other names, those that make the verdict."""
    same = [case for case in old.keys() | new.keys() if _kind(old.get(case), new.get(case)) is kind]
    side = new if kind in (ChangeKind.REGRESSED, ChangeKind.NEW) else old
    states = BROKEN if kind in (ChangeKind.REGRESSED, ChangeKind.FIXED) else DECIDED
    return tuple(sorted(same or (case for case, verdict in side.items() if verdict in states)))


def _by_case(summary: RequirementSummary | None) -> dict[str, Verdict | None]:
    found: dict[str, list[Verdict]] = {}
    for check in summary.checks if summary else ():
        found.setdefault(check.case, []).append(check.verdict)
    return {case: worst(verdicts) for case, verdicts in found.items()}


def _reason(summary: RequirementSummary | None, cases: Sequence[str]) -> str:
    checks: Sequence[CheckRecord] = summary.checks if summary else ()
    told = (check.text for check in checks if check.case in cases and check.reason)
    return next(told, "")
