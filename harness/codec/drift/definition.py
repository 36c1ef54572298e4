"""A definition file with what the codec itself has no use for: map keys and entity types."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.codec.definition import MessageSpec, parse_definition, snake_case
from harness.codec.errors import DefinitionError
from harness.codec.messages import definition_text

_COMMENT_LINE = re.compile(r"^\s*//.*$", re.MULTILINE)


class Marks(NamedTuple):
    """What a field is, besides its bytes."""

    map_key: bool
    entity_type: str  # "" where none is written


@dataclass(frozen=True)
class Definition:
    """One message; ``marks`` by (name of the struct, name of the field).

    ``listeners`` are those of a KRaft cluster; None where the file has none (before 2.8).
    """

    spec: MessageSpec
    marks: dict[tuple[str, str], Marks]
    listeners: tuple[str, ...] | None


def our_definition(name: str, release: str) -> Definition:
    """Ours, as ``release`` spoke it; KeyError when there is none of this name."""
    return read_definition(definition_text(name, release), name)


def read_definition(text: str, where: str) -> Definition:
    """A file of any release; what follows the object is ignored, as Kafka's own reader does.

    2.8 has one with brackets too many. Raises DefinitionError, which names ``where``.
    """
    try:
        raw, _ = json.JSONDecoder().raw_decode(_COMMENT_LINE.sub("", text).lstrip())
    except json.JSONDecodeError as error:
        raise DefinitionError(f"{where}: not JSON: {error}") from error
    _mend(raw)
    spec = parse_definition(json.dumps(raw), where)
    marks: dict[tuple[str, str], Marks] = {}
    _mark(spec.name, raw.get("fields", []), marks)
    for struct in raw.get("commonStructs", []):
        _mark(struct["name"], struct.get("fields", []), marks)
    return Definition(spec, marks, _listeners(raw.get("listeners")))


def _listeners(names: list[str] | None) -> tuple[str, ...] | None:
    """Without zkBroker, which went away with ZooKeeper; sorted."""
    return None if names is None else tuple(sorted(set(names) - {"zkBroker"}))


def _mend(raw: dict[str, Any]) -> None:
    """2.8 to 3.2 write some booleans as text, which Kafka's own reader takes."""
    for field in [*raw.get("fields", []), *raw.get("commonStructs", [])]:
        for key in ("ignorable", "mapKey"):
            if field.get(key) in ("true", "false"):
                field[key] = field[key] == "true"
        _mend(field)


def _mark(struct: str, fields: list[dict[str, Any]], marks: dict[tuple[str, str], Marks]) -> None:
    for field in fields:
        key = (struct, snake_case(field["name"]))
        marks[key] = Marks(field.get("mapKey", False), field.get("entityType", ""))
        if "fields" in field:
            _mark(field["type"].removeprefix("[]"), field["fields"], marks)
