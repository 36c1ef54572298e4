"""A message as the official client's JSON converters write it.

Names in camelCase; bytes in base64, UUIDs in base64 for URLs; a tagged field at its default and the
fields that a version lacks are left out. Of record bytes only the size is written.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from harness.codec.definition import FieldSpec
from harness.codec.structs import Message, Struct, default_of
from labs.message_values.values import layout_of

Names = Mapping[str, str]  # a field as we call it -> as that release does


def java_form(
    root: type[Message], value: Struct, version: int, names: Names = MappingProxyType({})
) -> dict[str, Any]:
    """Return the JSON value of a struct of the message ``root``."""
    own = layout_of(root, value.spec, version)
    found = {}
    for slot in (*own.plain, *own.tagged.values()):
        held = getattr(value, slot.field.name)
        at_default = held == default_of(type(value), slot.field.name)
        name = camel_case(slot.field.name)
        name = names.get(name, name)
        if slot in own.tagged.values() and at_default:
            continue
        if slot.field.kind == "records" and held is not None:
            found[f"{name}SizeInBytes"] = len(held)
        else:
            found[name] = _out(root, slot.field, held, version, names)
    return found


@cache
def camel_case(name: str) -> str:
    """``topic_id`` -> ``topicId``."""
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def has_records(root: type[Message]) -> bool:
    """True if a field holds record bytes."""
    structs = [root.message_spec.root, *root.message_spec.structs.values()]
    return any(field.kind == "records" for struct in structs for field in struct.fields)


def _out(root: type[Message], field: FieldSpec, held: Any, version: int, names: Names) -> Any:
    if isinstance(held, list):
        return [_out(root, field, one, version, names) for one in held]
    if isinstance(held, Struct):
        return java_form(root, held, version, names)
    if isinstance(held, bytes):
        return base64.b64encode(held).decode()
    if hasattr(held, "bytes"):  # a UUID
        return base64.urlsafe_b64encode(held.bytes).decode().rstrip("=")
    return held
