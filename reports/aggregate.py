"""From result files to the tables of a report, in Spark SQL alone.

No Python function runs inside Spark, so executors on a cluster need none of our code. Result
files and the output folder must lie where the driver and all executors can reach them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from .beside import FAULTS, HISTORIES, WIRE, ReportedDataset, defect_tables
from .dataset import Dataset
from .errors import ReportError
from .given import Wording, given_views
from .matrix import TABLES
from .schema import spark_ddl
from .verdicts import WORST_FIRST, refuse_unknown_verdicts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SQL_FOLDER: Final = Path(__file__).parent / "sql"


def aggregate(
    spark: SparkSession, datasets: Sequence[Dataset], folder: Path, wording: Wording
) -> None:
    """Writes a Parquet folder for each of `TABLES` into `folder`.

    A requirement without a statement has the empty one, an API without a name its number.
    Raises ReportError when Spark can't read the files, when a verdict is not one of the seven, or
    when what lies beside the results has another form.
    """
    views = {"wire_seen": WIRE, "fault_events": FAULTS, "operations": HISTORIES}
    files = {view: beside.files(datasets) for view, beside in views.items()}
    tables = defect_tables(datasets)
    with spark_problems(datasets), given_views(spark, folder, datasets, wording, tables):
        for view, beside in views.items():
            _beside(spark, beside, files[view]).createOrReplaceTempView(view)
        checks_view(spark, datasets)
        for name in TABLES:
            write_table(spark, name, folder)


@contextmanager
def spark_problems(datasets: Sequence[Dataset]) -> Iterator[None]:
    """Convert errors of Spark inside of the block into ReportError."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise ReportError(
            f"Spark can't aggregate the results: {_first_lines(error)}",
            ", ".join(str(dataset.root) for dataset in datasets),
            "if a file is named as unreadable, make it again from the run's journal; on a cluster, "
            "results and output must lie on a file system that all executors share",
        ) from error


def _beside(spark: SparkSession, beside: ReportedDataset, files: Sequence[Path]) -> DataFrame:
    if not files:
        return spark.table(f"no_{beside.name}")
    reader = spark.read.schema(beside.ddl).option("recursiveFileLookup", "true")
    return reader.parquet(*(spark_path(file) for file in files))


def checks_view(spark: SparkSession, datasets: Sequence[Dataset]) -> None:
    """The views `checks` (all check lines) and `verdict_ranks`.

    Raises ReportError when a verdict is not one of the seven.
    """
    _name_verdict_ranks(spark)
    _checks(spark, datasets).createOrReplaceTempView("checks")
    _refuse_unknown_verdicts(spark, ", ".join(str(dataset.root) for dataset in datasets))


def _first_lines(error: Exception) -> str:
    """The error and its causes without the stack traces."""
    lines = [line for line in str(error).splitlines() if not re.match(r"\s+at |\s*$", line)]
    return "\n".join(lines[:8])


def _checks(spark: SparkSession, datasets: Sequence[Dataset]) -> DataFrame:
    """All check lines. The run's id stands in the rows, so folder names are not interpreted."""
    files = [spark_path(run.file) for dataset in datasets for run in dataset.runs]
    reader = spark.read.schema(spark_ddl()).option("recursiveFileLookup", "true")
    return reader.parquet(*files)


def spark_path(path: Path) -> str:
    """`path` as Spark wants it: signs with a meaning in Spark's glob patterns are escaped."""
    return "file:" + re.sub(r"([\\*?\[\]{}])", r"\\\1", str(path))


def _name_verdict_ranks(spark: SparkSession) -> None:
    """The view `verdict_ranks`: verdict and rank, 1 is the worst."""
    names = [word.name for word in WORST_FIRST]
    ranks = "SELECT pos + 1 AS rank, col AS verdict FROM (SELECT posexplode(:names))"
    spark.sql(ranks, args={"names": names}).createOrReplaceTempView("verdict_ranks")


def _refuse_unknown_verdicts(spark: SparkSession, where: str) -> None:
    unknown = spark.sql(
        "SELECT DISTINCT run, verdict FROM checks"
        " WHERE verdict IS NULL OR verdict NOT IN (SELECT verdict FROM verdict_ranks)"
        " ORDER BY run, verdict LIMIT 5"
    ).collect()
    refuse_unknown_verdicts([(row["run"], row["verdict"]) for row in unknown], where)


def write_table(spark: SparkSession, name: str, folder: Path) -> None:
    """Writes sql/NAME.sql as one sorted file into `folder`/NAME.parquet, and lets later SQL read
    what was written.
    """
    folder = folder / f"{name}.parquet"
    table = spark.sql((SQL_FOLDER / f"{name}.sql").read_text(encoding="utf-8"))
    table.coalesce(1).write.parquet("file:" + str(folder))
    written = spark.read.schema(table.schema).parquet(spark_path(folder))
    written.createOrReplaceTempView(name)
