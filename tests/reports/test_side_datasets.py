"""Datasets beside the results, and their refusals; none of it needs Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.conformance import fault_journal, history_journal, wire
from harness.conformance.verdict import Verdict
from labs.defects.all_defects import ALL_DEFECTS
from labs.defects.outcome import RowOutcome
from labs.defects.table import DefectTable
from reports.arrow import pa, pq
from reports.beside import FAULTS, HISTORIES, WIRE, defect_tables
from reports.dataset import Dataset, find_datasets
from reports.errors import ReportError
from reports.evidence import evidence_path, read_evidence

from .made_matrix import fallen, matrix, passed, row, run
from .made_results import (
    defect_table,
    fault_rows,
    wire_rows,
    write_defects,
    write_faults,
    write_results,
    write_wire,
)
from .made_results import row as check

pytestmark = pytest.mark.rotates(8)

AT = "2026-01-01T00:00:00+00:00"


@pytest.fixture(name="datasets")
def _datasets(tmp_path: Path) -> list[Dataset]:
    return find_datasets([write_results(tmp_path, [check()])])


def test_results_without_side_datasets_give_empty_lists(datasets: list[Dataset]) -> None:
    assert WIRE.files(datasets) == FAULTS.files(datasets) == []
    assert defect_tables(datasets) == []


def test_side_datasets_are_found_also_from_results_folder(
    tmp_path: Path, datasets: list[Dataset]
) -> None:
    write_wire(tmp_path, "r1", wire_rows("reference", 1))
    write_defects(tmp_path, "reference", defect_table("reference", AT))
    write_faults(tmp_path, "r1", fault_rows("reference", 1))
    assert len(WIRE.files(datasets)) == len(FAULTS.files(datasets)) == 1
    assert len(defect_tables(find_datasets([tmp_path / "results"]))) == 1


def test_side_datasets_of_run_in_two_folders_are_found_once(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        write_results(folder, [check()])
        write_wire(folder, "r1", wire_rows("reference", 1))
    write_wire(folders[1], "r2", wire_rows("reference", 1))
    found = WIRE.files(find_datasets(folders))
    assert [file.parent.name for file in found] == ["run=r1", "run=r2"]
    assert found[0].is_relative_to(folders[0])


def no_parquet(file: Path) -> None:
    file.write_bytes(b"PAR1")


def other_columns(file: Path) -> None:
    pq.write_table(pq.ParquetFile(file).read().drop_columns(["target"]), file)


def other_version(file: Path) -> None:
    metadata = {WIRE.version_key: b"99", FAULTS.version_key: b"99"}
    pq.write_table(pq.ParquetFile(file).read().replace_schema_metadata(metadata), file)


def other_type(file: Path) -> None:
    table = pq.ParquetFile(file).read()
    index = table.schema.get_field_index("count")
    pq.write_table(table.set_column(index, "count", table["count"].cast(pa.int32())), file)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (no_parquet, "not a readable Parquet file"),
        (other_version, "schema version 99, this report reads version 1"),
        (other_columns, "'target' of the wire coverage is missing, expected string"),
        (other_type, "'count' of the wire coverage is int32, expected int64"),
    ],
)
def test_invalid_wire_coverage_raises_report_error(
    tmp_path: Path, datasets: list[Dataset], damage: Callable[[Path], None], what: str
) -> None:
    file = write_wire(tmp_path, "r1", wire_rows("reference", 1))
    damage(file)
    with pytest.raises(ReportError) as error:
        WIRE.files(datasets)
    assert what in error.value.what
    assert str(file) in error.value.where


def test_fault_journal_of_other_version_raises_report_error(
    tmp_path: Path, datasets: list[Dataset]
) -> None:
    file = write_faults(tmp_path, "r1", fault_rows("reference", 1))
    other_version(file)
    with pytest.raises(ReportError) as error:
        FAULTS.files(datasets)
    assert "the fault journal has schema version 99" in error.value.what
    assert "leave the folder faults/ out" in error.value.what_to_do


def test_report_and_harness_datasets_have_same_columns_and_versions() -> None:
    """The columns that reports read are a copy, on purpose, of the written ones."""
    for there, here in (
        (wire.WIRE, WIRE),
        (fault_journal.FAULTS, FAULTS),
        (history_journal.HISTORIES, HISTORIES),
    ):
        assert list(here.columns) == [(name, kind) for name, kind, *_ in there.schema.columns]
        known = (there.name, there.schema.version_key, there.schema.version)
        assert known == (here.name, here.version_key, here.version)


GOOD = defect_table("reference", AT)
WRONG_CHANGE = [{"requirement": "A-001", "was": "green", "now": None}]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "not a readable defect table"),
        ("[]", "not a readable defect table"),
        (json.dumps({**GOOD, "schema_version": 99}), "schema version 99, this report reads 1"),
        (json.dumps({**GOOD, "at": 5}), "the table has no fitting 'at'"),
        (json.dumps(defect_table("t", AT, killed="yes")), "a defect has no fitting 'killed'"),
        (json.dumps(defect_table("t", AT, changed=WRONG_CHANGE)), "no such verdict"),
    ],
)
def test_invalid_defect_table_raises_report_error(
    tmp_path: Path, datasets: list[Dataset], text: str, what: str
) -> None:
    file = write_defects(tmp_path, "reference", GOOD)
    file.write_text(text)
    with pytest.raises(ReportError) as error:
        defect_tables(datasets)
    assert what in error.value.what
    assert str(file) in error.value.where
    assert "kafka-conformance lab defects" in error.value.what_to_do


def test_table_of_defects_command_is_readable(tmp_path: Path, datasets: list[Dataset]) -> None:
    defect = ALL_DEFECTS[0]
    changed = {defect.requirement: (Verdict.PASSED, Verdict.FAILED), "A-001": (None, None)}
    rows = [RowOutcome(defect, "seen", "", changed), RowOutcome(ALL_DEFECTS[1], "", "not noticed")]
    table = DefectTable("reference", rows, ["A-002"], [], complete=True, at=AT)
    file = tmp_path / "defects" / "reference.json"
    file.parent.mkdir()
    file.write_text(table.to_json())
    (read,) = defect_tables(datasets)
    assert [row["defect"] for row in read["defects"]] == [row.defect.name for row in rows]
    assert [row["killed"] for row in read["defects"]] == [True, False]
    assert read["defects"][0]["changed"] == [
        {"requirement": defect.requirement, "was": "passed", "now": "failed"},
        {"requirement": "A-001", "was": None, "now": None},
    ]


def test_evidence_outside_run_folder_is_not_read(tmp_path: Path) -> None:
    """A results file that names other files of the machine gets none of them."""
    rows = [check(run=name) for name in ("r1", "..")]
    datasets = find_datasets([write_results(tmp_path, rows)])
    (tmp_path / "evidence").mkdir()
    (tmp_path / "evidence" / "crc.txt").write_text("not of a run")
    inside = tmp_path / "runs" / "r1" / "evidence" / "crc.txt"
    inside.parent.mkdir(parents=True)
    inside.write_text("of a run")
    for name, found in (("r1", {("r1", "evidence/crc.txt"): "of a run"}), ("..", {})):
        made = matrix(row(1, "PROD", passed(), passed(), fallen()))
        runs = (run("kafka:4.4.0"), run("reference"), run("stranger", run=name))
        assert read_evidence(replace(made, runs=runs), datasets) == found


def test_evidence_path_stays_below_report_folder() -> None:
    assert evidence_path("..", "../../x.txt") == "evidence/_./x.txt"
    assert evidence_path("run-1", "evidence/ü b.txt") == "evidence/run-1/__b.txt"
