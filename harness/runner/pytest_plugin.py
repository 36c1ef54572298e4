"""The pytest side: options, marks, fixtures, one writer of the journal also under xdist.

Active only when tests below ``suites/`` are asked for. The controller starts the target once and
hands what it learnt to the workers; records travel back on the test reports.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from harness.client.broker import ApiNotAdvertised
from harness.client.errors import BrokerMisbehaved, PreparationFailed
from harness.client.grants import NotGranted
from harness.codec import DecodeError
from harness.codec.records.errors import RecordsError
from harness.conformance.catalogue import CatalogueError, load_catalogue
from harness.conformance.outcome import (
    register_broker_fault,
    register_failed_preparation,
    register_missing_capability,
    register_not_supported,
    says_why_not,
)
from harness.conformance.record import CheckRecord, PlannedCase
from harness.conformance.verdict import Verdict, worst
from harness.runner.brokers.shared_broker import SharedBroker
from harness.runner.case_parameters import api_of, parametrize
from harness.runner.case_selection import chosen, is_offline, judged, problems_of
from harness.runner.case_session import CaseSession
from harness.runner.judging_files import is_test_file, may_judge
from harness.runner.run_options import add_options, asked_client_of
from harness.runner.run_order import groups_of, turn_of
from harness.runner.run_session import (
    DATA_NAME,
    CaseReport,
    RunSession,
    WorkerContext,
    new_run_id,
    write_plan,
)
from harness.runner.running_case import CASE
from harness.runner.wire_telling import WireTelling
from harness.targets.errors import MissingCapability, TargetError
from harness.targets.secured_cluster import enter_secured
from harness.targets.spec import parse_target
from harness.targets.target import Target

SUITES = "suites"
pytest_plugins = ("harness.runner.brokers.fixtures", "harness.runner.client_option")
_SESSION = pytest.StashKey[RunSession]()
_CONTEXT = pytest.StashKey[WorkerContext]()
_ATTEMPT = pytest.StashKey[int]()
_ASKED = pytest.StashKey[int]()
_SLOW = pytest.StashKey[int]()
_WORKER_INPUT = "kafka_conformance"
_DIED = "kafka_conformance_died"
_BROKER = pytest.StashKey[SharedBroker]()
_TOLD = pytest.StashKey[WireTelling]()
_LAST = pytest.StashKey[bool]()
_OUTCOMES = {
    Verdict.PASSED: "passed",
    Verdict.WARNING: "passed",
    Verdict.NOT_SUPPORTED: "skipped",
    Verdict.NOT_APPLICABLE: "skipped",
}


class TargetHooks:
    """Hooks by which another plugin replaces parts of this one."""

    @pytest.hookspec(firstresult=True)
    def pytest_conformance_target(self, spec: str, log_dir: Path | None) -> Target | None:
        """The target that a string names, not yet started."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(TargetHooks)


@pytest.hookimpl(trylast=True)
def pytest_conformance_target(spec: str, log_dir: Path | None) -> Target:
    return parse_target(spec, log_dir=log_dir)


def pytest_addoption(parser: pytest.Parser) -> None:
    add_options(parser.getgroup("kafka-conformance", "conformance of a Kafka broker"))


def _active(config: pytest.Config) -> bool:
    suites = config.rootpath / SUITES
    for argument in config.args:
        path = (config.invocation_params.dir / argument.split("::")[0]).resolve()
        if path == suites or suites in path.parents:
            return True
    return False


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def pytest_configure(config: pytest.Config) -> None:
    for line in (
        "judges(*ids): the requirements that this test records checks for",
        "at_versions(api, versions): run at every released version in the range",
        "at_every_version(safeties): run for each API of these safeties, at each version",
        "offline(): the test asks no broker",
    ):
        config.addinivalue_line("markers", line)
    if not _active(config):
        return
    # not EncodeError: that is a test's mistake
    register_broker_fault(BrokerMisbehaved, DecodeError, RecordsError)
    register_failed_preparation(PreparationFailed)
    register_not_supported(ApiNotAdvertised)
    register_missing_capability(MissingCapability, NotGranted)
    if _is_worker(config):
        text = config.workerinput[_WORKER_INPUT]  # type: ignore[attr-defined]
        context = config.stash[_CONTEXT] = WorkerContext.from_json(text)
        enter_secured(context.info.secured)


