"""The run journal: append-only JSON Lines that survive being killed at any byte.

One header, one plan, one line a check, one footer. Each line is handed to the operating system
as soon as it is written, so a killed run loses at most the line it was writing; the reader says
which line is torn and whether the footer is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from harness.conformance.line_file import LineFile
from harness.conformance.record import (
    RUN_SHAPE,
    CheckRecord,
    Footer,
    PlannedCase,
    RecordError,
    RunHeader,
)

JOURNAL_VERSION = 1
JOURNAL_NAME = "journal.jsonl"
FIRST_CONTACT = "protocol/first contact"
"""The only case of a run that ended because the first answers of the broker are wrong."""
NOT_STARTED_NAME = "not_started.txt"
"""In the run's folder instead of a journal, when the target did not start: the reason."""


class JournalError(ValueError):
    """A journal breaks its own rules; the message says which file, which line and what."""


class EmptyJournal(JournalError):
    """There is no whole header: the run died before it wrote one."""


class DuplicateHeader(JournalError):
    """A second header: two runs wrote into one file."""


class MisplacedLine(JournalError):
    """A line stands where it may not: no header first, a second plan, something after the end."""


class CorruptLine(JournalError):
    """A line that is not the last one is unreadable, or a readable one has not the right form."""


class ForeignCheck(JournalError):
    """A check line belongs to another run than the header."""


class ChecksCountMismatch(JournalError):
    """The footer counts other than what the file holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The content of a journal.

    Attributes:
        header: the run and its target.
        plan: the cases that were to run; empty while the run had not come to that.
        checks: in the order in which they were written.
        footer: None when the run did not come to its end.
        torn_line: number (from 1) of the cut last line, None when there is none.
    """

    header: RunHeader
    plan: tuple[PlannedCase, ...] = ()
    checks: tuple[CheckRecord, ...] = ()
    footer: Footer | None = None
    torn_line: int | None = None

    @property
    def order(self) -> tuple[datetime, str]:
        """The sort key of runs: their start, then their name."""
        return datetime.fromisoformat(self.header.started_at), self.header.run

    @property
    def finished(self) -> bool:
        """The run wrote its footer."""
        return self.footer is not None

    @property
    def ended_at_first_contact(self) -> bool:
        """True if the first answers of the broker are wrong: the run ended there."""
        return [case.case for case in self.plan] == [FIRST_CONTACT]

    @property
    def defect(self) -> str | None:
        """The reason why the journal is not whole, in words; None when it is whole."""
        if self.footer is not None:
            return None
        if self.torn_line is None:
            return "it has no footer: the run did not come to its end"
        return f"it has no footer and line {self.torn_line} is torn: the run was killed"


class JournalWriter:
    """Writes one journal, in order: header, plan, checks, footer.

    Raises:
        FileExistsError: the file is already there; a journal is never continued.
        MisplacedLine: a line out of order.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = LineFile(path)
        self._header: RunHeader | None = None
        self._plan: tuple[PlannedCase, ...] | None = None
        self._checks: list[CheckRecord] = []
        self._footer: Footer | None = None

    def write_header(self, header: RunHeader) -> None:
        """Write the first line."""
        self._require(self._header is None, "header", "one is written already")
        head = {"type": "header", "journal_version": JOURNAL_VERSION}
        self._write({**head, **RunHeader.from_json(header.to_json()).to_json()})
        self._header = header

    def write_plan(self, cases: Iterable[PlannedCase]) -> None:
        """Write what is going to run."""
        self._require(self._header is not None, "plan", "the header comes first")
        self._require(self._plan is None, "plan", "one is written already")
        plan = tuple(cases)
        self._write({"type": "plan", "cases": [case.to_json() for case in plan]})
        self._plan = plan

    def write_check(self, record: CheckRecord) -> None:
        """Write one check."""
        self._require(self._plan is not None, "check", "the plan comes first")
        self._require(self._footer is None, "check", "the footer is written already")
        assert self._header is not None
        line = {"type": "check", **self._header.run_fields(), **record.to_json()}
        self._write(line)
        self._checks.append(record)

    def write_footer(self, finished_at: str, exit_code: int) -> None:
        """Write the last line; the number of checks is counted here."""
        self._require(self._plan is not None, "footer", "the plan comes first")
        self._require(self._footer is None, "footer", "one is written already")
        footer = Footer(finished_at=finished_at, checks=len(self._checks), exit=exit_code)
        self._write({"type": "footer", **footer.to_json()})
        self._file.sync()
        self._footer = footer

    def journal(self) -> Journal:
        """Return the content that is written so far. Raises EmptyJournal before the header."""
        if self._header is None:
            raise EmptyJournal(f"{self.path}: nothing is written yet")
        return Journal(
            header=self._header,
            plan=self._plan or (),
            checks=tuple(self._checks),
            footer=self._footer,
        )

    def close(self) -> None:
        """Close the file; without a footer the run stays incomplete."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _require(self, holds: bool, line: str, why: str) -> None:
        if not holds:
            raise MisplacedLine(f"{self.path}: a {line} line may not come here: {why}")

    def _write(self, line: dict[str, Any]) -> None:
        self._file.append([json.dumps(line, ensure_ascii=False, allow_nan=False)])


