"""``codec list`` and ``codec describe``."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.codec.apis import APIS
from harness.codec.first_releases import VersionsOfAnApi
from harness.codec.messages import message_class, message_names
from harness.codec.structs import Message
from harness.commands.codec import describe
from labs.message_values.all_kinds import ALL_KINDS
from labs.message_values.values import class_name
from tests.codec.each_layout import each_class

RPC_TYPES = ("request", "response")


def _codec(*words: str) -> Result:
    return CliRunner().invoke(main, ["codec", *words])


def test_list_json_contains_every_api_with_first_releases() -> None:
    rows = json.loads(_codec("list", "--json").output)
    assert [row["api_key"] for row in rows] == list(range(95))
    assert sum(row["versions"]["max"] - row["versions"]["min"] + 1 for row in rows) == 368
    for row in rows:
        assert list(row) == ["api_key", "name", "versions", "flexible_from", "first_release"]
        low, high = row["versions"]["min"], row["versions"]["max"]
        assert list(row["first_release"]) == [str(version) for version in range(low, high + 1)]
        assert row["name"] == APIS[row["api_key"]].name


def test_list_json_rows_match_known_apis() -> None:
    rows = {row["name"]: row for row in json.loads(_codec("list", "--json").output)}
    assert rows["SaslHandshake"] == {
        "api_key": 17,
        "name": "SaslHandshake",
        "versions": {"min": 0, "max": 1},
        "flexible_from": None,
        "first_release": {"0": "0.10.0", "1": "1.0"},
    }
    assert rows["Produce"]["first_release"]["0"] == "0.8.0"
    assert rows["Fetch"]["flexible_from"] == 12
    assert [name for name, row in rows.items() if row["flexible_from"] is None] == [
        "SaslHandshake",
        "OffsetDelete",
    ]
    assert rows["UnregisterController"]["first_release"] == {"0": "4.4"}


def test_list_prints_one_line_per_api_and_total() -> None:
    lines = _codec("list").output.splitlines()
    assert lines[-1] == "95 APIs, 368 (api, version) pairs"
    assert len(lines) == 1 + 95 + 1
    (fetch,) = [line for line in lines if line.split()[1] == "Fetch"]
    assert fetch.split()[:4] == ["1", "Fetch", "0-18", "12"]
    assert fetch.split()[4:8] == ["0:0.8.0", "1:0.9", "2:0.10.0", "3:0.10.1"]
    assert "4-5:0.11" in fetch


def test_list_all_includes_schemas_that_are_not_rpcs() -> None:
    specs = [message_class(name).message_spec for name in message_names()]
    wanted = {spec.name for spec in specs if spec.type not in RPC_TYPES}
    rows = json.loads(_codec("list", "--all", "--json").output)
    assert {row["name"] for row in rows if "api_key" not in row} == wanted
    said = _codec("list", "--all").output
    assert all(f" {name} " in said for name in wanted)


def test_list_output_in_pipe_is_neither_coloured_nor_truncated() -> None:
    command = [sys.executable, "-m", "harness.cli", "codec", "list"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "\x1b" not in said
    assert said == _codec("list").output


def test_list_output_on_terminal_is_table() -> None:
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": "250", "TERM": "xterm"}
    command = [sys.executable, "-m", "harness.cli", "codec", "list"]
    with subprocess.Popen(command, stdout=slave, env=environment) as process:
        os.close(slave)
        said = b""
        with contextlib.suppress(OSError):  # how a terminal says that its other end is gone
            while chunk := os.read(master, 65536):
                said += chunk
        os.close(master)
        assert process.wait() == 0
    lines = said.decode().splitlines()
    assert sum("│" in line for line in lines) == 95
    assert lines[-1] == "95 APIs, 368 (api, version) pairs"


FETCH_V2 = """\
FetchRequest v2: not flexible, API key 1, request header v1, first released in 0.10.0
  replica_id                                   int32                              default -1
  max_wait_ms                                  int32
  min_bytes                                    int32
  topics                                       []FetchTopic
    topic                                      string                             ignorable
    partitions                                 []FetchPartition
      partition                                int32
      fetch_offset                             int64
      partition_max_bytes                      int32
