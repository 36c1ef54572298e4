"""The gate: may this result go through, given the known failures?

It judges, for each target in the folder, the run that was started last. An older complete run does
not stand in for a newer incomplete one: killing a run must not be an advantage.

Kinds of findings, in the order in which they decide the exit code when several hold:

1. not whole (3): no run, an unreadable or unfinished run, a planned check without a record, a
   harness_error. No other result can be trusted then.
2. unexpected failure (1): a MUST failed without an entry, or for another reason than the entry's
   ``matches``. In a strict gate a SHOULD that does not hold is one too.
3. unproved (3): an inconclusive MUST, or nothing passed at all. It comes after failures, since it
   is most often the consequence of a failure in the same test. An entry with a ``matches`` that
   finds every such reason covers it: the known failure leaves the requirement unjudged.
4. vanished (5): a requirement that the profile names is not judged any more.
5. known failure passed (4): the entry can be removed.
6. expired (6): an entry's last day is over.

All findings are reported, each with its sentence; only the first one decides the exit code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum, IntEnum
from pathlib import Path

from harness.conformance.found_runs import FoundRuns, find_runs
from harness.conformance.headline import Headline
from harness.conformance.kafka_name import kafka_range
from harness.conformance.profile import (
    KnownFailure,
    Profile,
    ProfileError,
    draft_profile,
    target_matches,
)
from harness.conformance.run_headline import headline_of
from harness.conformance.summary import RequirementSummary, RunSummary, summarize
from harness.conformance.verdict import BROKEN, JUDGED, Verdict


class GateExit(IntEnum):
    """Exit codes of `gate`."""

    OK = 0
    UNEXPECTED_FAILURE = 1
    USAGE = 2
    INCOMPLETE = 3
    KNOWN_FAILURE_PASSED = 4
    VANISHED = 5
    EXPIRED = 6


SENTENCES = {
    GateExit.OK: "Everything that was planned ran, and nothing failed that is not known to.",
    GateExit.UNEXPECTED_FAILURE: "Something failed that is not known to fail, or not like that.",
    GateExit.USAGE: "The gate was not asked rightly; nothing was judged.",
    GateExit.INCOMPLETE: "The results are incomplete or prove nothing, so nothing may pass.",
    GateExit.KNOWN_FAILURE_PASSED: "A known failure passed: take its entry out of the profile.",
    GateExit.VANISHED: "Something that the profile names was not judged any more.",
    GateExit.EXPIRED: "An entry of the profile has expired: renew it, or mend what fails.",
}


class GateKind(Enum):
    """Kinds of findings, the one that decides first; the value is its exit code."""

    NOT_WHOLE = (1, GateExit.INCOMPLETE)
    UNEXPECTED_FAILURE = (2, GateExit.UNEXPECTED_FAILURE)
    UNPROVED = (3, GateExit.INCOMPLETE)
    VANISHED = (4, GateExit.VANISHED)
    KNOWN_FAILURE_PASSED = (5, GateExit.KNOWN_FAILURE_PASSED)
    EXPIRED = (6, GateExit.EXPIRED)

    @property
    def exit_code(self) -> GateExit:
        """The exit code that it leads to."""
        return self.value[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFinding:
    """One reason for the gate not to let the result through.

    Attributes:
        kind: which, see `Kind`.
        target: the target, None when it is about the whole folder.
        requirement: its id, None when it is about the whole run.
        sentence: the finding as text.
    """

    kind: GateKind
    target: str | None
    requirement: str | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The gate's decision.

    Attributes:
        runs: the run that counted, by target.
        findings: all of them, the deciding ones first.
        known: (target, requirement) that failed as the profile says.
        headlines: what of the catalogue each run judged, by target.
    """

    runs: dict[str, str]
    findings: tuple[GateFinding, ...]
    known: tuple[tuple[str, str], ...]
    headlines: dict[str, Headline]

    @property
    def exit_code(self) -> GateExit:
        """The exit code: that of the first finding."""
        return self.findings[0].kind.exit_code if self.findings else GateExit.OK

    @property
    def sentence(self) -> str:
        """The meaning of the exit code."""
        return SENTENCES[self.exit_code]


