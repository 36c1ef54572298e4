"""The core is wheels alone on each system that docs/install.md names: pip finds them for it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installed.conftest import ROOT, run
from tests.installed.test_extras import CORE

pytestmark = pytest.mark.deep  # downloads some MB from the registry

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
TAGS = {
    "Windows, x86_64": "win_amd64",
    "macOS 12 or newer, arm64": "macosx_12_0_arm64",
    "macOS 12 or newer, x86_64": "macosx_12_0_x86_64",
    "Linux with glibc 2.17 or newer, x86_64": "manylinux2014_x86_64",
    "Linux with glibc 2.17 or newer, arm64": "manylinux2014_aarch64",
}
"""System, as the document names it -> the tag of its wheels."""
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "download")
OF_WINDOWS = "colorama"
"""Needed by click there; pip reads the condition for the system that it runs on."""


def _download(tag: str, python: str, folder: Path, *names: str) -> set[str]:
    """The distributions that pip finds wheels of. Raises AssertionError: pip finds none for one."""
    system = ("--only-binary=:all:", "--platform", tag, "--python-version", python)
    run(*PIP, *system, "--dest", folder, *names)
    return {file.name.split("-")[0].replace("_", "-").lower() for file in folder.glob("*.whl")}


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("system", TAGS)
def test_the_core_has_wheels_for(system: str, python: str, wheel: Path, tmp_path: Path) -> None:
    more = {OF_WINDOWS} if system.startswith("Windows") else set()
    found = _download(TAGS[system], python, tmp_path, str(wheel), *more)
    assert found == CORE | more | {"kafka-conformance"}


@pytest.mark.parametrize("tag", ["win_arm64", "musllinux_1_2_x86_64"])
def test_a_system_without_a_wheel_of_crc32c_is_still_one(tag: str, tmp_path: Path) -> None:
    """The document says that pip builds it there: a wheel that appears is news for it."""
    with pytest.raises(AssertionError, match="No matching distribution found for google-crc32c"):
        _download(tag, "3.14", tmp_path, "google-crc32c")


def test_crc32c_without_a_compiler_is_computed_in_python(tmp_path: Path) -> None:
    words = ("--no-binary", "google-crc32c", "--target", tmp_path, "google-crc32c")
    run(sys.executable, "-m", "pip", "--quiet", "install", *words, CRC32C_PURE_PYTHON="1")
    code = "import google_crc32c as c; print(c.implementation, hex(c.value(b'123456789')))"
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-P", "-c", code],
        env={"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.split() == ["python", "0xe3069283"]


def test_the_document_names_these_systems_and_pythons() -> None:
    text = (ROOT / "docs/install.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| ([^|]+) \| `(\w+)` \|", text, re.MULTILINE))
    assert {name: tag for name, tag in rows.items() if tag in TAGS.values()} == TAGS
    assert f"Python {PYTHONS[0]} to {PYTHONS[-1]}" in text
