"""Messages as plain dictionaries and back, as JSON can hold them: one form for every version.

Names are snake_case; a dictionary holds the fields that the version carries and no others.
Integers, booleans, strings and null are themselves; bytes and records are lowercase hex; UUIDs are
8-4-4-4-12 digits; floats that JSON cannot say are "NaN", "Infinity" and "-Infinity", a NaN of other
bits "NaN(0x7ff8000000000001)". Unknown tagged fields stand, when there are any, as
``"_unknown_tagged_fields": [{"tag": 7, "hex": "01"}]``.
"""

from __future__ import annotations

import math
import re
import struct
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from harness.codec.errors import EncodeError
from harness.codec.layout import Layout, Slot, layout
from harness.codec.message_codec import require_version
from harness.codec.specs import INT_RANGES
from harness.codec.structs import Message, Struct, nested_class

M = TypeVar("M", bound=Message)
UNKNOWN_TAGS = "_unknown_tagged_fields"
_SHOWN_CHARACTERS = 60
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_DOUBLE = struct.Struct(">d")
_OTHER_NAN = re.compile(r"NaN\(0x([0-9a-f]{16})\)")

Shape = Callable[[Any], dict[str, Any]]
_shapes: dict[tuple[type[Message], int], Shape] = {}


class DictionaryError(EncodeError):
    """A dictionary that is not the form of the message at this version; names the field."""


# -- out -------------------------------------------------------------------------------------------


def to_dict(message: Message, version: int) -> dict[str, Any]:
    """The fields that ``version`` carries, in the order of the wire, tagged ones last.

    Tagged fields are there also when they stand at their default. Raises UnsupportedVersionError.
    """
    cls = type(message)
    shape = _shapes.get((cls, version))
    if shape is None:
        require_version(cls, version)
        shape = _shapes[cls, version] = _Shapes(cls, version).of(cls)
    return shape(message)


class _Shapes:
    """Makes the functions that make the dictionaries of the structs of a message."""

    def __init__(self, root: type[Message], version: int) -> None:
        self.root, self.version = root, version
        self.made: dict[type[Struct], Shape] = {}  # a struct may hold itself

    def of(self, cls: type[Struct]) -> Shape:
        if cls in self.made:
            return self.made[cls]
        fields: list[tuple[str, Callable[[Any], Any] | None]] = []

        def shape(value: Any) -> dict[str, Any]:
            made = {}
            for name, convert in fields:
                inner = getattr(value, name)
                made[name] = inner if convert is None or inner is None else convert(inner)
            if value.unknown_tagged_fields:
                made[UNKNOWN_TAGS] = [
                    {"tag": tag, "hex": bytes(raw).hex()}
                    for tag, raw in sorted(value.unknown_tagged_fields.items())
                ]
            return made

        self.made[cls] = shape
        slots = _slots(_layout(self.root, cls, self.version))
        fields += [(name, self.converter(slot)) for name, slot in slots.items()]
        return shape

    def converter(self, slot: Slot) -> Callable[[Any], Any] | None:
        field = slot.field
        if field.kind != "array":
            return self.one(slot, field.kind)
        each = self.one(slot, field.element)
        return list if each is None else lambda values: [each(value) for value in values]

    def one(self, slot: Slot, kind: str) -> Callable[[Any], Any] | None:
        if kind == "struct":
            return self.of(nested_class(self.root, slot.field))
        return _SCALARS_OUT.get(kind)


def _layout(root: type[Message], cls: type[Struct], version: int) -> Layout:
    return layout(root.message_spec, cls.spec, version)


def _slots(own: Layout) -> dict[str, Slot]:
    """The fields that go over the wire, by name."""
    return {slot.field.name: slot for slot in (*own.plain, *own.tagged.values())}


def _hex(value: Any) -> str:
    return bytes(value).hex()


def _float_out(value: float) -> float | str:
    if math.isfinite(value):
        return value
    if math.isnan(value):
        raw = _DOUBLE.pack(value)
        return "NaN" if raw == _DOUBLE.pack(math.nan) else f"NaN(0x{raw.hex()})"
    return "Infinity" if value > 0 else "-Infinity"


_SCALARS_OUT: dict[str, Callable[[Any], Any]] = {
    "bytes": _hex,
    "records": _hex,
    "uuid": str,
    "float64": _float_out,
}


# -- in --------------------------------------------------------------------------------------------


def from_dict(cls: type[M], version: int, value: Any) -> M:
    """The message; fields that are left out take their default.

    Raises DictionaryError, naming the field, for what is not the form of this version (a field
    that it does not carry too), and UnsupportedVersionError.
    """
    require_version(cls, version)
    made = _Reading(cls, version).struct(cls, value, "")
    assert isinstance(made, cls)
    return made