"""


def test_describe_of_version_matches_hand_written_layout() -> None:
    said = _codec("describe", "Fetch", "2", "--kind", "request").output
    assert said.startswith(FETCH_V2)
    assert "not at this version: session_id (versions 7+), left out when set" in said
    assert _codec("describe", "FetchRequest", "2").output == said
    assert _codec("describe", "1", "2").output.startswith(said)


@pytest.mark.parametrize(
    ("words", "header"),
    [
        (["ApiVersions", "3", "--kind", "response"], "response header v0"),
        (["ApiVersions", "3", "--kind", "request"], "request header v2"),
        (["ControlledShutdown", "0", "--kind", "request"], "request header v0"),
        (["FetchResponse", "12"], "response header v1"),
    ],
)
def test_describe_of_version_names_header_version(words: list[str], header: str) -> None:
    assert header in _codec("describe", *words).output.splitlines()[0]


def test_describe_of_api_lists_changes_of_every_version() -> None:
    lines = _codec("describe", "fetch").output.splitlines()
    assert lines[0] == "FetchRequest: request of API key 1, versions 0-18, flexible from 12."
    assert lines[1:5] == [
        "  v0   0.8.0   the first",
        "  v1   0.9     same layout as v0",
        "  v2   0.10.0  same layout as v1",
        "  v3   0.10.1  + max_bytes int32",
    ]
    assert sum(line.startswith("  v") for line in lines) == 2 * 19


@each_class
def test_describe_accepts_every_schema(cls: type[Message]) -> None:
    if cls is ALL_KINDS:  # made up: the command cannot name it
        return
    name, _, last = class_name(cls).partition("@")
    release = ("--release", last) if last else ()
    valid = cls.message_spec.valid
    ended = _codec("describe", name, *release)
    assert ended.exit_code == 0, ended.output
    assert sum(line.startswith("  v") for line in ended.output.splitlines()) == len(list(valid))
    ended = _codec("describe", name, str(valid.highest), *release)
    assert ended.exit_code == 0, ended.output
    assert ended.output.startswith(f"{name} v{valid.highest}: ")


def test_describe_with_release_prints_layout_of_that_release() -> None:
    said = _codec("describe", "FetchResponse").output
    assert "  other bytes up to release 2.7: --release 2.7" in said
    now = _codec("describe", "FetchResponse", "12").output
    before = _codec("describe", "FetchResponse", "12", "--release", "2.7.2").output
    assert "snapshot_id" in now
    assert "snapshot_id" not in before
    rows = json.loads(_codec("list", "--all", "--json").output)
    (leader_change,) = [row for row in rows if row["name"] == "LeaderChangeMessage"]
    assert leader_change["older_releases"] == ["2.7", "2.8"]


def test_describe_of_older_layout_names_no_later_release() -> None:
    words = ["describe", "JoinGroup", "--kind", "request", "--release", "0.8.2"]
    head = _codec(*words, "0").output.splitlines()[0]
    assert head.endswith("API key 11, request header v1, as release 0.8.2 spoke it")
    history = _codec(*words).output
    assert "0.9" not in history
    assert "--release" not in history


def test_describe_source_prints_compilable_python() -> None:
    said = _codec("describe", "Heartbeat", "4", "--source").output
    compile(said, "source", "exec")
    assert said.count("# decoder of ") == said.count("# encoder of ") == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["describe", "Fecth"], "no API or message 'Fecth' - did you mean \"Fetch\"?"),
        (["describe", "95"], "no API or message '95'"),
        (["describe", "Fetch", "19"], "FetchRequest has versions 0-18, not 19"),
        (["describe", "Fetch", "--source"], "--source is the code of one version"),
        (["describe", "FetchRequest", "1", "--kind", "response"], "is no response"),
        (["describe", "Fetch", "1", "--release", "new"], "new is no release"),
    ],
)
def test_wrong_usage_exits_2_with_reason(words: list[str], said: str) -> None:
    ended = _codec(*words)
    assert ended.exit_code == 2, ended.output
    assert said in " ".join(ended.output.split())


def test_describe_of_version_without_first_release_exits_1(monkeypatch: pytest.MonkeyPatch) -> None:
    table = VersionsOfAnApi("Heartbeat", {})
    monkeypatch.setattr(describe, "first_releases", lambda _: table)
    ended = _codec("describe", "Heartbeat", "4")
    assert ended.exit_code == 1
    assert "Error: Heartbeat v4 has no first release: add it to" in ended.output
