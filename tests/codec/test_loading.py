"""The cost of a program that encodes and decodes one message: only that message."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

USE_ONE = """
import sys
before = set(sys.modules)
from harness.codec import decode, encode
from harness.codec.messages import FetchRequest
message = FetchRequest(topics=[FetchRequest.FetchTopic(topic="t")])
assert decode(FetchRequest, 12, encode(message, 12)) == message
"""
NOT_NEEDED = [
    *("dataclasses", "inspect", "typing", "json", "pathlib", "importlib.resources", "linecache"),
    *("click", "logging", "asyncio", "socket", "threading", "subprocess", "msgspec"),
    *("harness.codec.definition", "harness.codec.apis", "harness.codec.records"),
    *("harness.codec.interpreter_decode", "harness.codec.interpreter_encode"),
]


def run(code: str, **environment: str) -> str:
    command = [sys.executable, "-c", USE_ONE + code]
    variables = {**os.environ, **environment}
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=variables
    ).stdout.strip()


def test_use_of_one_message_loads_no_heavy_module() -> None:
    loaded = run("print(*sorted(set(sys.modules) - before))").split()
    assert "harness.codec.generate_decoder" in loaded, "nothing was decoded: this shows nothing"
    assert [name for name in NOT_NEEDED if name in loaded] == []


def test_use_of_one_message_builds_only_its_class_and_version() -> None:
    code = """
from harness.codec import message_codec, messages
print(*messages._classes)
print(*[version for _, version, *_ in [*message_codec._encoders, *message_codec._decoders]])
"""
    assert run(code).splitlines() == ["FetchRequest", "12 12"]


@pytest.mark.parametrize("variable", ["PYTHONDONTWRITEBYTECODE", "PYTHONOPTIMIZE"])
def test_decode_works_without_bytecode_files_or_asserts(variable: str) -> None:
    code = "print(decode(FetchRequest, 12, encode(message, 12)).topics[0].topic)"
    assert run(code, **{variable: "1"}) == "t"
