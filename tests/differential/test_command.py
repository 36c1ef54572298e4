"""``kafka-conformance diff`` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import main


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["diff", *arguments])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--target", "reference"], "two targets are compared, not 1"),
        (["--target", "reference", "--target", "external:h:9092"], "that we start ourselves"),
        (["--target", "reference", "--target", "refrence"], "unknown target"),
        (["--target", "reference", "--target", "reference", "--api", "Vote"], "not served by both"),
    ],
)
def test_wrong_usage_exits_2_with_reason(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert said in result.output


def test_malformed_conversation_file_exits_2(tmp_path: Path) -> None:
    file = tmp_path / "broken.json"
    file.write_text("{}")
    result = run("--target", "reference", "--target", "reference", "--play", str(file))
    assert result.exit_code == 2
    assert '"format": 1' in result.output


def test_diff_without_difference_exits_0_and_prints_compared_apis() -> None:
    result = run("--target", "reference", "--target", "reference", "--exchanges", "30",
                 "--api", "ApiVersions")  # fmt: skip
    assert result.exit_code == 0
    assert "ApiVersions" in result.output
    assert "exchanges in" in result.output


@pytest.mark.rotates(8)
def test_difference_is_printed_and_replays_from_its_file(tmp_path: Path) -> None:
    """Two brokers that are set otherwise: how many partitions a topic has by default."""
    targets = ["--target", "reference", "--target", "reference,set.num.partitions=2"]
    result = run(*targets, "--exchanges", "500", "--api", "CreateTopics", "--out", str(tmp_path))
    assert result.exit_code == 1
    assert "CreateTopics v" in result.output
    (file,) = tmp_path.iterdir()
    assert f"--play {file}" in result.output
    (step,) = json.loads(file.read_text())["steps"]
    assert step["api"] == "CreateTopics"
    played = run(*targets, "--play", str(file), "--out", str(tmp_path))
    assert played.exit_code == 1
    assert "num_partitions differs" in played.output
