"""The slow, obvious decoder: walks the schema field by field and always knows its position.

It is the reference for the generated decoders (both must give the same value), and it finds the
broken field of a broken message.
"""

from __future__ import annotations

import struct
import uuid

from harness.codec.errors import DecodeError
from harness.codec.layout import (
    FIXED_FORMATS,
    STRING_LIMIT_BYTES,
    Layout,
    Slot,
    layout,
    minimum_bytes,
)
from harness.codec.specs import MessageSpec
from harness.codec.structs import Message, Struct, nested_class
from harness.codec.varint import decode_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class FieldReader:
    """Reads one message from ``data``, beginning at ``offset``."""

    def __init__(
        self,
        cls: type[Message],
        version: int,
        data: bytes,
        offset: int = 0,
        tolerant: bool = False,
        keep: bool = True,
    ) -> None:
        """``tolerant``: see ``decode_prefix``; without ``keep`` no element of an array is kept.

        A caller passes ``keep=False`` when it needs only the error.
        """
        self.keep = keep
        self.cls, self.version, self.data, self.offset = cls, version, data, offset
        self.tolerant = tolerant
        self.spec: MessageSpec = cls.message_spec
        self.path: list[str] = []
        self.field_offset = offset
        self.end = len(data)

    def fail(self, problem: str) -> DecodeError:
        path = ".".join(self.path).replace(".[", "[")
        return DecodeError(
            problem,
            message=self.spec.name,
            version=self.version,
            path=path,
            offset=self.field_offset,
        )

    def read(self) -> Message:
        """The whole message; ``self.offset`` is then behind it. Raises DecodeError."""
        result = self.struct(self.cls, layout(self.spec, self.spec.root, self.version))
        assert isinstance(result, Message)
        return result

    def struct(self, cls: type[Struct], own: Layout) -> Struct:
        made = cls()
        for slot in own.plain:
            setattr(made, slot.field.name, self.at(slot.field.name, self.value, slot))
        if own.flexible:
            self.tagged_section(made, own)
        return made

    def at(self, name: str, read: Callable[..., Any], *arguments: Any) -> Any:
        """Call ``read`` one step deeper in the path."""
        self.path.append(name)
        self.field_offset = self.offset
        result = read(*arguments)
        self.path.pop()
        return result

    def value(self, slot: Slot) -> Any:
        kind = slot.field.kind
        if kind == "struct":
            return self.nested(slot)
        if kind == "array":
            return self.array(slot)
        return self.scalar(kind, slot.compact, slot.nullable)

    def nested(self, slot: Slot) -> Struct | None:
        assert slot.field.struct is not None
        if slot.nullable and slot.field.tagged and self.version in slot.field.tagged:
            if self.uvarint() == 0:
                return None
        elif slot.nullable and struct.unpack(">b", self.take(1))[0] < 0:
            return None
        cls = nested_class(self.cls, slot.field)
        return self.struct(cls, layout(self.spec, slot.field.struct, self.version))

    def array(self, slot: Slot) -> list[Any] | None:
        count = self.uvarint() - 1 if slot.compact else self.fixed("i")
        if count < 0:
            self.null(count, slot.nullable)
            return None
        smallest = minimum_bytes(self.spec, slot, self.version)
        if count * smallest > self.end - self.offset:
            raise self.fail(
                f"{count} elements cannot fit in the {self.end - self.offset} bytes that are left"
            )
        found = []
        for index in range(count):
            element = self.at(f"[{index}]", self.element, slot)
            if self.keep:
                found.append(element)
        return found

    def element(self, slot: Slot) -> Any:
        if slot.field.element != "struct":
            return self.scalar(slot.field.element, slot.compact, False)
        assert slot.field.struct is not None
        cls = nested_class(self.cls, slot.field)
        return self.struct(cls, layout(self.spec, slot.field.struct, self.version))

    def scalar(self, kind: str, compact: bool, nullable: bool) -> Any:
        if kind == "bool":
            return self.take(1) != b"\0"
        if kind in FIXED_FORMATS:
            return self.fixed(FIXED_FORMATS[kind])
        if kind == "uuid":
            return uuid.UUID(bytes=self.take(16))
        if compact:
            length = self.uvarint() - 1
        else:
            length = self.fixed("h" if kind == "string" else "i")
        if length < 0:
            self.null(length, nullable)
            return None
        if kind != "string":
            return self.take(length)
        return self.text(length)

    def text(self, length: int) -> str:
        if length > STRING_LIMIT_BYTES:
            raise self.fail(f"a string of {length} bytes; {STRING_LIMIT_BYTES} are the limit")
        try:
            return self.take(length).decode("utf-8", "replace" if self.tolerant else "strict")
        except UnicodeDecodeError as error:
            raise self.fail(f"not UTF-8: {error.reason}") from error

    def null(self, length: int, nullable: bool) -> None:
        if length != -1 and not self.tolerant:
            raise self.fail(f"negative length {length}")
        if not nullable:
            raise self.fail("null where this version allows none")

    def tagged_section(self, made: Struct, own: Layout) -> None:
        self.at("(tagged fields)", self.tagged_fields, made, own)

    def tagged_fields(self, made: Struct, own: Layout) -> None:
        last = -1
        for _ in range(self.uvarint()):
            self.field_offset = self.offset
            tag, size = self.uvarint(), self.uvarint()
            if tag <= last and not self.tolerant:
                raise self.fail(f"tag {tag} after tag {last}: tags must ascend")
            last = tag
            known = tag in own.tagged
            if size > self.end - self.offset and not (known and self.tolerant):
                raise self.fail(f"tag {tag} claims {size} bytes, {self.end - self.offset} are left")
            if known:
                self.known_tag(made, own.tagged[tag], size)
            elif any(field.tag == tag for field in own.struct.fields):
                raise self.fail(f"tag {tag} is not valid at this version")
            else:
                self.unknown_tag(made, tag, size)

    def known_tag(self, made: Struct, slot: Slot, size: int) -> None:
        outer, stop = self.end, self.offset + size
        self.end = outer if self.tolerant else stop
        value = self.at(slot.field.name, self.value, slot)
        self.end = outer
        if self.offset != stop and not self.tolerant:
            raise self.fail(f"tag {slot.field.tag}: {stop - self.offset} of {size} bytes not used")
        setattr(made, slot.field.name, value)

    def unknown_tag(self, made: Struct, tag: int, size: int) -> None:
        made.unknown_tagged_fields[tag] = self.take(size)

    def uvarint(self) -> int:
        try:
            value, after = decode_uvarint(self.data, self.offset)
        except ValueError as error:
            raise self.fail(str(error)) from error
        except IndexError as error:
            raise self.fail("the data ends inside a varint") from error
        if after > self.end:
            raise self.fail("the data ends inside a varint")
        self.offset = after
        return value

    def fixed(self, form: str) -> Any:
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))[0]

    def take(self, count: int) -> bytes:
        left = self.end - self.offset
        if count > left:
            raise self.fail(f"{count} bytes needed, {left} left")
        self.offset += count
        return bytes(self.data[self.offset - count : self.offset])
