"""The slow, obvious encoder: the reference for the generated ones; it names a bad field."""

from __future__ import annotations

import struct
import uuid

from harness.codec.errors import EncodeError
from harness.codec.layout import FIXED_FORMATS, STRING_LIMIT_BYTES, Layout, Slot, layout
from harness.codec.specs import MessageSpec
from harness.codec.structs import Message, Struct, default_of
from harness.codec.varint import encode_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class FieldWriter:
    """Writes one message at one version."""

    def __init__(self, message: Message, version: int) -> None:
        self.message, self.version = message, version
        self.spec: MessageSpec = message.message_spec
        self.path: list[str] = []

    def fail(self, problem: str) -> EncodeError:
        path = ".".join(self.path).replace(".[", "[")
        return EncodeError(problem, message=self.spec.name, version=self.version, path=path)

    def write(self) -> bytes:
        """The message's body. Raises EncodeError."""
        return self.struct(self.message, layout(self.spec, self.spec.root, self.version))

    def struct(self, value: Any, own: Layout) -> bytes:
        wanted = self.class_of(own)
        if type(value) is not wanted:
            raise self.fail(f"{wanted.__qualname__} expected, not {type(value).__name__}")
        for field in own.absent:
            if not field.ignorable and getattr(value, field.name) != default_of(wanted, field.name):
                self.path.append(field.name)
                raise self.fail("set, but this version cannot carry it")
        out = bytearray()
        for slot in own.plain:
            self.path.append(slot.field.name)
            out += self.value(slot, getattr(value, slot.field.name))
            self.path.pop()
        if own.flexible:
            out += self.tagged_section(value, own)
        elif value.unknown_tagged_fields:
            raise self.fail("unknown tagged fields, but this version is not flexible")
        return bytes(out)

    def class_of(self, own: Layout) -> type[Struct]:
        root = type(self.message)
        if own.struct is self.spec.root:
            return root
        nested: type[Struct] = getattr(root, own.struct.name)
        return nested

    def value(self, slot: Slot, value: Any) -> bytes:
        kind = slot.field.kind
        if value is None:
            return self.null(slot)
        if kind == "struct":
            marker = b""
            if slot.nullable:
                marker = b"\1"  # int8 1 and unsigned varint 1 are the same byte
            assert slot.field.struct is not None
            return marker + self.struct(value, layout(self.spec, slot.field.struct, self.version))
        if kind == "array":
            return self.array(slot, value)
        return self.scalar(kind, slot.compact, value)

    def null(self, slot: Slot) -> bytes:
        if not slot.nullable:
            raise self.fail("None, but this version allows no null")
        kind = slot.field.kind
        if kind == "struct":
            return b"\0" if self.version in slot.field.tagged else b"\xff"
        if slot.compact:
            return b"\0"
        return b"\xff\xff" if kind == "string" else b"\xff\xff\xff\xff"

    def array(self, slot: Slot, value: Any) -> bytes:
        if not isinstance(value, list | tuple):
            raise self.fail(f"a list expected, not {type(value).__name__}")
        out = bytearray(self.length(len(value), slot.compact, "i"))
        for index, element in enumerate(value):
            self.path.append(f"[{index}]")
            if slot.field.element == "struct":
                assert slot.field.struct is not None
                out += self.struct(element, layout(self.spec, slot.field.struct, self.version))
            else:
                out += self.scalar(slot.field.element, slot.compact, element)
            self.path.pop()
        return bytes(out)

    def scalar(self, kind: str, compact: bool, value: Any) -> bytes:
        if kind == "bool" and type(value) is not bool:  # any object would pack: it has a truth
            raise self.fail(f"True or False expected, not {value!r}")
        if kind in FIXED_FORMATS:
            try:
                return struct.pack(">" + FIXED_FORMATS[kind], value)
            except (struct.error, TypeError) as error:
                raise self.fail(f"{value!r} is not {kind}: {error}") from error
        if kind == "uuid":
            if type(value) is not uuid.UUID:
                raise self.fail(f"a uuid.UUID expected, not {value!r}")
            return value.bytes
        if kind == "string":
            return self.text(value, compact)
        if not isinstance(value, bytes | bytearray | memoryview):
            raise self.fail(f"bytes expected, not {type(value).__name__}")
        return self.length(len(value), compact, "i") + bytes(value)

    def text(self, value: Any, compact: bool) -> bytes:
        if not isinstance(value, str):
            raise self.fail(f"a string expected, not {value!r}")
        try:
            raw = value.encode()
        except UnicodeEncodeError as error:
            raise self.fail(f"{value!r} has no UTF-8: {error.reason}") from error
        if len(raw) > STRING_LIMIT_BYTES:
            raise self.fail(f"a string of {len(raw)} bytes; {STRING_LIMIT_BYTES} are the limit")
        return self.length(len(raw), compact, "h") + raw

    def length(self, count: int, compact: bool, form: str) -> bytes:
        return encode_uvarint(count + 1) if compact else struct.pack(">" + form, count)

    def tagged_section(self, value: Struct, own: Layout) -> bytes:
        found: dict[int, bytes] = {}
        for tag, slot in own.tagged.items():
            current = getattr(value, slot.field.name)
            if current != default_of(type(value), slot.field.name):
                self.path.append(slot.field.name)
                found[tag] = self.value(slot, current)
                self.path.pop()
        for tag, raw in value.unknown_tagged_fields.items():
            self.require_unknown(tag, raw, own)
            found[tag] = raw
        out = bytearray(encode_uvarint(len(found)))
        for tag in sorted(found):
            out += encode_uvarint(tag) + encode_uvarint(len(found[tag])) + found[tag]
        return bytes(out)

    def require_unknown(self, tag: Any, raw: Any, own: Layout) -> None:
        if type(tag) is not int or not 0 <= tag < 1 << 32:
            raise self.fail(f"an unknown tagged field needs a tag of 0 .. 2**32 - 1, not {tag!r}")
        if any(field.tag == tag for field in own.struct.fields):
            raise self.fail(f"unknown tagged field {tag} is a field of this struct")
        if not isinstance(raw, bytes | bytearray | memoryview):
            raise self.fail(f"unknown tagged field {tag}: bytes expected, not {raw!r}")
