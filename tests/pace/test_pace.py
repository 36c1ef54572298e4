"""The measurements of the machine's pace, and the silences that they extend."""

from __future__ import annotations

import os
from ctypes import PyDLL

import pytest

from harness.base import pace as pace_module
from harness.base.pace import (
    BUSY_LOAD,
    MOST_TIMES_AS_LONG,
    TIMES_AS_PATIENT,
    Pace,
    patience,
    time_left,
    watched_pace,
)

MS = 0.001


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def woken(*after_ms: float, work_share: float = 0) -> Pace:
    """Return a pace with these times between its wakes; the process worked a share of each."""
    clock, worked = Clock(), Clock()
    pace = Pace(clock, worked)
    for each_ms in after_ms:
        clock.now_s += each_ms * MS
        worked.now_s += each_ms * MS * work_share
        pace.note_wake()
    return pace


def test_timely_wakes_count_as_no_pause() -> None:
    pace = woken(*[5] * 200)
    assert (round(pace.longest_ms), round(pace.lost_ms), round(pace.watched_ms)) == (0, 0, 1000)
    assert not pace.is_starved(1)


@pytest.mark.parametrize(("work_share", "lost_ms"), [(0, 1000), (0.5, 500), (1, 0), (2, 0)])
def test_own_work_of_process_is_not_counted_as_lost_time(work_share: float, lost_ms: float) -> None:
    """One of its threads keeps the watch from its turn; on two processors it works twice."""
    pace = woken(5, 1010, work_share=work_share)
    assert pace.lost_ms == pytest.approx(lost_ms, abs=10)
    assert pace.is_starved(100) == (lost_ms > 0)


def test_small_pauses_are_tolerated() -> None:
    pace = woken(*[10] * 100)
    assert round(pace.lost_ms) == 0
    assert not pace.is_starved(51)


@pytest.mark.parametrize(("bound_ms", "starved"), [(600, True), (601, False), (5_000, False)])
def test_pause_starves_bounds_up_to_ten_times_its_length(bound_ms: float, starved: bool) -> None:
    pace = woken(*[5] * 200, 65.001, *[5] * 200)
    assert pace.is_starved(bound_ms) == starved


@pytest.mark.parametrize(("late_ms", "starved"), [(5, False), (14, False), (16, True), (50, True)])
def test_small_pauses_starve_any_bound_if_half_of_time_is_lost(
    late_ms: float, starved: bool
) -> None:
    """Where half of the pace is lost by them."""
    pace = woken(*[5 + late_ms] * 100)
    assert pace.is_starved(100_000) == starved


def test_overdue_wake_counts_as_pause() -> None:
    clock = Clock()
    pace = Pace(clock, lambda: 0.0)
    clock.now_s += 1
    assert (round(pace.longest_ms), round(pace.lost_ms)) == (995, 990)
    assert pace.is_starved(9_000)


def test_pause_of_process_is_measured() -> None:
    with watched_pace() as pace:
        PyDLL(None).usleep(200_000)  # PyDLL: no other thread has its turn meanwhile
    assert pace.longest_ms >= 150


def left_with(
    monkeypatch: pytest.MonkeyPatch,
    for_ms: float,
    lost_share: float,
    at_most_ms: float | None = None,
) -> float:
    """Return the duration of a silence, in ms, if this share of each millisecond is lost."""

    class Losing(Pace):
        @property
        def lost_ms(self) -> float:
            return self.watched_ms * lost_share

    clock = Clock()
    monkeypatch.setattr(pace_module, "Pace", lambda: Losing(clock, lambda: 0.0))
    began_s = clock.now_s
    for left_ms in time_left(for_ms, at_most_ms):
        clock.now_s += min(max(left_ms, 0.01), 1) * MS  # a clock has steps
    return (clock.now_s - began_s) / MS


@pytest.mark.parametrize(
    ("lost_share", "lasts_ms"), [(0, 50), (0.5, 100), (0.75, 200), (1, 50 * MOST_TIMES_AS_LONG)]
)
def test_silence_is_extended_by_time_that_machine_lost(
    monkeypatch: pytest.MonkeyPatch, lost_share: float, lasts_ms: float
) -> None:
    assert left_with(monkeypatch, 50, lost_share) == pytest.approx(lasts_ms, abs=2)


def test_silence_is_extended_no_further_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert left_with(monkeypatch, 50, 0.5, at_most_ms=70) == pytest.approx(70, abs=2)
    assert left_with(monkeypatch, 50, 0, at_most_ms=70) == pytest.approx(50, abs=2)


def test_time_left_yields_at_least_once() -> None:
    assert len(list(time_left(1e-9))) == 1


def test_time_after_end_of_pace_is_not_counted() -> None:
    clock = Clock()
    pace = Pace(clock, lambda: 0.0)
    clock.now_s += 5 * MS
    pace.end()
    clock.now_s += 10
    assert (round(pace.longest_ms), round(pace.watched_ms)) == (0, 5)


@pytest.mark.parametrize(
    ("share", "factor"), [(0, 1), (1, 1), (1.01, TIMES_AS_PATIENT), (9, TIMES_AS_PATIENT)]
)
def test_patience_grows_on_busy_machine(share: float, factor: int) -> None:
    load = share * BUSY_LOAD * (os.cpu_count() or 1)
    assert patience(lambda: (load, 0.0, 0.0)) == factor
