"""Our copy of the schema against the one that the harness writes, and a file of its writer."""

from pathlib import Path

from harness.conformance import results
from harness.conformance.journal import Journal
from harness.conformance.parquet import write_parquet
from harness.conformance.record import CheckRecord, PlannedCase, RunHeader
from harness.conformance.verdict import Verdict
from reports import schema
from reports.dataset import find_datasets


def test_report_columns_equal_harness_columns() -> None:
    written = [(name, kind, nullable) for name, kind, nullable, _ in results.SCHEMA.columns]
    read = [(column.name, column.arrow_type, column.nullable) for column in schema.COLUMNS]
    assert read == written


def test_version_and_metadata_keys_equal_harness_keys() -> None:
    assert results.SCHEMA.version == schema.SCHEMA_VERSION
    assert results.SCHEMA.version_key == schema.SCHEMA_VERSION_KEY
    assert schema.RUN_KEY == results.RUN_KEY


def test_spark_and_arrow_column_types_correspond() -> None:
    same = {
        "STRING": "string",
        "BIGINT": "int64",
        "INT": "int32",
        "DOUBLE": "double",
        "BOOLEAN": "bool",
    }
    for column in schema.COLUMNS:
        assert same[column.sql_type] == column.arrow_type, column.name


def test_harness_file_is_found_with_run_target_and_plan(tmp_path: Path) -> None:
    header = RunHeader(
        run="r1",
        suite_version="0.1.0",
        catalogue_version="1",
        seed=3,
        target="kafka:4.4.0",
        implementation="Apache Kafka",
        release="4.4.0",
        capabilities=(),
        api_versions={0: (0, 13)},
        started_at="2026-01-01T00:00:00+00:00",
    )
    check = CheckRecord(
        requirement="PROD-001",
        area="PROD",
        level="MUST",
        case="test_produce.py::test_acks",
        check=1,
        attempt=1,
        api_key=0,
        api_version=3,
        verdict=Verdict.PASSED,
        reason="",
        capability_missing=None,
        duration_ms=1.0,
        evidence=None,
        at="2026-01-01T00:00:01+00:00",
    )
    plan = tuple(PlannedCase(case=name, requirements=("PROD-001",)) for name in ("a", "b"))
    journal = Journal(header=header, plan=plan, checks=(check,), footer=None, torn_line=None)
    file = write_parquet(results.RESULTS, results.results_of(journal), tmp_path)
    (dataset,) = find_datasets([tmp_path])
    (found,) = dataset.runs
    assert found.file == file.resolve()
    assert (found.run, found.target, found.rows, found.planned_cases) == (
        "r1",
        "kafka:4.4.0",
        1,
        2,
    )
