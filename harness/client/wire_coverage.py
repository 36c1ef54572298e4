"""Counts of what went over the wire, per API, version and field: kinds of value and errors.

Every request that a connection has encoded and every answer that it could decode is walked once. Of
an array only the first elements are counted: the cost of a count stays small beside that of the
codec, whatever a broker sends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.codec.apis import api_of
from harness.codec.definition import FieldSpec, MessageSpec, StructSpec
from harness.codec.error_code import ErrorCode
from harness.codec.layout import Slot, layout
from harness.codec.structs import Message, Struct

LOOKED_AT_ELEMENTS = 4
MESSAGE, ERROR, UNKNOWN_TAG = "message", "error", "unknown_tag"
DEFAULT, OTHER, NULL, EMPTY = "default", "other", "null", "empty"
_LENGTHS = frozenset({"string", "bytes", "records", "array"})
_ERROR_NAMES = {int(code): code.name for code in ErrorCode}

Observer = Callable[[Message, int], None]
"""Called with each message, at its version, that went out or came in."""


class WireCount(NamedTuple):
    """One row of counts.

    ``direction``: request or response. ``what``: ``message``; ``error``, an error code in a field
    of that name; ``default`` and ``other``, the field's value against its default; ``null`` and
    ``empty``, counted beside them; ``unknown_tag``, a struct with tagged fields that its definition
    does not know. ``field``: path as ``topics.partitions.error_code``, "" for the message itself.
    """

    direction: str
    api_key: int
    api_name: str
    api_version: int
    what: str
    field: str
    error_code: int | None
    error_name: str | None
    times: int


@dataclass(slots=True)
class _Tally:
    """The counts of one field; its type decides which of them make sense."""

    default: int = 0
    other: int = 0
    null: int = 0
    empty: int = 0

    def rows(self) -> dict[str, int]:
        return {DEFAULT: self.default, OTHER: self.other, NULL: self.null, EMPTY: self.empty}


class _Field:
    """A field at one version, with its counts."""

    __slots__ = ("below", "default", "errors", "has_length", "name", "path", "spec", "tally")

    def __init__(self, slot: Slot, below: str) -> None:
        spec = slot.field
        self.spec: FieldSpec = spec
        self.name, self.path = spec.name, f"{below}{spec.name}"
        is_list = spec.kind == "array" and not spec.default_is_null
        self.default: Any = [] if is_list else spec.default
        self.has_length = spec.kind in _LENGTHS
        self.tally = _Tally()
        self.errors: Counter[int] = Counter()
        self.below: _Struct | None = None  # made when a value of it is met: structs may nest


class _Struct:
    """A struct at one version and place, with its counts."""

    __slots__ = ("codes", "fields", "message", "path", "tags", "version")

    def __init__(self, message: MessageSpec, struct: StructSpec, version: int, path: str) -> None:
        self.message, self.version, self.path = message, version, path
        self.tags = 0
        own = layout(message, struct, version)
        prefix = f"{path}." if path else ""
        fields = [_Field(slot, prefix) for slot in (*own.plain, *own.tagged.values())]
        self.codes = [field for field in fields if _is_error_code(field.spec)]
        self.fields = [field for field in fields if not _is_error_code(field.spec)]

    def see(self, value: Struct) -> None:
        if value.unknown_tagged_fields:
            self.tags += 1
        for field in self.codes:
            field.errors[getattr(value, field.name)] += 1
        for field in self.fields:
            found, tally = getattr(value, field.name), field.tally
            if found == field.default:
                tally.default += 1
            elif found is not None and field.spec.kind != "struct":
                tally.other += 1
            if found is None:
                tally.null += 1
            elif field.has_length and not found:
                tally.empty += 1
            elif field.spec.struct is not None:
                self.see_below(field, found)

    def see_below(self, field: _Field, found: Any) -> None:
        """Count the structs that a field holds."""
        assert field.spec.struct is not None
        if field.below is None:
            field.below = _Struct(self.message, field.spec.struct, self.version, field.path)
        if field.spec.kind == "array":
            for element in found[:LOOKED_AT_ELEMENTS]:
                field.below.see(element)
        else:
            if field.spec.default_is_null:
                field.tally.other += 1
            field.below.see(found)

    def rows(self) -> list[tuple[str, str, int | None, int]]:
        """(what, field, error code, count) of everything seen, and forget it."""
        found: list[tuple[str, str, int | None, int]] = []
        if self.tags:
            found.append((UNKNOWN_TAG, self.path, None, self.tags))
            self.tags = 0
        for field in self.codes:
            found += [(ERROR, field.path, code, count) for code, count in field.errors.items()]
            field.errors.clear()
        for field in self.fields:
            tally, field.tally = field.tally, _Tally()
            found += [(what, field.path, None, n) for what, n in tally.rows().items() if n]
            if field.below is not None:
                found += field.below.rows()
        return found


def _is_error_code(spec: FieldSpec) -> bool:
    return spec.kind == "int16" and spec.name.endswith("error_code")


class _Seen:
    """One message at one version."""

    __slots__ = ("count", "root")

    def __init__(self, cls: type[Message], version: int) -> None:
        self.root = _Struct(cls.message_spec, cls.message_spec.root, version, "")
        self.count = 0


class WireCoverage:
    """Counts of the messages of connections; cheap enough to be always on."""

    def __init__(self) -> None:
        self._seen: dict[tuple[type[Message], int], _Seen] = {}

    def see(self, message: Message, version: int) -> None:
        """Count one message that went out or came in; an :data:`Observer`."""
        key = (type(message), version)
        seen = self._seen.get(key)
        if seen is None:
            seen = self._seen[key] = _Seen(*key)
        seen.count += 1
        seen.root.see(message)

    def take(self) -> list[WireCount]:
        """Return the counts since the last call."""
        found = []
        for (cls, version), seen in self._seen.items():
            if not seen.count:
                continue
            api = api_of(cls)
            rows = [(MESSAGE, "", None, seen.count), *seen.root.rows()]
            seen.count = 0
            found += [
                WireCount(
                    cls.message_spec.type,
                    api.key,
                    api.name,
                    version,
                    what,
                    field,
                    code,
                    None if code is None else _ERROR_NAMES.get(code),
                    count,
                )
                for what, field, code, count in rows
            ]
        return found
