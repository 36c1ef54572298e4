"""Docstrings of the message classes, made from the definition on first access.

``help(FetchRequest)`` and ``FetchRequest.FetchTopic.__doc__`` list the versions, and for each field
its type, versions, default, tag, and whether it may be null or left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.codec.field_text import default_text, type_text

if TYPE_CHECKING:
    from harness.codec.specs import FieldSpec, MessageSpec, StructSpec
    from harness.codec.structs import Struct


def docstring_of(cls: type[Struct]) -> str:
    """The docstring of a message or of a struct in it."""
    spec = getattr(cls, "message_spec", None)
    head = message_head(spec) if spec else _struct_head(cls.spec)
    return "\n".join([head, "", "Fields:", *_field_lines(cls.spec), *_UNKNOWN])


_UNKNOWN = (
    "    unknown_tagged_fields: bytes by tag",
    "        what flexible versions carry and the definition does not know; written again",
)


def message_head(spec: MessageSpec) -> str:
    """A sentence: what it is, its versions, the flexible ones."""
    what = f"{spec.name}: {spec.type}"
    if spec.api_key is not None:
        is_of_api = spec.type in ("request", "response")
        what += f" of API key {spec.api_key}" if is_of_api else f" of record type {spec.api_key}"
    flexible = f"flexible from {spec.flexible.lowest}" if spec.flexible else "never flexible"
    unstable = f", {spec.valid.highest} unstable" if spec.unstable_highest else ""
    return f"{what}, versions {spec.valid}{unstable}, {flexible}."


def _struct_head(spec: StructSpec) -> str:
    return f"{spec.name}: a struct" + (f", versions {spec.versions}." if spec.versions else ".")


def _field_lines(spec: StructSpec) -> Iterator[str]:
    for field in spec.fields:
        yield f"    {field.name}: {type_text(field)}"
        yield f"        {', '.join(_facts(field))}"


def _facts(field: FieldSpec) -> Iterator[str]:
    yield f"versions {field.versions}"
    if field.nullable:
        yield f"nullable {field.nullable}"
    if field.tagged:
        yield f"tag {field.tag} (versions {field.tagged})"
    yield f"default {default_text(field)}"
    if field.ignorable:
        yield "left out where a version lacks it"
