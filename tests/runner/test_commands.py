"""The command line: what it prints, and its exit codes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.commands.judging import JudgedTarget
from harness.conformance.catalogue import load_catalogue
from harness.conformance.journal import read_journal
from harness.conformance.summary import summarize
from harness.conformance.verdict import Verdict
from tests.conformance.made import check, write_run

pytestmark = pytest.mark.rotates(8)


def _invoke(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


@pytest.fixture(scope="module")
def judged(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """A folder with one small run of the built-in broker, made by the real command."""
    out = tmp_path_factory.mktemp("judged")
    command = [sys.executable, "-m", "harness.cli", "run", "--requirement", "APIV-00[12]"]
    ended = subprocess.run(
        [*command, "--out", str(out), "--json"], capture_output=True, text=True, check=False
    )
    return out, ended


def test_run_prints_results_as_json(
    judged: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    out, ended = judged
    said = json.loads(ended.stdout)
    assert ended.returncode == said["exit"] == 0
    (run,) = said["runs"]
    assert run["target"] == "reference"
    assert run["requirements"] == {"APIV-001": "passed", "APIV-002": "passed"}
    assert (out / "results" / f"run={run['run']}" / "part-0.parquet").exists()


def test_run_prints_verdicts_of_selected_requirements(tmp_path: Path) -> None:
    ended = _invoke("run", "--requirement", "APIV-001", "--out", str(tmp_path))
    statement = load_catalogue().requirement("APIV-001").statement
    assert f"reference: APIV-001 passed: {statement}" in ended.output.splitlines()


def test_run_without_terminal_prints_no_escape_codes(
    judged: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    assert "\x1b" not in judged[1].stdout + judged[1].stderr


@pytest.mark.parametrize(("words", "code"), [((), 0), (("--strict",), 1)])
def test_run_names_should_that_does_not_hold_and_fails_if_strict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: int
) -> None:
    late = check("APIV-013", Verdict.WARNING, level="SHOULD", reason="no software name")
    late = replace(late, evidence="evidence/x.txt", subtest="v3")
    journal = write_run(tmp_path, [check("APIV-001"), late])
    one = JudgedTarget("reference", journal.parent, summarize(read_journal(journal)), "")
    monkeypatch.setattr("harness.commands.run.judge_target", lambda *_: one)
    command = ("run", "--requirement", "APIV-*", "--out", str(tmp_path), *words)
    ended = _invoke(*command)
    assert ended.exit_code == code, ended.output
    said = ended.output.splitlines()
    named = said.index("reference: SHOULD does not hold, a failure with --strict: APIV-013.")
    assert ": v3: no software name (" in said[named + 1]
    as_json = json.loads(_invoke(*command, "--json").stdout)
    assert as_json["exit"] == as_json["runs"][0]["exit"] == code
    assert as_json["runs"][0]["warnings"] == {"APIV-013": "v3: no software name"}


def test_gate_of_green_run_exits_0(judged: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    ended = _invoke("gate", str(judged[0]))
    assert ended.exit_code == 0
    assert "nothing failed that is not known to" in ended.output


def test_gate_writes_profile_once_and_accepts_it(
    judged: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    profile = tmp_path / "known.toml"
    words = ("gate", str(judged[0]))
    assert _invoke(*words, "--write-profile", str(profile)).exit_code == 0
    assert _invoke(*words, "--profile", str(profile)).exit_code == 0
    again = _invoke(*words, "--write-profile", str(profile))
    assert again.exit_code == 2
    assert "is there already" in again.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "--target", "refrence", "--out", "x"], 'did you mean "reference"'),
        (["run", "--target", "kafka:9.9", "--out", "x"], "pinned"),
        (["run", "--jobs", "some", "--out", "x"], "--jobs takes a number"),
        (["run", "--suite", "nope", "--out", "x"], "no suite 'nope'"),
        (["gate", "nowhere"], "no such folder"),
        (["requirements", "show", "PROD-999"], "PROD-999"),
        (["requirements", "list", "NOPE-*"], "no requirement matches"),
        (["broker", "--setting", "nope=1"], "nope"),
    ],
)
def test_wrong_usage_exits_2_with_message(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = _invoke(*words)
    assert ended.exit_code == 2, ended.output
    assert said in " ".join(ended.output.split())


def test_requirements_show_and_coverage_print_tests_and_judged_ids() -> None:
    shown = _invoke("requirements", "show", "PROD-011")
    assert "CORRUPT_MESSAGE" in shown.output
    tests = r"^tests +suites/protocol/produce/test_\w+\.py:\d+ test_\w+ \(Produce 0-2, 3\+\)$"
    assert re.search(tests, shown.output, re.MULTILINE)
    assert re.search(r"^defects +labs/defects/\w+\.py:\d+$", shown.output, re.MULTILINE)
    assert "run --requirement PROD-011" in shown.output
    covered = json.loads(_invoke("requirements", "coverage", "--json").output)
    judged_ids = {name for area in covered["areas"] for name in area["judged"]}
    assert "CONN-003" in judged_ids


def test_targets_command_lists_every_target_form() -> None:
    said = _invoke("targets").output
    assert all(form in said for form in ("reference", "kafka:RELEASE", "external:HOST:PORT"))
