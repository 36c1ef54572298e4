"""A test that hangs is red within its limit, and says where it hung."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import time_limits

pytestmark = pytest.mark.rotates(8)  # most of them start a pytest of their own

ROOT = Path(__file__).parents[2]
GRACE = "import tests.time_limits\n\ntests.time_limits.GRACE_S = 0.5\n"
IN_PYTHON = """
import threading
import pytest

@pytest.mark.timeout(0.5)
def test_that_hangs_in_python():
    def waits_beside():
        let_go.wait()
    let_go = threading.Event()
    beside = threading.Thread(target=waits_beside, daemon=True)
    beside.start()
    beside.join()

def test_after_it():
    pass
"""
IN_C = """
import itertools
import pytest

@pytest.mark.timeout(0.5)
def test_that_hangs_in_c():
    sum(itertools.repeat(0))  # handles no signal and never releases the interpreter's lock

def test_after_it():
    pass
"""
IN_TEARDOWN = """
import threading
import pytest

@pytest.fixture
def hanging():
    yield
    threading.Event().wait()

@pytest.mark.timeout(0.5)
def test_that_fails_and_hangs_then(hanging):
    assert False

def test_after_it():
    pass
"""


def run(folder: Path, source: str, *words: str) -> tuple[int, str]:
    (folder / "conftest.py").write_text(GRACE)
    (folder / "test_hanging.py").write_text(source)
    plugins = ("-p", "tests.time_limits", "-p", "no:cacheprovider")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", os.devnull, f"--rootdir={folder}", *plugins, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=time_limits.LIMIT_S / 2,
        check=False,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("words", [(), ("-n", "1")], ids=["alone", "worker"])
def test_hang_in_python_fails_one_test_and_prints_all_stacks(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    code, said = run(tmp_path, IN_PYTHON, *words)
    assert code == 1, said
    assert "1 failed, 1 passed" in said
    assert "in test_that_hangs_in_python" in said or "beside.join()" in said
    assert "in waits_beside" in said


@pytest.mark.parametrize("source", [IN_C, IN_TEARDOWN], ids=["in C", "in teardown"])
def test_hang_in_c_or_teardown_ends_process_and_is_named(tmp_path: Path, source: str) -> None:
    code, said = run(tmp_path, source)
    assert code == 1, said
    assert "Timeout (0:00:01)!" in said
    assert "in test_that_hangs_in_c" in said or "in hanging" in said


@pytest.mark.parametrize("source", [IN_C, IN_TEARDOWN], ids=["in C", "in teardown"])
def test_hang_in_c_or_teardown_ends_worker_and_other_tests_run(tmp_path: Path, source: str) -> None:
    code, said = run(tmp_path, source, "-n", "1")
    assert code == 1, said
    assert "crashed while running" in said
    assert "1 passed" in said
    assert "Timeout (0:00:01)!" in said


def test_time_limit_of_test_follows_from_place_or_mark(request: pytest.FixtureRequest) -> None:
    mark = request.node.get_closest_marker("timeout")
    if request.config.getoption("timeout") is None:
        assert mark.args == (time_limits.LIMIT_S,)
    request.node.add_marker("slow")
    assert time_limits.default_limit_s(request.node) == time_limits.LONG_S


@pytest.mark.parametrize("place", time_limits.LONG_ONES)
def test_places_with_longer_limit_exist(place: str) -> None:
    assert (time_limits.HERE / place).exists()
