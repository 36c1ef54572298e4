"""One client through one schedule: its history, and the checker's judgement of it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.client.broker import BrokerUnderTest
from harness.histories.checker import check
from harness.histories.history import ClientAction, ClientOperation, OperationOutcome
from harness.histories.judgement import HistoryVerdict, Judgement
from harness.proxies.event import Event
from harness.proxies.rules import RuleSet
from harness.targets.asking import ask_api_versions
from harness.targets.proxied import proxied
from harness.targets.target import Target
from labs.clients_under_faults.client_process import ClientProcess
from labs.clients_under_faults.final_read import final_read
from labs.clients_under_faults.job import CONSUMER, PRODUCER, Job
from labs.clients_under_faults.nemesis import Nemesis
from labs.clients_under_faults.notes import HEALED
from labs.clients_under_faults.schedule import SPAN_MS, FaultSchedule

NUMBER = re.compile(r"\d+")
MOST_REASONS = 20
NEMESIS, WATCHDOG = "nemesis", "watchdog"
ASK_MS = 10_000
STRUCK = {"fired", "disabled", "reset"}
"""Events of a proxy that changed traffic."""


@dataclass(slots=True)
class FaultRun:
    """``struck``: how often a fault changed traffic. ``log``: the end of the client's log."""

    client: str
    schedule: FaultSchedule
    history: list[ClientOperation] = field(default_factory=list)
    judgement: Judgement = field(
        default_factory=lambda: Judgement(HistoryVerdict.UNKNOWN, why="not run")
    )
    struck: int = 0
    seconds: float = 0.0
    log: str = ""

    @property
    def sends(self) -> dict[OperationOutcome, int]:
        """The number of sends by outcome; ``invoke``: all sends."""
        found = Counter(one.outcome for one in self.history if one.action is ClientAction.SEND)
        return {outcome: found[outcome] for outcome in OperationOutcome}

    @property
    def why_not_sent(self) -> dict[str, int]:
        """The reasons of sends that were not acknowledged, with their numbers."""
        bad = (OperationOutcome.FAIL, OperationOutcome.INFO)
        told = (o for o in self.history if o.action is ClientAction.SEND and o.outcome in bad)
        said = Counter(f"{one.outcome}: {NUMBER.sub('N', one.detail)}" for one in told)
        return dict(said.most_common(MOST_REASONS))

    def to_json(self) -> dict[str, Any]:
        judgement = self.judgement
        return {
            "client": self.client,
            "seed": self.schedule.seed,
            "verdict": judgement.verdict,
            "why": judgement.why,
            "anomalies": judgement.anomalies,
            "findings": [str(finding) for finding in judgement.findings],
            "sends": self.sends,
            "why_not_sent": self.why_not_sent,
            "struck": self.struck,
            "seconds": round(self.seconds, 1),
        }


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings of all runs. ``limit_s``: a client hangs after this time without progress."""

    target: Target
    folder: Path
    idempotent: bool = True
    limit_s: float = 30.0


def run_client(client: str, schedule: FaultSchedule, setting: Setting) -> FaultRun:
    """Return the run. Errors of a client are part of it; our own make its verdict unknown."""
    run = FaultRun(client, schedule)
    began_s = time.monotonic()
    try:
        _carry_out(run, setting)
        run.judgement = check(run.history)
    except Exception as problem:
        why = f"the run itself failed: {type(problem).__name__}: {problem}"
        run.judgement = Judgement(HistoryVerdict.UNKNOWN, why=why)
    run.seconds = time.monotonic() - began_s
    return run


def _carry_out(run: FaultRun, setting: Setting) -> None:
    with _broker(setting.target, f"{run.client}-{run.schedule.seed}") as broker:
        topic = broker.create_topic(partitions=run.schedule.workload.partitions)
        job = _under_faults(run, setting, topic.name)
        run.history += final_read(broker, topic, job)


@contextmanager
def _broker(target: Target, about: str) -> Iterator[BrokerUnderTest]:
    """Open a connection without a proxy."""
    address = target.addresses[0]
    versions = ask_api_versions(address, ASK_MS)
    prefix = f"{target.name_prefix}-{about}-{time.monotonic_ns()}"
    broker = BrokerUnderTest(target.addresses, versions, name_prefix=prefix)
    try:
        yield broker
    finally:
        broker.close()


def _under_faults(run: FaultRun, setting: Setting, topic: str) -> Job:
    schedule = run.schedule
    clock_began_s = time.monotonic()

    def now_ms() -> float:
        return (time.monotonic() - clock_began_s) * 1000

    def tell(event: Event) -> None:
        run.struck += event.what in STRUCK

    rules = RuleSet(seed=schedule.seed, now_ms=now_ms, tell=tell)
    with proxied(setting.target, interceptor=rules, seed=schedule.seed, tell=tell) as behind:
        bootstrap = ",".join(map(str, behind.addresses))
        job = _job(schedule, bootstrap, topic, idempotent=setting.idempotent)
        log = setting.folder / f"{run.client}-{schedule.seed}.log"

        def note(what: str) -> None:
            at_ms = round(now_ms())
            one = ClientOperation(
                NEMESIS, OperationOutcome.INFO, ClientAction.FAULT, detail=what, at_ms=at_ms
            )
            run.history.append(one)

        with ClientProcess(run.client, job, log, run.history.append) as process:
            nemesis = Nemesis(behind, rules, note)
            process.go()
            with nemesis.at_work(schedule, lambda: process.order(HEALED)):
                nemesis.wait()
                status = process.wait(setting.limit_s, lambda: _progress(run))
        run.log = process.last_words()
        for problem in (nemesis.problem, process.problem):
            if problem is not None:
                raise problem
    _note_unfinished(run, status, setting.limit_s)
    return job


def _progress(run: FaultRun) -> int:
    """The number of operations of the client, without failed polls."""
    return sum(one.process != NEMESIS and not _complains(one) for one in run.history)


def _complains(one: ClientOperation) -> bool:
    return one.action is ClientAction.POLL and one.outcome is OperationOutcome.INFO


def _note_unfinished(run: FaultRun, status: int | None, limit_s: float) -> None:
    done = {one.process for one in run.history if one.action is ClientAction.FINISH}
    # The consumer waits for the producer's end: of the two only the first is to blame.
    missing = [each for each in (PRODUCER, CONSUMER) if each not in done][:1]
    if status is None:
        why = f"killed: healed, and for {limit_s:.0f} s no progress, or far too slow"
        missing = missing or ["closing"]
    elif status:
        why = f"the process ended with status {status}"
        missing = missing or ["closing"]
    else:
        why = "the process ended without it"
    for each in missing:
        told = ClientOperation(
            each, OperationOutcome.INFO, ClientAction.FINISH, detail=f"{WATCHDOG}: {why}"
        )
        run.history.append(told)


def _job(schedule: FaultSchedule, bootstrap: str, topic: str, *, idempotent: bool) -> Job:
    workload = schedule.workload
    return Job(
        bootstrap=bootstrap,
        topic=topic,
        partitions=workload.partitions,
        records=workload.records,
        value_bytes=workload.value_bytes,
        span_ms=SPAN_MS,
        idempotent=idempotent,
        linger_ms=workload.linger_ms,
        batch_bytes=workload.batch_bytes,
        in_flight=workload.in_flight,
        delivery_timeout_ms=workload.delivery_timeout_ms,
    )
