"""Random messages from a seed: every field that a version carries, its limits and its nulls."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from typing import Any

from harness.codec.definition import INT_RANGES, FieldSpec
from harness.codec.layout import Slot
from harness.codec.structs import Message, Struct, default_of, nested_class
from labs.message_values.values import FIRST_UNKNOWN_TAG, layout_of

NULL_SHARE = 0.25
DEFAULT_SHARE = 0.2
ELEMENTS = (0, 1, 1, 2, 3)
TEXTS = ("", "a", "kc-topic", "zażółć", "𝕂", "\0", "x" * 200)


def random_message(chance: random.Random, cls: type[Message], version: int) -> Message:
    """A message of which ``version`` can carry every field."""
    made = _struct(chance, cls, cls, version, 0)
    assert isinstance(made, Message)
    return made


def _struct(
    chance: random.Random, root: type[Message], cls: type[Struct], version: int, depth: int
) -> Struct:
    own = layout_of(root, cls.spec, version)
    made = cls()
    for slot in (*own.plain, *own.tagged.values()):
        setattr(made, slot.field.name, _value(chance, root, cls, slot, version, depth))
    if own.flexible and chance.random() < 0.3:
        made.unknown_tagged_fields = {
            FIRST_UNKNOWN_TAG + number: chance.randbytes(chance.choice((0, 1, 40)))
            for number in range(chance.choice((1, 2)))
        }
    return made


def _value(
    chance: random.Random, root: type[Message], cls: Any, slot: Slot, version: int, depth: int
) -> Any:
    field = slot.field
    if slot.nullable and chance.random() < NULL_SHARE:
        return None
    default = default_of(cls, field.name)
    usable = default is not None or slot.nullable
    if usable and field.struct is None and chance.random() < DEFAULT_SHARE:
        return default
    if field.kind != "array":
        return _one(chance, root, field, field.kind, version, depth)
    count = chance.choice(ELEMENTS if depth < 2 else ELEMENTS[:2])
    return [_one(chance, root, field, field.element, version, depth) for _ in range(count)]


def _one(
    chance: random.Random, root: Any, field: FieldSpec, kind: str, version: int, depth: int
) -> Any:
    if kind == "struct":
        return _struct(chance, root, nested_class(root, field), version, depth + 1)
    if kind in INT_RANGES:
        low, high = INT_RANGES[kind]
        return chance.choice((low, high, 0, 1, chance.randint(low, high)))
    return _DRAWS[kind](chance)


_DRAWS: dict[str, Callable[[random.Random], Any]] = {
    "bool": lambda chance: chance.random() < 0.5,
    "float64": lambda chance: chance.choice((0.0, -1.5, 1e300, chance.random())),
    "uuid": lambda chance: uuid.UUID(int=chance.getrandbits(128)),
    "string": lambda chance: chance.choice(TEXTS),
    "bytes": lambda chance: chance.randbytes(chance.choice((0, 1, 20, 300))),
    "records": lambda chance: chance.randbytes(chance.choice((0, 1, 61))),
}
