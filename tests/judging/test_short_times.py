"""A failure counts at once where the machine kept its pace, else the times are longer once."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import Mock

import pytest

from suites.protocol import short_times
from suites.protocol.classic_group import ClassicGroup
from suites.protocol.short_times import SHORT_MS, Pauses, in_time, watched_pauses


def group() -> ClassicGroup:
    broker = Mock()
    broker.scaled_ms = lambda base_ms: base_ms
    return ClassicGroup(broker)


@contextmanager
def stood_still() -> Iterator[Pauses]:
    yield Pauses(longest_ms=SHORT_MS)


@contextmanager
def kept_its_pace() -> Iterator[Pauses]:
    yield Pauses(longest_ms=0)


class Attempts:
    """Notes the times that it is given, and fails the first so many."""

    def __init__(self, failing: int) -> None:
        self.failing = failing
        self.given_ms: list[int] = []
        self.groups: set[int] = set()

    def __call__(self, group: ClassicGroup, short_ms: int) -> None:
        self.given_ms.append(short_ms)
        self.groups.add(id(group))
        assert len(self.given_ms) > self.failing, "too late"


def test_a_failure_on_a_machine_that_kept_its_pace_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_times, "watched_pauses", kept_its_pace)
    act = Attempts(1)
    with pytest.raises(AssertionError, match="too late"):
        in_time(group(), act)
    assert act.given_ms == [SHORT_MS]


def test_a_busy_machine_gets_more_time_and_another_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(short_times, "watched_pauses", stood_still)
    mine, act = group(), Attempts(1)
    in_time(mine, act)
    assert act.given_ms == [SHORT_MS, 6 * SHORT_MS]
    assert id(mine) not in act.groups


def test_the_second_failure_counts_however_busy_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(short_times, "watched_pauses", stood_still)
    act = Attempts(2)
    with pytest.raises(AssertionError, match="too late"):
        in_time(group(), act)
    assert len(act.given_ms) == 2


def test_a_pause_of_the_process_is_felt() -> None:
    with watched_pauses() as pauses:
        began = time.monotonic()
        sum(range(20_000_000))  # in C, without a turn for any other thread
        took_ms = (time.monotonic() - began) * 1000
    assert pauses.longest_ms >= took_ms / 2