class ResultsNotWhole(ValueError):
    """A profile cannot be drafted from results that are not whole."""


def gate(
    results: Path,
    profile: Profile | None = None,
    today: date | None = None,
    *,
    strict: bool = False,
    root: Path | None = None,
) -> GateResult:
    """Judge the results in a folder.

    Args:
        results: what `run --out` wrote; runs of several targets may be in it.
        profile: known failures, None for none.
        today: for expiry dates, default the present day in UTC.
        strict: a SHOULD that does not hold is a failure.
        root: the folder that holds ``suites/``, for the headlines.

    Raises:
        ResultsNotFound: no such folder (exit `GateExit.USAGE`).
        ProfileError: two entries contradict each other for a target that is in the folder
            (exit `GateExit.USAGE`).
    """
    profile = profile or Profile()
    day = today or datetime.now(UTC).date()
    found = find_runs(results)
    summaries = {target: summarize(run) for target, run in found.newest_by_target().items()}
    findings = [*_of_folder(results, found, profile), *_of_entries(profile, day)]
    known: list[tuple[str, str]] = []
    for target, summary in sorted(summaries.items()):
        entries = profile.known_failures_of(target)
        findings += _of_run(summary, entries, profile.present_of(target), strict=strict)
        known += [
            (target, name)
            for name, entry in entries.items()
            if _is_known(summary.requirements.get(name), entry)
        ]
    return GateResult(
        runs={target: summary.header.run for target, summary in sorted(summaries.items())},
        findings=tuple(sorted(findings, key=lambda finding: finding.kind.value)),
        known=tuple(known),
        headlines={
            target: headline_of(summary, root) for target, summary in sorted(summaries.items())
        },
    )


def findings_of(summary: RunSummary) -> tuple[GateFinding, ...]:
    """The findings of one run by a strict gate without a profile, the deciding ones first."""
    found = _of_run(summary, {}, (), strict=True)
    return tuple(sorted(found, key=lambda finding: finding.kind.value))


def write_profile(results: Path, path: Path, *, strict: bool = False) -> None:
    """Write the present state of the runs that count as a profile.

    ``strict``: with the SHOULDs that do not hold.

    Raises:
        ResultsNotFound: no such folder.
        ResultsNotWhole: a run is incomplete or holds a harness_error; a profile of half a run
            would hide the other half.
        FileExistsError: the file is there already; its reasons are worth more than ours.
    """
    whole = gate(results)
    broken = [finding for finding in whole.findings if finding.kind is GateKind.NOT_WHOLE]
    if broken:
        raise ResultsNotWhole(broken[0].sentence)
    runs = find_runs(results).newest_by_target().values()
    text = draft_profile((summarize(run) for run in runs), strict=strict)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _of_folder(results: Path, found: FoundRuns, profile: Profile) -> Iterator[GateFinding]:
    for _path, why in found.unreadable:
        yield GateFinding(kind=GateKind.NOT_WHOLE, target=None, requirement=None, sentence=why)
    if not found.runs:
        sentence = f"{results}: there is no run at all"
        yield GateFinding(kind=GateKind.NOT_WHOLE, target=None, requirement=None, sentence=sentence)
        return
    for pattern in profile.patterns():
        if kafka_range(pattern) is not None:
            continue  # written for releases of which a sample need not hold one
        if not any(target_matches(run.header.target, pattern) for run in found.runs):
            sentence = f'the profile speaks of target "{pattern}", of which there is no run'
            yield GateFinding(
                kind=GateKind.VANISHED, target=pattern, requirement=None, sentence=sentence
            )


