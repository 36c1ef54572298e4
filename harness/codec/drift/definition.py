"""A definition file with what the codec itself has no use for, such as map keys."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from harness.codec.definition import MessageSpec, parse_definition, snake_case
from harness.codec.errors import DefinitionError
from harness.codec.messages import older_releases
from harness.codec.releases import ReleaseRange, release_numbers

_SCHEMAS = files("harness.codec") / "schemas"
_FOLDERS = (_SCHEMAS, _SCHEMAS / "data")
_EVER = (0,)
_STRING = r'("(?:\\.|[^"\\])*")'
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(_STRING + r"|,(?=\s*[\]}])")


class VersionMarks(NamedTuple):
    """Properties of a field that do not affect its bytes."""

    map_key: bool
    entity_type: str  # "none" where it has none
    zero_copy: bool


@dataclass(frozen=True)
class Definition:
    """One message; ``marks`` by (name of the struct, name of the field).

    ``listeners`` are those of a KRaft cluster; None where the file has none (before 2.8).
    """

    spec: MessageSpec
    marks: dict[tuple[str, str], VersionMarks]
    listeners: tuple[str, ...] | None


def our_definition(name: str, release: str) -> Definition:
    """Ours, as ``release`` spoke it; KeyError when there is none of this name."""
    numbers = release_numbers(release)
    for older in older_releases(name):
        if numbers in ReleaseRange(_EVER, release_numbers(older)):
            return _ours(f"{name}@{older}")
    return _ours(name)


@cache
def _ours(key: str) -> Definition:
    for folder in _FOLDERS:
        file = folder / f"{key}.json"
        if file.is_file():
            return read_definition(file.read_text("utf-8"), file.name)
    raise KeyError(key)


def read_definition(text: str, where: str) -> Definition:
    """A file of any release, read as tolerantly as Kafka's own reader does.

    Comments of both kinds may stand anywhere. What follows the object is ignored (2.8 has a file
    with brackets too many), and so is a comma behind the last one of a list.
    Raises DefinitionError, which names ``where``.
    """
    plain = _LAST_COMMA.sub(_string, _COMMENT.sub(_string, text)).lstrip()
    try:
        raw, _ = json.JSONDecoder().raw_decode(plain)
    except json.JSONDecodeError as error:
        raise DefinitionError(f"{where}: not JSON: {error}") from error
    _mend(raw)
    spec = parse_definition(json.dumps(raw), where)
    marks: dict[tuple[str, str], VersionMarks] = {}
    _mark(spec.name, raw.get("fields", []), marks)
    for struct in raw.get("commonStructs", []):
        _mark(struct["name"], struct.get("fields", []), marks)
    return Definition(spec, marks, _listeners(raw.get("listeners")))


def _listeners(names: Any) -> tuple[str, ...] | None:
    """Without zkBroker, which went away with ZooKeeper; sorted."""
    if not isinstance(names, list):
        return None
    return tuple(sorted({str(name) for name in names} - {"zkBroker"}))


def _string(found: re.Match[str]) -> str:
    """Return a matched string unchanged, with any comment or comma inside it; '' without one."""
    return found[1] or ""


def _mend(raw: Any) -> None:
    """A few releases from 2.8 to 4.2 write booleans as text, which Kafka's own reader takes."""
    if not isinstance(raw, dict):
        return
    for field in [*_list(raw, "fields"), *_list(raw, "commonStructs")]:
        _mend(field)
    for key in ("ignorable", "mapKey"):
        if raw.get(key) in ("true", "false"):
            raw[key] = raw[key] == "true"


def _list(raw: dict[str, Any], key: str) -> list[Any]:
    found = raw.get(key)
    return found if isinstance(found, list) else []


def _mark(
    struct: str, fields: list[dict[str, Any]], marks: dict[tuple[str, str], VersionMarks]
) -> None:
    for field in fields:
        key = (struct, snake_case(field["name"]))
        marks[key] = VersionMarks(
            field.get("mapKey", False),
            field.get("entityType", "none"),
            field.get("zeroCopy", False),
        )
        if "fields" in field:
            _mark(field["type"].removeprefix("[]"), field["fields"], marks)
