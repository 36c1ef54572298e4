"""Small tables that the driver knows, given to Spark as views.

A file carries each, so that no text has to be quoted in SQL and executors can read it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from .arrow import pa, pq
from .beside import FAULTS, HISTORIES, WIRE, ReportedDataset
from .dataset import Dataset
from .headlines import ReportedHeadline
from .joined_columns import JudgedAsOne
from .mutant_matrix import ReportedMutants

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def _nothing(beside: ReportedDataset) -> Any:
    return pa.schema([(name, pa.type_for_alias(kind)) for name, kind in beside.columns])


_CHANGED: Final = pa.list_(
    pa.struct([("requirement", pa.string()), ("was", pa.string()), ("now", pa.string())])
)
SCHEMAS: Final[Mapping[str, Any]] = {
    "statements": pa.schema([("requirement", pa.string()), ("statement", pa.string())]),
    "api_names": pa.schema([("api_key", pa.int32()), ("api_name", pa.string())]),
    "decoding": pa.schema([("requirement", pa.string())]),
    "advertised": pa.schema(
        [
            ("run", pa.string()),
            ("target", pa.string()),
            ("api_key", pa.int32()),
            ("lowest", pa.int32()),
            ("highest", pa.int32()),
            ("observed", pa.bool_()),
        ]
    ),
    "defect_rows": pa.schema(
        [
            ("target", pa.string()),
            ("at", pa.string()),
            ("requirement", pa.string()),
            ("defect", pa.string()),
            ("meaning", pa.string()),
            ("killed", pa.bool_()),
            ("reason", pa.string()),
            ("problem", pa.string()),
            ("changed", _CHANGED),
        ]
    ),
    "no_wire": _nothing(WIRE),
    "no_faults": _nothing(FAULTS),
    "no_histories": _nothing(HISTORIES),
}


@dataclass(frozen=True)
class Wording:
    """Data that the results lack: statements by requirement, API names by key, and the ids of the
    requirements with checks that report whether an answer could be decoded. `observed`: by
    requirement, the releases of Kafka where it was seen to hold or not, in words. `mutants`: how
    many wrong brokers the suites noticed. `name_of_unknown_api`: from an API key that
    `api_names` lacks. `headlines`: by run, what of the catalogue it judged. `as_one`: runs of one
    broker in several set-ups."""

    statements: Mapping[str, str] = field(default_factory=dict)
    api_names: Mapping[int, str] = field(default_factory=dict)
    decoding: frozenset[str] = frozenset()
    observed: Mapping[str, str] = field(default_factory=dict)
    mutants: Sequence[ReportedMutants] = ()
    name_of_unknown_api: Callable[[int], str] = "API {}".format
    headlines: Mapping[str, ReportedHeadline] = field(default_factory=dict)
    as_one: Sequence[JudgedAsOne] = ()


@contextmanager
def given_views(
    spark: SparkSession,
    folder: Path,
    datasets: Sequence[Dataset],
    wording: Wording,
    tables: Sequence[Mapping[str, Any]],
) -> Iterator[None]:
    """A view for each of `SCHEMAS`, from files in `folder` that are gone afterwards."""
    from .aggregate import spark_path

    work = folder / "given"
    work.mkdir()
    try:
        for name, rows in given_rows(datasets, wording, tables).items():
            file = work / f"{name}.parquet"
            pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[name]), file)
            spark.read.parquet(spark_path(file)).createOrReplaceTempView(name)
        yield
    finally:
        shutil.rmtree(work)


def _api_names(datasets: Sequence[Dataset], wording: Wording) -> list[dict[str, Any]]:
    """Name the APIs of Kafka, and those that a target advertises and Kafka does not have."""
    advertised = {key for dataset in datasets for run in dataset.runs for key in run.api_versions}
    unknown = {key: wording.name_of_unknown_api(key) for key in advertised}
    names = {**unknown, **wording.api_names}
    return [{"api_key": key, "api_name": name} for key, name in sorted(names.items())]


def given_rows(
    datasets: Sequence[Dataset], wording: Wording, defects: Sequence[Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """The rows of each view; ``defects`` are tables of defects."""
    return {
        "statements": [
            {"requirement": name, "statement": said} for name, said in wording.statements.items()
        ],
        "api_names": _api_names(datasets, wording),
        "decoding": [{"requirement": name} for name in sorted(wording.decoding)],
        "advertised": [
            {
                "run": run.run,
                "target": run.target,
                "api_key": key,
                "lowest": low,
                "highest": high,
                "observed": run.observed,
            }
            for dataset in datasets
            for run in dataset.runs
            for key, (low, high) in sorted(run.api_versions.items())
        ],
        "defect_rows": [
            {"target": table["target"], "at": table["at"], **defect}
            for table in defects
            for defect in table["defects"]
        ],
        "no_wire": [],
        "no_faults": [],
        "no_histories": [],
    }
