"""Parts run three at a time, after what they need; those that measure time run alone at the end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest

from checks.lanes import run_all
from checks.part import Lane, Part, Slice
from checks.part_run import Result, SliceRow
from harness.base.orderly_end import orderly_end

LIMIT_S = 60


class Runs:
    """Records which slices run beside which."""

    def __init__(self, during: Callable[[str], object] = lambda _: None) -> None:
        self.order: list[str] = []
        self.beside: dict[str, set[str]] = {}
        self._now: set[str] = set()
        self._lock = threading.Lock()
        self._during = during

    def __call__(self, one: Slice) -> SliceRow:
        with self._lock:
            self.order.append(one.name)
            self._now.add(one.name)
            for name in self._now:
                self.beside.setdefault(name, set()).update(self._now)
        self._during(one.name)
        with self._lock:
            self._now.remove(one.name)
        return SliceRow(one, Result.PASSED)


def of(*parts: Part) -> list[Slice]:
    return [Slice(part) for part in parts]


def test_part_that_works_runs_beside_two_that_wait() -> None:
    three = threading.Barrier(3, timeout=LIMIT_S)
    runs = Runs(lambda _: three.wait())
    waiting = [Part(name, lane=Lane.WAITS) for name in "bc"]
    rows = run_all(of(Part("a"), *waiting), runs, threading.Event())
    assert {row.slice.name for row in rows} == {"a", "b", "c"}
    assert runs.beside["a"] == {"a", "b", "c"}


def test_idle_lanes_run_parts_of_other_lane() -> None:
    three = threading.Barrier(3, timeout=LIMIT_S)
    run_all(of(*(Part(name) for name in "abc")), Runs(lambda _: three.wait()), threading.Event())
    assert not three.broken


def test_part_runs_after_its_predecessors() -> None:
    runs = Runs()
    parts = of(Part("report", after=("suites",)), Part("suites", lane=Lane.WAITS))
    run_all(parts, runs, threading.Event())
    assert runs.order == ["suites", "report"]
    assert runs.beside["report"] == {"report"}


def test_part_runs_if_its_predecessor_is_not_selected() -> None:
    runs = Runs()
    run_all(of(Part("report", after=("suites",))), runs, threading.Event())
    assert runs.order == ["report"]


def test_time_measuring_part_runs_alone_at_end() -> None:
    runs = Runs()
    parts = of(Part("clock", lane=Lane.ALONE), *(Part(name) for name in "abc"))
    rows = run_all(parts, runs, threading.Event())
    assert runs.order[-1] == "clock"
    assert runs.beside["clock"] == {"clock"}
    assert rows[-1].slice.name == "clock"


def test_exception_in_part_ends_run() -> None:
    def fail(name: str) -> None:
        raise RuntimeError(name)

    with pytest.raises(RuntimeError, match="a"):
        run_all(of(Part("a"), Part("b", after=("a",))), Runs(fail), threading.Event())


def test_sigterm_stops_running_parts_and_starts_no_other() -> None:
    stop = threading.Event()

    def end_this_process(name: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(LIMIT_S)

    runs = Runs(end_this_process)
    with orderly_end(), pytest.raises(KeyboardInterrupt):
        run_all(of(Part("a"), Part("b", after=("a",))), runs, stop)
    assert runs.order == ["a"]


def test_no_part_starts_after_stop_request() -> None:
    stop, runs = threading.Event(), Runs()
    stop.set()
    assert run_all(of(Part("a"), Part("b")), runs, stop) == []
    assert runs.order == []