def read_journal(path: Path) -> Journal:
    """Read a journal that may have been cut off at any byte.

    Returns:
        what is there; `Journal.footer` and `Journal.torn_line` say what is not.

    Raises:
        EmptyJournal: the file is missing, or not even the header is whole.
        JournalError: anything else than a cut end is wrong (see the subclasses).
        OSError: the file cannot be read.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError as error:
        raise EmptyJournal(f"{path}: is missing: the run died before it began") from error
    if lines[-1] == b"":
        lines.pop()
    reader = _Reader(path)
    for number, line in enumerate(lines, start=1):
        reader.take(number, line, last=number == len(lines))
    return reader.result()


def check_of(values: Mapping[str, Any]) -> CheckRecord:
    """The check of a line, without the fields of the run. Raises RecordError."""
    beside = {"type", *RUN_SHAPE}
    return CheckRecord.from_json({key: each for key, each in values.items() if key not in beside})


class _Reader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._header: RunHeader | None = None
        self._run_fields: dict[str, Any] = {}
        self._plan: tuple[PlannedCase, ...] | None = None
        self._checks: list[CheckRecord] = []
        self._footer: Footer | None = None
        self._torn: int | None = None

    def take(self, number: int, line: bytes, *, last: bool) -> None:
        where = f"{self._path}: line {number}"
        try:
            values = json.loads(line)
        except ValueError as error:
            if last and self._footer is None:
                self._torn = number
                return
            raise CorruptLine(f"{where} is not JSON: {error}") from error
        if self._footer is not None:
            raise MisplacedLine(f"{where} comes after the footer")
        kind = values.pop("type", None) if isinstance(values, dict) else None
        takers = {
            "header": self._take_header,
            "plan": self._take_plan,
            "check": self._take_check,
            "footer": self._take_footer,
        }
        if kind not in takers:
            raise CorruptLine(f"{where} is no header, plan, check or footer")
        if kind != "header" and self._header is None:
            raise MisplacedLine(f"{where} is a {kind} line, but a journal begins with its header")
        try:
            takers[kind](values, where)
        except RecordError as error:
            raise CorruptLine(f"{where}: {error}") from error

    def _take_header(self, values: dict[str, Any], where: str) -> None:
        if self._header is not None:
            raise DuplicateHeader(f"{where} is a second header: two runs wrote into one file")
        version = values.pop("journal_version", None)
        if version != JOURNAL_VERSION:
            raise CorruptLine(f"{where}: journal_version is {version!r}, not {JOURNAL_VERSION}")
        self._header = RunHeader.from_json(values)
        self._run_fields = self._header.run_fields()

    def _take_plan(self, values: dict[str, Any], where: str) -> None:
        if self._plan is not None:
            raise MisplacedLine(f"{where} is a second plan")
        cases = values.get("cases")
        if values.keys() != {"cases"} or not isinstance(cases, list):
            raise RecordError('the plan holds exactly "cases", a list')
        self._plan = tuple(PlannedCase.from_json(case) for case in cases)

    def _take_check(self, values: dict[str, Any], where: str) -> None:
        self._require_plan(where, "check")
        for name in RUN_SHAPE:
            if name not in values:
                raise RecordError(f'a check lacks "{name}"')
            if values[name] != self._run_fields[name]:
                raise ForeignCheck(f'{where}: "{name}" is not that of the header')
        self._checks.append(check_of(values))

    def _take_footer(self, values: dict[str, Any], where: str) -> None:
        self._require_plan(where, "footer")
        footer = Footer.from_json(values)
        if footer.checks != len(self._checks):
            raise ChecksCountMismatch(
                f"{where}: the footer counts {footer.checks} checks, "
                f"the file holds {len(self._checks)}"
            )
        self._footer = footer

    def _require_plan(self, where: str, kind: str) -> None:
        if self._plan is None:
            raise MisplacedLine(f"{where} is a {kind} line before the plan")

    def result(self) -> Journal:
        if self._header is None:
            raise EmptyJournal(f"{self._path}: no whole header: the run died before it began")
        return Journal(
            header=self._header,
            plan=self._plan or (),
            checks=tuple(self._checks),
            footer=self._footer,
            torn_line=self._torn,
        )


def journals_in(out_dir: Path) -> Sequence[Path]:
    """Where the journals of all runs of an output folder are or should be, sorted.

    A run that was killed at once has a folder and no journal; it is among them.
    """
    return sorted(run / JOURNAL_NAME for run in (out_dir / "runs").glob("*") if run.is_dir())
