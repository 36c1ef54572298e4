"""Many runs in one pytest session, each as if it were the only one."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.architecture.test_tidy import ROOT

LISTED, UNLISTED = "one_api_is_listed_twice", "unlisted_api_is_answered"


@pytest.fixture(name="runs", scope="module")
def _runs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = str(tmp_path_factory.mktemp("runs"))
    rows = ["-", LISTED, "-", LISTED, UNLISTED, "-"]
    words = [sys.executable, "-m", "tests.labs.defects.rows_in_turn", folder, "APIV-001", *rows]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    runs: list[dict[str, Any]] = json.loads(done.stdout)
    return runs


@pytest.mark.rotates(8)
def test_defect_fails_only_its_own_runs(runs: list[dict[str, Any]]) -> None:
    verdicts = [run["verdict"] for run in runs]
    assert verdicts == ["passed", "failed", "passed", "failed", "passed", "passed"]


@pytest.mark.rotates(8)
def test_every_run_is_complete_and_has_same_number_of_checks(runs: list[dict[str, Any]]) -> None:
    assert all(run["complete"] for run in runs)
    assert len({run["checks"] for run in runs}) == 1


@pytest.mark.rotates(8)
def test_run_leaves_no_pytest_plugin_registered(runs: list[dict[str, Any]]) -> None:
    assert len({run["plugins"] for run in runs}) == 1
