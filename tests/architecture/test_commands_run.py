"""The commands of documents run: cheap ones in the gate, more of them at depth."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.targets.reference import ReferenceBroker
from tests.architecture.command_check import simple_commands
from tests.architecture.document_commands import (
    ROOT,
    RUN,
    RUN_BY_THE_GATE,
    Class,
    Command,
    Row,
    documents,
    filled,
    in_blocks,
    read,
    row_of,
    table,
)
from tests.reference_broker.storage.made_folder import make_folder

NOT_OF_A_READER = re.compile(r"PYTEST.*|COV_.*|KAFKA_CONFORMANCE_TARGET")
PROGRAMS = {"kafka-conformance": "-P -m harness.cli", "pytest": "-m pytest", "python": ""}


def _documents(kinds: Sequence[Class]) -> list[str]:
    """Return the documents of these rows; to read the documents themselves takes seconds."""
    return sorted({row.document for row in table() if row.kind in kinds})


def _commands_of(document: str, kinds: Sequence[Class]) -> list[tuple[Command, Row]]:
    """Return the commands of these classes in their order."""
    rows = table()
    found = [(command, row_of(command, rows)) for command in in_blocks(document, read(document))]
    return [(command, row) for command, row in found if row and row.kind in kinds]


@dataclass(frozen=True)
class Shell:
    """A shell in an empty folder, with the programs of this environment."""

    folder: Path
    programs: Path

    def run(self, text: str) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not NOT_OF_A_READER.fullmatch(k)}
        path = f"{self.programs}{os.pathsep}{kept['PATH']}"
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=self.folder,
            env={**kept, "PATH": path, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    made = Shell(tmp_path / "folder", tmp_path / "programs")
    made.folder.mkdir()
    made.programs.mkdir()
    for name, words in PROGRAMS.items():
        (made.programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (made.programs / name).chmod(0o755)
    return made


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ReferenceBroker(log_dir=tmp_path_factory.mktemp("broker")) as target:
        yield str(target.addresses[0])


@dataclass(frozen=True)
class Follower:
    """Runs commands in their order: one may need what an earlier one wrote."""

    shell: Shell
    request: pytest.FixtureRequest

    def follow(self, rows: Sequence[tuple[Command, Row]]) -> None:
        for command, row in rows:
            text = self._form(row) if row.more else command.text
            ended = self.shell.run(text)
            assert ended.returncode == 0, f"{command}\nrun: {text}\n{ended.stdout}{ended.stderr}"

    def _form(self, row: Row) -> str:
        values: dict[str, object] = {"root": ROOT}
        if "{broker}" in row.more:
            values["broker"] = self.request.getfixturevalue("broker")
        if "{data}" in row.more:
            values["data"] = self.shell.folder / "data"
            if not (self.shell.folder / "data").exists():
                make_folder(self.shell.folder / "data", clean=True)
        return filled(row.more, values)


@pytest.fixture
def follower(shell: Shell, request: pytest.FixtureRequest) -> Follower:
    return Follower(shell, request)


@pytest.mark.sample(3)
@pytest.mark.parametrize("document", _documents(RUN_BY_THE_GATE))
def test_cheap_commands_of_document_exit_0(follower: Follower, document: str) -> None:
    follower.follow(_commands_of(document, RUN_BY_THE_GATE))


@pytest.mark.deep
@pytest.mark.parametrize("document", _documents(RUN))
def test_commands_of_document_exit_0(follower: Follower, document: str) -> None:
    follower.follow(_commands_of(document, RUN))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Only a test at depth needs the commands of all documents."""
    if "words" in metafunc.fixturenames:
        words = _modules() if metafunc.config.getoption("deep") else []
        metafunc.parametrize("words", words, ids=" ".join)


def _modules() -> list[list[str]]:
    """Return the commands of modules with options."""
    return [
        words
        for name in documents()
        for command in in_blocks(name, read(name))
        for words in simple_commands(command.text)
        if words[0] == "python" and any(word.startswith("--") for word in words)
    ]


@pytest.mark.deep
def test_modules_have_documented_options(shell: Shell, words: list[str]) -> None:
    ended = shell.run(f"cd {ROOT} && python -m {words[2]} --help")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    wanted = {word.split("=")[0] for word in words if word.startswith("--")}
    assert wanted <= set(re.findall(r"--[\w-]+", ended.stdout))
