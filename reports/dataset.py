"""Finds the result files of the given folders and looks at their footers before Spark starts."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from .arrow import pa, pq
from .errors import ReportError
from .schema import (
    ADDED_LATER,
    COLUMNS,
    OLDER_VERSIONS,
    PARTITION,
    RUN_KEY,
    SCHEMA_VERSION,
    SCHEMA_VERSION_KEY,
)

RESULTS_FOLDER: Final = "results"
OBSERVED: Final = "observed"  # versions_source in a run's header
RUN_AGAIN: Final = "leave the folder out, or make it again from the run's journal"
GIVE_A_RUN: Final = "give a folder that `kafka-conformance run --out` wrote, or its results/ folder"


@dataclass(frozen=True)
class ResultFile:
    """One run's Parquet file and what its metadata say of the run.

    `planned_cases` None: they don't say. `api_versions`: API key to (lowest, highest) version, as
    the target advertised them; `observed`: it advertises nothing (Kafka before 0.10), they are what
    it was seen to serve.
    """

    file: Path
    run: str
    target: str
    rows: int
    planned_cases: int | None
    api_versions: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    observed: bool = False


@dataclass(frozen=True)
class Dataset:
    """One dataset: `root` holds run=<id> folders, `runs` are the files in them, sorted."""

    root: Path
    runs: tuple[ResultFile, ...]

    @property
    def home(self) -> Path:
        """The folder that `run --out` was given: beside the results lie evidence and coverage."""
        return self.root.parent if self.root.name == RESULTS_FOLDER else self.root


def find_datasets(result_dirs: list[Path]) -> list[Dataset]:
    """The datasets below `result_dirs`, each once, every file's footer checked.

    A run of which several folders have a copy is in one dataset alone.
    Raises ReportError when no folder is given, a folder is missing or holds no results, a file is
    not readable Parquet or of another schema, or when there is no check anywhere.
    """
    if not result_dirs:
        raise ReportError("no result folder is given", "the arguments", GIVE_A_RUN)
    roots = dict.fromkeys(_root_of(folder) for folder in result_dirs)
    datasets = _each_run_once([_dataset(root) for root in roots])
    if all(run.rows == 0 for dataset in datasets for run in dataset.runs):
        raise ReportError(
            "the results hold no check at all",
            ", ".join(str(root) for root in roots),
            "look at the run's journal and output: it ended before its first check; run it again",
        )
    return datasets


def _each_run_once(datasets: Sequence[Dataset]) -> list[Dataset]:
    """The datasets with each run where it has the most rows, which a copy of a part has not."""
    owners: dict[str, tuple[int, int]] = {}
    for place, dataset in enumerate(datasets):
        rows: Counter[str] = Counter()
        for one in dataset.runs:
            rows[one.run] += one.rows
        for run, count in rows.items():
            owners[run] = max(owners.get(run, (-1, 0)), (count, -place))
    return [
        replace(dataset, runs=tuple(one for one in dataset.runs if owners[one.run][1] == -place))
        for place, dataset in enumerate(datasets)
    ]


def _root_of(folder: Path) -> Path:
    if not folder.is_dir():
        raise ReportError("there is no such folder", str(folder), GIVE_A_RUN)
    for root in (folder / RESULTS_FOLDER, folder):
        if any(root.glob(f"{PARTITION}=*")):
            return root.resolve()
    raise ReportError("the folder holds no results", str(folder), GIVE_A_RUN)


def _dataset(root: Path) -> Dataset:
    runs: list[ResultFile] = []
    for folder in sorted(root.glob(f"{PARTITION}=*")):
        parts = sorted(part for part in folder.glob("*.parquet") if part.name[0] not in "._")
        if not parts:
            raise ReportError("the run's folder holds no Parquet file", str(folder), RUN_AGAIN)
        runs += (_result_file(part) for part in parts)
    return Dataset(root, tuple(runs))


def _result_file(part: Path) -> ResultFile:
    try:
        with pq.ParquetFile(part) as parquet:
            schema, rows = parquet.schema_arrow, int(parquet.metadata.num_rows)
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise ReportError(f"not a readable Parquet file: {reason}", str(part), RUN_AGAIN) from error
    _check_schema(schema, part)
    try:
        about = json.loads(schema.metadata[RUN_KEY])
        run, target = str(about["header"]["run"]), str(about["header"]["target"])
        planned = len(about["plan"]) if about["plan"] else None
        api_versions = {
            int(key): (int(lowest), int(highest))
            for key, (lowest, highest) in about["header"].get("api_versions", {}).items()
        }
        observed = about["header"].get("versions_source") == OBSERVED
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ReportError(
            f"the file doesn't say which run it is: {error!r}", str(part), RUN_AGAIN
        ) from error
    return ResultFile(part, run, target, rows, planned, api_versions, observed)


def _check_schema(found: Any, part: Path) -> None:
    stated = (found.metadata or {}).get(SCHEMA_VERSION_KEY, b"").decode("utf-8", "replace")
    if stated not in (SCHEMA_VERSION, *OLDER_VERSIONS):
        raise ReportError(
            f"the results have schema version {stated or '(not stated)'}, "
            f"this report reads version {SCHEMA_VERSION}",
            str(part),
            "use the release of kafka-conformance that wrote them, or make them again",
        )
    types = {field.name: str(field.type) for field in found}
    for column in COLUMNS:
        if stated in OLDER_VERSIONS and column.name in ADDED_LATER:
            continue
        there = types.get(column.name)
        if there != column.arrow_type:
            raise ReportError(
                f"column {column.name!r} is {there or 'missing'}, expected {column.arrow_type}",
                str(part),
                RUN_AGAIN,
            )
