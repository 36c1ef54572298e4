"""The defect table: every defect in front of a broker, the suites against it, who noticed.

A defect is killed when exactly its requirement fails, for the stated reason, and every other
requirement of its area (or of all areas) has the verdict that it has without the defect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.conformance.summary import RunSummary, summarize
from harness.conformance.verdict import Verdict
from harness.proxies import FrameRule, RunningRelay
from harness.proxies.frame_rule import FrameRuleInterceptor
from harness.targets.proxied import proxied
from harness.targets.target import Address, Target
from tests.defects.defect import Defect
from tests.defects.forked_pytest import run_pytest

RUN_TIMEOUT_S = 1200
ALL = "*"
SPEC_VARIABLE = "KAFKA_CONFORMANCE_PRIVATE_SPEC"
DEFECT_VARIABLE = "KAFKA_CONFORMANCE_PRIVATE_DEFECT"
OWN_BROKERS = ("own_broker", "tuned_broker", "joined_broker", "kept_broker")
"""Marks of the tests whose broker is a private one."""
WRONG_VARIABLE = "KAFKA_CONFORMANCE_WRONG_FUNCTION"
KEPT_SPEC = "reference,disk"
CLUSTER_SUITES = ("suites/replication", "suites/durability/private")
Errors = Callable[[], list[Exception]]
Changes = Mapping[str, tuple[Verdict | None, Verdict | None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One row of the table; ``problem`` is empty when the defect was killed as it should be.

    ``changed``: requirement to its verdict without and with the defect, where they differ.
    ``first_problem``: what was wrong at the first look, where this is the second.
    """

    defect: Defect
    reason: str
    problem: str
    changed: Changes = field(default_factory=dict)
    first_problem: str = ""

    @property
    def killed(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class Suites:
    """The suites against one broker, again and again.

    Attributes:
        spec: the target, as it was named.
        running: it, behind the relays.
        out: where the runs are kept.
        versions: "all", or "ends" for the first and last of each range, which is much quicker.
        scope: "area" to judge the area of the defect alone, "all" for every area.
        areas: what is judged without any defect; nothing named means all areas.
        alone: the defects, by name, of whose area all is judged, of the others their own
            requirement; None: all are looked at so.
    """

    spec: str
    running: Target
    out: Path
    versions: str
    scope: str
    areas: tuple[str, ...] = ()
    alone: Set[str] | None = None

    def watched(self, defect: Defect) -> str:
        """The requirements that are judged under the defect, as a pattern."""
        if self.alone is not None and defect.name not in self.alone:
            return defect.requirement
        return f"{defect.area}-*" if self.scope == "area" else ALL

    def run(self, defect: Defect | None, files: Iterable[str] = ()) -> RunSummary:
        """Judge the broker through a relay with the defect's rule, or with none.

        ``files``: those that hold the tests of the area, when that is known.
        """
        rule = defect.rule() if defect else FrameRule()
        name = _run_name(defect.name if defect else "baseline")
        return self._through_relay(rule, name, self._asked(defect), files, {})

    def run_private(self, defect: Defect | None, files: Iterable[str] = ()) -> RunSummary:
        """Only the tests with brokers of their own, which stand behind a relay each."""
        name = defect.name if defect else ""
        mark = "private_cluster" if self.is_cluster else " or ".join(OWN_BROKERS)
        words = ["-m", mark, *self._asked(defect)]
        variables = {SPEC_VARIABLE: self.spec, DEFECT_VARIABLE: name}
        run_name = _run_name(name or "private-baseline")
        return self._through_relay(FrameRule(), run_name, words, files, variables)

    def run_offline(self, defect: Defect | None, files: Iterable[str] = ()) -> RunSummary:
        """Only the tests that ask no broker, with a wrong function in place of a right one."""
        name = defect.name if defect else ""
        words = ["--target", "by-document", "-p", "tests.defects.wrong_functions"]
        run_name = _run_name(name or "offline-baseline")
        words += self._asked(defect)
        self._pytest(run_name, words, files, {WRONG_VARIABLE: name})
        return self._summary(run_name)

    def run_built_in(self, defect: Defect | None, files: Iterable[str] = ()) -> RunSummary:
        """The same target with a wrong function in it, and its logs in files."""
        name = defect.name if defect else ""
        spec = self.spec if self.is_cluster else KEPT_SPEC
        words = ["--target", spec, "-p", "tests.defects.wrong_brokers", *self._asked(defect)]
        words += ["-m", "private_cluster"] if self.is_cluster else []
        run_name = _run_name(name or "built-in-baseline")
        self._pytest(run_name, words, files, {DEFECT_VARIABLE: name})
        return self._summary(run_name)

    def _asked(self, defect: Defect | None) -> list[str]:
        watched = self.watched(defect) if defect else ALL
        globs = [f"{name}-*" for name in self.areas] if watched == ALL else [watched]
        return [word for glob in globs for word in ("--requirement", glob)]

    def _through_relay(
        self,
        rule: FrameRule,
        name: str,
        words: list[str],
        files: Iterable[str],
        variables: Mapping[str, str],
    ) -> RunSummary:
        with self._behind(rule) as (addresses, errors):
            spec = "external:" + ",".join(map(str, addresses))
            words = ["--target", spec, "-p", "tests.defects.private_brokers", *words]
            self._pytest(name, words, files, variables)
            if errors():
                raise RuntimeError(f"the rule of {name} is broken: {errors()[0]!r}")
        return self._summary(name)

    @property
    def is_cluster(self) -> bool:
        """Whether the target has several brokers, each of which then stands behind a proxy."""
        return len(self.running.nodes) > 1

    @contextmanager
    def _behind(self, rule: FrameRule) -> Iterator[tuple[list[Address], Errors]]:
        """Where it is to be asked, and what went wrong with the rule so far."""
        if not self.is_cluster:
            with RunningRelay(self.running.addresses[0], rule) as relay:
                yield [Address(*relay.address)], lambda: relay.relay.rule_errors
            return
        with proxied(self.running, interceptor=FrameRuleInterceptor(rule)) as behind:
            yield (
                list(behind.addresses),
                lambda: [error for proxy in behind.proxies for error in proxy.errors],
            )

    def _pytest(
        self, name: str, words: list[str], files: Iterable[str], variables: Mapping[str, str]
    ) -> None:
        everything = CLUSTER_SUITES if self.is_cluster else ("suites",)
        command = [*(files or everything), "-q", "-p", "no:cacheprovider"]
        command += ["-p", "no:hypothesispytest", "--out", str(self.out), "--run-id", name]
        command += ["--versions", self.versions, *words]
        self.out.mkdir(exist_ok=True)
        run_pytest(command, variables, self._output(name), RUN_TIMEOUT_S)

    def _output(self, name: str) -> Path:
        return self.out / f"{name}.txt"

    def _summary(self, name: str) -> RunSummary:
        journal = self.out / "runs" / name / JOURNAL_NAME
        if not journal.exists():
            said = self._output(name).read_text("utf-8")
            raise RuntimeError(f"no journal of {name}:\n{said[-3000:]}")
        return summarize(read_journal(journal))


def files_of(baseline: RunSummary, watched: str) -> list[str]:
    """The test files that judged what a pattern means; none when it means all."""
    if watched == ALL:
        return []
    every = baseline.requirements.items()
    seen = [one for name, one in every if fnmatchcase(name, watched)]
    cases = {check.case for one in seen for check in one.checks}
    return sorted({f"suites/{case.split('::')[0]}" for case in cases})


def _run_name(name: str) -> str:
    return f"run-{name.replace('_', '-')}"


def judge(defect: Defect, baseline: RunSummary, found: RunSummary, watched: str) -> Outcome:
    """Compare the run under the defect with the run without any, in what a pattern means."""
    changed = _changed(_verdicts(baseline, watched), _verdicts(found, watched))
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


def _verdicts(summary: RunSummary, watched: str) -> dict[str, Verdict]:
    every = summary.requirements.items()
    return {name: one.verdict for name, one in every if fnmatchcase(name, watched)}


def _changed(before: Mapping[str, Verdict], after: Mapping[str, Verdict]) -> Changes:
    names = sorted(set(before) | set(after))
    pairs = {name: (before.get(name), after.get(name)) for name in names}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
