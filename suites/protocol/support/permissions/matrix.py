"""The rows of ``matrix.tsv``: what a user with some rights, and no other, gets as an answer.

A row has a line for each set of rights. ``place`` is the path of a field of the answer, as in
``topics.partitions.error_code``: each element of an array counts. ``answer`` is what stands there:

- names of error codes with ``|`` between them: each error there is one of these;
- ``shows WORD`` or ``hides WORD``: the name of that object is there, or is not;
- ``operations A B``: a bit field with exactly these operations (KIP-430), ``-`` for none.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message, Struct
from harness.codec.versions import VersionRange
from suites.protocol.support.acl_terms import Operation
from suites.protocol.support.permissions.scene import Scene

MATRIX = Path(__file__).with_name("matrix.tsv")
NO_RIGHT = "-"
SHOWS, HIDES, OPERATIONS = "shows", "hides", "operations"
_REFUSALS = "AUTHORIZATION_FAILED"
_OF_A_PART = ("topics.topic_config_error_code",)
"""Places of a refusal beside a request that is served."""


@dataclass(frozen=True, slots=True)
class Line:
    """One set of rights, at some versions of the API, and what the user gets."""

    versions: VersionRange
    held: str
    place: str
    answer: str

    @property
    def refuses(self) -> bool:
        """True if the answer is a refusal, or leaves something out."""
        refused = _REFUSALS in self.answer and self.place not in _OF_A_PART
        return refused or self.answer.startswith(HIDES)

    @property
    def serves(self) -> bool:
        """True if the request does what it says."""
        return self.answer == ErrorCode.NONE.name or self.answer.startswith(SHOWS)

    def found_in(self, answer: Message) -> list[object]:
        """The values at the place."""
        return list(values_at(answer, self.place))

    def is_right(self, found: list[object], scene: Scene) -> bool:
        """True if the values are those that the line promises."""
        kind, _, rest = self.answer.partition(" ")
        if kind == SHOWS:
            return scene.named(rest) in found
        if kind == HIDES:
            return scene.named(rest) not in found
        if kind == OPERATIONS:
            names = [] if rest == NO_RIGHT else rest.split()
            return found == [sum(1 << Operation[name] for name in names)]
        return bool(found) and set(found) <= {ErrorCode[name] for name in self.answer.split("|")}

    def told(self, found: list[object]) -> str:
        """Describe what was found instead."""
        if self.answer.split(" ")[0] in (SHOWS, HIDES, OPERATIONS):
            return f"{self.place} is {found}, expected: {self.answer}"
        codes = [ErrorCode.describe(code) for code in found if isinstance(code, int)]
        return f"{self.place} is {', '.join(codes) or 'missing'}, expected {self.answer}"


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement: an API, in one form of its request, with its lines in their order."""

    requirement: str
    form: str
    lines: tuple[Line, ...]

    @property
    def api(self) -> str:
        """The name of the API; the form may have more words behind a slash."""
        return self.form.partition("/")[0]

    def at(self, version: int) -> list[Line]:
        """The lines that count at a version of the API."""
        return [line for line in self.lines if version in line.versions]


def values_at(struct: Struct, place: str) -> Iterator[object]:
    """The values of a field, of each element where the path leads through arrays."""
    name, _, rest = place.partition(".")
    value = getattr(struct, name)
    if not rest:
        yield value
        return
    for element in value or []:
        yield from values_at(element, rest)


@cache
def rows() -> Mapping[str, Row]:
    """All rows by their requirements, in the order of the file."""
    lines: dict[tuple[str, str], list[Line]] = {}
    with MATRIX.open(encoding="utf-8", newline="") as file:
        for entry in csv.DictReader(file, delimiter="\t"):
            line = Line(
                VersionRange.parse(entry["versions"]),
                entry["held"],
                entry["place"],
                entry["answer"],
            )
            lines.setdefault((entry["requirement"], entry["form"]), []).append(line)
    return {name: Row(name, form, tuple(found)) for (name, form), found in lines.items()}


def place_of_refusal(form: str, version: int) -> str:
    """Return the path of the field that has the error when a user has no right."""
    row = next(each for each in rows().values() if each.form == form)
    return next(line.place for line in row.at(version) if line.held == NO_RIGHT)
