"""One run against one target, as the controlling pytest process sees it: target, journal, plan."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from harness.base.own_names import new_nonce
from harness.conformance.case_lines import CaseLineForm, CaseLineWriter
from harness.conformance.catalogue import load_catalogue
from harness.conformance.fault_journal import FAULT_LINES, FAULTS_NAME
from harness.conformance.history_journal import HISTORY_LINES, HISTORY_NAME
from harness.conformance.journal import JOURNAL_NAME, NOT_STARTED_NAME, JournalWriter
from harness.conformance.record import CheckRecord, PlannedCase, RunHeader
from harness.conformance.summary import summarize
from harness.conformance.wire import WIRE_NAME, WireWriter
from harness.runner.begun_cases import BegunWriter
from harness.runner.first_contact_check import record_first_contact
from harness.targets.asking import ApiVersionRanges
from harness.targets.errors import TargetError
from harness.targets.info import ADVERTISED, TargetInfo, probe
from harness.targets.not_answered import wrong_answer_behind
from harness.targets.target import OWN_BROKER, Target

DISTRIBUTION = "kafka-conformance"
DATA_NAME = "data"
"""In the run's folder, when data folders are kept: one folder for each start of a target."""
DEATH_NAME = "target_died.txt"
"""In the run's folder, when the target was not there any more at the end: what is known of it."""

NOT_ANSWERED = "the broker did not answer before this test began"
"""The reason of what was not judged because the broker had gone."""


def new_run_id(spec: str, now: datetime) -> str:
    """``run-20261121T113600-kafka-4.4.0-9f3a``: sorts by time, names the target, is unique."""
    slug = re.sub(r"[^A-Za-z0-9.]+", "-", spec).strip("-")[:40]
    return f"run-{now:%Y%m%dT%H%M%S}-{slug}-{secrets.token_hex(2)}"


class AskedClient(NamedTuple):
    """The client of a run about a pair: the word of ``--client``, and its name in results."""

    word: str
    label: str

    def at(self, spec: str) -> str:
        """The pair, as results name it where they name the target of other runs."""
        return f"{self.label} on {spec}"


@dataclass(frozen=True, slots=True)
class WorkerContext:
    """The context of a process that runs tests; processes exchange it as JSON."""

    info: TargetInfo
    run_id: str
    run_dir: Path
    seed: int
    nonce: str  # makes names that no other run on the same broker has, whatever its id
    greases: bool = False
    clusters_are_light: bool = False  # Target.is_light of the run's target
    client: str = ""  # the word of --client

    def to_json(self) -> str:
        """For the worker input."""
        run = [self.run_id, str(self.run_dir), self.seed, self.nonce, self.greases]
        return json.dumps([self.info.to_json(), *run, self.clusters_are_light, self.client])

    @classmethod
    def from_json(cls, text: str) -> WorkerContext:
        """The same again."""
        info, run_id, run_dir, *more = json.loads(text)
        return cls(TargetInfo.from_json(info), run_id, Path(run_dir), *more)

    def plan_file(self, worker: str) -> Path:
        """The file with a worker's plan, for the controller, which does not collect tests."""
        return self.run_dir / f"plan-{worker}.json"


