"""The defect table: every defect in front of a broker, the suites against it, who noticed.

A defect is killed when exactly its requirement fails, for the stated reason, and every other
requirement of its area (or of all areas) has the verdict that it has without the defect.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.conformance.summary import RunSummary, summarize
from harness.conformance.verdict import Verdict
from harness.proxies import FrameRule, RunningRelay
from tests.defects.defect import Defect

ROOT = Path(__file__).resolve().parents[2]
RUN_TIMEOUT_S = 600
SPEC_VARIABLE = "KAFKA_CONFORMANCE_PRIVATE_SPEC"
DEFECT_VARIABLE = "KAFKA_CONFORMANCE_PRIVATE_DEFECT"
Address = tuple[str, int]
Changes = Mapping[str, tuple[Verdict | None, Verdict | None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of the table; ``problem`` is empty when the defect was killed as it should be.

    ``changed``: requirement to its verdict without and with the defect, where they differ.
    """

    defect: Defect
    reason: str
    problem: str
    changed: Changes = field(default_factory=dict)

    @property
    def killed(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class Suites:
    """The suites against one broker, again and again.

    Attributes:
        spec: the target, as it was named.
        upstream: its address, behind the relays.
        out: where the runs are kept.
        versions: "all", or "ends" for the first and last of each range, which is much quicker.
        scope: "area" to judge the area of the defect alone, "all" for every area.
    """

    spec: str
    upstream: Address
    out: Path
    versions: str
    scope: str

    def area_of(self, defect: Defect) -> str | None:
        """The one area that is judged under the defect; None: all of them."""
        return defect.area if self.scope == "area" else None

    def run(self, defect: Defect | None) -> RunSummary:
        """Judge the broker through a relay with the defect's rule, or with none."""
        rule = defect.rule() if defect else FrameRule()
        name = _run_name(defect.name if defect else "baseline")
        area = self.area_of(defect) if defect else None
        words = [] if area is None else ["--requirement", f"{area}-*"]
        return self._through_relay(rule, name, words, {})

    def run_private(self, defect: Defect | None) -> RunSummary:
        """Only the tests with brokers of their own, which stand behind a relay each."""
        name = defect.name if defect else ""
        words = ["-m", "own_broker"]
        variables = {SPEC_VARIABLE: self.spec, DEFECT_VARIABLE: name}
        run_name = _run_name(name or "private-baseline")
        return self._through_relay(FrameRule(), run_name, words, variables)

    def _through_relay(
        self, rule: FrameRule, name: str, words: list[str], variables: dict[str, str]
    ) -> RunSummary:
        with RunningRelay(self.upstream, rule) as relay:
            spec = f"external:{relay.address[0]}:{relay.address[1]}"
            command = [sys.executable, "-m", "pytest", "suites", "-q"]
            command += ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
            command += [
                "-p",
                "tests.defects.private_brokers",
                "--target",
                spec,
                "--out",
                str(self.out),
                "--run-id",
                name,
            ]
            ended = subprocess.run(
                [*command, "--versions", self.versions, *words],
                cwd=ROOT,
                env={**os.environ, **variables},
                capture_output=True,
                text=True,
                timeout=RUN_TIMEOUT_S,
                check=False,
            )
            if relay.relay.rule_errors:
                raise RuntimeError(f"the rule of {name} is broken: {relay.relay.rule_errors[0]!r}")
        journal = self.out / "runs" / name / JOURNAL_NAME
        if not journal.exists():
            raise RuntimeError(
                f"no journal of {name}:\n{ended.stdout[-3000:]}{ended.stderr[-3000:]}"
            )
        return summarize(read_journal(journal))


def _run_name(name: str) -> str:
    return f"run-{name.replace('_', '-')}"


def judge(
    defect: Defect, baseline: RunSummary, found: RunSummary, area: str | None = None
) -> Outcome:
    """Compare the run under the defect with the run without any, within ``area`` if it is named."""
    changed = _changed(_verdicts(baseline, area), _verdicts(found, area))
    return replace(_judged(defect, found, changed), changed=changed)


def _judged(defect: Defect, found: RunSummary, changed: Changes) -> Outcome:
    own = found.requirements.get(defect.requirement)
    if own is None:
        return Outcome(defect, "", f"no test judges {defect.requirement}")
    if found.defect or found.missing:
        return Outcome(defect, "", f"the run is not whole: {'; '.join(found.sentences())}")
    failed = [c for c in own.checks if c.verdict in (Verdict.FAILED, Verdict.WARNING)]
    if not failed:
        return Outcome(defect, "", f"not noticed: {defect.requirement} is {own.verdict}")
    reason = failed[0].reason
    if not all(re.search(defect.reason, check.reason) for check in failed):
        return Outcome(defect, reason, f"noticed for another reason than /{defect.reason}/")
    others = {name: pair for name, pair in changed.items() if name != defect.requirement}
    if others:
        shown = ", ".join(f"{name}: {was} -> {now}" for name, (was, now) in others.items())
        return Outcome(defect, reason, f"not alone: {shown}")
    return Outcome(defect, reason, "")


def _verdicts(summary: RunSummary, area: str | None) -> dict[str, Verdict]:
    of_area = "" if area is None else f"{area}-"
    every = summary.requirements.items()
    return {name: one.verdict for name, one in every if name.startswith(of_area)}


def _changed(before: Mapping[str, Verdict], after: Mapping[str, Verdict]) -> Changes:
    names = sorted(set(before) | set(after))
    pairs = {name: (before.get(name), after.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
