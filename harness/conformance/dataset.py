"""Datasets of a run: for each, JSON Lines in the run's folder, and the Parquet made from them.

A dataset is described without pyarrow, which is slow to import; ``parquet.py`` converts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

PART_NAME: Final = "part-0.parquet"


Column: TypeAlias = tuple[str, str, bool, str]
"""The name, the name of the type in Arrow, True if it may be null, and the meaning."""

RUN: Final = (
    "run",
    "string",
    False,
    "id of the run; also the partition, and written into the file",
)
TARGET: Final = (
    "target",
    "string",
    False,
    "what was judged, as given: reference, kafka:4.4.0, ...",
)
CASE: Final = ("case", "string", False, "pytest node id without the folder")
ATTEMPT: Final = ("attempt", "int32", False, "1, and one more for each retry of the case")
"""Columns that several datasets have."""


@dataclass(frozen=True, slots=True)
class Schema:
    """A published schema. Its version rises with every change that a reader can see.

    Each file has the version in its metadata under ``version_key``.
    """

    version_key: bytes
    version: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(name for name, *_ in self.columns)


@dataclass(frozen=True, slots=True)
class RunRows:
    """The rows of one run, values by column; ``about`` is metadata of the run's own file."""

    run: str
    rows: Iterable[Mapping[str, Any]]
    about: Mapping[bytes, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDataset:
    """One kind of data that runs leave.

    Attributes:
        name: the folder of its Parquet, below the output folder.
        file: the name of its lines, in the folder of a run.
        schema: as it is published in docs/results.md.
        read: the rows of a file. Raises ``wrong``, OSError.
        wrong: a file breaks its own rules.
        required: every run has the file; a missing or wrong one is reported at every conversion.
    """

    name: str
    file: str
    schema: Schema
    read: Callable[[Path], RunRows]
    wrong: type[Exception]
    required: bool = False

    def part_path(self, out_dir: Path, run: str) -> Path:
        """Return the place of the Parquet file of a run."""
        return out_dir / self.name / f"run={run}" / PART_NAME

    def files(self, out_dir: Path) -> Sequence[Path]:
        """Return the places of the lines of all runs, sorted; a required file may be missing."""
        places = (run / self.file for run in (out_dir / "runs").glob("*") if run.is_dir())
        return sorted(path for path in places if self.required or path.exists())
