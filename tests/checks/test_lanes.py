"""Parts run two at a time, after what they need; those that measure time run alone at the end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable

import pytest

from checks.lanes import run_all
from checks.part import Lane, Part, Slice
from checks.part_run import Result, SliceRow
from checks.termination import orderly_end

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


def test_one_part_of_each_lane_runs_beside_the_other() -> None:
    both = threading.Barrier(2, timeout=LIMIT_S)
    runs = Runs(lambda _: both.wait())
    rows = run_all(of(Part("a"), Part("b", lane=Lane.WAITS)), runs, threading.Event())
    assert {row.slice.name for row in rows} == {"a", "b"}
    assert runs.beside["a"] == {"a", "b"}


def test_a_lane_without_parts_takes_those_of_the_other() -> None:
    both = threading.Barrier(2, timeout=LIMIT_S)
    run_all(of(Part("a"), Part("b")), Runs(lambda _: both.wait()), threading.Event())
    assert not both.broken


def test_a_part_waits_for_those_that_it_names() -> None:
    runs = Runs()
    parts = of(Part("report", after=("suites",)), Part("suites", lane=Lane.WAITS))
    run_all(parts, runs, threading.Event())
    assert runs.order == ["suites", "report"]
    assert runs.beside["report"] == {"report"}


def test_a_part_whose_predecessor_is_not_asked_for_runs() -> None:
    runs = Runs()
    run_all(of(Part("report", after=("suites",))), runs, threading.Event())
    assert runs.order == ["report"]


def test_what_measures_time_runs_alone_at_the_end() -> None:
    runs = Runs()
    parts = of(Part("clock", lane=Lane.ALONE), *(Part(name) for name in "abc"))
    rows = run_all(parts, runs, threading.Event())
    assert runs.order[-1] == "clock"
    assert runs.beside["clock"] == {"clock"}
    assert rows[-1].slice.name == "clock"


def test_a_part_that_raises_ends_the_run_with_its_error() -> None:
    def fail(name: str) -> None:
        raise RuntimeError(name)

    with pytest.raises(RuntimeError, match="a"):
        run_all(of(Part("a"), Part("b", after=("a",))), Runs(fail), threading.Event())


def test_sigterm_stops_the_parts_that_run_and_begins_no_other() -> None:
    stop = threading.Event()

    def end_this_process(name: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(LIMIT_S)

    runs = Runs(end_this_process)
    with orderly_end(), pytest.raises(KeyboardInterrupt):
        run_all(of(Part("a"), Part("b", after=("a",))), runs, stop)
    assert runs.order == ["a"]


def test_no_part_begins_once_the_run_is_to_stop() -> None:
    stop, runs = threading.Event(), Runs()
    stop.set()
    assert run_all(of(Part("a"), Part("b")), runs, stop) == []
    assert runs.order == []
