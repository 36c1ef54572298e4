"""The verdicts without a defect, from a run of the suites instead of a run for each row."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.conformance.found_runs import ResultsNotFound, find_runs
from harness.conformance.summary import RunSummary, summarize
from harness.conformance.verdict import Verdict


class UnfitBaseline(ValueError):
    """The run of the target is not whole, or not clean."""


def read_baseline(results: Path, spec: str) -> RunSummary | None:
    """Return the newest run of a target in an output folder; None if there is none.

    Raises UnfitBaseline, OSError.
    """
    try:
        run = find_runs(results).newest_by_target().get(spec)
    except ResultsNotFound:
        return None
    if run is None:
        return None
    found = summarize(run)
    if found.counts[Verdict.FAILED] or found.counts[Verdict.HARNESS_ERROR] or not found.complete:
        problems = "; ".join(found.sentences())
        raise UnfitBaseline(f"run {run.header.run} of {spec} is not whole and clean: {problems}")
    return found


def of_requirements(baseline: RunSummary, names: tuple[str, ...]) -> RunSummary:
    """Return the part of a run about these requirements."""
    found = {name: one for name, one in baseline.requirements.items() if name in names}
    return replace(baseline, requirements=found)
