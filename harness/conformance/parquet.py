"""From journals to the results dataset, and back for readers that have only the dataset."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from harness.conformance.arrow import Table, has_metadata, pa, pq, write_whole
from harness.conformance.journal import Journal, JournalError, journals_in, read_journal
from harness.conformance.record import (
    CHECK_SHAPE,
    CheckRecord,
    Footer,
    PlannedCase,
    RecordError,
    RunHeader,
)
from harness.conformance.results_schema import (
    COLUMN_NAMES,
    RESULTS_SCHEMA,
    RUN_KEY,
    SCHEMA_VERSION,
    SCHEMA_VERSION_KEY,
)
from harness.conformance.summary import summarize

PART_NAME = "part-0.parquet"


class ResultsError(ValueError):
    """A results file is not ours or not whole; the message says which and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """The result of `ensure_parquet`.

    Attributes:
        written: files made or made again.
        kept: files that were up to date.
        unreadable: (journal, why) of runs that left nothing to convert; each is incomplete.
    """

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    unreadable: tuple[tuple[Path, str], ...]


def part_path(out_dir: Path, run: str) -> Path:
    """Where the Parquet file of a run stands."""
    return out_dir / "results" / f"run={run}" / PART_NAME


def to_table(journal: Journal) -> Table:
    """The rows of one run, in the published schema, with the run itself in the metadata."""
    constants = {
        **journal.header.run_fields(),
        "run_complete": summarize(journal).complete,
    }
    rows = [{**constants, **check.to_json()} for check in journal.checks]
    columns = {name: [row[name] for row in rows] for name in COLUMN_NAMES}
    about = {
        "header": journal.header.to_json(),
        "plan": [case.to_json() for case in journal.plan],
        "footer": None if journal.footer is None else journal.footer.to_json(),
        "torn_line": journal.torn_line,
    }
    metadata = {
        **(RESULTS_SCHEMA.metadata or {}),
        RUN_KEY: json.dumps(about, ensure_ascii=False).encode(),
    }
    return pa.table(columns, schema=RESULTS_SCHEMA).replace_schema_metadata(metadata)


def write_parquet(journal: Journal, out_dir: Path) -> Path:
    """Write one run's file: whole or not at all.

    Raises:
        OSError: the folder cannot be written.
    """
    path = part_path(out_dir, journal.header.run)
    write_whole(to_table(journal), path)
    return path


def ensure_parquet(out_dir: Path) -> Conversion:
    """Convert every journal below ``out_dir/runs`` with absent, older or outdated Parquet.

    A second run changes nothing. A run that died before its header has nothing to convert; it is
    listed as unreadable.

    Raises:
        OSError: a file cannot be read or written.
    """
    written: list[Path] = []
    kept: list[Path] = []
    unreadable: list[tuple[Path, str]] = []
    for path in journals_in(out_dir):
        try:
            changed_ns = path.stat().st_mtime_ns if path.exists() else 0
            journal = read_journal(path)
        except JournalError as error:
            unreadable.append((path, str(error)))
            continue
        part = part_path(out_dir, journal.header.run)
        if _is_current(part, changed_ns):
            kept.append(part)
        else:
            written.append(write_parquet(journal, out_dir))
    return Conversion(written=tuple(written), kept=tuple(kept), unreadable=tuple(unreadable))


def _is_current(part: Path, journal_changed_ns: int) -> bool:
    if not part.exists() or part.stat().st_mtime_ns <= journal_changed_ns:
        return False
    return has_metadata(part, SCHEMA_VERSION_KEY, SCHEMA_VERSION)


def read_parquet(path: Path) -> Journal:
    """Read one run back from its Parquet file: exactly what its journal said.

    Raises:
        ResultsError: no Parquet, not ours, or of another schema version.
    """
    try:
        with path.open("rb") as file:
            table = pq.read_table(file)
    except (OSError, pa.ArrowException) as error:
        raise ResultsError(f"{path}: is not a readable Parquet file: {error}") from error
    metadata = table.schema.metadata or {}
    version = metadata.get(SCHEMA_VERSION_KEY, b"").decode(errors="replace")
    if version != SCHEMA_VERSION:
        raise ResultsError(
            f'{path}: has results schema version "{version}", this reader knows {SCHEMA_VERSION};'
            " make it again from the run's journal"
        )
    try:
        return _from_table(table, json.loads(metadata[RUN_KEY]))
    except (KeyError, ValueError) as error:
        raise ResultsError(f"{path}: does not hold a run of ours: {error}") from error


def _from_table(table: Table, about: dict[str, object]) -> Journal:
    plan = about["plan"]
    torn_line = about["torn_line"]
    if not isinstance(plan, list) or not (torn_line is None or isinstance(torn_line, int)):
        raise RecordError("the run's metadata has not the right form")
    rows = table.select(list(CHECK_SHAPE)).to_pylist()
    return Journal(
        header=RunHeader.from_json(about["header"]),
        plan=tuple(PlannedCase.from_json(case) for case in plan),
        checks=tuple(CheckRecord.from_json(row) for row in rows),
        footer=None if about["footer"] is None else Footer.from_json(about["footer"]),
        torn_line=torn_line,
    )
