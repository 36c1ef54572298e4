"""Fresh environments with this package in them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.base.cache import CACHE_SETTING

ROOT = Path(__file__).resolve().parents[2]
UV = (sys.executable, "-m", "uv", "--no-progress")
STEERING = re.compile(r"PYTHON.*|PYTEST.*|VIRTUAL_ENV|KAFKA_CONFORMANCE_TARGET|COV_.*")

collect_ignore = ["foreign", "other_system"]  # tests run them in processes of their own


@dataclass(frozen=True)
class Installed:
    """An environment; ``kind`` is how the package came into it: wheel or editable."""

    kind: str
    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def run(
        self, program: str, *words: object, cwd: Path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment, without the environment variables of our own tests."""
        ours = {name: text for name, text in os.environ.items() if not STEERING.fullmatch(name)}
        return subprocess.run(
            [self.folder / "bin" / program, *map(str, words)],
            cwd=cwd,
            env={**ours, CACHE_SETTING: str(self.folder / "cache"), **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def run(*words: object, **environment: str) -> None:
    """Run a program that has to succeed, in the root of this tree."""
    ended = subprocess.run(
        [str(word) for word in words],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, made by the installed build backend without any download."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The locked versions as constraints."""
    pins = re.findall(r"^[\w.-]+==[^\s;\\]+", (ROOT / "locks/all.txt").read_text(), re.MULTILINE)
    file = tmp_path_factory.mktemp("locked") / "constraints.txt"
    file.write_text("\n".join(pins))
    return file


@pytest.fixture(scope="session", params=["wheel", "editable"])
def installed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, locked: Path
) -> Installed:
    """An environment with the package and its extra `run`, from the wheel and editable."""
    folder = tmp_path_factory.mktemp(request.param) / "environment"
    is_wheel = request.param == "wheel"
    what = [request.getfixturevalue("wheel")] if is_wheel else ["--editable", ROOT]
    what[-1] = f"{what[-1]}[run]"
    run(*UV, "venv", "--python", sys.executable, folder)
    python = folder / "bin" / "python"
    run(*UV, "pip", "install", "--python", python, "--constraint", locked, *what)
    return Installed(request.param, folder)
