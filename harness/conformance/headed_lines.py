"""A file beside a run's journal: JSON Lines behind a header that names run and target."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.conformance.line_file import LineFile


class HeadedLinesError(ValueError):
    """The file breaks its own rules; the message says which file, which line and what."""


class HeadedLinesWriter:
    """Appends lines; FileExistsError when the file is already there.

    ``version``: what the header calls its version, and the number.
    """

    def __init__(self, path: Path, version: tuple[str, int], run: str, target: str) -> None:
        self._file = LineFile(path)
        self.write([{"type": "header", version[0]: version[1], "run": run, "target": target}])

    def write(self, lines: Sequence[Mapping[str, Any]]) -> None:
        """Append them together."""
        self._file.append(json.dumps(one, separators=(",", ":")) for one in lines)

    def close(self) -> None:
        """Twice is fine."""
        self._file.close()


class HeadedLines:
    """A file that may have been cut off at any byte, read: ``run``, ``target``, then its lines.

    Raises ``wrong`` for anything else than a cut end, OSError: it cannot be read.
    """

    def __init__(self, path: Path, version: tuple[str, int], wrong: type[HeadedLinesError]) -> None:
        self._path, self._wrong = path, wrong
        *self._lines, _cut = path.read_bytes().split(b"\n")
        if not self._lines:
            raise wrong(f"{path}: no whole header: the run died before it began")
        where = f"{path}: line 1"
        header = self._parsed(self._lines[0], where)
        if header.get("type") != "header" or header.get(version[0]) != version[1]:
            raise wrong(f"{where}: is no header of version {version[1]}")
        run, target = header.get("run"), header.get("target")
        if not isinstance(run, str) or not isinstance(target, str):
            raise wrong(f"{where}: run and target must be texts")
        self.run, self.target = run, target

    def __iter__(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Each line behind the header, and where it stands."""
        for number, line in enumerate(self._lines[1:], start=2):
            where = f"{self._path}: line {number}"
            yield self._parsed(line, where), where

    def _parsed(self, line: bytes, where: str) -> dict[str, Any]:
        try:
            values = json.loads(line)
        except ValueError as error:
            raise self._wrong(f"{where}: is not JSON: {error}") from error
        if not isinstance(values, dict):
            raise self._wrong(f"{where}: is no JSON object")
        return values
