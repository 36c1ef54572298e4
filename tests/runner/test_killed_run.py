"""Runs that do not come to their end, and brokers that die under a test."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from harness.conformance.gate import GateExit, gate
from harness.conformance.journal import JOURNAL_NAME, read_journal
from harness.targets.reference import ReferenceBroker
from labs.awaiting import await_that
from tests.runner.conftest import SmallSuite

pytestmark = pytest.mark.rotates(8)

SLOW = """
@judges("CONN-001")
@pytest.mark.parametrize("number", range(200))
def test_it(broker, number):
    connection = broker.connect()
    with requirement("CONN-001"):
        connection.expect_silence(for_ms=100)
"""


def _checks(journal: Path) -> int:
    return journal.read_text().count('"type": "check"') if journal.exists() else 0


def test_killed_run_is_incomplete_and_leaves_no_process(tmp_path: Path) -> None:
    suite = SmallSuite(tmp_path, "reference").write(SLOW)
    journal = suite.run_dir / JOURNAL_NAME
    running = subprocess.Popen(suite.command("-n", "2"), cwd=tmp_path, stdout=subprocess.DEVNULL)
    try:
        await_that(lambda: _checks(journal) > 3, "the run does not get going")
        family = psutil.Process(running.pid).children(recursive=True)
        assert any(process.name() == "broker" for process in family)
    finally:
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
    await_that(lambda: not [p for p in family if _runs(p)], "processes are left")
    assert read_journal(journal).footer is None
    found = gate(tmp_path / "out")
    assert found.exit_code == GateExit.INCOMPLETE
    assert "did not come to its end" in found.findings[0].sentence


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_death_of_broker_is_reported_at_test_that_killed_it(tmp_path: Path) -> None:
    with ReferenceBroker(log_dir=tmp_path / "logs") as target:
        suite = SmallSuite(tmp_path, f"external:{target.addresses[0]}")
        ended = suite.write(
            f"""
            import os, signal

            @judges("CONN-001")
            def test_1_is_fine(broker):
                with requirement("CONN-001"):
                    assert broker

            @judges("CONN-002")
            def test_2_kills_it(broker):
                with requirement("CONN-002"):
                    os.kill({target.pid}, signal.SIGKILL)
                    broker.eventually(lambda: not broker.is_alive(), "it is dead")

            @judges("CONN-003")
            def test_3_comes_after(broker):
                with requirement("CONN-003"):
                    assert broker
            """
        ).run()
    reasons = {check.requirement: check.reason for check in ended.journal.checks}
    assert "no longer answers after this test" in reasons["CONN-002"]
    assert "did not answer before this test" in reasons["CONN-003"]
    assert ended.verdicts()[("test_1_is_fine", "CONN-001")] == "passed"
    assert ended.verdicts()[("test_3_comes_after", "CONN-003")] == "inconclusive"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_ends_with_summary_and_leaves_no_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    """The broker is stopped in order, the run is incomplete, and what it judged is printed."""
    # a job in the background of a shell is born with SIGINT ignored
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from harness.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "run", "--out", str(tmp_path / "out")]
    command += ["--requirement", "GRP-*", "--jobs", "2"]
    pipe = subprocess.PIPE
    running = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    await_that(
        lambda: any(
            _checks(journal) > 3 for journal in tmp_path.glob(f"out/runs/*/{JOURNAL_NAME}")
        ),
        "the run does not get going",
    )
    family = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(number)
    summary, said = running.communicate(timeout=60)
    assert running.returncode == 3
    assert "interrupted" in said
    assert "reference: ended after" in said
    assert "The run is incomplete" in summary
    assert re.search(r"^reference: GRP-\d+ \w+: ", summary, re.MULTILINE)
    assert [process for process in family if _runs(process)] == []
    assert gate(tmp_path / "out").exit_code == GateExit.INCOMPLETE
