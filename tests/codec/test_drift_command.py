"""``codec drift``: what it reads, what it says, and with which exit code."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main
from harness.codec.drift.kafka_jar import read_definitions
from harness.codec.messages import message_names, older_releases
from tests.codec.test_drift import loaded_text

pytestmark = pytest.mark.rotates(8)

RPCS = [name for name in message_names() if name.endswith(("Request", "Response"))]


def _run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["codec", "drift", *map(str, words)])


def _folder(path: Path) -> Path:
    """A release that has exactly our own definitions."""
    path.mkdir()
    for name in RPCS:
        (path / f"{name}.json").write_text(json.dumps(loaded_text(name)), "utf-8")
    return path


def _change(folder: Path, name: str, old: str, new: str) -> None:
    file = folder / f"{name}.json"
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return _folder(tmp_path / "message")


def _unlisted(result: Result) -> set[str]:
    return set(re.findall(r"(?m)^unlisted: (.*) -> correct .* or list it", result.output))


def test_unlisted_difference_is_printed_and_exits_1(folder: Path) -> None:
    before = _unlisted(_run(folder, "--release", "4.4.0"))
    _change(folder, "HeartbeatRequest", '"MemberId"', '"WhoIsIt"')
    result = _run(folder, "--release", "4.4.0")
    assert result.exit_code == 1
    assert _unlisted(result) - before == {
        "HeartbeatRequest v0-4 member_id: name: ours member_id, theirs who_is_it"
    }


def test_stale_reviewed_difference_is_printed_and_exits_1(folder: Path) -> None:
    """Ours have what 4.0 dropped; a 4.4.0 that has it all the same makes those entries stale."""
    result = _run(folder, "--release", "4.4.0")
    assert result.exit_code == 1
    line = next(line for line in result.output.splitlines() if "stale: ProduceRequest" in line)
    assert "v0-2: version: ours there, theirs absent (listed for 4.0+) -> it is not so" in line


def test_json_output_lists_stale_differences(folder: Path) -> None:
    result = _run(folder, "--release", "4.4.0", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert found["release"] == "4.4.0"
    assert found["definitions"] == len(RPCS)
    assert found["as_reviewed"] is False
    assert {
        "message": "ProduceRequest",
        "versions": [0, 1, 2],
        "field": "",
        "what": "version",
        "ours": "there",
        "theirs": "absent",
        "releases": "4.0+",
    } in found["stale"]


def test_unreadable_definition_is_reported_as_difference(folder: Path) -> None:
    _change(folder, "HeartbeatRequest", '"string"', '"rope"')
    result = _run(folder, "--release", "4.4.0")
    assert result.exit_code == 1
    assert "unlisted: HeartbeatRequest: definition: ours readable, theirs " in result.output
    assert "type 'rope' is no scalar" in result.output


def _jar(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


DEFINITION = '{"name": "X", "type": "data", "validVersions": "0", "flexibleVersions": "none"}'


@pytest.mark.parametrize(
    "says",
    [
        {"kafka/kafka-version.properties": "commitId=1\nversion=3.9.2"},
        {"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\r\nImplementation-Version: 3.9.2\r\n"},
        {"META-INF/MANIFEST.MF": "", "kafka/kafka-version.properties": "version=3.9.2-SNAPSHOT"},
    ],
)
def test_release_is_read_from_jar(tmp_path: Path, says: dict[str, str]) -> None:
    jar = _jar(tmp_path / "x.jar", {"common/message/X.json": DEFINITION, **says})
    assert read_definitions(jar).release == "3.9.2"
    assert read_definitions(jar, "4.0.0").release == "4.0.0"
    assert list(read_definitions(jar).messages) == ["X"]


def test_jar_with_other_json_only_exits_2(tmp_path: Path) -> None:
    names = ["X.json", "META-INF/X.json", "common/message/README.md", "common/message/deep/X.json"]
    jar = _jar(tmp_path / "x.jar", dict.fromkeys(names, DEFINITION))
    result = _run(jar, "--release", "4.4.0")
    assert result.exit_code == 2
    assert "no message definitions inside" in result.output


def test_unusable_input_exits_2_with_reason(tmp_path: Path, folder: Path) -> None:
    text = tmp_path / "text"
    text.write_text("no jar")
    silent = _jar(tmp_path / "x.jar", {"common/message/X.json": DEFINITION})
    for words, reason in (
        ([tmp_path / "missing.jar"], "No such file"),
        ([text], "not a zip file"),
        ([tmp_path], "no message definitions inside"),
        ([silent], "does not say its release; name it with --release"),
        ([folder], "does not say its release"),
        ([folder, "--release", "newest"], "not a release: 'newest'"),
        ([folder, "--release"], "requires an argument"),
        ([], "Missing argument"),
    ):
        result = _run(*words)
        assert result.exit_code == 2, words
        assert reason in result.output


def test_older_releases_lists_releases_with_own_layout() -> None:
    assert older_releases("ApiVersionsResponse") == ("2.6", "3.3")
    assert older_releases("UpdateMetadataRequest") == ("3.6.0",)
