"""Datasets beside the results: for each kind, Parquet made from a file in each run's folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.conformance.arrow import Table, has_metadata, pa, write_whole
from harness.conformance.case_lines import CaseLineForm, CaseLines

PART_NAME: Final = "part-0.parquet"
Column = tuple[str, Any, bool, str]
"""Name, type, whether it may be null, and what it means."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BesideConversion:
    """The result of a conversion: files made, files still current, unreadable files (why)."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    unreadable: tuple[tuple[Path, str], ...]


@dataclass(frozen=True, slots=True)
class BesideDataset:
    """``read`` gives the run of a file of this ``file_name`` and its table, which lies in
    ``folder``/run=RUN then; it raises ``wrong`` when the file breaks its own rules.
    """

    folder: str
    file_name: str
    version_key: bytes
    version: str
    read: Callable[[Path], tuple[str, Table]]
    wrong: type[Exception]

    def part_path(self, out_dir: Path, run: str) -> Path:
        """Where the Parquet file of a run stands."""
        return out_dir / self.folder / f"run={run}" / PART_NAME

    def ensure(self, out_dir: Path) -> BesideConversion:
        """Convert every file below ``out_dir/runs`` with absent or older Parquet.

        A second run changes nothing. Raises OSError: a file cannot be read or written.
        """
        written: list[Path] = []
        kept: list[Path] = []
        unreadable: list[tuple[Path, str]] = []
        for path in sorted((out_dir / "runs").glob(f"*/{self.file_name}")):
            part = self.part_path(out_dir, path.parent.name)
            if self._is_current(part, path.stat().st_mtime_ns):
                kept.append(part)
                continue
            try:
                run, table = self.read(path)
            except self.wrong as error:
                unreadable.append((path, str(error)))
                continue
            part = self.part_path(out_dir, run)
            write_whole(table, part)
            written.append(part)
        return BesideConversion(
            written=tuple(written), kept=tuple(kept), unreadable=tuple(unreadable)
        )

    def _is_current(self, part: Path, changed_ns: int) -> bool:
        if not part.exists() or part.stat().st_mtime_ns <= changed_ns:
            return False
        return has_metadata(part, self.version_key, self.version)


def case_dataset(
    folder: str,
    form: CaseLineForm[Any],
    file_name: str,
    schema: Any,
    version: tuple[bytes, str],
) -> BesideDataset:
    """Of a file of lines about cases: a row a line, in their order, in the published schema."""

    def read(path: Path) -> tuple[str, Table]:
        found = form.read(path)
        return found.run, _case_table(found, schema)

    return BesideDataset(folder, file_name, *version, read, form.wrong)


def _case_table(found: CaseLines[Any], schema: Any) -> Table:
    about = {"run": found.run, "target": found.target}
    return pa.Table.from_pylist([{**about, **row._asdict()} for row in found.rows], schema=schema)


def described_schema(columns: Sequence[Column], version_key: bytes, version: str) -> Any:
    """An Arrow schema; column descriptions stand in each field's metadata under ``description``."""
    return pa.schema(
        [
            pa.field(name, kind, nullable=nullable, metadata={"description": description})
            for name, kind, nullable, description in columns
        ],
        metadata={version_key: version.encode()},
    )
