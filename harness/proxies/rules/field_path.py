"""Paths to fields: ``topics[*].partitions[index=0].error_code``, ``**.error_code``.

Names are as in the dictionary form. ``[*]`` all elements, ``[0]`` one by its place (``[-1]`` the
last), ``[name=orders]`` those with this field; an array without brackets that the path leads
through means all, at the end of the path the array itself. ``**.name``: every field of that name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.codec.layout import layout
from harness.codec.specs import FieldSpec, StructSpec
from harness.codec.structs import Message, Struct
from harness.proxies.rules.errors import RuleError, unknown

EVERYWHERE = "**"
_SEGMENT = re.compile(r"(\w+)(?:\[(?:(\*)|(-?\d+)|(\w+)=([^\]]*))\])?")
_SPLIT = re.compile(r"\.(?![^\[]*\])")  # not at a point inside of brackets
_MISSING = object()


@dataclass(frozen=True, slots=True)
class PathSegment:
    """A field, and a selection of elements: ``*``, a position, or those with a value in a field."""

    name: str
    select: str | int | tuple[str, str] | None = None

    def elements(self, held: list[Any]) -> Iterator[int]:
        """Yield the positions of the selected elements."""
        if isinstance(self.select, int):
            if -len(held) <= self.select < len(held):
                yield self.select
            return
        for place, element in enumerate(held):
            if not isinstance(self.select, tuple) or _has(element, *self.select):
                yield place


def _has(element: Any, name: str, value: str) -> bool:
    if isinstance(element, dict):
        return str(element.get(name, _MISSING)) == value
    return str(getattr(element, name, _MISSING)) == value


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A path in messages of one class; ``field`` is what it ends at."""

    segments: tuple[PathSegment, ...]
    field: FieldSpec

    @property
    def is_of_elements(self) -> bool:
        """True if it ends at elements of an array, not at the array."""
        return self.field.kind == "array" and self.segments[-1].select is not None

    def values(self, message: Message, version: int) -> Iterator[Any]:
        """Yield the values that the message holds there at this version."""
        yield from _read(type(message), message, self.segments, version)

    def change(self, form: dict[str, Any], new: Callable[[Any], Any]) -> int:
        """Put ``new(old)`` in every such place of a dictionary form; return the count of places."""
        return _change(form, self.segments, new)

    def skeleton(self, value: Any) -> dict[str, Any]:
        """A dictionary form that holds nothing but this value at this path."""
        made: Any = [value] if self.is_of_elements else value
        for place, segment in enumerate(reversed(self.segments)):
            if place and segment.select is not None:
                made = [made]
            made = {segment.name: made}
        return dict(made)

    def __str__(self) -> str:
        return ".".join(segment.name for segment in self.segments)


def parse_path(text: str) -> tuple[PathSegment, ...]:
    """The segments; ``**`` is one of that name. Raises RuleError."""
    return tuple(_segment(part, text) for part in _SPLIT.split(text))


def _segment(part: str, text: str) -> PathSegment:
    if part == EVERYWHERE:
        return PathSegment(EVERYWHERE)
    found = _SEGMENT.fullmatch(part)
    if not found:
        raise RuleError(
            f'"{text}" is no path to a field: "{part}" is not name, name[*], name[0] or '
            "name[field=value]"
        )
    name, every, place, key, value = found.groups()
    if place is not None:
        return PathSegment(name, int(place))
    return PathSegment(name, every or ((key, value) if key else None))


def find_fields(cls: type[Message], text: str) -> list[FieldPath]:
    """The paths that ``text`` means in messages of this class.

    Raises RuleError, with the nearest names, where there is no such field in any version.
    """
    segments = parse_path(text)
    if segments[0].name == EVERYWHERE:
        if len(segments) != 2 or segments[1].name == EVERYWHERE:
            raise RuleError(f'"{text}": ** stands before one field, as in **.error_code')
        found = list(_everywhere(cls.spec, segments[1], ()))
        if not found:
            raise RuleError(f'no field "{segments[1].name}" anywhere in {cls.__name__}')
        return found
    return [_follow(cls, segments, text)]


def _follow(cls: type[Message], segments: tuple[PathSegment, ...], text: str) -> FieldPath:
    struct: StructSpec | None = cls.spec
    steps: list[PathSegment] = []
    place, found = cls.__name__, None
    for segment in segments:
        if struct is None:
            raise RuleError(f'"{text}": {place} has no fields, it is a plain value')
        found = next((f for f in struct.fields if f.name == segment.name), None)
        if found is None:
            names = [f.name for f in struct.fields]
            raise unknown(f"field in {place}:", segment.name, names)
        if segment.select is not None and found.kind != "array":
            raise RuleError(f'"{text}": {segment.name} is no array, it has no [...]')
        _check_selection(segment, found, text)
        last = len(steps) == len(segments) - 1
        lead_on = found.kind == "array" and segment.select is None and not last
        steps.append(PathSegment(segment.name, "*") if lead_on else segment)
        place, struct = segment.name, found.struct
    assert found is not None
    return FieldPath(tuple(steps), found)


def _check_selection(segment: PathSegment, found: FieldSpec, text: str) -> None:
    if not isinstance(segment.select, tuple):
        return
    names = [f.name for f in found.struct.fields] if found.struct else []
    if segment.select[0] not in names:
        raise unknown(f'field in "{text}": {segment.name}:', segment.select[0], names)


def _everywhere(
    struct: StructSpec, wanted: PathSegment, before: tuple[PathSegment, ...], depth: int = 0
) -> Iterator[FieldPath]:
    for found in struct.fields:
        if found.name == wanted.name:
            yield FieldPath((*before, wanted), found)
        elif found.struct is not None and depth < _DEEPEST:
            step = PathSegment(found.name, "*" if found.kind == "array" else None)
            yield from _everywhere(found.struct, wanted, (*before, step), depth + 1)


_DEEPEST = 8  # a struct may hold itself
_carried: dict[tuple[type[Message], int, int], frozenset[str]] = {}


def _carries(root: type[Message], struct: StructSpec, version: int, name: str) -> bool:
    key = (root, id(struct), version)
    names = _carried.get(key)
    if names is None:
        own = layout(root.message_spec, struct, version)
        slots = (*own.plain, *own.tagged.values())
        names = _carried[key] = frozenset(slot.field.name for slot in slots)
    return name in names


def _read(
    root: type[Message], value: Struct, segments: tuple[PathSegment, ...], version: int
) -> Iterator[Any]:
    segment, rest = segments[0], segments[1:]
    if not _carries(root, value.spec, version, segment.name):
        return
    held = getattr(value, segment.name)
    if isinstance(held, list) and segment.select is not None:
        found = [held[place] for place in segment.elements(held)]
    else:
        found = [held]
    for one in found:
        if not rest:
            yield one
        elif one is not None:
            yield from _read(root, one, rest, version)


def _change(
    form: dict[str, Any], segments: tuple[PathSegment, ...], new: Callable[[Any], Any]
) -> int:
    segment, rest = segments[0], segments[1:]
    if segment.name not in form:
        return 0
    held = form[segment.name]
    if not isinstance(held, list) or segment.select is None:
        if rest:
            return _change(held, rest, new) if held is not None else 0
        form[segment.name] = new(held)
        return 1
    count = 0
    for place in segment.elements(held):
        if rest:
            count += _change(held[place], rest, new)
        else:
            held[place] = new(held[place])
            count += 1
    return count
