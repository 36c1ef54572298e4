"""The file behind ``external:...,profile=FILE``: valid content, and errors for the rest."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from harness.conformance.harmless_requests import Safety
from harness.targets.access_file import AccessFile, read_access_file
from harness.targets.errors import TargetError
from harness.targets.target import CAPABILITIES, SAFETY_CLASSES

ALL = """
implementation = "Apache Kafka"
release = "3.9.2"
name_prefix = "team-a.kc-"
create_topics = false
safety = ["read"]

[commands]
stop = ["stop", "{node}", ""]
kill = ["kill", "{host}"]
restart = ["restart", "{port}"]
pause = ["pause", "{{node}}"]
resume = ["resume"]
disconnect = ["cut"]
reconnect = ["join"]

[addresses]
"kafka-1.internal:9092" = "[::1]:19092"

[log_directories]
1 = ["data-1", "/data-2"]

[logs]
file = "{node}.log"

[limits]
command_timeout_ms = 5
answer_timeout_ms = 7
"""


def read(folder: Path, text: str) -> AccessFile:
    path = folder / "access.toml"
    path.write_text(textwrap.dedent(text), "utf-8")
    return read_access_file(path)


def test_empty_access_file_has_defaults(tmp_path: Path) -> None:
    file = read(tmp_path, "")
    assert (file.implementation, file.release, file.name_prefix) == ("external", "unknown", "kc-")
    assert file.capabilities == {"create_topics"}
    assert file.safety == {"read", "own-names"}
    assert (file.command_timeout_ms, file.answer_timeout_ms) == (60_000, 60_000)


def test_access_file_with_all_keys_is_read(tmp_path: Path) -> None:
    file = read(tmp_path, ALL)
    assert (file.implementation, file.release) == ("Apache Kafka", "3.9.2")
    assert file.name_prefix == "team-a.kc-"
    assert file.safety == {"read"}
    withheld = {"create_topics", "own_broker", "broker_config", "join_as_broker", "links"}
    everything = set(CAPABILITIES) - withheld - {"power_loss", "upgrade"}
    assert file.capabilities == everything
    assert file.commands["stop"] == ("stop", "{node}", "")
    assert file.addresses == {("kafka-1.internal", 9092): ("::1", 19092)}
    assert file.log_directories == {1: (tmp_path / "data-1", Path("/data-2"))}
    assert (file.logs_file, file.logs_command) == ("{node}.log", ())
    assert (file.command_timeout_ms, file.answer_timeout_ms) == (5, 7)
    assert file.folder == tmp_path


def test_safety_classes_equal_safety_enum() -> None:
    assert list(SAFETY_CLASSES) == list(Safety)


BAD = [
    ("releese = '3.9.2'", ':1: releese: unknown key - did you mean "release"?'),
    ("\nrelease = 3.9", ":2: release: must be a string"),
    ("create_topics = 'yes'", ":1: create_topics: must be true or false"),
    ("name_prefix = '__kc'", ":1: name_prefix: '__kc' must begin with a letter or digit"),
    ("safety = ['read', 'own-name']", "no safety class 'own-name' - did you mean \"own-names\"?"),
    ("\n\nsafety = ['destructive']", ":3: safety: 'destructive' cannot be granted"),
    ("safety = []", ":1: safety: must be a list of read, own-names"),
    ("safety = ['read']", "say create_topics = false too"),
    ("[commands]\nrestrat = ['x']", ':2: commands.restrat: unknown key - did you mean "restart"?'),
    ("[commands]\nrestart = 'x'", ":2: commands.restart: must be a list of words"),
    ("[commands]\nrestart = []", ":2: commands.restart: must be a list of words"),
    ("[commands]\nstop = ['']", ":2: commands.stop: must be a string that is not empty"),
    ("[commands]\nstop = ['x', '{nod}']", 'unknown placeholder {nod} - did you mean "node"?'),
    ("[commands]\n\npause = ['x']", ":3: commands.pause: needs resume beside it"),
    ("[commands]\nreconnect = ['x']", ":2: commands.reconnect: needs disconnect beside it"),
    ("commands = 1", ":1: commands: must be a table [commands]"),
    ("[addresses]\n'kafka-1' = 'here:1'", "addresses.kafka-1: the address 'kafka-1' is not HOST"),
    ("[addresses]\n'kafka-1:1' = 'here'", "the address 'here' is not HOST:PORT"),
    ("[addresses]\n'kafka-1:1' = 7", "must be a string that is not empty"),
    ("[log_directories]\none = ['x']", ":2: log_directories.one: is no broker id"),
    ("[log_directories]\n1 = 'x'", ":2: log_directories.1: must be a list of folders"),
    ("[logs]\nfile = 'a'\ncommand = ['b']", ":3: logs.command: give either file or command"),
    ("[limits]\ncommand_timeout_ms = 0", ":2: limits.command_timeout_ms: must be whole milli"),
    ("[limits]\ncommand_timeout = 1", 'did you mean "command_timeout_ms"?'),
    ("release = \n", "is not TOML: Invalid value (at line 1, column 11"),
]


@pytest.mark.parametrize(("text", "said"), BAD, ids=[said for _, said in BAD])
def test_invalid_access_file_raises_target_error_with_line(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(TargetError) as caught:
        read(tmp_path, text)
    assert said in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "access.toml"))


def test_missing_access_file_raises_target_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be read: No such file"):
        read_access_file(tmp_path / "none.toml")