class _Reading:
    def __init__(self, root: type[Message], version: int) -> None:
        self.root, self.version = root, version

    def fail(self, path: str, problem: str) -> DictionaryError:
        return DictionaryError(problem, message=self.root.__name__, version=self.version, path=path)

    def struct(self, cls: type[Struct], value: Any, path: str) -> Struct:
        if not isinstance(value, Mapping):
            raise self.fail(path, f"an object expected, not {_shown(value)}")
        own = _layout(self.root, cls, self.version)
        slots = _slots(own)
        given: dict[str, Any] = {}
        for name, inner in value.items():
            where = f"{path}.{name}" if path else str(name)
            if name == UNKNOWN_TAGS:
                given["unknown_tagged_fields"] = self.tags(inner, where)
            elif name in slots:
                given[name] = self.field(slots[name], inner, where)
            else:
                raise self.fail(where, self.no_such_field(own, name, list(slots)))
        return cls(**given)

    def no_such_field(self, own: Layout, name: Any, known: list[str]) -> str:
        for field in own.absent:
            if field.name == name:
                return f"this version does not carry it, versions {field.versions} do"
        return f"no such field; there are {', '.join(known) or 'none'}"

    def tags(self, value: Any, path: str) -> dict[int, bytes]:
        if not isinstance(value, list):
            raise self.fail(path, f"a list expected, not {_shown(value)}")
        found: dict[int, bytes] = {}
        for index, entry in enumerate(value):
            where = f"{path}[{index}]"
            if not isinstance(entry, Mapping) or set(entry) != {"tag", "hex"}:
                raise self.fail(where, f'{{"tag", "hex"}} expected, not {_shown(entry)}')
            tag = self.integer("uint32", entry["tag"], f"{where}.tag")
            if tag in found:
                raise self.fail(f"{where}.tag", f"tag {tag} stands there twice")
            found[tag] = self.raw(entry["hex"], f"{where}.hex")
        return found

    def field(self, slot: Slot, value: Any, path: str) -> Any:
        if value is None:
            if not slot.nullable:
                raise self.fail(path, "null where this version allows none")
            return None
        if slot.field.kind != "array":
            return self.one(slot, slot.field.kind, value, path)
        if not isinstance(value, list | tuple):
            raise self.fail(path, f"a list expected, not {_shown(value)}")
        return [
            self.one(slot, slot.field.element, element, f"{path}[{index}]")
            for index, element in enumerate(value)
        ]

    def one(self, slot: Slot, kind: str, value: Any, path: str) -> Any:
        if kind == "struct":
            return self.struct(nested_class(self.root, slot.field), value, path)
        if kind in INT_RANGES:
            return self.integer(kind, value, path)
        if kind in ("bytes", "records"):
            return self.raw(value, path)
        if kind == "uuid":
            return self.uuid(value, path)
        if kind == "float64":
            return self.float(value, path)
        wanted = {"bool": bool, "string": str}[kind]
        if type(value) is not wanted:
            raise self.fail(path, f"{kind} expected, not {_shown(value)}")
        return value

    def integer(self, kind: str, value: Any, path: str) -> int:
        low, high = INT_RANGES[kind]
        if type(value) is not int or not low <= value <= high:
            raise self.fail(path, f"{kind}, {low} to {high}, expected, not {_shown(value)}")
        return value

    def raw(self, value: Any, path: str) -> bytes:
        try:
            return bytes.fromhex(value)
        except (ValueError, TypeError) as error:
            raise self.fail(path, f"hex digits expected, not {_shown(value)}") from error

    def uuid(self, value: Any, path: str) -> uuid.UUID:
        try:
            made = uuid.UUID(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise self.fail(path, f"a UUID expected, not {_shown(value)}") from error
        if str(made) != value.lower():
            raise self.fail(path, f"a UUID is 8-4-4-4-12 digits, not {_shown(value)}")
        return made

    def float(self, value: Any, path: str) -> float:
        if isinstance(value, str):
            if value in _WORDS:
                return _WORDS[value]
            found = _OTHER_NAN.fullmatch(value)
            number = _DOUBLE.unpack(bytes.fromhex(found[1]))[0] if found else 0.0
            if math.isnan(number):
                return number
        try:
            if type(value) in (int, float):
                return float(value)
        except OverflowError as error:
            raise self.fail(path, f"too large for float64: {_shown(value)}") from error
        raise self.fail(path, f"a number expected, not {_shown(value)}")


def _shown(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers of thousands of digits
        return f"an integer of {value.bit_length()} bits"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."
