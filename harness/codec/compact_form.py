"""Definitions in the form that loads in microseconds: one line of text a message.

``schemas/*.json`` are what people read and the only source; ``python -m harness.codec.stubs``
writes ``schemas/compact.txt`` from them. Text, because it needs no compiler, no JSON, no grammar:
a message costs reading its own line. The line has one part a struct, divided by ``|``; the first is
the message's root. A part begins with its head (words divided by spaces), each of the following
words is a field, made of items divided by ``,``:

    NAME type api_key valid flexible unstable FIELD... | Struct versions FIELD... | ...
    field: name,type,versions,nullable,tagged,tag,default,ignorable,flexible

Items at the end that are empty are left out. An empty item is ``none``, no tag, the type's own
default, not ignorable, the message's flexible versions.
"""

from __future__ import annotations

from harness.codec.errors import DefinitionError
from harness.codec.specs import INT_RANGES, SCALARS, ZERO_UUID, FieldSpec, MessageSpec, StructSpec
from harness.codec.versions import NO_VERSIONS, VersionRange

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NULL = "null"
_NOTHING = "-"  # no api key, no flexible versions
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(INT_RANGES, 0),
    "bool": False,
    "float64": 0.0,
    "string": "",
    "bytes": b"",
    "records": None,
    "uuid": ZERO_UUID,
    "struct": ...,
}
_ranges: dict[str, VersionRange] = {"": NO_VERSIONS}


def compact_line(key: str, spec: MessageSpec) -> str:
    """The line of one message; ``key`` is its name, with ``@RELEASE`` where it has one.

    Raises DefinitionError for a default that this form cannot carry.
    """
    api_key = _NOTHING if spec.api_key is None else str(spec.api_key)
    head = [key, spec.type, api_key, str(spec.valid), str(spec.flexible)]
    head.append("1" if spec.unstable_highest else "0")
    parts = [" ".join([*head, *map(_field_text, spec.root.fields)])]
    for name, struct in spec.structs.items():
        parts.append(" ".join([name, str(struct.versions), *map(_field_text, struct.fields)]))
    return "|".join(parts)


def _field_text(field: FieldSpec) -> str:
    base = field.struct.name if field.struct is not None else field.element or field.kind
    items = [
        field.name,
        f"[]{base}" if field.kind == "array" else base,
        str(field.versions),
        _range_text(field.nullable),
        _range_text(field.tagged),
        str(field.tag) if field.tag >= 0 else "",
        _default_text(field),
        "1" if field.ignorable else "",
        "" if field.flexible is None else str(field.flexible),
    ]
    return ",".join(items).rstrip(",")


def _range_text(versions: VersionRange) -> str:
    return str(versions) if versions else ""


def _default_text(field: FieldSpec) -> str:
    default = field.default
    if field.kind == "array":
        return _NULL if default is None else ""
    if default == _DEFAULTS[field.kind]:
        return ""
    text = _NULL if default is None else str(default)
    if any(mark in text for mark in " ,|\n") or (text in ("", _NULL) and default is not None):
        raise DefinitionError(f"{field.name}: default {default!r} does not fit the compact form")
    return text


def read_line(line: str) -> MessageSpec:
    """The typed form of one line; nothing is checked, the writer has done that."""
    root_part, *parts = line.split("|")
    key, type_, api_key, valid, flexible, unstable, *root_fields = root_part.split(" ")
    words_of: dict[str, list[str]] = {}
    structs: dict[str, StructSpec] = {}
    for part in parts:
        name, versions, *words_of[name] = part.split(" ")
        structs[name] = StructSpec(name, _range(versions))
    for name, words in words_of.items():
        structs[name].fields = [_field(word, structs) for word in words]
    name = key.partition("@")[0]
    fields = [_field(word, structs) for word in root_fields]
    return MessageSpec(
        name=name,
        type=type_,
        api_key=None if api_key == _NOTHING else int(api_key),
        valid=_range(valid),
        flexible=_range(flexible),
        unstable_highest=unstable == "1",
        root=StructSpec(name, _range(valid), fields),
        structs=structs,
    )


def _range(text: str) -> VersionRange:
    found = _ranges.get(text)
    if found is None:
        found = _ranges[text] = VersionRange.parse(text)
    return found


def _field(word: str, structs: dict[str, StructSpec]) -> FieldSpec:
    items = word.split(",")
    items += [""] * (9 - len(items))
    name, type_, versions, nullable, tagged, tag, default, ignorable, flexible = items
    array = type_[0] == "["
    base = type_[2:] if array else type_
    scalar = base in SCALARS
    inner = base if scalar else "struct"
    kind = "array" if array else inner
    return FieldSpec(
        name,
        kind,
        inner if array else "",
        None if scalar else structs[base],
        _range(versions),
        _range(nullable),
        _range(tagged),
        int(tag) if tag else -1,
        _default(kind, default),
        ignorable == "1",
        _range(flexible) if flexible else None,
    )


def _default(kind: str, text: str) -> Any:
    if text == _NULL:
        return None
    if kind == "array":
        return []
    if not text:
        return _DEFAULTS[kind]
    if kind == "bool":
        return text == "True"
    if kind == "float64":
        return float(text)
    return text if kind == "string" else int(text)
