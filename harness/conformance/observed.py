"""``observed.tsv``: on which releases of Apache Kafka each requirement was seen to hold, or not.

It is made by ``kafka-conformance archaeology --write-observed`` from whole runs, never by hand: a
line a requirement, releases as ranges over those that were run::

    # suite 0.1.0
    # catalogue 2026.1
    # releases 0.8.0/zk 0.8.1.1/zk ... 4.4.0/kraft
    requirement <TAB> passed <TAB> failed <TAB> not_supported
    CONN-001 <TAB> 0.8.0..4.4.0 <TAB> - <TAB> -

A release stands for every mode in which it was run, ``3.9.2/zk`` for one; a range for all releases
between its ends that were run. What is in no column was not decided there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TypeAlias

OBSERVED_FILE = Path(__file__).parent / "observed.tsv"
_HEAD = ("requirement", "passed", "failed", "not_supported")
_NOWHERE = "-"
_ABOUT = ("suite", "catalogue", "releases")

ObservedColumn: TypeAlias = tuple[str, str]
"""Release and mode."""


class ObservedError(ValueError):
    """The file is wrong; the message says where and what."""


class ObservedState(StrEnum):
    """The observed behaviour of a release for a requirement."""

    PASSED = "holds"
    FAILED = "broken"
    NOT_SUPPORTED = "absent"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedFile:
    """All that was observed.

    Attributes:
        suites, catalogues: versions by which it was judged.
        columns: what was run, in order.
        states: by requirement, then by column; a column that decided nothing is not in there.
    """

    suites: tuple[str, ...]
    catalogues: tuple[str, ...]
    columns: tuple[ObservedColumn, ...]
    states: Mapping[str, Mapping[ObservedColumn, ObservedState]]

    def words(self, requirement: str) -> dict[str, str]:
        """Of one requirement: ``{"passed": "0.11.0.3..4.4.0", ...}``, without what is empty."""
        states = self.states.get(requirement, {})
        return {
            state.name.lower(): text
            for state in ObservedState
            if (text := self._ranges({at for at, found in states.items() if found is state}))
        }

    def _ranges(self, wanted: Collection[ObservedColumn]) -> str:
        found: list[list[str]] = []
        goes_on = False
        for release, modes in _modes(self.columns).items():
            held = [mode for mode in modes if (release, mode) in wanted]
            if held != modes:
                found += [[f"{release}/{mode}"] for mode in held]
            elif goes_on:
                found[-1] = [found[-1][0], release]
            else:
                found.append([release])
            goes_on = held == modes
        return " ".join("..".join(ends) for ends in found)


def write_observed(observed: ObservedFile, path: Path) -> None:
    """Write the file, whole. Raises OSError."""
    about = (
        observed.suites,
        observed.catalogues,
        [f"{release}/{mode}" for release, mode in observed.columns],
    )
    lines = [f"# {name} {' '.join(values)}" for name, values in zip(_ABOUT, about, strict=True)]
    lines.append("\t".join(_HEAD))
    for requirement in observed.states:
        words = observed.words(requirement)
        if words:
            cells = [words.get(state, _NOWHERE) for state in _HEAD[1:]]
            lines.append("\t".join([requirement, *cells]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


@cache
def the_observed() -> ObservedFile:
    """Return the observations beside the catalogue; empty without the file. Raises as below."""
    if not OBSERVED_FILE.exists():
        return ObservedFile(suites=(), catalogues=(), columns=(), states={})
    return read_observed(OBSERVED_FILE)


def read_observed(path: Path) -> ObservedFile:
    """Read such a file.

    Raises:
        ObservedError: anything that `write_observed` does not write.
        OSError: it cannot be read.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    about = [_about(path, lines, number, name) for number, name in enumerate(_ABOUT)]
    if len(lines) < len(_ABOUT) + 1 or tuple(lines[len(_ABOUT)].split("\t")) != _HEAD:
        raise ObservedError(f"{path}: line {len(_ABOUT) + 1} is not the head {' '.join(_HEAD)}")
    columns = tuple(_column(path, word) for word in about[2])
    states: dict[str, dict[ObservedColumn, ObservedState]] = {}
    for number, line in enumerate(lines[len(_ABOUT) + 1 :], start=len(_ABOUT) + 2):
        requirement, *cells = line.split("\t")
        where = f"{path}: line {number} ({requirement})"
        if len(cells) != len(ObservedState) or requirement in states:
            raise ObservedError(f"{where}: has not {len(_HEAD)} columns, or is there twice")
        states[requirement] = _states(where, cells, columns)
    return ObservedFile(
        suites=tuple(about[0]), catalogues=tuple(about[1]), columns=columns, states=states
    )


def _about(path: Path, lines: Sequence[str], number: int, name: str) -> list[str]:
    words = lines[number].split(" ") if number < len(lines) else []
    if words[:2] != ["#", name]:
        raise ObservedError(f'{path}: line {number + 1} does not begin with "# {name}"')
    return words[2:]


def _column(path: Path, word: str) -> ObservedColumn:
    release, slash, mode = word.partition("/")
    if not (release and slash and mode):
        raise ObservedError(f'{path}: "{word}" is no RELEASE/MODE')
    return release, mode


def _states(
    where: str, cells: Sequence[str], columns: tuple[ObservedColumn, ...]
) -> dict[ObservedColumn, ObservedState]:
    found: dict[ObservedColumn, ObservedState] = {}
    for state, text in zip(ObservedState, cells, strict=True):
        for word in text.split() if text != _NOWHERE else ():
            for column in _meant(where, word, columns):
                if column in found:
                    raise ObservedError(f"{where}: {'/'.join(column)} is there twice")
                found[column] = state
    return found


def _meant(where: str, word: str, columns: tuple[ObservedColumn, ...]) -> Sequence[ObservedColumn]:
    first, dots, last = word.partition("..")
    releases = list(_modes(columns))
    if "/" in word:
        found = [column for column in columns if "/".join(column) == word]
    elif first in releases and (last or first) in releases and bool(dots) == bool(last):
        meant = releases[releases.index(first) : releases.index(last or first) + 1]
        found = [column for column in columns if column[0] in meant]
    else:
        found = []
    if not found:
        raise ObservedError(f'{where}: "{word}" is none of the releases in the head')
    return found


def _modes(columns: Sequence[ObservedColumn]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for release, mode in columns:
        found.setdefault(release, []).append(mode)
    return found
