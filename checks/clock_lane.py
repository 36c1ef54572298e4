"""The clock lane: tests that assert an upper bound on real time, judged beside the machine's pace.

``pytest tests -m clock`` runs them, alone on the machine and in one process; every other run leaves
them out, unless a node id is given. Such a test is marked ``clock(bound_ms=N)`` with the shortest
of its bounds and multiplies all its times by the fixture ``clock_scale``. A case that fails while
the machine starves (:meth:`harness.base.pace.Pace.is_starved`) is made again with longer times. It
is inconclusive when the last attempt says nothing either: neither passed nor failed, and the run
ends with :data:`TOO_SLOW`.
"""

from __future__ import annotations

import re

import pytest
from _pytest.runner import runtestprotocol
from _pytest.terminal import TerminalReporter

from harness.base.pace import FACTORS, watched_pace

CLOCK = "clock"
INCONCLUSIVE = "inconclusive"
TOO_SLOW = 9
"""The exit code of a run in which nothing failed and a case is inconclusive, beside pytest's."""

_PAUSES = "paused"
_SCALE = pytest.StashKey[int]()


class ClockLane:
    """The results of the lane's cases, in the process that prints them."""

    def __init__(self) -> None:
        self.too_slow: dict[str, pytest.TestReport] = {}
        self.made_again: dict[str, list[str]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if pauses := [str(told) for name, told in report.user_properties if name == _PAUSES]:
            self.made_again[report.nodeid] = pauses
        if report.outcome == INCONCLUSIVE:
            self.too_slow[report.nodeid] = report

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        if self.too_slow and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = TOO_SLOW

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        for name, pauses in self.made_again.items():
            terminalreporter.write_line(f"made again: {name}: {'; '.join(pauses)}")
        for name, report in self.too_slow.items():
            terminalreporter.write_sep("_", name)
            terminalreporter.write_line(report.longreprtext)
        if self.too_slow:
            told = f"the machine was too slow for {len(self.too_slow)} cases: "
            terminalreporter.write_line(told + ", ".join(self.too_slow), red=True)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "clock(bound_ms=N): asserts an upper bound on real time; run by `-m clock`, on a machine "
        "that does nothing else",
    )
    config.pluginmanager.register(ClockLane(), "clock-lane")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unbound = [each.nodeid for each in items if not _is_bound(each.get_closest_marker(CLOCK))]
    if unbound:
        raise pytest.UsageError(f"clock(bound_ms=N) is what a mark says; not at {unbound}")
    named = any("::" in argument for argument in config.args)
    if named or re.search(rf"\b{CLOCK}\b", config.option.markexpr):
        return
    left_out = [item for item in items if item.get_closest_marker(CLOCK)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker(CLOCK)]


def _is_bound(mark: pytest.Mark | None) -> bool:
    return mark is None or list(mark.kwargs) == ["bound_ms"]


@pytest.fixture
def clock_scale(request: pytest.FixtureRequest) -> int:
    """The factor of every time of a test of the lane."""
    scale: int = request.node.stash[_SCALE]
    return scale


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    mark = item.get_closest_marker(CLOCK)
    if mark is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in _judged(item, nextitem, mark.kwargs["bound_ms"]):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _judged(
    item: pytest.Item, nextitem: pytest.Item | None, bound_ms: float
) -> list[pytest.TestReport]:
    """The reports of the attempt that counts."""
    pauses: list[str] = []
    for scale in FACTORS:
        item.stash[_SCALE] = scale
        with watched_pace() as pace:
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
        failed = [report for report in reports if report.failed]
        if not failed or not pace.is_starved(bound_ms * scale):
            break
        pauses.append(str(pace))
    else:
        for report in failed:
            report.outcome = INCONCLUSIVE  # type: ignore[assignment]
    reports[-1].user_properties += [(_PAUSES, told) for told in pauses]
    return reports


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    if report.outcome == INCONCLUSIVE:
        return INCONCLUSIVE, "I", INCONCLUSIVE.upper()
    return None
