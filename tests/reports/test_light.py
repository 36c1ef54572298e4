"""`report --light`: the same report without Spark and Java."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.targets import java
from reports.build import RENDERINGS, build_report
from reports.dataset import find_datasets
from reports.errors import ReportError
from reports.light.tables import light_tables
from reports.matrix import TABLES, read_table

from .conftest import WORDING, DrawnReport
from .made_results import row, write_part, write_results


@pytest.mark.parametrize("name", TABLES)
def test_light_table_equals_the_one_of_spark(drawn_report: DrawnReport, name: str) -> None:
    datasets = find_datasets([drawn_report.results])
    by_spark = read_table(drawn_report.paths.folder / f"{name}.parquet")
    assert by_spark
    assert light_tables(datasets, WORDING)[name] == by_spark


def test_light_report_has_same_files_but_parquet(drawn_report: DrawnReport, tmp_path: Path) -> None:
    out = tmp_path / "light"
    paths = build_report([drawn_report.results], out, wording=WORDING, light=True)
    spark = drawn_report.paths
    assert paths.incomplete == spark.incomplete != ()
    for name in RENDERINGS:
        assert (out / name).read_bytes() == (spark.folder / name).read_bytes()
    evidence = {one.name: one.read_bytes() for one in sorted(spark.evidence.rglob("*.txt"))}
    assert evidence
    assert evidence == {one.name: one.read_bytes() for one in sorted(paths.evidence.rglob("*.txt"))}
    wanted = {one.name for one in spark.folder.iterdir() if one.suffix != ".parquet"}
    assert {one.name for one in out.iterdir()} == wanted


def test_columns_are_in_order_of_product_and_release(tmp_path: Path) -> None:
    names = ["kafka:0.8.2.2", "kafka:0.10.0.1", "kafka:4.4.0", "kafka:4.4.0,mode=zk", "reference"]
    rows = [row(target=name, run=f"r{at}") for at, name in enumerate(reversed(names))]
    paths = build_report([write_results(tmp_path / "R", rows)], tmp_path / "report", light=True)
    assert json.loads(paths.json.read_text())["targets"] == names


@pytest.fixture(name="bare")
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take Spark and Java away."""
    monkeypatch.setitem(__import__("sys").modules, "pyspark", None)
    monkeypatch.setattr(java, "_candidates", lambda: iter(()))


def invoke(*words: str | Path) -> tuple[int, str]:
    ended = CliRunner().invoke(main, ["report", *map(str, words)])
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended.exit_code, ended.output


def test_light_command_needs_no_spark_and_no_java_and_replaces_its_report(
    bare: None, tmp_path: Path
) -> None:
    folder, out = write_results(tmp_path / "R", [row()]), tmp_path / "report"
    first = invoke(folder, "--light", "--out", out)
    assert first == (0, f"{out / 'index.html'}\n")
    matrix = (out / "matrix.json").read_bytes()
    assert invoke(folder, "--light", "--out", out) == first
    assert (out / "matrix.json").read_bytes() == matrix


def test_light_command_names_incomplete_run_and_exits_3(bare: None, tmp_path: Path) -> None:
    folder = write_results(tmp_path / "R", [row(run_complete=False)])
    code, output = invoke(folder, "--light", "--out", tmp_path / "report")
    assert (code, "incomplete: r1" in output) == (3, True)


def test_light_with_master_exits_2(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "R", [row()])
    words = (folder, "--light", "--master", "local[1]", "--out", tmp_path / "report")
    code, output = invoke(*words)
    assert (code, "leave --light or --master out" in output) == (2, True)
    assert not (tmp_path / "report").exists()


def test_light_report_refuses_unknown_verdict(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "R", [row(), row(verdict="great")])
    with pytest.raises(ReportError, match=r"doesn't exist: 'great' in run r1"):
        build_report([folder], tmp_path / "report", light=True)
    assert not (tmp_path / "report").exists()


def test_light_report_shows_run_without_check(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "R", [row()])
    write_part(folder / "results" / "run=r0" / "part-0.parquet", [])
    paths = build_report([folder], tmp_path / "report", light=True)
    assert paths.incomplete == ("r0",)