def _of_entries(profile: Profile, day: date) -> Iterator[GateFinding]:
    for entry in profile.known_failures:
        if entry.expired(day):
            yield GateFinding(
                kind=GateKind.EXPIRED,
                target=entry.target,
                requirement=entry.requirement,
                sentence=f"{entry.requirement}: its entry expired after {entry.expires}"
                f" ({entry.reason})",
            )


def _of_run(
    summary: RunSummary,
    entries: dict[str, KnownFailure],
    present: tuple[str, ...],
    *,
    strict: bool,
) -> Iterator[GateFinding]:
    target, run = summary.header.target, summary.header.run

    def finding(kind: GateKind, sentence: str, requirement: str | None = None) -> GateFinding:
        about = f"{target}: " if requirement is None else f"{target}: {requirement} "
        return GateFinding(
            kind=kind, target=target, requirement=requirement, sentence=about + sentence
        )

    if summary.defect is not None:
        yield finding(GateKind.NOT_WHOLE, f"run {run} is incomplete: {summary.defect}")
    for case, name in summary.missing:
        yield finding(GateKind.NOT_WHOLE, f"was planned in {case} and left no check", name)
    for name, one in summary.requirements.items():
        for kind, sentence in _of_requirement(one, entries.get(name), strict=strict):
            yield finding(kind, sentence, name)
    if not summary.complete:
        return  # what is not there yet has not vanished
    if not summary.counts[Verdict.PASSED]:
        yield finding(GateKind.UNPROVED, f"nothing passed in run {run}, so nothing was shown")
    for name in sorted({*present, *entries}):
        judged = summary.requirements.get(name)
        if judged is None or judged.verdict not in JUDGED:
            state = "has no check at all" if judged is None else f"is {judged.verdict}"
            yield finding(
                GateKind.VANISHED, f"{state} in run {run}, but the profile names it", name
            )


def _of_requirement(
    one: RequirementSummary, entry: KnownFailure | None, *, strict: bool
) -> Iterator[tuple[GateKind, str]]:
    failing = BROKEN if strict else {Verdict.FAILED}
    reasons = [check.text for check in one.checks if check.verdict is one.verdict]
    if one.verdict is Verdict.HARNESS_ERROR:
        yield GateKind.NOT_WHOLE, f"is a harness_error: {reasons[0]}"
    elif one.verdict in failing and not _is_known(one, entry):
        if entry is None or entry.matches is None:
            what = "failed" if one.verdict is Verdict.FAILED else "does not hold"
            yield GateKind.UNEXPECTED_FAILURE, f"{what}: {reasons[0]}"
        else:
            other = next(why for why in reasons if not entry.matches.search(why))
            yield (
                GateKind.UNEXPECTED_FAILURE,
                f'failed, but not with "{entry.matches.pattern}": {other}',
            )
    elif one.verdict is Verdict.INCONCLUSIVE and one.level == "MUST" and not _is_known(one, entry):
        yield GateKind.UNPROVED, f"is inconclusive: {reasons[0]}"
    elif one.verdict is Verdict.PASSED and entry is not None:
        yield GateKind.KNOWN_FAILURE_PASSED, f"passed, but is known to fail ({entry.reason})"


def _is_known(one: RequirementSummary | None, entry: KnownFailure | None) -> bool:
    """True if the requirement does not hold, or is inconclusive, for the entry's reasons alone."""
    if one is None or entry is None:
        return False
    if one.verdict is Verdict.INCONCLUSIVE:
        return entry.matches is not None and _all_match(one, entry.matches)
    return one.verdict in BROKEN and (entry.matches is None or _all_match(one, entry.matches))


def _all_match(one: RequirementSummary, pattern: re.Pattern[str]) -> bool:
    reasons = (check.text for check in one.checks if check.verdict is one.verdict)
    return all(pattern.search(why) for why in reasons)


__all__ = [
    "SENTENCES",
    "GateExit",
    "GateFinding",
    "GateKind",
    "GateResult",
    "ProfileError",
    "ResultsNotWhole",
    "findings_of",
    "gate",
    "write_profile",
]
