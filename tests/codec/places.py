"""Where the lengths, counts, texts and tags of a valid message stand in its bytes.

A third reader, which only finds its way: it shares nothing with those that it helps to judge but
the layouts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from harness.codec.layout import FIXED_FORMATS, Layout, Slot, layout
from harness.codec.structs import Message


class Place(NamedTuple):
    """A length, count or tagged section.

    ``what``: ``string``, ``bytes``, ``records``, ``array`` or ``tags``; the length's own bytes are
    ``start`` to ``stop``, what it measures goes on to ``end``. ``path`` is the field's.
    """

    what: str
    path: str
    start: int
    stop: int
    end: int
    compact: bool
    nullable: bool


def places(cls: type[Message], version: int, raw: bytes) -> list[Place]:
    """All places of a message that fills ``raw``, which must be valid, in their order."""
    walker = _Walker(cls, version, raw)
    found = list(walker.struct(layout(cls.message_spec, cls.message_spec.root, version), ""))
    assert walker.at == len(raw), "the walker lost its way"
    return found


class _Walker:
    def __init__(self, cls: type[Message], version: int, raw: bytes) -> None:
        self.spec, self.version, self.raw = cls.message_spec, version, raw
        self.at = 0

    def struct(self, own: Layout, path: str) -> Iterator[Place]:
        for slot in own.plain:
            yield from self.field(slot, _join(path, slot.field.name), tagged=False)
        if own.flexible:
            yield from self.tags(own, _join(path, "(tagged fields)"))

    def tags(self, own: Layout, path: str) -> Iterator[Place]:
        start = self.at
        count = self.uvarint()
        stop = self.at
        found: list[Place] = []
        for _ in range(count):
            tag, size = self.uvarint(), self.uvarint()
            if tag in own.tagged:
                slot = own.tagged[tag]
                found += self.field(slot, _join(path, slot.field.name), tagged=True)
            else:
                self.at += size
        yield Place("tags", path, start, stop, self.at, True, False)
        yield from found

    def field(self, slot: Slot, path: str, *, tagged: bool) -> Iterator[Place]:
        kind = slot.field.kind
        if kind == "struct":
            if slot.nullable:
                self.at += 1
            yield from self.nested(slot, path)
        elif kind == "array":
            count, place = self.length("array", slot.compact, slot.nullable, path)
            inner: list[Place] = []
            for index in range(count):
                inner += self.element(slot, f"{path}[{index}]")
            yield place._replace(end=self.at)
            yield from inner
        else:
            yield from self.scalar(kind, slot.compact, slot.nullable, path)

    def nested(self, slot: Slot, path: str) -> Iterator[Place]:
        assert slot.field.struct is not None
        yield from self.struct(layout(self.spec, slot.field.struct, self.version), path)

    def element(self, slot: Slot, path: str) -> Iterator[Place]:
        if slot.field.element == "struct":
            yield from self.nested(slot, path)
        else:
            yield from self.scalar(slot.field.element, slot.compact, False, path)

    def scalar(self, kind: str, compact: bool, nullable: bool, path: str) -> Iterator[Place]:
        if kind in FIXED_FORMATS:
            self.at += struct.calcsize(">" + FIXED_FORMATS[kind])
        elif kind == "uuid":
            self.at += 16
        else:
            length, place = self.length(kind, compact, nullable, path)
            self.at += length
            yield place._replace(end=self.at)

    def length(self, what: str, compact: bool, nullable: bool, path: str) -> tuple[int, Place]:
        start = self.at
        if compact:
            length = self.uvarint() - 1
        else:
            form = ">h" if what == "string" else ">i"
            (length,) = struct.unpack_from(form, self.raw, start)
            self.at += struct.calcsize(form)
        return max(length, 0), Place(what, path, start, self.at, self.at, compact, nullable)

    def uvarint(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self.raw[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
