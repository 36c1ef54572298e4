"""Every example of docs/codec.md is run."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/codec.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = f'kafka-conformance() {{ {sys.executable} -m harness.cli "$@"; }}\n'


def _examples() -> list[tuple[str, str]]:
    """(command, what it prints) of all console blocks."""
    found: list[tuple[str, str]] = []
    for block in re.findall(
        r"^```console\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    ):
        for one in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = one.partition("\n")
            found.append((command, printed))
    return found


def test_python_examples_in_docs_pass() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert tried >= 10
    assert failed == 0


@pytest.mark.parametrize(("command", "printed"), _examples())
def test_command_line_examples_in_docs_print_documented_output(command: str, printed: str) -> None:
    ended = subprocess.run(
        ["bash", "-c", COMMAND + command], capture_output=True, text=True, check=False
    )
    assert ended.stdout + ended.stderr == printed


def test_docs_have_example_of_each_codec_command() -> None:
    commands = {
        command.split("kafka-conformance codec ")[1].split()[0] for command, _ in _examples()
    }
    assert commands == {"list", "describe", "decode", "encode", "transcode"}
