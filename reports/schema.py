"""The published schema of the result Parquet, as this room reads it.

A copy on purpose: the Parquet files are all that reports and harness share.
"""

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

SCHEMA_VERSION: Final = "1"
SCHEMA_VERSION_KEY: Final = b"kafka_conformance.results_schema_version"
PARTITION: Final = "run"


@dataclass(frozen=True)
class Column:
    """One column: its name and its type in Spark's SQL and in Arrow."""

    name: str
    sql_type: str
    arrow_type: pa.DataType
    nullable: bool = False


COLUMNS: Final = (
    Column("run", "STRING", pa.string()),
    Column("suite_version", "STRING", pa.string()),
    Column("catalogue_version", "STRING", pa.string()),
    Column("seed", "BIGINT", pa.int64()),
    Column("target", "STRING", pa.string()),
    Column("implementation", "STRING", pa.string()),
    Column("release", "STRING", pa.string()),
    Column("requirement", "STRING", pa.string()),
    Column("area", "STRING", pa.string()),
    Column("level", "STRING", pa.string()),
    Column("case", "STRING", pa.string()),
    Column("check", "INT", pa.int32()),
    Column("attempt", "INT", pa.int32()),
    Column("api_key", "INT", pa.int32(), nullable=True),
    Column("api_version", "INT", pa.int32(), nullable=True),
    Column("verdict", "STRING", pa.string()),
    Column("reason", "STRING", pa.string()),
    Column("capability_missing", "STRING", pa.string(), nullable=True),
    Column("duration_ms", "DOUBLE", pa.float64()),
    Column("evidence", "STRING", pa.string(), nullable=True),
    Column("at", "STRING", pa.string()),
    Column("run_complete", "BOOLEAN", pa.bool_()),
)


def spark_ddl() -> str:
    """The schema as Spark's DDL string, partition column included."""
    return ", ".join(f"`{column.name}` {column.sql_type}" for column in COLUMNS)
