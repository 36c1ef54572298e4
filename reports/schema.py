"""The published schema of the result Parquet, as this room reads it.

A copy on purpose: the Parquet files are all that reports and harness share.
"""

from dataclasses import dataclass
from typing import Final

SCHEMA_VERSION: Final = "2"
# Version 1 has not the columns ADDED_LATER; Spark reads null there.
OLDER_VERSIONS: Final = ("1",)
ADDED_LATER: Final = ("subtest",)
SCHEMA_VERSION_KEY: Final = b"kafka_conformance.results_schema_version"
# File metadata: the run's header (with run and target), plan and footer as one JSON object.
RUN_KEY: Final = b"kafka_conformance.run"
PARTITION: Final = "run"


@dataclass(frozen=True)
class Column:
    """One column: its name and its type in Spark's SQL and in Arrow."""

    name: str
    sql_type: str
    arrow_type: str
    nullable: bool = False


COLUMNS: Final = (
    Column("run", "STRING", "string"),
    Column("suite_version", "STRING", "string"),
    Column("catalogue_version", "STRING", "string"),
    Column("seed", "BIGINT", "int64"),
    Column("target", "STRING", "string"),
    Column("implementation", "STRING", "string"),
    Column("release", "STRING", "string"),
    Column("requirement", "STRING", "string"),
    Column("area", "STRING", "string"),
    Column("level", "STRING", "string"),
    Column("case", "STRING", "string"),
    Column("check", "INT", "int32"),
    Column("subtest", "STRING", "string", nullable=True),
    Column("attempt", "INT", "int32"),
    Column("api_key", "INT", "int32", nullable=True),
    Column("api_version", "INT", "int32", nullable=True),
    Column("verdict", "STRING", "string"),
    Column("reason", "STRING", "string"),
    Column("capability_missing", "STRING", "string", nullable=True),
    Column("duration_ms", "DOUBLE", "double"),
    Column("evidence", "STRING", "string", nullable=True),
    Column("at", "STRING", "string"),
    Column("run_complete", "BOOLEAN", "bool"),
)


def spark_ddl() -> str:
    """The schema as Spark's DDL string, partition column included."""
    return ", ".join(f"`{column.name}` {column.sql_type}" for column in COLUMNS)
