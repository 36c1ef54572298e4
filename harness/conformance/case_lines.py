"""Files beside the journal with lines about cases: the fields of a line, writing and reading.

A header, then lines in the order of each case's attempt. A killed run loses the lines of the tests
that had not ended. The journal shows whether a run is whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

from harness.conformance.dataset import RunDataset, RunRows, Schema
from harness.conformance.headed_lines import HeadedLines, HeadedLinesError, HeadedLinesWriter

NOTHING: Final = type(None)
_BIGGEST: Final = {"int": 2**31, "long": 2**63}
R = TypeVar("R")


class LineField(NamedTuple):
    """``kinds``: the types of its values in JSON; ``words`` say so; ``choices``: all that may be.

    A whole number is not negative, and fits ``int`` (4 bytes) or ``long`` (8 bytes).
    """

    kinds: tuple[type, ...]
    words: str
    choices: tuple[str, ...] = ()
    size: str = "int"


@dataclass(frozen=True, slots=True)
class CaseLines(Generic[R]):
    """The content of a file, in its order."""

    run: str
    target: str
    rows: tuple[R, ...]


@dataclass(frozen=True, slots=True)
class CaseLineForm(Generic[R]):
    """``what``: the type that each line names, a noun; ``fields``: all of a line, ``case``,
    ``attempt`` and ``at_ms`` among them; ``row`` makes one of them and its ordinal.

    The ordinal is that in its case's attempt, from 0; ``wrong`` is raised by reading.
    """

    what: str
    version: tuple[str, int]
    fields: Mapping[str, LineField]
    row: Callable[[dict[str, Any], int], R]
    wrong: type[HeadedLinesError]

    def writer(self, path: Path, run: str, target: str) -> CaseLineWriter:
        """FileExistsError when the file is already there."""
        return CaseLineWriter(self.what, HeadedLinesWriter(path, self.version, run, target))

    def read(self, path: Path) -> CaseLines[R]:
        """Read a file that may have been cut off at any byte.

        Raises ``wrong``: anything else than a cut end is wrong; OSError: it cannot be read.
        """
        lines = HeadedLines(path, self.version, self.wrong)
        seen: Counter[tuple[str, int]] = Counter()
        rows = []
        for values, where in lines:
            self._check(values, where)
            attempt = (values["case"], values["attempt"])
            given = {**dict.fromkeys(self.fields), **values, "at_ms": float(values["at_ms"])}
            rows.append(self.row(given, seen[attempt]))
            seen[attempt] += 1
        return CaseLines(lines.run, lines.target, tuple(rows))

    def dataset(self, name: str, file: str, schema: Schema) -> RunDataset:
        """The dataset with a row for each line, in their order."""

        def rows_of(path: Path) -> RunRows:
            found: CaseLines[Any] = self.read(path)
            about = {"run": found.run, "target": found.target}
            return RunRows(found.run, [{**about, **row._asdict()} for row in found.rows])

        return RunDataset(name=name, file=file, schema=schema, read=rows_of, wrong=self.wrong)

    def _check(self, values: dict[str, Any], where: str) -> None:
        if values.pop("type", None) != self.what:
            raise self.wrong(f"{where}: is no line of type {self.what}")
        for name in values.keys() - self.fields.keys():
            raise self.wrong(f'{where}: no field is called "{name}"')
        for name, field in self.fields.items():
            value = values.get(name)
            strange = type(value) not in field.kinds
            strange |= bool(field.choices) and value is not None and value not in field.choices
            strange |= type(value) is int and not 0 <= value < _BIGGEST[field.size]
            if strange:
                raise self.wrong(f"{where}: {name} must be {field.words}, not {value!r}")


class CaseLineWriter:
    """Appends lines without empty fields; the reader adds the ordinal."""

    def __init__(self, what: str, lines: HeadedLinesWriter) -> None:
        self._what, self._lines = what, lines

    def add(self, lines: Iterable[Mapping[str, Any]]) -> None:
        """Append them together."""
        self._lines.write([{"type": self._what, **line} for line in lines])

    def close(self) -> None:
        """Twice is fine."""
        self._lines.close()
