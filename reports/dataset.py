"""Finds the result files of the given folders and looks at their footers before Spark starts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import ReportError
from .schema import COLUMNS, PARTITION, SCHEMA_VERSION, SCHEMA_VERSION_KEY

RESULTS_FOLDER: Final = "results"
RUN_AGAIN: Final = "leave the folder out, or make it again from the run's journal"
GIVE_A_RUN: Final = "give a folder that `kafka-conformance run --out` wrote, or its results/ folder"


@dataclass(frozen=True)
class Dataset:
    """One dataset: `root` holds run=<id> folders; `files` are its part files, sorted.

    `empty_runs` are the ids of runs that hold no check at all.
    """

    root: Path
    files: tuple[Path, ...]
    empty_runs: tuple[str, ...]


def find_datasets(result_dirs: list[Path]) -> list[Dataset]:
    """The datasets below `result_dirs`, each once, every file's footer checked.

    Raises ReportError when no folder is given, a folder is missing or holds no results, a file is
    not readable Parquet or of another schema, or when there is no check anywhere.
    """
    if not result_dirs:
        raise ReportError("no result folder is given", "the arguments", GIVE_A_RUN)
    roots = dict.fromkeys(_root_of(folder) for folder in result_dirs)
    datasets = [_dataset(root) for root in roots]
    if all(len(dataset.files) == len(dataset.empty_runs) for dataset in datasets):
        raise ReportError(
            "the results hold no check at all",
            ", ".join(str(root) for root in roots),
            "look at the run's journal and output: it ended before its first check; run it again",
        )
    return datasets


def _root_of(folder: Path) -> Path:
    if not folder.is_dir():
        raise ReportError("there is no such folder", str(folder), GIVE_A_RUN)
    for root in (folder / RESULTS_FOLDER, folder):
        if any(root.glob(f"{PARTITION}=*")):
            return root.resolve()
    raise ReportError("the folder holds no results", str(folder), GIVE_A_RUN)


def _dataset(root: Path) -> Dataset:
    files: list[Path] = []
    empty_runs: list[str] = []
    for run in sorted(root.glob(f"{PARTITION}=*")):
        parts = sorted(run.glob("*.parquet"))
        if not parts:
            raise ReportError("the run's folder holds no Parquet file", str(run), RUN_AGAIN)
        if sum(_rows_of(part) for part in parts) == 0:
            empty_runs.append(run.name.removeprefix(f"{PARTITION}="))
        files += parts
    return Dataset(root, tuple(files), tuple(empty_runs))


def _rows_of(part: Path) -> int:
    try:
        with pq.ParquetFile(part) as parquet:
            _check_schema(parquet.schema_arrow, part)
            return int(parquet.metadata.num_rows)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ReportError(f"not a readable Parquet file: {reason}", str(part), RUN_AGAIN) from error


def _check_schema(found: pa.Schema, part: Path) -> None:
    stated = (found.metadata or {}).get(SCHEMA_VERSION_KEY, b"").decode("utf-8", "replace")
    if stated != SCHEMA_VERSION:
        raise ReportError(
            f"the results have schema version {stated or '(not stated)'}, "
            f"this report reads version {SCHEMA_VERSION}",
            str(part),
            "use the release of kafka-conformance that wrote them, or make them again",
        )
    types = {field.name: field.type for field in found}
    for column in COLUMNS:
        there = types.get(column.name)
        if there is None and column.name == PARTITION:
            continue  # the folder's name says it
        if there != column.arrow_type:
            raise ReportError(
                f"column {column.name!r} is {there or 'missing'}, expected {column.arrow_type}",
                str(part),
                RUN_AGAIN,
            )
