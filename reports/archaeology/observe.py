"""From result files to one verdict for each requirement, release and mode, in Spark SQL alone."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..aggregate import checks_view, spark_path, spark_problems, write_table
from ..arrow import pa, pq
from ..dataset import Dataset
from ..errors import ReportError
from ..matrix import read_table
from .given import Given, TargetPlace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLACES: Final = pa.schema(
    [("target", pa.string()), ("release", pa.string()), ("mode", pa.string())]
)


@dataclass(frozen=True)
class ObservedRows:
    """Rows of sql/observations.sql and of sql/runs.sql (all targets), and where targets stand."""

    cells: Sequence[Mapping[str, Any]]
    runs: Sequence[Mapping[str, Any]]
    places: Mapping[str, TargetPlace]
    empty: tuple[tuple[str, str], ...]  # (run, target) of runs that left no check


def places_of(datasets: Sequence[Dataset], given: Given) -> Mapping[str, TargetPlace]:
    """Where the targets of these results stand. Raises ReportError when none is a release."""
    targets = [run.target for dataset in datasets for run in dataset.runs]
    places = {target: at for target in targets if (at := given.place_of(target)) is not None}
    if not places:
        raise ReportError(
            "no run is one of a released Apache Kafka",
            ", ".join(str(dataset.root) for dataset in datasets),
            "run --target kafka:RELEASE, for example kafka:3.9.2..4.4.0",
        )
    return places


def observe(
    spark: SparkSession,
    datasets: Sequence[Dataset],
    folder: Path,
    places: Mapping[str, TargetPlace],
) -> ObservedRows:
    """Aggregates what the newest run of each of `places` has seen; leaves nothing in `folder`.

    Raises ReportError when Spark can't read the files.
    """
    files = [run for dataset in datasets for run in dataset.runs]
    work = folder / "work"
    work.mkdir()
    try:
        with spark_problems(datasets):
            _places_view(spark, work, places)
            checks_view(spark, datasets)
            write_table(spark, "runs", work)
            write_table(spark, "observations", work)
        return ObservedRows(
            read_table(work / "observations.parquet"),
            read_table(work / "runs.parquet"),
            places,
            tuple(sorted({(r.run, r.target) for r in files if not r.rows and r.target in places})),
        )
    finally:
        shutil.rmtree(work)


def _places_view(spark: SparkSession, work: Path, places: Mapping[str, TargetPlace]) -> None:
    rows = [
        {"target": target, "release": place.release, "mode": place.mode}
        for target, place in places.items()
    ]
    file = work / "places.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=PLACES), file)
    spark.read.parquet(spark_path(file)).createOrReplaceTempView("places")
