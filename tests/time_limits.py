"""Each test has a limit of wall clock, so that one that hangs is red and the others go on.

Two nets. pytest-timeout raises in the test by a signal: one test fails, with the stacks of all
threads. It does not reach code in C, and it ends with a first failure, so that a hang in what
cleans up after that has no limit. So faulthandler, which needs neither the interpreter's lock nor
a signal, writes all stacks and ends the process some time later; pytest-xdist then starts another
worker.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import threading
import traceback
from collections.abc import Generator, Iterator
from pathlib import Path, PurePath

import pytest

HERE = Path(__file__).parent
LIMIT_S, LONG_S = 300, 900
LONG_MARKS = ("kafka", "slow", "deep")
LONG_ONES = {  # files and folders below tests/; their tests start clusters, JVMs, Spark or builds
    "architecture/test_commands_run.py": LONG_S,
    "architecture/test_site.py": LONG_S,
    "codec/test_agreement.py": LONG_S,
    "codec/test_allocation.py": LONG_S,
    "codec/test_drift_jars.py": LONG_S,
    "installed": LONG_S,
    "labs/client_defects": LONG_S,
    "labs/clients": LONG_S,
    "labs/clients_under_faults": LONG_S,
    "labs/crash_loops": 2 * LONG_S,
    "labs/official_classes": 2 * LONG_S,
    "labs/old_java_clients": LONG_S,
    "labs/power_model": LONG_S,
    "labs/late_end": LONG_S,
    "labs/recovery": LONG_S,
    "labs/streams": LONG_S,
    "labs/transaction_histories": LONG_S,
    "proxies/addresses/test_kafka_cluster.py": LONG_S,
    "proxies/control/test_clients.py": LONG_S,
    "reports": LONG_S,
    "runner": LONG_S,
    "targets": LONG_S,
}
GRACE_S = 60.0  # between the first net and the second
_STDERR = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_STDERR] = os.dup(sys.__stderr__.fileno() if sys.__stderr__ else 2)


def pytest_unconfigure(config: pytest.Config) -> None:
    faulthandler.cancel_dump_traceback_later()
    os.close(config.stash[_STDERR])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Set a limit for each test below this folder that has none of its own."""
    if config.getoption("timeout") is not None:
        return
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(default_limit_s(item)))


def default_limit_s(item: pytest.Item) -> int:
    """Return the limit for a test's marks and path."""
    path = PurePath(item.path.relative_to(HERE))
    limits = [LONG_ONES.get(str(place), LIMIT_S) for place in (path, *path.parents)]
    if any(map(item.get_closest_marker, LONG_MARKS)):
        limits.append(LONG_S)
    return max(limits)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    yield from _within_limit(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    yield from _within_limit(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    yield from _within_limit(item)


def _within_limit(item: pytest.Item) -> Iterator[None]:
    mark = item.get_closest_marker("timeout")
    limit_s = float(mark.args[0] if mark else item.config.getoption("timeout") or 0)
    if limit_s:
        stderr = item.config.stash[_STDERR]
        faulthandler.dump_traceback_later(limit_s + GRACE_S, exit=True, file=stderr)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the other threads' stacks at the limit to the report, which pytest-xdist carries."""
    report = yield
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, pytest.fail.Exception) and str(error).startswith("Timeout"):
        report.sections.append(("stacks of the other threads", _other_stacks()))
    return report


def _other_stacks() -> str:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f"{names.get(ident)}:\n{''.join(traceback.format_stack(frame))}"
        for ident, frame in sys._current_frames().items()
        if ident != threading.get_ident()
    )
