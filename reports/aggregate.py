"""From result files to the three tables of a report, in Spark SQL alone.

No Python function runs inside Spark, so executors on a cluster need none of our code. Result
files and the output folder must lie where the driver and all executors can reach them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .dataset import Dataset
from .errors import ReportError
from .schema import spark_ddl
from .verdicts import WORST_FIRST

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SQL_FOLDER: Final = Path(__file__).parent / "sql"
# In this order: each may name the tables before it.
TABLES: Final = ("runs", "requirements", "areas")


def aggregate(spark: SparkSession, datasets: Sequence[Dataset], folder: Path) -> None:
    """Writes `runs.parquet`, `requirements.parquet` and `areas.parquet` into `folder`.

    Raises ReportError when Spark can't read the files or when a verdict is not one of the seven.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    where = ", ".join(str(dataset.root) for dataset in datasets)
    try:
        _name_verdict_ranks(spark)
        checks = reduce(lambda one, other: one.unionByName(other), _tables(spark, datasets))
        checks.createOrReplaceTempView("checks")
        _refuse_unknown_verdicts(spark, where)
        for name in TABLES:
            _write(spark, name, folder / f"{name}.parquet")
    except (PySparkException, Py4JError) as error:
        raise ReportError(
            f"Spark can't aggregate the results: {_first_lines(error)}",
            where,
            "if a file is named as unreadable, make it again from the run's journal; on a cluster, "
            "results and output must lie on a file system that all executors share",
        ) from error


def _first_lines(error: Exception) -> str:
    """The error and its causes without the stack traces."""
    lines = [line for line in str(error).splitlines() if not re.match(r"\s+at |\s*$", line)]
    return "\n".join(lines[:8])


def _tables(spark: SparkSession, datasets: Sequence[Dataset]) -> list[DataFrame]:
    """One table a dataset: Spark derives the run from the folders below one base path."""
    return [
        spark.read.schema(spark_ddl())
        .option("basePath", spark_path(dataset.root))
        .parquet(*(spark_path(file) for file in dataset.files))
        for dataset in datasets
    ]


def spark_path(path: Path) -> str:
    """`path` as Spark wants it: signs with a meaning in Spark's glob patterns are escaped."""
    return "file:" + re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path))


def _name_verdict_ranks(spark: SparkSession) -> None:
    """The view `verdict_ranks`: verdict and rank, 1 is the worst."""
    rows = ", ".join(f"('{word.name}', {rank})" for rank, word in enumerate(WORST_FIRST, start=1))
    spark.sql(f"SELECT * FROM VALUES {rows} AS t(verdict, rank)").createOrReplaceTempView(
        "verdict_ranks"
    )


def _refuse_unknown_verdicts(spark: SparkSession, where: str) -> None:
    unknown = spark.sql(
        "SELECT DISTINCT run, verdict FROM checks"
        " WHERE verdict IS NULL OR verdict NOT IN (SELECT verdict FROM verdict_ranks)"
        " ORDER BY run, verdict LIMIT 5"
    ).collect()
    if unknown:
        named = ", ".join(f"{row['verdict']!r} in run {row['run']}" for row in unknown)
        raise ReportError(
            f"the results hold a verdict that doesn't exist: {named}",
            where,
            "verdicts are " + ", ".join(word.name for word in WORST_FIRST) + "; use the release "
            "of kafka-conformance that wrote the results",
        )


def _write(spark: SparkSession, name: str, folder: Path) -> None:
    """Writes the table as one sorted file, and lets later SQL read what was written."""
    table = spark.sql((SQL_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
    table.coalesce(1).write.parquet("file:" + str(folder))
    written = spark.read.schema(table.schema).parquet(spark_path(folder))
    written.createOrReplaceTempView(name)
