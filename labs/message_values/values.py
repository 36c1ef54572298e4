"""Random and deliberately rich values of messages, as much as a version can carry."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from harness.codec.definition import INT_RANGES, FieldSpec, StructSpec
from harness.codec.layout import Layout, Slot, layout
from harness.codec.messages import message_class, message_names, older_releases
from harness.codec.structs import Message, Struct, default_of, nested_class
from labs.message_values.all_kinds import ALL_KINDS

OLDER = {
    message_class(name, release): f"{name}@{release}"
    for name in message_names()
    for release in older_releases(name)
}
CLASSES: list[type[Message]] = [ALL_KINDS, *map(message_class, message_names()), *OLDER]
QUICK = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
FIRST_UNKNOWN_TAG = 50  # above every known one

_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    **{kind: st.integers(*limits) for kind, limits in INT_RANGES.items()},
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),
    "uuid": st.uuids(),
    "string": st.text(max_size=12) | st.just("é" * 80),
    "bytes": st.binary(max_size=20) | st.just(b"\0" * 130),
    "records": st.binary(max_size=20),
}


E = TypeVar("E", bound=Exception)
T = TypeVar("T")


def class_name(cls: type[Message]) -> str:
    """``FetchResponse``, or ``FetchResponse@2.7`` for an older layout."""
    return OLDER.get(cls, cls.__name__)


def outcome(call: Callable[[], T], error: type[E]) -> T | E:
    """Return the result of the call, or its error of the one expected kind."""
    try:
        return call()
    except error as raised:
        return raised


_made: dict[tuple[type[Message], int], st.SearchStrategy[Message]] = {}


def messages_at(cls: type[Message], version: int) -> st.SearchStrategy[Message]:
    """Messages of which ``version`` can carry every field."""
    key = (cls, version)
    if key not in _made:
        _made[key] = _struct(cls, cls, version)
    return _made[key]


def _struct(root: type[Message], cls: Any, version: int) -> st.SearchStrategy[Any]:
    own = layout_of(root, cls.spec, version)
    fields = {slot.field.name: _value(root, slot, version) for slot in own.plain}
    for slot in own.tagged.values():
        default = st.builds(default_of, st.just(cls), st.just(slot.field.name))
        fields[slot.field.name] = default | _value(root, slot, version)
    if own.flexible:
        tags = st.integers(FIRST_UNKNOWN_TAG, 2**32 - 1)
        some = st.dictionaries(tags, st.binary(max_size=5), max_size=2)
        fields["unknown_tagged_fields"] = st.just({}) | some
    return st.builds(cls, **fields)


def _value(root: type[Message], slot: Slot, version: int) -> st.SearchStrategy[Any]:
    field = slot.field
    if field.kind == "array":
        found: st.SearchStrategy[Any] = st.lists(
            _one(root, field, field.element, version), max_size=3
        )
    else:
        found = _one(root, field, field.kind, version)
    return st.none() | found if slot.nullable else found


def _one(root: type[Message], field: FieldSpec, kind: str, version: int) -> st.SearchStrategy[Any]:
    if kind != "struct":
        return _SCALARS[kind]
    return _struct(root, nested_class(root, field), version)


def layout_of(root: type[Message], struct: StructSpec, version: int) -> Layout:
    """The layout of a struct of this message."""
    return layout(root.message_spec, struct, version)


_RICH: dict[str, Any] = {
    **dict.fromkeys(INT_RANGES, 3),
    "float64": -2.5,
    "uuid": uuid.UUID(int=0x1234),
    "string": "ab",
    "bytes": b"\1\2",
    "records": b"\3\4",
}


def rich(cls: type[Message], version: int) -> Message:
    """A message with no field at its default, and an unknown tag in every struct.

    Two elements an array, one in arrays that lie deeper than two: some messages nest five.
    """
    made = _rich_struct(cls, cls, version, 0)
    assert isinstance(made, Message)
    return made


def _rich_struct(root: type[Message], cls: type[Struct], version: int, depth: int) -> Struct:
    own = layout_of(root, cls.spec, version)
    made = cls()
    for slot in (*own.plain, *own.tagged.values()):
        setattr(made, slot.field.name, rich_value(root, slot.field, version, depth))
    if own.flexible:
        made.unknown_tagged_fields = {FIRST_UNKNOWN_TAG: b"?"}
    return made


def rich_value(root: type[Message], field: FieldSpec, version: int, depth: int = 0) -> Any:
    """A value that is not the field's default."""
    if field.kind == "array":
        count = 2 if depth < 2 else 1
        return [_rich_one(root, field, field.element, version, depth) for _ in range(count)]
    return _rich_one(root, field, field.kind, version, depth)


def _rich_one(root: type[Message], field: FieldSpec, kind: str, version: int, depth: int) -> Any:
    if kind == "bool":
        return not field.default
    if kind in INT_RANGES and field.default == _RICH[kind]:
        return _RICH[kind] + 1
    if kind != "struct":
        return _RICH[kind]
    return _rich_struct(root, nested_class(root, field), version, depth + 1)


def structs_in(message: Message, version: int) -> Iterator[tuple[str, Struct, Layout]]:
    """(path, struct, layout) of the message and of the first of each nested struct in it."""
    yield from _structs_in(type(message), message, version, "")


def _structs_in(
    root: type[Message], own: Struct, version: int, path: str
) -> Iterator[tuple[str, Struct, Layout]]:
    at = layout_of(root, own.spec, version)
    yield path, own, at
    for slot in (*at.plain, *at.tagged.values()):
        value, where = getattr(own, slot.field.name), f"{path}{slot.field.name}"
        if isinstance(value, list) and value:
            value, where = value[0], f"{where}[0]"
        if isinstance(value, Struct):
            yield from _structs_in(root, value, version, f"{where}.")
