"""Toxiproxy's own clients, obtained once into the cache."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.base.cache import cache_dir
from harness.targets.obtain import BrokerSource, ObtainError, obtain
from harness.targets.pinned_file import exclusive
from tests.targets.kinds import not_run

CLI = "github.com/Shopify/toxiproxy/v2/cmd/cli@v2.5.0"  # the newest that Go can install
PYTHON_CLIENT = Path(__file__).with_name("toxiproxy-python.requirements.txt")
BUILD_S = 300


def toxiproxy_cli() -> Path:
    """The program, built by Go; a test that needs it is skipped without Go."""
    folder = cache_dir() / "obtained" / f"toxiproxy-cli-{CLI.rpartition('@')[2]}"
    program = folder / "cli"
    with exclusive(folder):
        if not program.is_file():
            _build(folder)
    return program


def _build(folder: Path) -> None:
    go = shutil.which("go")
    if go is None:
        not_run("Go is not installed")
    assert go is not None
    environment = os.environ | {"GOBIN": str(folder), "CGO_ENABLED": "0", "GOWORK": "off"}
    done = subprocess.run(
        [go, "install", CLI],
        env=environment,
        cwd=folder.parent,
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )
    if done.returncode:
        not_run(f"go install {CLI} ended with {done.returncode}: {done.stderr[-500:]}")


def toxiproxy_python(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module ``toxiproxy`` of the Python client, which has no types."""
    try:
        folder = obtain(BrokerSource("pip", PYTHON_CLIENT))
    except ObtainError as problem:
        not_run(str(problem))
    monkeypatch.syspath_prepend(str(folder))
    return importlib.import_module("toxiproxy")
