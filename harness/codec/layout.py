"""The wire form of one version of a struct: its fields, their order and their form."""

from __future__ import annotations

from harness.codec.specs import FieldSpec, MessageSpec, StructSpec

FIXED_FORMATS = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
}
_FIXED_SIZES = {"?": 1, "b": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8}
STRING_LIMIT_BYTES = 32767  # KIP-482: compact strings keep the limit of the int16 length


class Slot:
    """A field at one version."""

    __slots__ = ("compact", "field", "nullable")

    def __init__(self, field: FieldSpec, compact: bool, nullable: bool) -> None:
        self.field = field
        self.compact = compact  # lengths as unsigned varint + 1
        self.nullable = nullable


class Layout:
    """A struct at one version; ``absent`` fields cannot be carried by it."""

    __slots__ = ("absent", "flexible", "plain", "struct", "tagged", "version")

    def __init__(self, struct: StructSpec, version: int, flexible: bool) -> None:
        self.struct, self.version, self.flexible = struct, version, flexible
        self.plain: tuple[Slot, ...] = ()
        self.tagged: dict[int, Slot] = {}
        self.absent: tuple[FieldSpec, ...] = ()


def layout(message: MessageSpec, struct: StructSpec, version: int) -> Layout:
    """The layout of ``struct``, which is part of ``message``, at ``version``."""
    key = (id(struct), version)  # by identity: specs are mutable while they are built
    found = message.layouts.get(key)
    if found is None:
        found = message.layouts[key] = _layout(message, struct, version)
    return found


def _layout(message: MessageSpec, struct: StructSpec, version: int) -> Layout:
    own = Layout(struct, version, version in message.flexible)
    plain, tagged, absent = [], {}, []
    for field in struct.fields:
        compact = own.flexible if field.flexible is None else version in field.flexible
        nullable = version in field.nullable
        if version in field.tagged:
            tagged[field.tag] = Slot(field, True, nullable)
        elif version in field.versions:
            plain.append(Slot(field, compact, nullable))
        else:
            absent.append(field)
    own.plain, own.tagged, own.absent = tuple(plain), dict(sorted(tagged.items())), tuple(absent)
    return own


def minimum_bytes(message: MessageSpec, slot: Slot, version: int) -> int:
    """The fewest bytes that an element of this array can take, at least 1.

    A count of more elements than the remaining bytes can hold is refused before anything is
    allocated.
    """
    field = slot.field
    if field.element in FIXED_FORMATS:
        return _FIXED_SIZES[FIXED_FORMATS[field.element]]
    if field.element == "uuid":
        return 16
    if field.element != "struct":
        return 1 if slot.compact else (2 if field.element == "string" else 4)
    assert field.struct is not None
    return max(1, _struct_minimum(message, field.struct, version))


def _struct_minimum(message: MessageSpec, struct: StructSpec, version: int) -> int:
    own = layout(message, struct, version)
    total = 1 if own.flexible else 0
    for slot in own.plain:
        kind = slot.field.kind
        if kind in FIXED_FORMATS:
            total += _FIXED_SIZES[FIXED_FORMATS[kind]]
        elif kind == "uuid":
            total += 16
        elif kind == "struct" and not slot.nullable:
            assert slot.field.struct is not None
            total += _struct_minimum(message, slot.field.struct, version)
        elif kind == "string" and not slot.compact:
            total += 2
        elif kind in ("bytes", "records", "array") and not slot.compact:
            total += 4
        else:
            total += 1
    return total