# -- the run (controller) ------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    config = session.config
    if not _active(config) or _is_worker(config) or config.option.collectonly:
        return
    spec = config.getoption("target")
    run_id = config.getoption("run_id") or new_run_id(spec, datetime.now(UTC))
    run_dir = Path(config.getoption("out")).absolute() / "runs" / run_id
    try:
        load_catalogue()
        target = _new_target(config, spec, run_dir)
        seed, greases = config.getoption("seed"), config.getoption("grease")
        client = asked_client_of(config)
        run = RunSession(target, run_dir, run_id, seed, greases=greases, client=client)
        config.stash[_SESSION] = run
        config.stash[_CONTEXT] = run.start()
        config.pluginmanager.register(_Recording(run))
    except (CatalogueError, TargetError) as error:
        raise pytest.UsageError(str(error)) from error


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    context = node.config.stash.get(_CONTEXT, None)
    if context is not None:
        node.workerinput[_WORKER_INPUT] = context.to_json()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:  # noqa: ARG001
    run = node.config.stash.get(_SESSION, None)
    if run is not None:
        run.plan_from_worker(node.workerinput["workerid"])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Assign tests that share a private broker to one worker, with any ``--dist``."""
    run = config.stash.get(_SESSION, None)
    if run is None:
        return None
    from harness.runner.scheduling import InGroups  # it needs xdist

    return InGroups(config, log, lambda: run.groups)


def pytest_report_header(config: pytest.Config) -> list[str]:
    context = config.stash.get(_CONTEXT, None)
    if context is None:
        return []
    info = context.info
    return [
        f"target: {info.spec} ({info.implementation} {info.release}), time scale {info.time_scale}",
        f"run: {context.run_id} in {context.run_dir}",
    ]


class _Recording:
    """The controller's part: reports come in, with the checks of each test, and are written."""

    def __init__(self, run: RunSession) -> None:
        self.run = run

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.run.begin(nodeid.removeprefix(f"{SUITES}/"))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.run.take(report)
        self.run.death_was_seen |= getattr(report, _DIED, False)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    run = config.stash.get(_SESSION, None)
    if run is not None and (run.run_dir / DATA_NAME).is_dir():
        terminalreporter.write_line(f"data folders are kept in {run.run_dir / DATA_NAME}")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    run = session.config.stash.get(_SESSION, None)
    if run is not None:
        whole = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        run.finish(whole)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what was started. What belongs to the run is forgotten, so that another may start."""
    if shared := config.stash.get(_BROKER, None):
        del config.stash[_BROKER]
        shared.close()
    if run := config.stash.get(_SESSION, None):
        del config.stash[_SESSION]
        run.close()


# -- the tests (worker, or the only process) -------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Nothing that is collected becomes garbage: to look for it takes a tenth of the time."""
    if not _active(session.config):
        return (yield)
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files that hold no test of the requirements asked for are not imported."""
    globs = config.getoption("requirement")
    if not globs or not is_test_file(collection_path) or not _active(config):
        return None
    return None if may_judge(collection_path.read_text("utf-8"), globs) else True


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    parametrize(metafunc)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not _active(config):
        return
    problems = problems_of(items)
    if problems:
        raise pytest.UsageError("\n".join(problems))
    context = config.stash.get(_CONTEXT, None)
    kept = chosen(items, config.getoption("requirement"), context.info if context else None)
    if len(kept) < len(items):
        known = set(kept)
        config.hook.pytest_deselected(items=[item for item in items if item not in known])
    items[:] = sorted(kept, key=turn_of)


@pytest.hookimpl(tryfirst=True)  # before xdist notifies the controller, which reads the plan
def pytest_collection_finish(session: pytest.Session) -> None:
    config = session.config
    context = config.stash.get(_CONTEXT, None)
    if context is None or (not _is_worker(config) and config.pluginmanager.hasplugin("dsession")):
        return
    cases = [
        PlannedCase(case=item.nodeid.removeprefix(f"{SUITES}/"), requirements=judged(item))
        for item in session.items
    ]
    if _is_worker(config):
        groups = groups_of(session.items, clusters_are_light=context.clusters_are_light)
        worker = config.workerinput["workerid"]  # type: ignore[attr-defined]
        write_plan(context, worker, cases, groups)
    else:
        config.stash[_SESSION].plan(cases)


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Retries, when they are asked for: a retry buys a label, not a pass."""
    if _CONTEXT not in item.config.stash:
        return None
    item.stash[_LAST] = nextitem is None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for attempt in range(1, item.config.getoption("retries") + 2):
        item.stash[_ATTEMPT] = attempt
        reports = _run(item, nextitem)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        if not any(report.failed for report in reports):
            break
        # the same item again, as new: pytest keeps fixture values on it
        item._initrequest()  # type: ignore[attr-defined]
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _run(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    """Make one attempt, and repeat it while it gives no verdict: see ``must_be_asked_again``."""
    item.stash[_SLOW] = 0
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    while (case := item.stash[CASE]).must_be_asked_again:
        item.stash[_SLOW] = case.slow + case.too_slow
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    return reports


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    context = item.config.stash.get(_CONTEXT, None)
    if context is None:
        return
    api, version = api_of(item)
    asked = item.stash[_ASKED] = item.stash.get(_ASKED, 0) + 1
    case = CaseSession(
        context,
        item.nodeid,
        judged(item),
        api,
        version,
        _shared_broker(item.config, context),
        item.config.stash.setdefault(_TOLD, WireTelling()).coverage,
        is_offline(item),
        item.stash.get(_ATTEMPT, 1),
        asked,
        item.stash[_SLOW],
    )
    item.stash[CASE] = case
    case.begin()


def _new_target(config: pytest.Config, spec: str, run_dir: Path) -> Target:
    """Not yet started. Raises TargetError."""
    target: Target = config.hook.pytest_conformance_target(spec=spec, log_dir=run_dir / "logs")
    if config.getoption("keep"):
        target.keep_in = run_dir / DATA_NAME
    return target


def _shared_broker(config: pytest.Config, context: WorkerContext) -> SharedBroker:
    """The one of this process."""

    def make_target() -> Target:
        return _new_target(config, context.info.spec, context.run_dir)

    alone = not _is_worker(config) or config.workerinput["workercount"] == 1  # type: ignore[attr-defined]
    return config.stash.setdefault(_BROKER, SharedBroker(context, make_target, alone))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    error = call.excinfo.value if call.excinfo else None
    if call.excinfo and says_why_not(call.excinfo.value):
        # pytest draws every other exception with its source, which takes longer than most tests
        skipped = pytest.skip.Exception(str(error))
        as_skipped = (type(skipped), skipped, call.excinfo.tb)
        call.excinfo = pytest.ExceptionInfo.from_exc_info(as_skipped)
    report = yield
    case = item.stash.get(CASE, None)
    if case is not None and call.when == "teardown":
        told = item.config.stash[_TOLD].due(last=item.stash.get(_LAST, True))
        setattr(report, CaseReport.WIRE.value, [list(count) for count in told])
    if case is None or not (call.when == "call" or (call.when == "setup" and error)):
        return report
    records = case.finish(error, lambda: report.longreprtext)
    setattr(report, _DIED, case.died)
    setattr(report, CaseReport.FAULTS.value, case.fault_events())
    setattr(report, CaseReport.HISTORY.value, case.history_lines())
    setattr(report, CaseReport.RECORDS.value, [record.to_json() for record in records])
    _translate(report, item, records)
    if report.failed:
        report.sections.append(("repeat this case", case.repeat_command()))
    return report


def _translate(report: pytest.TestReport, item: pytest.Item, records: list[CheckRecord]) -> None:
    """Pytest's own outcome follows from the verdicts, not the other way round."""
    verdict = worst(record.verdict for record in records)
    outcome = _OUTCOMES.get(verdict, "failed")
    reasons = "; ".join(f"{r.requirement} {r.verdict}: {r.reason}" for r in records if r.reason)
    if outcome == "skipped":
        report.longrepr = (str(item.path), item.reportinfo()[1] or 0, f"Skipped: {reasons}")
    elif outcome == "passed":
        report.longrepr = None
    elif report.outcome != "failed":
        report.longrepr = reasons
    report.outcome = outcome  # type: ignore[assignment]
