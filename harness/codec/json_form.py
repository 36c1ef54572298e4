"""Messages as plain JSON values and back: snake_case names, bytes in base64, UUIDs as text."""

from __future__ import annotations

import base64
import binascii
import uuid
from typing import Any

from harness.codec.definition import FieldSpec
from harness.codec.errors import CodecError
from harness.codec.structs import Message, Struct

UNKNOWN_TAGS = "unknown_tagged_fields"


class JsonFormError(CodecError):
    """JSON that is not the form of the message; names the field."""


def to_json(value: Struct) -> dict[str, Any]:
    """Every field of the struct, those at their default too."""
    found = {field.name: _out(getattr(value, field.name)) for field in value.spec.fields}
    if value.unknown_tagged_fields:
        found[UNKNOWN_TAGS] = {
            str(tag): _out(raw) for tag, raw in value.unknown_tagged_fields.items()
        }
    return found


def _out(value: Any) -> Any:
    if isinstance(value, Struct):
        return to_json(value)
    if isinstance(value, list):
        return [_out(element) for element in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return str(value) if isinstance(value, uuid.UUID) else value


def from_json(cls: type[Message], values: Any) -> Message:
    """The message; fields that are left out take their default. Raises JsonFormError."""
    made = _struct(cls, cls, values, cls.__name__)
    assert isinstance(made, Message)
    return made


def _struct(root: type[Message], cls: type[Struct], values: Any, where: str) -> Struct:
    if not isinstance(values, dict):
        raise JsonFormError(f"{where}: an object expected, not {values!r}")
    fields = {field.name: field for field in cls.spec.fields}
    given = {}
    for name, value in values.items():
        if name == UNKNOWN_TAGS:
            given[name] = _tags(value, f"{where}.{name}")
        elif name in fields:
            given[name] = _in(root, fields[name], value, f"{where}.{name}")
        else:
            raise JsonFormError(f"{where} has no field {name!r}; it has {', '.join(fields)}")
    return cls(**given)


def _tags(value: Any, where: str) -> dict[int, bytes]:
    if not isinstance(value, dict) or not all(tag.isdecimal() for tag in value):
        raise JsonFormError(f"{where}: an object with tags as names expected, not {value!r}")
    return {int(tag): _bytes(raw, f"{where}[{tag}]") for tag, raw in value.items()}


def _in(root: type[Message], field: FieldSpec, value: Any, where: str) -> Any:
    if value is None:
        return None
    if field.kind != "array":
        return _one(root, field, field.kind, value, where)
    if not isinstance(value, list):
        raise JsonFormError(f"{where}: a list expected, not {value!r}")
    return [
        _one(root, field, field.element, element, f"{where}[{index}]")
        for index, element in enumerate(value)
    ]


def _one(root: type[Message], field: FieldSpec, kind: str, value: Any, where: str) -> Any:
    if kind == "struct":
        assert field.struct is not None
        return _struct(root, getattr(root, field.struct.name), value, where)
    if kind in ("bytes", "records"):
        return _bytes(value, where)
    if kind == "uuid":
        try:
            return uuid.UUID(value)
        except (ValueError, AttributeError, TypeError) as error:
            raise JsonFormError(f"{where}: not a UUID: {value!r}") from error
    return value


def _bytes(value: Any, where: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise JsonFormError(f"{where}: not base64: {value!r}") from error
