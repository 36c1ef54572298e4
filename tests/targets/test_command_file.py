"""The file behind ``command:FILE``: valid content, and errors for the rest."""

import re
from pathlib import Path
from typing import Any

import pytest

from harness.targets.command_file import filled, placeholders, read_command_file
from harness.targets.errors import TargetError
from tests.targets.kinds import ROOT, write_command_file


def test_minimal_command_file_has_defaults(tmp_path: Path) -> None:
    path = write_command_file(tmp_path, working_directory=None, capabilities=None)
    file = read_command_file(path)
    assert file.path == path
    assert file.working_directory == "."
    assert file.capabilities == frozenset()
    assert dict(file.environment) == {}
    assert (file.start_timeout_ms, file.stop_timeout_ms) == (30_000, 0)
    assert file.release == "1"
    assert file.line is None
    assert file.takes_port


def test_command_file_with_all_keys_is_read(tmp_path: Path) -> None:
    changes: dict[str, Any] = {
        "command": ["{python}", "", "{{port}}", "{dir}"],
        "release": None,
        "release_command": ["{python}", "--version"],
        "capabilities": ["own_broker", "broker_config", "create_topics"],
        "setting": ["--set", "{name}={value}"],
        "environment": {"EMPTY": "", "PORT": "{port}"},
        "readiness": {"line": r"on (?P<port>\d+)"},
        "limits": {"start_timeout_ms": 1, "stop_timeout_ms": 5, "release_timeout_ms": 7},
    }
    file = read_command_file(write_command_file(tmp_path, **changes))
    assert file.command == ("{python}", "", "{{port}}", "{dir}")
    assert file.setting == ("--set", "{name}={value}")
    assert file.release_command == ("{python}", "--version")
    assert (file.start_timeout_ms, file.stop_timeout_ms, file.release_timeout_ms) == (1, 5, 7)
    assert file.takes_port, "by the environment"
    assert file.address is None


def test_placeholders_are_found_and_filled() -> None:
    text = '{python} {{dir}} {"json": {"a": 1}} {port}'
    assert placeholders(text) == {"python", "port"}
    values = {"python": "P", "dir": "D", "port": "9"}
    assert filled(text, values) == 'P {dir} {"json": {"a": 1}} 9'


@pytest.mark.parametrize("path", sorted((ROOT / "docker").glob("*.toml")), ids=lambda p: p.name)
def test_command_files_of_repository_are_valid(path: Path) -> None:
    if not path.name.endswith(".profile.toml"):
        assert read_command_file(path).implementation


BAD: list[tuple[dict[str, Any], str]] = [
    ({"comand": ["x"]}, "comand: unknown key - did you mean 'command'?; known: command, "),
    ({"command": None}, "command: is missing"),
    ({"command": []}, "command: must be a list of words"),
    ({"command": "broker --port 1"}, "command: must be a list of words"),
    ({"command": [""]}, "command[0]: must be a string that is not empty"),
    ({"command": ["a", 9092]}, "command[1]: must be a string that is not empty, is 9092"),
    (
        {"command": ["a", "{prot}"]},
        "{prot} - did you mean 'port'?; known: {port}, {dir}, {python}, {obtained}. For the text",
    ),
    ({"implementation": None}, "implementation: is missing"),
    ({"implementation": " "}, "implementation: must be a string that is not empty"),
    ({"release": None}, "release: give either release or release_command"),
    ({"release_command": ["x"]}, "release: give either release or release_command"),
    (
        {"release": None, "release_command": ["x", "{port}"]},
        "release_command: there is no {port} for it",
    ),
    ({"working_directory": 1}, "working_directory: must be a string"),
    (
        {"capabilities": ["own_brokers"]},
        "unknown capability 'own_brokers' - did you mean 'own_broker'?; known: create_topics, ",
    ),
    ({"capabilities": "own_broker"}, "capabilities: must be a list"),
    ({"environment": "A=b"}, "environment: must be a table [environment]"),
    ({"environment": {"A=": "b"}}, "environment.A=: is no name of a variable"),
    ({"environment": {"A": 1}}, "environment.A: must be a string"),
    ({"environment": {"A": "{x}"}}, "environment.A: unknown placeholder {x}"),
    ({"readiness": None}, "readiness: give either address or line"),
    ({"readiness": {"address": "a:1", "line": "x"}}, "readiness: give either address or line"),
    ({"readiness": {"lines": "x"}}, "readiness.lines: unknown key - did you mean 'line'?"),
    ({"readiness": {"line": "(?P<port>"}}, "readiness.line: is no regular expression: "),
    ({"readiness": {"line": r"(\d+)"}}, r"readiness.line: needs a group (?P<port>\d+)"),
    (
        {"command": ["a"]},
        "readiness.address: has {port}, but neither command nor environment hands it over",
    ),
    (
        {"command": ["a"], "readiness": {"address": "127.0.0.1:9092"}},
        "capabilities: own_broker needs {port} in the command",
    ),
    (
        {"capabilities": ["disconnect_node"]},
        "capabilities: disconnect_node cannot be had of a local process",
    ),
    ({"capabilities": ["stop_node"]}, "limits.stop_timeout_ms: belongs to the capability stop_n"),
    ({"capabilities": ["join_as_broker"]}, "a file cannot say how to join it"),
    ({"capabilities": ["links"]}, "a file cannot say how connections are led"),
    ({"capabilities": ["log_directory"]}, "log_directories: belongs to the capability log_direct"),
    ({"log_directories": ["{dir}"]}, "log_directories: belongs to the capability log_directory"),
    (
        {"capabilities": ["log_directory"], "log_directories": ["{port}"]},
        "log_directories[0]: unknown placeholder {port}",
    ),
    (
        {
            "capabilities": ["restart_node"],
            "command": ["x"],
            "readiness": {"line": r"at (?P<port>\d+)"},
        },
        "capabilities: restart_node needs {port} in the command",
    ),
    ({"limits": {"start_timeout": 1}}, "did you mean 'start_timeout_ms'?"),
    ({"limits": {"start_timeout_ms": 0}}, "limits.start_timeout_ms: must be whole milliseconds"),
    ({"limits": {"stop_timeout_ms": -1}}, "limits.stop_timeout_ms: must be whole milliseconds"),
    ({"limits": {"start_timeout_ms": 1.5}}, "limits.start_timeout_ms: must be whole milliseconds"),
    ({"setting": ["{name}={value}"]}, "setting: belongs to the capability broker_config"),
    ({"settings": ["num.partitions"]}, "settings: belongs to setting"),
    (
        {"capabilities": ["own_broker", "broker_config"]},
        "setting: belongs to the capability broker_config",
    ),
    (
        {"capabilities": ["broker_config"], "setting": ["{name}={value}"]},
        "capabilities: broker_config is for private brokers: add own_broker",
    ),
    (
        {"capabilities": ["own_broker", "broker_config"], "setting": ["{port}"]},
        "setting[0]: unknown placeholder {port}",
    ),
]


@pytest.mark.parametrize(("changes", "says"), BAD, ids=[says[:40] for _, says in BAD])
def test_invalid_command_file_raises_target_error(
    tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    path = write_command_file(tmp_path, **changes)
    with pytest.raises(TargetError, match=re.escape(says)) as caught:
        read_command_file(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", [b"command = [", b"\xff\xfe"], ids=["cut", "no utf-8"])
def test_command_file_without_toml_raises_target_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(TargetError, match=r"broken\.toml: is not TOML"):
        read_command_file(path)


def test_folder_as_command_file_raises_target_error(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="cannot be read: Is a directory"):
        read_command_file(tmp_path)
