"""`kafka-conformance report` under bad input: exit code 2, one sentence, and no report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.targets import java

from .made_results import row, write_results


def nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder stays empty."""


def other_version(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_results(folder, [row()], version="99")


def no_java(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_results(folder, [row()])
    monkeypatch.setattr(java, "_candidates", lambda: iter(()))


def no_spark(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_results(folder, [row()])
    monkeypatch.setitem(__import__("sys").modules, "pyspark", None)


def damaged_journal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = folder / "runs" / "run-x" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_text("{not json\n")


@pytest.mark.parametrize(
    ("arrange", "said"),
    [
        (nothing, "the folder holds no results"),
        (other_version, "the results have schema version 99, this report reads version 2"),
        (no_java, "no Java 17 or newer was found"),
        (no_spark, "pip install 'kafka-conformance[report]'"),
        (damaged_journal, "the folder holds no results"),
    ],
)
def test_invalid_input_exits_2_with_message_and_no_report(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arrange: Callable[[Path, pytest.MonkeyPatch], None],
    said: str,
) -> None:
    folder = tmp_path / "R"
    folder.mkdir()
    arrange(folder, monkeypatch)
    ended = CliRunner().invoke(main, ["report", str(folder), "--out", str(tmp_path / "report")])
    assert ended.exit_code == 2
    assert " ".join(said.split()) in " ".join(ended.output.split())
    assert "Traceback" not in ended.output
    assert not (tmp_path / "report").exists()


def test_missing_folder_exits_2_with_its_name(tmp_path: Path) -> None:
    missing = tmp_path / "nowhere"
    ended = CliRunner().invoke(main, ["report", str(missing), "--out", str(tmp_path / "report")])
    assert ended.exit_code == 2
    assert "nowhere" in ended.output