class RunSession:
    """Owns the target and the journal of a run, from the first line to the last."""

    def __init__(
        self,
        target: Target,
        run_dir: Path,
        run_id: str,
        seed: int,
        *,
        greases: bool = False,
        client: AskedClient | None = None,
    ) -> None:
        self.target, self.run_dir, self.run_id, self.seed = target, run_dir, run_id, seed
        self.greases, self.client = greases, client
        self._writer: JournalWriter | None = None
        self._wire: WireWriter | None = None
        self._case_lines: dict[str, CaseLineWriter] = {}
        """By name of the file; a file begins with its first lines."""
        self._begun: BegunWriter | None = None
        self._planned = False
        self.groups: Mapping[str, str] = {}
        """By node id, as :func:`harness.runner.run_order.group_of`; known when workers have
        collected.
        """
        self.context: WorkerContext | None = None
        self.death_was_seen = False
        """A test has recorded that the broker died under it."""

    def start(self) -> WorkerContext:
        """Start the target, ask what it is, write the journal's header. Raises TargetError."""
        self.run_dir.mkdir(parents=True, exist_ok=True)
        try:
            self.target.start()
            info = probe(self.target)
        except TargetError as error:
            self._record_failed_start(error)
            raise
        self._writer = JournalWriter(self.run_dir / JOURNAL_NAME)
        versions, source = info.api_versions, info.versions_source
        self._writer.write_header(self._header(versions, source))
        self._begun = BegunWriter(self.run_dir)
        self._wire = WireWriter(self.run_dir / WIRE_NAME, self.run_id, self._judged)
        own = (self.run_id, self.run_dir, self.seed, new_nonce(), self.greases)
        word = self.client.word if self.client else ""
        self.context = WorkerContext(info, *own, self.target.is_light, word)
        return self.context

    @property
    def _judged(self) -> str:
        """The name of the judged in results: the target, or a pair of a client and the target."""
        return self.client.at(self.target.spec) if self.client else self.target.spec

    def _header(self, api_versions: ApiVersionRanges, versions_source: str) -> RunHeader:
        target = self.target
        return RunHeader(
            run=self.run_id,
            suite_version=version(DISTRIBUTION),
            catalogue_version=load_catalogue().version,
            seed=self.seed,
            target=self._judged,
            implementation=target.implementation,
            release=target.release,
            capabilities=tuple(sorted(target.capabilities)),
            api_versions=api_versions,
            versions_source=versions_source,
            greases=self.greases,
            started_at=_now(),
        )

    def _record_failed_start(self, error: TargetError) -> None:
        """A note, or the verdict about a broker that answers wrongly."""
        wrong = wrong_answer_behind(error)
        if wrong is None:
            (self.run_dir / NOT_STARTED_NAME).write_text(str(error), "utf-8")
            return
        with JournalWriter(self.run_dir / JOURNAL_NAME) as writer:
            record_first_contact(writer, self.run_dir, self._header({}, ADVERTISED), wrong)

    def plan(self, cases: Sequence[PlannedCase]) -> None:
        """Write what is going to run; only the first plan counts (all workers have the same)."""
        if self._writer and not self._planned:
            self._writer.write_plan(cases)
            self._planned = True

    def plan_from_worker(self, worker: str) -> None:
        """Take over the plan that a worker has written, if it is the first one."""
        assert self.context is not None
        file = self.context.plan_file(worker)
        if not self._planned:
            raw = json.loads(file.read_text("utf-8"))
            self.groups = raw["groups"]
            self.plan([PlannedCase.from_json(entry) for entry in raw["cases"]])
        file.unlink()

    def begin(self, case: str) -> None:
        """Note that a test begins, in any process."""
        assert self._begun is not None
        self._begun.add(case)

    def record(self, checks: Sequence[dict[str, Any]]) -> None:
        """Append the checks of one test."""
        assert self._writer is not None
        for check in checks:
            self._writer.write_check(CheckRecord.from_json(check))

    def record_wire(self, counts: Sequence[Sequence[Any]]) -> None:
        """Append the wire counts of a process since its last report."""
        assert self._wire is not None
        self._wire.add(counts)

    def record_faults(self, events: Sequence[dict[str, Any]]) -> None:
        """Append what was done on the way to the broker in one test; see
        :mod:`harness.runner.faults`.
        """
        self._add_case_lines(FAULT_LINES, FAULTS_NAME, events)

    def record_history(self, operations: Sequence[dict[str, Any]]) -> None:
        """Append what the workloads of one test saw; see :mod:`harness.runner.cluster_notes`."""
        self._add_case_lines(HISTORY_LINES, HISTORY_NAME, operations)

    def _add_case_lines(
        self, form: CaseLineForm[Any], file: str, lines: Sequence[dict[str, Any]]
    ) -> None:
        if not lines:
            return
        if file not in self._case_lines:
            assert self.context is not None
            place = self.run_dir / file
            self._case_lines[file] = form.writer(place, self.run_id, self._judged)
        self._case_lines[file].add(lines)

    def take(self, report: object) -> None:
        """All that a test's report carries."""
        for told, record in _TAKEN.items():
            record(self, getattr(report, told.value, []))

    def finish(self, whole: bool) -> int | None:
        """Write the footer if the session was whole, and return the run's exit code, else None.

        It is not whole if the target died, a replacement took its place, and no test has recorded
        the death: its cause is then unknown.
        """
        if self._writer is None:
            return None
        self._note_death()
        if not (whole and self._planned):
            return None
        replaced = OWN_BROKER in self.target.capabilities and not self.target.is_alive()
        if replaced and not self.death_was_seen:
            return None
        exit_code = int(summarize(self._writer.journal(), finished=True).exit_code)
        self._writer.write_footer(_now(), exit_code)
        return exit_code

    def _note_death(self) -> None:
        if not self.target.is_alive():
            said = self.target.describe_failure() or "it no longer answers"
            (self.run_dir / DEATH_NAME).write_text(said, "utf-8")

    def close(self) -> None:
        """Stop the target and close the journal; twice is fine."""
        try:
            self.target.stop()
        finally:
            for writer in (self._writer, self._begun, self._wire, *self._case_lines.values()):
                if writer:
                    writer.close()


class CaseReport(Enum):
    """The data that a test's report carries to the controller; the value is its name there."""

    RECORDS = "kafka_conformance_records"
    WIRE = "kafka_conformance_wire"
    FAULTS = "kafka_conformance_faults"
    HISTORY = "kafka_conformance_history"


_TAKEN: dict[CaseReport, Callable[[RunSession, Any], None]] = {
    CaseReport.RECORDS: RunSession.record,
    CaseReport.WIRE: RunSession.record_wire,
    CaseReport.FAULTS: RunSession.record_faults,
    CaseReport.HISTORY: RunSession.record_history,
}
"""The method that stores each kind."""


def write_plan(
    context: WorkerContext, worker: str, cases: Sequence[PlannedCase], groups: Mapping[str, str]
) -> None:
    """A worker's side of :meth:`RunSession.plan_from_worker`."""
    plan = {"cases": [case.to_json() for case in cases], "groups": groups}
    context.plan_file(worker).write_text(json.dumps(plan), "utf-8")


def _now() -> str:
    return datetime.now(UTC).isoformat()
