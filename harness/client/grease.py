"""Grease: unknown tagged fields in every struct of a flexible request.

A reader that keeps KIP-482 skips them, so nothing may change. The name and the idea are TLS's (RFC
8701): what is never used rusts.
"""

from __future__ import annotations

from typing import Any, TypeVar

from harness.codec.apis import api_of
from harness.codec.structs import Message, Struct, default_of

TAGS = {1_000: b"", 16_384: b"grease", 2**31 - 1: bytes(200)}
"""Far from any that Kafka has given a meaning, with ids of two, three and five bytes."""
M = TypeVar("M", bound=Message)


def greased(message: M, version: int) -> M:
    """Return a copy of a request with unknown tagged fields everywhere.

    A request that is not flexible is returned itself. Tags that a struct has already are kept.
    """
    if not is_greased(message, version):
        return message
    copy: M = _greased_struct(message)
    return copy


def is_greased(message: Message, version: int) -> bool:
    """True if a request at this version can carry tagged fields at all."""
    return version in api_of(type(message)).flexible_versions


def _greased_struct(struct: Any) -> Any:
    fields = {f.name: getattr(struct, f.name) for f in struct.spec.fields}
    # A struct that is all default may be one that the version lacks: then it must stay so.
    changed = {n: v for n, v in fields.items() if v != default_of(type(struct), n)}
    fields |= {name: _greased_value(value) for name, value in changed.items()}
    tags = {**TAGS, **struct.unknown_tagged_fields}
    return type(struct)(**fields, unknown_tagged_fields=dict(sorted(tags.items())))


def _greased_value(value: Any) -> Any:
    if isinstance(value, Struct):
        return _greased_struct(value)
    if isinstance(value, list) and value and isinstance(value[0], Struct):
        return [_greased_struct(one) for one in value]
    return value
