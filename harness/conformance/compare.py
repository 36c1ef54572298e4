"""Two results side by side: what is new, fixed, regressed, vanished, or asked by one run only.

Three states stand behind the words. A requirement *holds* (passed), is *broken* (failed, or a
SHOULD's warning), or is *undecided*: everything else, and not being there at all.

===========  ====================================  ============================================
kind         from                                  to
===========  ====================================  ============================================
new          undecided                             holds or broken
fixed        broken                                holds
regressed    holds                                 broken
vanished     holds or broken                       undecided
not asked    holds or broken                       the later run asked none of these cases
newly asked  the earlier run asked none of them    holds or broken
===========  ====================================  ============================================

They are said of a whole requirement by its joined verdict. Where that stays the same, its cases
still speak: one that held and is broken makes the requirement regressed, one that was decided and
is undecided makes it vanished (an API version that is no longer advertised, say). A case that only
one run asked decides nothing (see `harness.conformance.compare_scope`): a failure there is newly
asked, not a regression.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from harness.conformance.compare_scope import NOT_PLANNED, Cases, RunSide, same_tests
from harness.conformance.flaky import Flake, flakes_in
from harness.conformance.journal import Journal
from harness.conformance.record import CheckRecord, RunHeader
from harness.conformance.summary import RequirementSummary, RunSummary
from harness.conformance.verdict import BROKEN, DECIDED, Verdict


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
    NOT_ASKED = "not_asked"
    NEWLY_ASKED = "newly_asked"


WORSE = frozenset({ChangeKind.REGRESSED, ChangeKind.VANISHED})
OF_SCOPE = frozenset({ChangeKind.NOT_ASKED, ChangeKind.NEWLY_ASKED})
"""The runs differ in what they asked; they say nothing about the broker."""


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
        return self.exit_code_if(same_scope=False)

    def exit_code_if(self, *, same_scope: bool) -> CompareExit:
        """``same_scope``: what the later run did not ask counts as vanished."""
        kinds = {change.kind for one in self.comparisons for change in one.changes}
        worse = WORSE | {ChangeKind.NOT_ASKED} if same_scope else WORSE
        return CompareExit.WORSE if kinds & worse else CompareExit.NOTHING_WORSE


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
    before, after = RunSide(old), RunSide(new)
    shaky = {
        flake.requirement
        for flake in flakes
        if any(run and flake.of_release(run.header) for run in (old, new))
    }
    names = before.requirements.keys() | after.requirements.keys()
    found = (_change(before, after, name, flaky=name in shaky) for name in sorted(names))
    changes = [change for change in found if change]
    places = list(ChangeKind)
    changes.sort(key=lambda change: places.index(change.kind))
    return Comparison(
        before=old.header if old else None,
        after=new.header if new else None,
        defects=tuple(
            line for side in (before, after) if side.summary for line in _defects(side.summary)
        ),
        changes=tuple(changes),
        unchanged=len(names) - len(changes),
    )


def _defects(summary: RunSummary) -> Iterator[str]:
    run = summary.header.run
    if summary.defect is not None:
        yield f"run {run} is incomplete: {summary.defect}"
    if summary.missing:
        yield f"run {run} is incomplete: {len(summary.missing)} planned checks are missing"


def _change(before: RunSide, after: RunSide, name: str, *, flaky: bool) -> RequirementChange | None:
    old, new = before.requirements.get(name), after.requirements.get(name)
    verdicts = (old.verdict if old else None, new.verdict if new else None)
    old_cases, new_cases = before.cases(name), after.cases(name)
    kind, why = _kind(*verdicts), ""
    if kind in _UNDECIDED_SIDE:
        kind, why = _by_scope(kind, before, after, name)
    elif kind is not None:
        kind = _of_shared_cases(kind, old_cases, new_cases)
        why = NOT_PLANNED if kind in OF_SCOPE else ""
    else:
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
        before=verdicts[0],
        after=verdicts[1],
        cases=cases,
        reason=why or _reason(told, cases),
        flaky=flaky,
    )


_UNDECIDED_SIDE = {
    ChangeKind.VANISHED: ChangeKind.NOT_ASKED,
    ChangeKind.NEW: ChangeKind.NEWLY_ASKED,
}
"""A kind with one side undecided, and the kind if that side did not ask."""


def _by_scope(
    kind: ChangeKind, before: RunSide, after: RunSide, name: str
) -> tuple[ChangeKind, str]:
    """The kind, and the reason if one side did not ask."""
    asker, other = (before, after) if kind is ChangeKind.VANISHED else (after, before)
    releases = {side.run.header.release for side in (before, after) if side.run}
    decided = [case for case, verdict in asker.cases(name).items() if verdict in DECIDED]
    why = other.why_not_asked(name, decided, other_release=len(releases) > 1)
    return (kind, "") if why is None else (_UNDECIDED_SIDE[kind], why)


def _of_shared_cases(kind: ChangeKind, old: Cases, new: Cases) -> ChangeKind:
    """Regressed or fixed, unless only cases show it that the other run did not ask.

    A test without a case in the other run was renamed or written anew: then all its cases count.
    """
    side, other = (new, old) if kind is ChangeKind.REGRESSED else (old, new)
    broken = {case for case, verdict in side.items() if verdict in BROKEN}
    if broken & other.keys() or not same_tests(broken, other):
        return kind
    scope = ChangeKind.NEWLY_ASKED if kind is ChangeKind.REGRESSED else ChangeKind.NOT_ASKED
    return _kind_of_cases(old, new) or scope


def _kind(before: Verdict | None, after: Verdict | None) -> ChangeKind | None:
    if before not in DECIDED:
        return ChangeKind.NEW if after in DECIDED else None
    if after not in DECIDED:
        return ChangeKind.VANISHED
    if (before in BROKEN) == (after in BROKEN):
        return None
    return ChangeKind.REGRESSED if after in BROKEN else ChangeKind.FIXED


def _kind_of_cases(old: Cases, new: Cases) -> ChangeKind | None:
    """The worst that became of a case which both runs have."""
    kinds = {_kind(old[case], new[case]) for case in old.keys() & new.keys()}
    return next((kind for kind in ChangeKind if kind in kinds and kind in WORSE), None)


def _showing(kind: ChangeKind, old: Cases, new: Cases) -> tuple[str, ...]:
    """The cases that went this very way; with other names, those that make the verdict."""
    same = [case for case in old.keys() | new.keys() if _kind(old.get(case), new.get(case)) is kind]
    later = (ChangeKind.REGRESSED, ChangeKind.NEW, ChangeKind.NEWLY_ASKED)
    side = new if kind in later else old
    states = BROKEN if kind in (ChangeKind.REGRESSED, ChangeKind.FIXED) else DECIDED
    return tuple(sorted(same or (case for case, verdict in side.items() if verdict in states)))


def _reason(summary: RequirementSummary | None, cases: Sequence[str]) -> str:
    checks: Sequence[CheckRecord] = summary.checks if summary else ()
    told = (check.text for check in checks if check.case in cases and check.reason)
    return next(told, "")
