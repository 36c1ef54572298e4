"""The clock lane as a run of pytest shows it: its tests, and the results of its cases."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from checks.clock_lane import TOO_SLOW

pytestmark = pytest.mark.rotates(8)  # most of them start a pytest of their own

ROOT = Path(__file__).resolve().parents[2]
BOUND_MS = 100
CASES = f"""
import pytest

attempts = []

@pytest.mark.clock(bound_ms={BOUND_MS})
def test_timed(clock_scale, request):
    attempts.append(clock_scale)
    assert len(attempts) > request.config.getoption("failing"), f"late at {{attempts}}"

def test_other():
    assert attempts == [] or len(attempts) > 0
"""
WATCH = """
from contextlib import contextmanager

from harness.base.pace import Pace
from checks import clock_lane as lane

def pytest_addoption(parser):
    parser.addoption("--failing", type=int, default=0)
    parser.addoption("--starved", type=int, default=0)

def pytest_configure(config):
    watches = []

    @contextmanager
    def watch():
        watches.append(None)
        now_s = 1.0 if len(watches) <= config.getoption("starved") else 0.0
        times_s = iter([0.0, 0.0])
        yield Pace(lambda: next(times_s, now_s), lambda: 0.0)

    lane.watched_pace = watch
"""


@dataclass
class Ended:
    code: int
    output: str

    @property
    def counts(self) -> dict[str, int]:
        """The counts of the last line: outcome to number."""
        last = self.output.strip().splitlines()[-1]
        return {what: int(number) for number, what in re.findall(r"(\d+) ([a-z]+)", last)}


def run(folder: Path, *options: str, cases: str = CASES) -> Ended:
    (folder / "conftest.py").write_text(WATCH)
    (folder / "test_it.py").write_text(textwrap.dedent(cases))
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "checks.clock_lane"]
    ended = subprocess.run(
        [*words, f"--rootdir={folder}", "-c", str(folder / "pytest.ini"), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(ended.returncode, ended.stdout + ended.stderr)


@pytest.mark.parametrize(
    ("words", "counts"),
    [
        ((), {"passed": 1, "deselected": 1}),
        (("-m", "clock"), {"passed": 1, "deselected": 1}),
        (("-m", "not clock"), {"passed": 1, "deselected": 1}),
        (("-k", "timed or other"), {"passed": 1, "deselected": 1}),
    ],
    ids=["ordinary", "lane", "others", "by name"],
)
def test_clock_lane_runs_only_with_clock_marker(
    tmp_path: Path, words: tuple[str, ...], counts: dict[str, int]
) -> None:
    ended = run(tmp_path, str(tmp_path), "-v", *words)
    assert ended.code == 0
    assert {name: ended.counts.get(name) for name in counts} == counts
    timed = re.search(r"::test_timed PASSED", ended.output) is not None
    assert timed == (words == ("-m", "clock"))


def test_node_id_selects_clock_case(tmp_path: Path) -> None:
    ended = run(tmp_path, f"{tmp_path}/test_it.py::test_timed")
    assert (ended.code, ended.counts["passed"]) == (0, 1)


@pytest.mark.parametrize(
    ("failing", "starved", "code", "outcome"),
    [
        (0, 0, 0, "passed"),
        (0, 9, 0, "passed"),
        (1, 0, 1, "failed"),
        (1, 1, 0, "passed"),
        (3, 3, 0, "passed"),
        (2, 1, 1, "failed"),
        (4, 3, 1, "failed"),
        (4, 4, TOO_SLOW, "inconclusive"),
    ],
)
def test_clock_case_is_repeated_if_machine_starved(
    tmp_path: Path, failing: int, starved: int, code: int, outcome: str
) -> None:
    """The test fails ``failing`` times; the machine starves in the first ``starved`` attempts."""
    options = [f"--failing={failing}", f"--starved={starved}", "-m", "clock"]
    ended = run(tmp_path, str(tmp_path), *options)
    assert ended.code == code, ended.output
    assert {"passed", "failed", "inconclusive"} & set(ended.counts) == {outcome}
    again = min(failing, starved)
    pauses = "; ".join(["a pause of 995 ms, all pauses 990 ms of 1000 ms"] * again)
    assert (f"test_it.py::test_timed: {pauses}" in ended.output) == (again > 0)
    factors = [1, 6, 6, 6][: again + 1]
    told = f"late at {factors}" in ended.output
    assert told == (outcome != "passed")


def test_cases_inconclusive_on_slow_machine_are_named(tmp_path: Path) -> None:
    ended = run(tmp_path, str(tmp_path), "--failing=9", "--starved=9", "-m", "clock")
    assert ended.code == TOO_SLOW
    assert "the machine was too slow for 1 cases: test_it.py::test_timed" in ended.output
    assert "late at [1, 6, 6, 6]" in ended.output


def test_failed_case_beside_inconclusive_case_keeps_exit_code(tmp_path: Path) -> None:
    failing = f"""
    @pytest.mark.clock(bound_ms={BOUND_MS})
    def test_fails_at_pace():
        assert False
    """
    cases = textwrap.dedent(CASES) + textwrap.dedent(failing)
    ended = run(tmp_path, str(tmp_path), "--failing=9", "--starved=4", "-m", "clock", cases=cases)
    assert ended.code == pytest.ExitCode.TESTS_FAILED
    assert (ended.counts["failed"], ended.counts["inconclusive"]) == (1, 1)
    assert "the machine was too slow for 1 cases" in ended.output


def test_failed_setup_is_repeated_if_machine_starved(tmp_path: Path) -> None:
    cases = f"""
    import pytest

    attempts = []

    @pytest.fixture(scope="module")
    def prepared():
        attempts.append(None)
        assert len(attempts) > 1

    @pytest.mark.clock(bound_ms={BOUND_MS})
    def test_timed(prepared):
        assert len(attempts) == 2
    """
    ended = run(tmp_path, str(tmp_path), "--starved=1", "-m", "clock", cases=cases)
    assert (ended.code, ended.counts.get("passed")) == (0, 1), ended.output


def test_clock_mark_without_bound_is_refused(tmp_path: Path) -> None:
    cases = """
    import pytest

    @pytest.mark.clock
    def test_timed():
        assert True
    """
    ended = run(tmp_path, str(tmp_path), cases=cases)
    assert ended.code == pytest.ExitCode.USAGE_ERROR
    assert "clock(bound_ms=N)" in ended.output
