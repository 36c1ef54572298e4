"""The wheel alone, in a new environment, as ``pip install`` makes it with the newest packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harness.base.extras import install_line
from tests.installed.conftest import Installed, run

pytestmark = pytest.mark.deep  # downloads some 100 MB from the registry


@pytest.fixture
def core(wheel: Path, tmp_path: Path) -> Installed:
    """An environment with the wheel, without any extra."""
    installed = Installed("wheel", tmp_path / "environment")
    run(sys.executable, "-m", "venv", installed.folder)
    _install(installed, str(wheel))
    return installed


def _install(installed: Installed, what: str) -> None:
    words = ("--quiet", "--disable-pip-version-check", "install")
    run(installed.python, "-m", "pip", *words, what)


def test_the_extra_run_is_all_that_run_needs(core: Installed, wheel: Path, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    words = ("run", "--target", "reference", "--requirement", "APIV-001", "--out", "out")
    before = core.run("kafka-conformance", *words, cwd=folder)
    assert (before.returncode, install_line("run") in " ".join(before.stderr.split())) == (2, True)
    _install(core, f"{wheel}[run]")
    ended = core.run("kafka-conformance", *words, cwd=folder)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    gate = core.run("kafka-conformance", "gate", "out", cwd=folder)
    assert gate.returncode == 0, gate.stdout + gate.stderr
    unpacked = list((core.folder / "cache" / "suites").iterdir())
    assert len(unpacked) == 1
    assert (unpacked[0] / "suites" / "protocol").is_dir()
