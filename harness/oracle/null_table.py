"""``nullable_fields.tsv``: null, empty or a value, as releases of Apache Kafka were seen to send.

``kafka-conformance lab null-forms`` makes it, never a hand. A line for each API, field and state
that was observed: the versions, and for each form the targets that sent it, ``-`` for none. A
field that no target sent has one line, with ``-`` in each column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.codec.versions import VersionRange
from harness.conformance.dated import APACHE_KAFKA, ReleaseNumbers, release_numbers
from harness.conformance.kafka_name import PREFIX, kafka_name
from harness.oracle.null_forms import ERROR, NullForm
from harness.targets.info import TargetInfo

NULL_TABLE = Path(__file__).parent / "nullable_fields.tsv"
NOTHING = "-"
NEWEST_SERIES = (4,)
"""Releases from here on send nullable fields as the newest one."""
_HEAD = ("api", "field", "beside", "versions", *NullForm)
_TEXTS = ("error_message", "error_string")
Place = tuple[str, str, str]
"""API, path of the field, and what it stands beside."""

FREE: Mapping[tuple[str, str], str] = {
    ("AlterClientQuotas", "entries.entity.entity_name"): "the request's own",
    ("DeleteTopics", "responses.name"): "the request's own",
    ("DescribeClientQuotas", "entries.entity.entity_name"): "null is the default entity",
    ("DescribeGroups", "groups.members.group_instance_id"): "the member's own",
    ("DescribeTopicPartitions", "topics.name"): "the request's own",
    ("JoinGroup", "members.group_instance_id"): "the member's own",
    ("LeaveGroup", "members.group_instance_id"): "the request's own",
    ("Metadata", "topics.name"): "the request's own; null of a topic id that is unknown",
}
"""Fields with a form that another client, or the request, chooses: not judged."""


class NullTableError(ValueError):
    """The file is wrong; the message says where and what."""


@dataclass(frozen=True, slots=True)
class NullRow:
    """The forms of one field in one state.

    Attributes:
        versions: between the lowest and the highest that were observed.
        seen: the targets that sent each form.
    """

    api: str
    field: str
    beside: str
    versions: VersionRange | None
    seen: Mapping[NullForm, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def targets(self, form: NullForm) -> tuple[str, ...]:
        """Return the targets that sent a form."""
        return self.seen.get(form, ())

    def of_newest(self) -> NullRow:
        """Return the forms that the newest release alone sent, in each mode."""
        every = {one for targets in self.seen.values() for one in targets}
        newest = max(map(_release, every), default=())
        seen = {
            form: kept
            for form, targets in self.seen.items()
            if (kept := tuple(one for one in targets if _release(one) == newest))
        }
        return dataclasses.replace(self, seen=seen)

    @property
    def is_free_text(self) -> bool:
        """True for a text beside an error: null is wrong there only in place of empty."""
        return self.beside == ERROR and self.field.endswith(_TEXTS)


def problem_of(row: NullRow | None, form: NullForm) -> str | None:
    """Return how a form contradicts the observations; None if it does not.

    Only null and empty can: null where Kafka sends the field and was never seen to send null, and
    empty where it sends null and never empty.
    """
    if row is None or form is NullForm.VALUE or row.targets(form) or (row.api, row.field) in FREE:
        return None
    null, empty, value = (row.targets(one) for one in NullForm)
    if form is NullForm.NULL and (empty or (value and not row.is_free_text)):
        return f"is null; Kafka sends {_forms(row)}, never null"
    if form is NullForm.EMPTY and null:
        return f"is empty; Kafka sends {_forms(row)}, never empty"
    return None


def _forms(row: NullRow) -> str:
    return " or ".join(
        f"{form} ({', '.join(row.targets(form))})" for form in NullForm if row.targets(form)
    )


def _release(target: str) -> ReleaseNumbers:
    name = kafka_name(f"{PREFIX}{target}")
    return name.numbers if name else ()


def table_for(info: TargetInfo) -> Mapping[Place, NullRow]:
    """Return the rows that a target is compared with.

    An Apache Kafka before 4.0, and its emulation, may send what any observed release sent; every
    other broker is compared with the newest release.
    """
    is_kafka = info.implementation == APACHE_KAFKA
    numbers = release_numbers(info.like or (info.release if is_kafka else ""))
    if numbers is not None and numbers < NEWEST_SERIES:
        return null_table()
    return {place: row.of_newest() for place, row in null_table().items()}


@cache
def null_table(path: Path = NULL_TABLE) -> Mapping[Place, NullRow]:
    """Return the table by place. Raises NullTableError, OSError."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or tuple(lines[0].split("\t")) != _HEAD:
        raise NullTableError(f"{path}: line 1 is not the head {' '.join(_HEAD)}")
    rows = [_row(line, f"{path}: line {number}") for number, line in enumerate(lines[1:], 2)]
    found = {(row.api, row.field, row.beside): row for row in rows}
    if len(found) != len(rows):
        raise NullTableError(f"{path}: a place has two lines")
    return found


def _row(line: str, where: str) -> NullRow:
    cells = line.split("\t")
    if len(cells) != len(_HEAD):
        raise NullTableError(f"{where}: {len(cells)} columns instead of {len(_HEAD)}")
    api, path, beside, versions, *columns = cells
    seen = {
        form: tuple(cell.split())
        for form, cell in zip(NullForm, columns, strict=True)
        if cell != NOTHING
    }
    try:
        known = None if versions == NOTHING else VersionRange.parse(versions)
    except ValueError as problem:
        raise NullTableError(f"{where}: {problem}") from problem
    return NullRow(api, path, beside, known, seen)


def write_null_table(rows: Iterable[NullRow], path: Path = NULL_TABLE) -> None:
    """Write the file, whole, in the order of the rows. Raises OSError."""
    lines = ["\t".join(_HEAD)]
    for row in rows:
        cells = [" ".join(row.targets(form)) or NOTHING for form in NullForm]
        versions = NOTHING if row.versions is None else str(row.versions)
        lines.append("\t".join([row.api, row.field, row.beside, versions, *cells]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
