"""Small results with expectations worked out by hand, all on one Spark session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from harness.conformance.parquet import arrow_schema
from harness.conformance.results import SCHEMA
from reports.aggregate import aggregate
from reports.arrow import pa, pq
from reports.as_markdown import matrix_markdown
from reports.dataset import find_datasets
from reports.errors import ReportError
from reports.given import Wording
from reports.light.tables import light_tables
from reports.matrix import TABLES, Matrix, matrix_of, read_matrix
from reports.schema import SCHEMA_VERSION_KEY
from reports.session import spark_session
from reports.wording import incomplete_warnings, note_words

from .made_results import Row, row, write_part, write_results
from .shared_spark import SharedSpark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module", name="spark")
def _spark(shared_spark: SharedSpark) -> Iterator[SparkSession]:
    with shared_spark.session() as spark:
        yield spark


def aggregated(spark: SparkSession, folder: Path, *dirs: Path) -> Matrix:
    datasets = find_datasets(list(dirs))
    out = folder / "out"
    out.mkdir()
    wording = Wording({"PROD-001": "said"}, {0: "Produce"}, frozenset({"CONN-025"}))
    aggregate(spark, datasets, out, wording)
    assert {entry.name for entry in out.iterdir()} == {f"{name}.parquet" for name in TABLES}
    files = [run for dataset in datasets for run in dataset.runs]
    made = read_matrix(out, files)
    assert matrix_of(light_tables(datasets, wording), files) == made
    return made


JOINS = {
    "PROD-001": (["passed", "not_supported", "not_applicable"], "passed"),
    "PROD-002": (["not_supported", "not_applicable"], "not_applicable"),
    "PROD-003": (["passed", "warning"], "warning"),
    "PROD-004": (["warning", "inconclusive", "passed"], "inconclusive"),
    "PROD-005": (["inconclusive", "failed", "warning"], "failed"),
    "PROD-006": (["failed", "harness_error", "passed"], "harness_error"),
}
RETRIED = (
    row(requirement="META-001", area="META", verdict="failed", reason="offset 3"),
    row(requirement="META-001", area="META", verdict="passed", attempt=2),
)


@pytest.fixture(scope="module", name="small")
def _small(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Matrix:
    folder = tmp_path_factory.mktemp("small")
    rows = [
        row(requirement=requirement, verdict=verdict, api_version=version)
        for requirement, (verdicts, _) in JOINS.items()
        for version, verdict in enumerate(verdicts)
    ]
    return aggregated(spark, folder, write_results(folder, [*rows, *RETRIED]))


@pytest.mark.sample(3)
@pytest.mark.parametrize("requirement", JOINS)
def test_cell_takes_worst_verdict_of_its_parts(small: Matrix, requirement: str) -> None:
    verdicts, joined = JOINS[requirement]
    cell = {line.id: line for line in small.rows}[requirement].cells["reference"]
    assert cell.verdict == joined
    assert [part.verdict for part in cell.parts] == verdicts
    assert not cell.unstable


def test_matrix_contains_given_statements(small: Matrix) -> None:
    assert {line.id: line.statement for line in small.rows if line.statement} == {
        "PROD-001": "said"
    }


def test_pass_at_second_attempt_stays_failed_and_is_unstable(small: Matrix) -> None:
    retried = small.rows[0].cells["reference"]
    assert (small.rows[0].id, retried.verdict, retried.unstable) == ("META-001", "failed", True)
    (part,) = retried.parts
    assert (part.attempts, part.checks, part.unstable) == (2, 2, True)
    assert [note.reason for note in part.notes] == ["offset 3"]


@pytest.mark.rotates(8)
def test_subtests_of_one_check_are_notes_of_one_part(spark: SparkSession, tmp_path: Path) -> None:
    """Beside a file of version 1, which has no such column."""
    rows = [
        row(subtest="crc", verdict="failed", reason="taken"),
        row(subtest="length", check=2),
        row(subtest="magic", check=3, verdict="failed", reason="taken"),
    ]
    older = write_results(tmp_path / "older", [row(run="a", at="2025-01-01T00:00:00+00:00")])
    (file,) = older.rglob("*.parquet")
    table = pq.read_table(file)
    metadata = {**table.schema.metadata, SCHEMA_VERSION_KEY: b"1"}
    pq.write_table(table.drop_columns(["subtest"]).replace_schema_metadata(metadata), file)
    matrix = aggregated(spark, tmp_path, write_results(tmp_path / "new", rows), older)
    (part,) = matrix.rows[0].cells["reference"].parts
    assert (part.verdict, part.checks) == ("failed", 3)
    assert [note_words(note) for note in part.notes] == ["[crc] · taken", "[magic] · taken"]


@pytest.mark.rotates(8)
def test_newest_run_is_chosen_by_instant_across_folders(
    spark: SparkSession, tmp_path: Path
) -> None:
    # As text the older time is the greater one: it is written in another time zone.
    older = row(run="a", at="2026-01-01T05:00:00+05:00", verdict="failed")
    newer = row(run="b", at="2026-01-01T01:00:00+00:00", verdict="passed")
    dirs = [write_results(tmp_path / "one", [older]), write_results(tmp_path / "two", [newer])]
    # The second file has the schema that the harness declares, to the letter.
    file = dirs[1] / "results" / "run=b" / "part-0.parquet"
    written = pq.ParquetFile(file).read()
    declared = arrow_schema(SCHEMA).with_metadata(written.schema.metadata)
    pq.write_table(pa.Table.from_pylist(written.to_pylist(), schema=declared), file)
    matrix = aggregated(spark, tmp_path, *dirs)
    assert matrix.counted_runs["reference"].run == "b"
    assert matrix.rows[0].cells["reference"].verdict == "passed"
    assert [run.run for run in matrix.runs] == ["b", "a"]


@pytest.mark.rotates(8)
def test_run_without_checks_is_reported_incomplete_with_target(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_results(tmp_path, [row()])
    write_part(tmp_path / "results" / "run=dead" / "part-0.parquet", [])
    matrix = aggregated(spark, tmp_path, tmp_path)
    assert matrix.targets == ("none", "reference")
    assert matrix.incomplete == ("dead",)
    assert "dead of none" in incomplete_warnings(matrix)[0]
    assert "Run dead of none is incomplete" in matrix_markdown(matrix)


def refused(spark: SparkSession, folder: Path, rows: list[Row]) -> str:
    write_results(folder, rows)
    with pytest.raises(ReportError) as error:
        aggregated(spark, folder, folder)
    return str(error.value)


def test_unknown_verdict_raises_report_error(spark: SparkSession, tmp_path: Path) -> None:
    message = refused(spark, tmp_path, [row(verdict="green", run="x")])
    assert "'green' in run x" in message
    assert str(tmp_path) in message


def test_invalid_time_raises_report_error(spark: SparkSession, tmp_path: Path) -> None:
    assert "yesterday" in refused(spark, tmp_path, [row(at="yesterday")])


def test_damaged_parquet_pages_raise_report_error(spark: SparkSession, tmp_path: Path) -> None:
    write_results(tmp_path, [row(check=number) for number in range(1, 500)])
    file = tmp_path / "results" / "run=r1" / "part-0.parquet"
    data = bytearray(file.read_bytes())
    data[4:2000] = b"\xff" * 1996
    file.write_bytes(data)
    with pytest.raises(ReportError, match="Spark can't aggregate"):
        aggregated(spark, tmp_path, tmp_path)


def test_second_spark_session_raises_report_error(spark: SparkSession) -> None:
    with pytest.raises(ReportError, match="another Spark session"), spark_session():
        pytest.fail("a second session started")
