"""Large messages such as clusters send: names of usual length, small numbers, three replicas."""

from __future__ import annotations

import uuid
from itertools import count
from typing import Any

from harness.codec import encode
from harness.codec.layout import Slot
from harness.codec.structs import Message, Struct, nested_class
from labs.message_values.values import layout_of

INNER_STRUCTS = 4
INNER_SCALARS = 3
_SCALARS: dict[str, Any] = {
    "bool": False,
    "int8": 2,
    "int16": 0,
    "uint16": 9092,
    "uint32": 3,
    "float64": 0.5,
    "bytes": bytes(64),
    "records": bytes(512),
}


class Realistic:
    """Makes one message; every name in it is another one."""

    def __init__(self, cls: type[Message], version: int, elements: int) -> None:
        self.cls, self.version, self.elements = cls, version, elements
        self.numbers = count(1)

    def message(self) -> Message:
        made = self.struct(self.cls, 0)
        assert isinstance(made, Message)
        return made

    def struct(self, cls: type[Struct], depth: int) -> Struct:
        made = cls()
        for slot in layout_of(self.cls, cls.spec, self.version).plain:
            setattr(made, slot.field.name, self.value(slot, depth))
        return made

    def value(self, slot: Slot, depth: int) -> Any:
        field = slot.field
        if field.kind != "array":
            return self.one(slot, field.kind, depth)
        usual = INNER_STRUCTS if field.element == "struct" else INNER_SCALARS
        size = usual if depth or field.element != "struct" else self.elements
        return [self.one(slot, field.element, depth) for _ in range(size)]

    def one(self, slot: Slot, kind: str, depth: int) -> Any:
        number = next(self.numbers)
        if kind == "struct":
            return self.struct(nested_class(self.cls, slot.field), depth + 1)
        if kind == "string":
            return f"shop.orders.events.{number:06}"
        if kind == "uuid":
            return uuid.UUID(int=number * 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C834 % 2**128)
        if kind == "int32":
            return number % 200
        if kind == "int64":
            return 1_000_000_000 + number
        return _SCALARS[kind]


def realistic(cls: type[Message], version: int, size_bytes: int) -> Message | None:
    """A message of about this size; None when it has no arrays of structs that could grow."""
    one, two = (len(encode(Realistic(cls, version, n).message(), version)) for n in (1, 2))
    if one == two:
        return None
    return Realistic(cls, version, 1 + (size_bytes - one) // (two - one)).message()
