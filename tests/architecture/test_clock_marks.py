"""Only tests of the clock lane assert an upper bound on real time."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from checks.gate_parts import CLOCK_FILES
from tests.architecture.test_tidy import tracked
from tests.pace.upper_bounds import upper_bounds
from tests.parsed_source import parsed

ROOT = Path(__file__).resolve().parents[2]

REFUSED = {
    "a difference": "assert time.monotonic() - began < 2",
    "a name": "took = time.monotonic() - began\nassert took <= 2",
    "reversed": "assert 2 > time.perf_counter() - began",
    "in ms": "took_ms = (time.time() - began) * 1000\nassert round(took_ms) < 2000",
    "a name without a word": "x = time.perf_counter_ns() - began\nassert x / 1e9 < 2",
    "both ends": "assert 0.1 <= time.monotonic() - began < 2",
    "a deadline": "deadline = time.monotonic() + 5\nassert time.monotonic() < deadline",
    "a deadline given": "assert time.monotonic() < deadline",
    "a later point": "end = began + 5\nnow = time.monotonic()\nassert now < end",
    "negated": "assert not time.monotonic() - began > 2",
    "with another condition": "assert ready and time.monotonic() - began < 2",
    "a loop's clock": "loop = get_running_loop()\nassert loop.time() - start() < 2",
    "an imported name": "assert perf_counter() - began < 2",
    "a function's result": "assert seconds_until_closed() < 2",
    "a method by its name": "assert answer.elapsed < 2",
    "a name from elsewhere": "_, took_ms = asked()\nassert took_ms < 2000",
    "given to a checker": "expect(time.monotonic() - began < 2)",
    "given by keyword": "expect(holds=time.monotonic() - began < 2)",
    "about so long": "assert time.monotonic() - began == pytest.approx(0.3, abs=0.1)",
    "in a lambda's function": "def inner():\n    assert time.monotonic() - began < 2",
}
ALLOWED = {
    "a lower bound": "assert time.monotonic() - began >= 0.3",
    "a lower bound reversed": "assert 0.3 <= time.monotonic() - began",
    "a lower bound of a name": "took = time.monotonic() - began\nassert took > 0.3",
    "not before": "least = began + 0.3\nassert time.monotonic() >= least",
    "not before, reversed": "least = began + 0.3\nassert least <= time.monotonic()",
    "negated": "assert not time.monotonic() - began < 0.3",
    "the processor's time": "took = time.process_time() - began\nassert took < 2",
    "two spans": "assert took_with - took_without < took_alone",
    "no time": "assert len(found) < 2",
    "about so long by a clock of the test's own": "assert waited == pytest.approx(9)",
    "a loop that waits": "while time.monotonic() < deadline:\n    pass",
    "a difference of others": "assert after.count - before.count < 2",
    "what is due by a clock of the test's own": "assert clock.now_ms - began_ms < 5",
    "an earlier timestamp": "old_ms = time.time() * 1000 - HOUR_MS\nassert old_ms <= record.time",
    "a timestamp": "now_ms = time.time() * 1000\nassert now_ms <= record.timestamp",
}


def written(body: str, decorator: str = "") -> str:
    helper = "def seconds_until_closed():\n    began = time.monotonic()\n"
    helper += "    return time.monotonic() - began\n"
    head = f"{decorator}\ndef test_it():\n    began = time.monotonic()\n"
    return f"import time\n{helper}\n{head}{textwrap.indent(body, '    ')}\n"


@pytest.mark.parametrize("name", REFUSED)
def test_assertion_of_upper_time_bound_is_found(name: str) -> None:
    assert len(upper_bounds(written(REFUSED[name]))) == 1


@pytest.mark.parametrize("name", ALLOWED)
def test_other_assertions_are_not_reported_as_upper_time_bound(name: str) -> None:
    assert upper_bounds(written(ALLOWED[name])) == []


@pytest.mark.parametrize("name", REFUSED)
def test_clock_test_may_assert_upper_time_bound(name: str) -> None:
    assert upper_bounds(written(REFUSED[name], "@pytest.mark.clock(bound_ms=9)")) == []


def test_clock_class_may_assert_upper_time_bound() -> None:
    body = textwrap.indent(written(REFUSED["a difference"]).split("\n\n")[1], "    ")
    assert len(upper_bounds(f"class TestIt:\n{body}")) == 1
    assert upper_bounds(f"@pytest.mark.clock(bound_ms=9)\nclass TestIt:\n{body}") == []


def test_no_test_outside_clock_lane_asserts_upper_time_bound() -> None:
    files = [file for file in tracked("tests/*.py") if file.is_relative_to(ROOT / "tests")]
    assert files
    found = {
        f"{file.relative_to(ROOT)}:{line}"
        for file in files
        for line in upper_bounds(file.read_text("utf-8"))
    }
    assert found == set(), "asserted outside of a test marked clock(bound_ms=N)"


def _marks_with_clock(source: str) -> bool:
    mark = "pytest.mark.clock"
    return mark in source and any(
        isinstance(node, ast.Attribute) and ast.unparse(node) == mark
        for node in ast.walk(parsed(source))
    )


def test_gate_runs_clock_lane_over_each_file_with_a_clock_test() -> None:
    files = [file for file in tracked("tests/*.py") if file.is_relative_to(ROOT / "tests")]
    found = {str(file.relative_to(ROOT)) for file in files if _marks_with_clock(file.read_text())}
    assert found == set(CLOCK_FILES)
