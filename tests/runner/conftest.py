"""A built-in broker for these tests, and small suites that are judged against it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.conformance.journal import JOURNAL_NAME, Journal, read_journal
from harness.targets.reference import ReferenceBroker
from labs.hang_limit import HANGS_AFTER_S

PREAMBLE = """
import pytest
from harness.codec.messages import ApiVersionsRequest
from harness.conformance.checks import Inconclusive, requirement
from harness.conformance.harmless_requests import Safety
from harness.runner.broker_request import Use
from harness.runner.marks import at_every_version, at_versions, judges
from harness.runner.marks import needs_broker, offline
"""

WITHOUT = tuple(
    word for name in ("cacheprovider", "hypothesispytest", "anyio") for word in ("-p", f"no:{name}")
)
"""Plugins that no small suite needs: two of them take half of the time in which pytest starts."""


@dataclass
class Ended:
    """A pytest process that has ended."""

    code: int
    output: str
    run_dir: Path

    @property
    def journal(self) -> Journal:
        return read_journal(self.run_dir / JOURNAL_NAME)

    def verdicts(self) -> dict[tuple[str, str], str]:
        """(test, requirement) to verdict."""
        return {
            (check.case.split("::")[1], check.requirement): check.verdict.value
            for check in self.journal.checks
        }


class SmallSuite:
    """A folder with a suite of a few tests, run by a pytest process of its own."""

    def __init__(self, folder: Path, target: str) -> None:
        self.folder, self.target = folder, target
        (folder / "suites").mkdir()
        (folder / "conftest.py").write_text('pytest_plugins = ("harness.runner.pytest_plugin",)\n')
        (folder / "pytest.ini").write_text("[pytest]\n")

    def write(self, tests: str) -> SmallSuite:
        file = self.folder / "suites" / "test_small.py"
        file.write_text(PREAMBLE + textwrap.dedent(tests))
        return self

    def command(self, *options: str) -> list[str]:
        words = [sys.executable, "-m", "pytest", "suites", "-q", *WITHOUT]
        return [*words, "--target", self.target, "--out", "out", "--run-id", "run-1", *options]

    @property
    def run_dir(self) -> Path:
        return self.folder / "out" / "runs" / "run-1"

    def run(self, *options: str) -> Ended:
        ended = subprocess.run(
            self.command(*options),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=HANGS_AFTER_S,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout + ended.stderr, self.run_dir)


@pytest.fixture(scope="session")
def broker_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """HOST:PORT of a built-in broker that all these tests share."""
    with ReferenceBroker(log_dir=tmp_path_factory.mktemp("logs")) as target:
        yield str(target.addresses[0])


@pytest.fixture
def suite(tmp_path: Path, broker_address: str) -> SmallSuite:
    """An empty small suite for the shared broker."""
    return SmallSuite(tmp_path, f"external:{broker_address}")
