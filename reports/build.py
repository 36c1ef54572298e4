"""The interface of this room: results in, a report out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from .aggregate import aggregate
from .as_html import matrix_html
from .as_json import SCHEMA_FILE, matrix_json
from .as_junit import matrix_junit
from .as_markdown import matrix_markdown
from .dataset import Dataset, ResultFile, find_datasets
from .evidence import EVIDENCE_FOLDER, read_evidence, write_evidence
from .given import Wording
from .joined_columns import joined_columns
from .light.tables import light_tables
from .matrix import Matrix, matrix_of, read_matrix
from .packages import RENDERERS, require_packages
from .place import placed
from .session import require_java, require_pyspark, spark_session

RENDERINGS: Final[Mapping[str, Callable[[Matrix], str]]] = {
    "matrix.json": matrix_json,
    "matrix.md": matrix_markdown,
    "junit.xml": matrix_junit,
    "index.html": matrix_html,
}


@dataclass(frozen=True)
class ReportPaths:
    """Where the files of a report lie; `incomplete` names the runs that did not come to their end.

    The Parquet paths are folders, as Spark writes them; a light report has none of them.
    """

    folder: Path
    requirements: Path
    areas: Path
    runs: Path
    api_versions: Path
    wire: Path
    faults: Path
    histories: Path
    defects: Path
    json: Path
    markdown: Path
    junit: Path
    html: Path
    evidence: Path
    incomplete: tuple[str, ...]


def build_report(
    result_dirs: Sequence[Path],
    out: Path,
    master: str = "local[*]",
    *,
    wording: Wording | None = None,
    light: bool = False,
) -> ReportPaths:
    """Aggregates all runs below `result_dirs` with Spark and writes the report into `out`.

    `light`: without Spark and Java, in the memory of this process; no Parquet is written.

    For each target the newest run counts. `out` is replaced when it holds an earlier report, and
    nothing is left there when this fails. The same results give the same files, Parquet aside.
    `wording` is what the results don't carry; a requirement that it doesn't know has an empty
    statement.

    Raises ReportError: no results, unreadable or foreign Parquet, an unknown verdict, no Java or
    PySpark, a master that doesn't answer, an `out` that holds something else.
    """
    if light:
        require_packages("light", *RENDERERS)
    else:
        require_pyspark()
    datasets = find_datasets(list(result_dirs))
    if not light:
        require_java()
    wording = wording or Wording()
    with placed(out) as folder:
        made = _light(datasets, wording) if light else _by_spark(master, datasets, folder, wording)
        matrix = _completed(made, datasets, wording)
        for name, render in RENDERINGS.items():
            (folder / name).write_text(render(matrix), encoding="utf-8", newline="\n")
        (folder / SCHEMA_FILE.name).write_bytes(SCHEMA_FILE.read_bytes())
        write_evidence(matrix.evidence, folder)
    return _paths(out, matrix)


def light_matrix(datasets: Sequence[Dataset], wording: Wording) -> Matrix:
    """The matrix of a report, without Spark and Java. Raises ReportError, as `build_report`."""
    return _completed(_light(datasets, wording), datasets, wording)


def _completed(made: Matrix, datasets: Sequence[Dataset], wording: Wording) -> Matrix:
    """With what the tables of the results lack."""
    runs = {target: run.run for target, run in made.counted_runs.items()}
    matrix = replace(
        made,
        observed=wording.observed,
        mutants=tuple(wording.mutants),
        headlines=wording.headlines,
        joined=joined_columns(runs, wording.as_one),
    )
    return replace(matrix, evidence=read_evidence(matrix, datasets))


def _by_spark(master: str, datasets: Sequence[Dataset], folder: Path, wording: Wording) -> Matrix:
    with spark_session(master) as spark:
        aggregate(spark, datasets, folder, wording)
    return read_matrix(folder, _files(datasets))


def _light(datasets: Sequence[Dataset], wording: Wording) -> Matrix:
    return matrix_of(light_tables(datasets, wording), _files(datasets))


def _files(datasets: Sequence[Dataset]) -> list[ResultFile]:
    return [run for dataset in datasets for run in dataset.runs]


def _paths(out: Path, matrix: Matrix) -> ReportPaths:
    return ReportPaths(
        folder=out,
        requirements=out / "requirements.parquet",
        areas=out / "areas.parquet",
        runs=out / "runs.parquet",
        api_versions=out / "api_versions.parquet",
        wire=out / "wire.parquet",
        faults=out / "faults.parquet",
        histories=out / "histories.parquet",
        defects=out / "defects.parquet",
        json=out / "matrix.json",
        markdown=out / "matrix.md",
        junit=out / "junit.xml",
        html=out / "index.html",
        evidence=out / EVIDENCE_FOLDER,
        incomplete=matrix.incomplete,
    )
