from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow.dataset
import pytest

from harness.conformance.arrow import pa, pq
from harness.conformance.journal import read_journal
from harness.conformance.parquet import arrow_schema, ensure_parquet, write_parquet
from harness.conformance.record import CHECK_SHAPE, RUN_SHAPE
from harness.conformance.results import (
    RESULTS,
    SCHEMA,
    ResultsError,
    read_results,
    results_of,
)
from harness.conformance.verdict import Verdict
from reports import schema
from reports.dataset import find_datasets
from tests.conformance.made import check, header, write_run

pd: Any = pyarrow.dataset
RESULTS_SCHEMA = arrow_schema(SCHEMA)

CHECKS = [check("CONN-001"), check("CONN-002", Verdict.NOT_APPLICABLE)]


def test_results_schema_has_published_columns_and_types() -> None:
    assert (*RUN_SHAPE, *CHECK_SHAPE, "run_complete") == SCHEMA.names
    assert RESULTS_SCHEMA.metadata[SCHEMA.version_key] == SCHEMA.version.encode() == b"2"
    types = {field.name: str(field.type) for field in RESULTS_SCHEMA}
    numbers = {name: kind for name, kind in types.items() if kind != "string"}
    assert numbers == {
        "seed": "int64",
        "check": "int32",
        "attempt": "int32",
        "api_key": "int32",
        "api_version": "int32",
        "duration_ms": "double",
        "run_complete": "bool",
    }
    nullable = {field.name for field in RESULTS_SCHEMA if field.nullable}
    assert nullable == {"subtest", "api_key", "api_version", "capability_missing", "evidence"}
    assert all(field.metadata[b"description"] for field in RESULTS_SCHEMA)


def test_report_columns_match_results_schema() -> None:
    columns = {column.name: column for column in schema.COLUMNS}
    assert tuple(columns) == SCHEMA.names
    for field in RESULTS_SCHEMA:
        assert columns[field.name].arrow_type == field.type, field.name
        assert columns[field.name].nullable == field.nullable, field.name
    assert (
        SCHEMA.version_key,
        SCHEMA.version,
    ) == (schema.SCHEMA_VERSION_KEY, schema.SCHEMA_VERSION)


def test_journal_round_trips_through_parquet(tmp_path: Path) -> None:
    journal = read_journal(write_run(tmp_path, CHECKS))
    path = write_parquet(RESULTS, results_of(journal), tmp_path)
    assert path == RESULTS.part_path(tmp_path, "r1")
    assert read_results(path) == journal
    assert pq.read_schema(path).equals(RESULTS_SCHEMA, check_metadata=False)


def test_results_are_readable_with_and_without_hive_partitions(tmp_path: Path) -> None:
    write_run(tmp_path, CHECKS)
    write_run(tmp_path, CHECKS, about=header(run="r2", target="kafka:4.4.0"))
    ensure_parquet(RESULTS, tmp_path)
    bare = pd.dataset(tmp_path / "results", format="parquet").to_table()
    hive = pd.dataset(tmp_path / "results", format="parquet", partitioning="hive").to_table()
    assert bare.column("run").to_pylist() == ["r1", "r1", "r2", "r2"]
    assert sorted(hive.column("run").to_pylist()) == ["r1", "r1", "r2", "r2"]


@pytest.mark.parametrize("whole", [True, False])
def test_run_complete_column_follows_footer(tmp_path: Path, whole: bool) -> None:
    write_run(tmp_path, CHECKS, footer=whole)
    (path,) = ensure_parquet(RESULTS, tmp_path).written
    assert pq.read_table(path).column("run_complete").to_pylist() == [whole, whole]


def test_missing_planned_check_sets_run_complete_false(tmp_path: Path) -> None:
    write_run(tmp_path, CHECKS, planned=[check("CONN-003")])
    (path,) = ensure_parquet(RESULTS, tmp_path).written
    assert pq.read_table(path).column("run_complete").to_pylist() == [False, False]


def test_run_without_checks_keeps_header_in_parquet(tmp_path: Path) -> None:
    journal = read_journal(write_run(tmp_path, [], planned=CHECKS, footer=False))
    path = write_parquet(RESULTS, results_of(journal), tmp_path)
    assert pq.read_table(path).num_rows == 0
    assert read_results(path) == journal


def test_second_conversion_keeps_file_until_journal_changes(tmp_path: Path) -> None:
    journal = write_run(tmp_path, CHECKS)
    (path,) = ensure_parquet(RESULTS, tmp_path).written
    before = path.stat().st_mtime_ns
    again = ensure_parquet(RESULTS, tmp_path)
    assert (again.written, again.kept) == ((), (path,))
    assert path.stat().st_mtime_ns == before
    os.utime(journal, ns=(before, before))  # the same instant may hide a change
    assert ensure_parquet(RESULTS, tmp_path).written == (path,)
    assert [p.name for p in path.parent.iterdir()] == ["part-0.parquet"]


def test_broken_or_older_parquet_file_is_rewritten(tmp_path: Path) -> None:
    write_run(tmp_path, CHECKS)
    (path,) = ensure_parquet(RESULTS, tmp_path).written
    path.write_bytes(b"PAR1")
    assert ensure_parquet(RESULTS, tmp_path).written == (path,)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({SCHEMA.version_key: b"0"}), path)
    with pytest.raises(ResultsError, match='schema version "0", this reader knows 2'):
        read_results(path)
    assert ensure_parquet(RESULTS, tmp_path).written == (path,)


def test_parquet_of_version_1_is_readable_without_subtests(tmp_path: Path) -> None:
    write_run(tmp_path, CHECKS)
    (path,) = ensure_parquet(RESULTS, tmp_path).written
    table = pq.read_table(path)
    older = {**table.schema.metadata, SCHEMA.version_key: b"1"}
    pq.write_table(table.drop_columns(["subtest"]).replace_schema_metadata(older), path)
    assert read_results(path).checks == tuple(CHECKS)
    assert len(find_datasets([tmp_path])) == 1


def test_runs_without_readable_journal_are_listed_as_unreadable(tmp_path: Path) -> None:
    write_run(tmp_path, CHECKS)
    (tmp_path / "runs" / "r2").mkdir()
    (tmp_path / "runs" / "r3").mkdir()
    (tmp_path / "runs" / "r3" / "journal.jsonl").write_bytes(b'{"type": "hea')
    done = ensure_parquet(RESULTS, tmp_path)
    assert len(done.written) == 1
    assert [path.parent.name for path, _why in done.unreadable] == ["r2", "r3"]
    assert "no whole header" in done.unreadable[1][1]


def test_failed_write_keeps_old_parquet_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = read_journal(write_run(tmp_path, CHECKS))
    path = write_parquet(RESULTS, results_of(journal), tmp_path)
    before = path.read_bytes()

    def fail(*_args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("harness.conformance.arrow.os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        write_parquet(RESULTS, results_of(journal), tmp_path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_read_parquet_refuses_foreign_files(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_text("no")
    with pytest.raises(ResultsError, match="not a readable Parquet"):
        read_results(path)
    pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({SCHEMA.version_key: b"1"}), path)
    with pytest.raises(ResultsError, match="does not hold a run of ours"):
        read_results(path)
