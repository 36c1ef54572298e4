"""A failure counts at once where the machine kept its pace, else the test is made again."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.base.pace import FACTORS, Pace
from harness.client.errors import BrokenSilence, PreparationFailed, ResponseTimeout, WireViolation
from harness.runner import in_time as in_time_module
from harness.runner.in_time import TooSlow, in_time
from tests.runner.conftest import SmallSuite

pytestmark = pytest.mark.rotates(8)

BOUND_MS = 600


@contextmanager
def stood_still() -> Iterator[Pace]:
    times_s = iter([0.0, 0.0])  # of the watch's begin; then a whole second has gone
    yield Pace(lambda: next(times_s, 1.0), lambda: 0.0)


@contextmanager
def kept_its_pace() -> Iterator[Pace]:
    yield Pace(lambda: 0.0, lambda: 0.0)


@pytest.mark.parametrize("error", [AssertionError("too late"), ResponseTimeout("too late")])
def test_failure_on_machine_with_normal_pace_is_raised(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(in_time_module, "watched_pace", kept_its_pace)
    with pytest.raises(type(error), match="too late"), in_time(BOUND_MS):
        raise error


@pytest.mark.parametrize(
    "error",
    [AssertionError("too late"), ResponseTimeout("too late"), BrokenSilence("not too late")],
)
def test_failure_on_starved_machine_raises_too_slow(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(in_time_module, "watched_pace", stood_still)
    told = r"machine was too slow \(a pause of 995 ms.* for a bound of 600 ms: .*too late"
    with pytest.raises(TooSlow, match=told), in_time(BOUND_MS):
        raise error


def test_wire_violation_on_starved_machine_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_time_module, "watched_pace", stood_still)
    with pytest.raises(WireViolation), in_time(BOUND_MS):
        raise WireViolation("an answer to nothing")


def test_failed_preparation_raises_too_slow_on_any_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broker may have been slower than the harness, and nothing was judged."""
    monkeypatch.setattr(in_time_module, "watched_pace", kept_its_pace)
    with pytest.raises(TooSlow, match="600 ms: PreparationFailed: refused"), in_time(BOUND_MS):
        raise PreparationFailed("refused")


def test_success_on_starved_machine_raises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_time_module, "watched_pace", stood_still)
    with in_time(BOUND_MS):
        pass


SLOW_AT_FIRST = """
from contextlib import contextmanager
from harness.runner import in_time as module
from harness.runner.in_time import in_time
from harness.base.pace import Pace

@contextmanager
def pace():
    times = iter([0.0] * 2)
    yield Pace(lambda: next(times, {now_s}), lambda: 0.0)

module.watched_pace = pace
seen = []

@judges("CONN-001")
def test_it(broker):
    prepared = broker.create_topic()
    seen.append((prepared.name, broker.scaled_ms(1)))
    with requirement("CONN-001"), in_time(100):
        assert len(seen) > {failing}, "too late"

@judges("CONN-002")
def test_what_was_seen(broker):
    with requirement("CONN-002"):
        raise Inconclusive(repr([round(scale / seen[0][1]) for _, scale in seen]))

@judges("CONN-003")
def test_names_differ(broker):
    with requirement("CONN-003"):
        assert len({{name for name, _ in seen}}) == len(seen)
"""


@pytest.mark.parametrize(
    ("failing", "now_s", "verdict", "factors"),
    [
        (0, 1.0, "passed", FACTORS[:1]),
        (1, 1.0, "passed", FACTORS[:2]),
        (3, 1.0, "passed", FACTORS),
        (4, 1.0, "inconclusive", FACTORS),
        (1, 0.0, "failed", FACTORS[:1]),
    ],
)
def test_slow_case_is_repeated_with_longer_times(
    suite: SmallSuite, failing: int, now_s: float, verdict: str, factors: tuple[int, ...]
) -> None:
    """As a whole, with what prepares it; one record is left, that of the last attempt."""
    text = textwrap.dedent(SLOW_AT_FIRST).format(failing=failing, now_s=now_s)
    ended = suite.write(text).run()
    records = {check.requirement: check for check in ended.journal.checks}
    assert len(records) == len(ended.journal.checks)
    assert records["CONN-001"].verdict.value == verdict
    assert ("the machine was too slow" in records["CONN-001"].reason) == (verdict == "inconclusive")
    assert records["CONN-002"].reason == repr(list(factors))
    assert records["CONN-003"].verdict.value == "passed"
