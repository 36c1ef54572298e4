"""Every import contract can fail: a wrong import is planted for each, and each is reported."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("checks", "harness", "labs", "reports", "suites", "tests")
PLANTS = {
    "codec": ("harness/codec", "import socket"),
    "client": ("harness/client", "import harness.proxies"),
    "broker": ("harness/reference_broker", "import harness.client"),
    "codec_layers": ("harness/codec/records", "import harness.codec.stubs"),
    "state_layers": (
        "harness/reference_broker/state/log",
        "import harness.reference_broker.state.groups",
    ),
    "state": ("harness/reference_broker/state", "import time"),
    "handlers": ("harness/reference_broker/handlers", "import asyncio"),
    "leaves": ("harness/base/ids.py", "import harness.codec"),
    "pace": ("harness/base/pace.py", "import harness.codec"),
    "java": ("harness/targets/java.py", "import harness.codec"),
    "proxies": ("harness/proxies", "import harness.client"),
    "targets": ("harness/targets", "import harness.conformance"),
    "sweep": ("harness/sweep", "import harness.targets"),
    "negotiation": ("harness/negotiation", "import harness.targets"),
    "differential": ("harness/differential", "import harness.targets"),
    "oracle": ("harness/oracle", "import harness.runner"),
    "conformance": ("harness/conformance", "import harness.client"),
    "reports": ("reports", "import harness.codec"),
    "suites": ("suites/protocol", "import harness.reference_broker"),
    "tests": ("harness/commands", "import labs.defects"),
    "labs": ("labs/defects", "import tests.labs"),
    "scapy": ("harness/proxies", "import scapy"),
    "cryptography": ("harness/proxies", "import cryptography"),
    "docker": ("harness/client", "import docker"),
    "aiohttp": ("harness/targets", "import aiohttp"),
    "histories": ("harness/histories", "import harness.proxies"),
    "capture": ("harness/capture", "import harness.client"),
    "security": ("harness/security", "import harness.codec"),
    "historical": ("harness/historical", "import time"),
    "virtual_broker": ("harness/virtual_broker", "import harness.targets"),
}


def _contracts(root: Path) -> dict[str, str]:
    parser = configparser.ConfigParser()
    parser.read(root / ".importlinter")
    prefix = "importlinter:contract:"
    return {
        s.removeprefix(prefix): parser[s]["name"] for s in parser.sections() if s.startswith(prefix)
    }


def _lint(root: Path) -> str:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return " ".join((ended.stdout + ended.stderr).split())


def test_every_contract_has_planted_import() -> None:
    assert sorted(_contracts(ROOT)) == sorted(PLANTS)


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with all wrong imports in it."""
    root = tmp_path_factory.mktemp("planted")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / ".importlinter", root)
    for place, line in PLANTS.values():
        where = root / place
        file = where if where.suffix else where / "planted.py"
        with file.open("a") as out:
            out.write(f"\n{line}  # planted\n")
    return root


def test_planted_imports_break_every_contract(planted: Path) -> None:
    said = _lint(planted)
    kept = [name for name, title in _contracts(planted).items() if f"{title} BROKEN" not in said]
    assert kept == [], said


def test_contracts_hold_and_cover_every_folder() -> None:
    said = _lint(ROOT)
    assert "0 broken" in said, said
    for package in PACKAGES:
        for folder in (ROOT / package).rglob("*"):
            if folder.is_dir() and any(folder.glob("*.py")):
                assert (folder / "__init__.py").exists(), f"{folder} is invisible to import-linter"
