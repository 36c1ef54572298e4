"""The extras: the table of modules agrees with pyproject.toml, and each command names its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from harness.base.cache import CACHE_SETTING
from harness.base.extras import EXTRAS, INCLUDED, explained, install_line, modules_of
from tests.installed.conftest import ROOT

NAME = re.compile(r"[\w-]+")
OWN = re.compile(r"kafka-conformance\[([\w,]+)\]")
DISTRIBUTIONS = packages_distributions()
CORE = {"click", "cramjam", "google-crc32c"}
OPTIONAL = {"uvloop"}
"""Distributions with a substitute."""

PROGRAM = """
import json, sys
for name in sys.argv[1].split(","):
    sys.modules[name] = None  # as when it is not installed
from click.testing import CliRunner
from harness.cli import main
found = {}
for words in json.loads(sys.argv[2]):
    ended = CliRunner().invoke(main, words)
    problem = None if ended.exception is None else type(ended.exception).__name__
    found[" ".join(words)] = [ended.exit_code, problem, " ".join(ended.output.split())]
print(json.dumps(found))
"""
NEEDS = {
    "run --out x": "run",
    "run --help": "run",
    "clients --client java": "run",
    "agree x": "run",
    "compare a b": "run",
    "diff --target reference": "run",
    "report x --out y": "light",
    "archaeology x": "report",
    "requirements coverage": "fixtures",
    "proxy --upstream 127.0.0.1:9 --control 127.0.0.1:0": "control",
    "sweep --target kafka:4.4.0": "kafka",
}
"""A command in a default installation -> the extra that its error names."""


def _extras() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found: dict[str, list[str]] = project["optional-dependencies"]
    return {**found, "": project["dependencies"]}


def _distributions(extra: str) -> set[str]:
    """Names of an extra's own distributions."""
    return {
        match[0].lower()
        for text in _extras()[extra]
        if not OWN.match(text) and (match := NAME.match(text))
    }


def _included(extra: str) -> set[str]:
    """The extras of this package that an extra includes, also by another one."""
    direct = {
        name
        for text in _extras()[extra]
        if (match := OWN.match(text))
        for name in match[1].split(",")
    }
    return direct.union(*(_included(name) for name in direct))


def test_a_default_installation_has_three_packages() -> None:
    assert _distributions("") == CORE


@pytest.mark.parametrize("module", EXTRAS)
def test_each_module_is_in_the_extra_that_the_table_names(module: str) -> None:
    distributions = {name.lower() for name in DISTRIBUTIONS[module]}
    assert distributions & _distributions(EXTRAS[module]), distributions


@pytest.mark.parametrize("extra", ["run", "clients", "light", "report"])
def test_the_table_of_included_extras_is_that_of_the_project(extra: str) -> None:
    assert set(INCLUDED[extra]) == _included(extra)
    wanted = set().union(*(_distributions(each) for each in (extra, *INCLUDED[extra])))
    names = [DISTRIBUTIONS[module] for module in modules_of(extra)]
    assert {name.lower() for each in names for name in each} >= wanted - OPTIONAL


def test_every_extra_that_a_text_names_exists() -> None:
    files = [*ROOT.glob("docs/*.md"), *ROOT.glob("*.md"), *ROOT.glob("harness/**/*.py")]
    files += [*ROOT.glob("reports/**/*.py"), ROOT / "action.yml"]
    named = {
        name
        for file in files
        for found in re.findall(r"(?:kafka-conformance|ACTION_PATH)\[([a-z,]+)\]", file.read_text())
        for name in found.split(",")
    }
    assert {"run", "light"} <= named <= set(_extras())


def test_a_module_of_no_extra_is_not_explained() -> None:
    assert explained(ModuleNotFoundError(name="no_such_module")) is None
    said = explained(ModuleNotFoundError(name="kazoo.client"))
    assert said is not None
    assert str(said).endswith("not installed: pip install 'kafka-conformance[kafka]'")


def test_a_command_without_its_packages_exits_2_and_names_the_extra(tmp_path: Path) -> None:
    for name in ("x", "a", "b"):
        (tmp_path / name).mkdir()
    words = [line.split() for line in (*NEEDS, "--help")]
    gone = ",".join((*EXTRAS, *OPTIONAL))
    ended = subprocess.run(
        [sys.executable, "-P", "-c", PROGRAM, gone, json.dumps(words)],
        cwd=tmp_path,
        env={**os.environ, CACHE_SETTING: str(tmp_path / "cache")},  # nothing is downloaded yet
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(ended.stdout)
    for line, extra in NEEDS.items():
        code, problem, said = found[line]
        assert (code, problem) == (2, "SystemExit"), (line, said)
        assert install_line(extra) in said, (line, said)
    code, _, said = found["--help"]
    assert code == 0
    assert f"run (not installed: {install_line('run')})" in said
    assert "broker Run the built-in broker" in said
