"""Mutants of packages that judge without a broker, noticed by the packages' own unit tests.

The tests of a package are collected once. Each mutant is a forked process: it replaces the code of
one function and runs the tests until one fails.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

import harness
from labs.mutation.code_swap import put_in_place
from labs.mutation.enumeration import mutants_of
from labs.mutation.mutant import Mutant
from labs.mutation.mutant_report import MutantReport
from labs.mutation.verdicts import Fate, JudgedMutant

LIMIT_S = 120
"""A mutant that takes longer hangs."""
_HARNESS = Path(harness.__file__).parent
_PASSED, _FAILED = 0, 1
_WORDS = (
    *("-p", "no:cacheprovider", "-p", "no:terminal"),
    *("--draw", "mutants", "-o", "addopts=--strict-markers --strict-config"),
)


@dataclass(frozen=True, slots=True)
class JudgingRoom:
    """``package``: its folder below ``harness``; ``tests``: what judges it."""

    package: str
    tests: tuple[str, ...]


ROOMS = {
    "histories": JudgingRoom("histories", ("tests/histories",)),
    "log-verify": JudgingRoom("log_tools", ("tests/log_tools",)),
    "by-document": JudgingRoom("historical", ("tests/historical",)),
}


def room_mutants(room: JudgingRoom) -> list[Mutant]:
    """Return all mutants of a package."""
    return [
        mutant
        for file in sorted((_HARNESS / room.package).rglob("*.py"))
        for mutant in mutants_of(_module(file), file.read_text("utf-8"))
    ]


def _module(file: Path) -> str:
    parts = file.relative_to(_HARNESS.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class RoomSession:
    """A pytest plugin that judges mutants in place of running the collected tests."""

    def __init__(self, mutants: Iterable[Mutant], jobs: int, report: MutantReport) -> None:
        self._waiting = iter(mutants)
        self._jobs, self._report = jobs, report
        self._failed: list[str] = []

    def judge(self, tests: Sequence[str]) -> None:
        """Collect the tests and judge all mutants. Raises RuntimeError: nothing is collected."""
        status = pytest.main([*_WORDS, *tests], plugins=[self])
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            raise RuntimeError(f"pytest ended with {status} for {' '.join(tests)}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Keep as many mutants at work as there are jobs."""
        running: dict[int, _Running] = {}
        while len(running) < self._jobs and (one := self._begin(session)) is not None:
            running[one.done] = one
        while running:
            ready, _, _ = select.select(list(running), [], [], 1.0)
            late = [one.done for one in running.values() if one.is_late() and one.done not in ready]
            for done in (*ready, *late):
                self._report.add(running.pop(done).end())
                if (one := self._begin(session)) is not None:
                    running[one.done] = one
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first failure; in a mutant's process alone."""
        if report.failed:
            self._failed.append(f"{report.nodeid}\n{report.longreprtext.splitlines()[-1]}")

    def _begin(self, session: pytest.Session) -> _Running | None:
        mutant = next(self._waiting, None)
        if mutant is None:
            return None
        done, written = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(done)
            os.setsid()
            os._exit(self._run_tests(session, mutant, written))
        os.close(written)
        return _Running(mutant, pid, done, time.monotonic())

    def _run_tests(self, session: pytest.Session, mutant: Mutant, written: int) -> int:
        """In the forked process: return whether a test failed, and write which."""
        put_in_place(mutant.name)
        items = session.items
        for at, item in enumerate(items):
            following = items[at + 1] if at + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                os.write(written, self._failed[0].encode()[:4096])
                return _FAILED
        return _PASSED


@dataclass(frozen=True, slots=True)
class _Running:
    """``done``: a descriptor that becomes readable when the process ends or has failed."""

    mutant: Mutant
    pid: int
    done: int
    began_s: float

    def is_late(self) -> bool:
        return time.monotonic() > self.began_s + LIMIT_S

    def end(self) -> JudgedMutant:
        """End the process with all that it has started."""
        late, seconds = self.is_late(), round(time.monotonic() - self.began_s, 1)
        if late:
            os.killpg(self.pid, signal.SIGKILL)
        text = b"" if late else os.read(self.done, 4096)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.done)
        if text:
            case, _, reason = text.decode("utf-8", "replace").partition("\n")
            return JudgedMutant(self.mutant, Fate.NOTICED, "", reason, case, 1, seconds)
        if late or os.waitstatus_to_exitcode(status) != _PASSED:
            return JudgedMutant(self.mutant, Fate.GONE, tests=1, seconds=seconds)
        return JudgedMutant(self.mutant, Fate.SURVIVED, tests=1, seconds=seconds)
