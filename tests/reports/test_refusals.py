"""Refusals of reports, each with what, where and what to do; none of it needs Spark."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from reports.__main__ import main
from reports.arrow import pa, pq
from reports.build import build_report
from reports.dataset import find_datasets
from reports.errors import ReportError
from reports.place import placed
from reports.session import is_on_this_machine, require_java, require_pyspark, settings

from .made_results import row, write_part, write_results

pytestmark = pytest.mark.rotates(8)


def nothing_there(folder: Path) -> None:
    folder.rmdir()


def no_results(folder: Path) -> None:
    (folder / "runs").mkdir()


def run_without_file(folder: Path) -> None:
    (folder / "results" / "run=r1").mkdir(parents=True)


def no_parquet(folder: Path) -> None:
    write_results(folder, [row()])
    (folder / "results" / "run=r1" / "part-0.parquet").write_bytes(b"PAR1 is all that's left")


def other_version(folder: Path) -> None:
    write_results(folder, [row()], version="99")


def other_type(folder: Path) -> None:
    file = write_results(folder, [row()]) / "results" / "run=r1" / "part-0.parquet"
    table = pq.ParquetFile(file).read()
    index = table.schema.get_field_index("attempt")
    pq.write_table(table.set_column(index, "attempt", pa.array(["1"])), file)


def column_missing(folder: Path) -> None:
    file = write_results(folder, [row()]) / "results" / "run=r1" / "part-0.parquet"
    pq.write_table(pq.ParquetFile(file).read().drop_columns(["verdict"]), file)


def no_check(folder: Path) -> None:
    write_part(folder / "results" / "run=r1" / "part-0.parquet", [])


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (nothing_there, "there is no such folder"),
        (no_results, "the folder holds no results"),
        (run_without_file, "the run's folder holds no Parquet file"),
        (no_parquet, "not a readable Parquet file"),
        (other_version, "schema version 99, this report reads version 2"),
        (other_type, "column 'attempt' is string, expected int32"),
        (column_missing, "column 'verdict' is missing"),
        (no_check, "the results hold no check at all"),
    ],
)
def test_invalid_results_raise_report_error_and_no_report(
    tmp_path: Path, damage: Callable[[Path], None], what: str
) -> None:
    folder = tmp_path / "R"
    folder.mkdir()
    damage(folder)
    with pytest.raises(ReportError) as error:
        build_report([folder], tmp_path / "report")
    assert what in error.value.what
    assert str(folder) in error.value.where
    assert error.value.what_to_do
    assert not (tmp_path / "report").exists()


def test_empty_folder_list_raises_report_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no result folder"):
        build_report([], tmp_path / "report")


def test_folder_given_twice_is_used_once(tmp_path: Path) -> None:
    write_results(tmp_path, [row()])
    (dataset,) = find_datasets([tmp_path, tmp_path / "results", tmp_path / "." / "results"])
    assert [run.run for run in dataset.runs] == ["r1"]
    assert dataset.runs[0].planned_cases == 1


def test_run_in_two_folders_is_used_once_where_it_has_the_most_rows(tmp_path: Path) -> None:
    """Three folders: the first has a copy of a part, the third one of the whole."""
    rows = [row(), row(ordinal=1)]
    folders = [tmp_path / name for name in ("part", "whole", "copy")]
    for folder, held in zip(folders, (rows[:1], rows, rows), strict=True):
        write_results(folder, held)
    other = row(run="r2")
    write_results(folders[0], [*rows[:1], other])
    found = [[run.run for run in dataset.runs] for dataset in find_datasets(folders)]
    assert found == [["r2"], ["r1"], []]


def test_partial_file_of_interrupted_writer_is_ignored(tmp_path: Path) -> None:
    folder = write_results(tmp_path, [row()]) / "results" / "run=r1"
    (folder / ".part-0.parquet.12.parquet").write_bytes(b"half")
    (dataset,) = find_datasets([tmp_path])
    assert len(dataset.runs) == 1


def fake_java(folder: Path, version: str) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    java.chmod(0o755)
    return java


def test_missing_java_raises_report_error_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_results(tmp_path, [row()])
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ReportError, match="needs Java, and none was found") as error:
        build_report([tmp_path], tmp_path / "report")
    assert "JAVA_HOME" in error.value.what_to_do
    assert not (tmp_path / "report").exists()


def test_wrong_java_home_raises_report_error_with_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "gone"))
    with pytest.raises(ReportError, match="gone"):
        require_java()


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2"])
def test_old_java_raises_report_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    fake_java(tmp_path, version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(ReportError, match="Java 17 or newer"):
        require_java()


def test_java_home_takes_precedence_over_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = fake_java(tmp_path, "25")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert require_java() == java


def test_missing_pyspark_error_contains_extra_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyspark", None)
    with pytest.raises(ReportError, match=r"kafka-conformance\[report\]"):
        require_pyspark()


@pytest.mark.parametrize(
    ("master", "near"),
    [
        ("local[*]", True),
        ("spark://127.0.0.1:7077", True),
        ("spark://10.0.0.9:7077", False),
        ("yarn", False),
    ],
)
def test_driver_host_is_loopback_only_for_local_master(
    tmp_path: Path, master: str, near: bool
) -> None:
    assert is_on_this_machine(master) is near
    assert ("spark.driver.host" in settings(master, tmp_path)) is near


def test_unreachable_master_raises_report_error(without_spark: None, tmp_path: Path) -> None:
    write_results(tmp_path / "R", [row()])
    with socket.socket() as taken:  # bound and not listening: no process answers there
        taken.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ReportError, match="no Spark master answers") as error:
            build_report([tmp_path / "R"], tmp_path / "report", master)
    assert master in error.value.where
    assert [entry.name for entry in tmp_path.iterdir()] == ["R"]


def test_spark_connect_address_raises_report_error(without_spark: None, tmp_path: Path) -> None:
    write_results(tmp_path / "R", [row()])
    with pytest.raises(ReportError, match="not a master"):
        build_report([tmp_path / "R"], tmp_path / "report", "sc://127.0.0.1:15002")


def test_output_folder_with_foreign_files_raises_report_error(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ReportError, match=r"thesis\.txt"), placed(tmp_path):
        pytest.fail("a report was begun over somebody's files")
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_failed_report_keeps_earlier_report(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with placed(out) as folder:
        (folder / "matrix.json").write_text("one")
    with pytest.raises(FileNotFoundError), placed(out) as folder:
        (folder / "matrix.json").write_bytes((tmp_path / "absent").read_bytes())
    assert (out / "matrix.json").read_text() == "one"
    with placed(out) as folder:
        (folder / "matrix.md").write_text("three")
    assert [file.name for file in out.iterdir()] == ["matrix.md"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["report"]


def test_command_prints_error_and_exits_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = os.fspath(tmp_path / "missing")
    assert main([missing, "--out", os.fspath(tmp_path / "report")]) == 2
    said = capsys.readouterr().err
    assert missing in said
    assert "what to do" in said
