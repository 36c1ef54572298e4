"""The quick way through a version of a message, as straight-line Python made from its layout.

Fields without an address are stepped over by their length, so that a megabyte of records costs as
much as none. Nothing is decoded but what is looked for.
"""

from __future__ import annotations

import struct
from functools import cache

from harness.codec.layout import FIXED_FORMATS, Layout, Slot, layout, minimum_bytes
from harness.codec.source import GeneratedSource
from harness.codec.structs import Message
from harness.proxies.addresses import marks
from harness.proxies.addresses.marks import Length
from harness.proxies.addresses.places import (
    OF_APPLICATIONS,
    REQUEST_INSIDE,
    is_metadata_log_reader,
    is_node_id,
    is_pair,
)
from harness.proxies.addresses.walk import Way, long_length, null, over_tags, refuse

METADATA_TOPICS = frozenset({b"__cluster_metadata", b"@metadata"})  # the second: 2.8
METADATA_TOPIC_ID = (1).to_bytes(16, "big")
_SIZES = {kind: struct.calcsize(">" + form) for kind, form in FIXED_FORMATS.items()} | {"uuid": 16}
_LOOKED_AT = {
    "topic": "is_metadata_log = data[start:at] in METADATA_TOPICS",
    "name": "is_metadata_log = data[start:at] in METADATA_TOPICS",
    "topic_id": "is_metadata_log = data[start:at] == METADATA_TOPIC_ID",
    "size": "size_at = start",
    "position": "position_at = start",
}
"""Code that keeps a field beside records that may be those of the metadata log, by field name."""


Header = tuple[type[Message], int]  # and its version


@cache
def way_through(cls: type[Message], version: int, header: Header | None = None) -> Way:
    """Return the way over a whole message of this version, and over the header before it."""
    writer = _Writer(cls, version)
    for message, of_version in [*([header] if header else []), (cls, version)]:
        spec = message.message_spec
        writer.struct(layout(spec, spec.root, of_version), 1, True)
    return writer.made()


class _Writer:
    """Writes one function; the cursor is ``at``."""

    def __init__(self, cls: type[Message], version: int) -> None:
        self.cls, self.spec, self.version = cls, cls.message_spec, version
        self.reads_metadata_log = is_metadata_log_reader(self.spec.name, version)
        self.source = GeneratedSource()
        self.source.names |= vars(marks)
        self.source.names |= {
            "METADATA_TOPICS": METADATA_TOPICS,
            "METADATA_TOPIC_ID": METADATA_TOPIC_ID,
            **{one.__name__: one for one in (long_length, null, over_tags, refuse)},
        }
        self.add(0, "def way(data, at, end, marks):")
        if self.reads_metadata_log:
            self.add(1, "is_metadata_log, size_at, position_at = False, 0, 0")

    def made(self) -> Way:
        self.add(1, "return at")
        return self.source.compile("way", f"way through {self.spec.name} v{self.version}")

    def add(self, indent: int, *lines: str) -> None:
        self.source.add(indent, *lines)

    def struct(self, own: Layout, indent: int, of_nodes: bool) -> None:
        fixed_bytes, slots = 0, list(own.plain)
        before, slot = None, None
        while slots:
            before, slot = slot, slots.pop(0)
            is_address = of_nodes and bool(slots) and is_pair(slot, slots[0])
            kind = slot.field.kind
            if kind in _SIZES and not is_address and not self._is_looked_at(slot):
                fixed_bytes += _SIZES[kind]
                continue
            self.over(indent, fixed_bytes)
            fixed_bytes = 0
            if is_address:
                self.address(slot, slots.pop(0), indent, has_id=is_node_id(before))
            else:
                self.value(slot, indent, of_nodes)
        self.over(indent, fixed_bytes)
        if own.flexible:
            self.tags(own, indent, of_nodes)

    def over(self, indent: int, fixed_bytes: int) -> None:
        if fixed_bytes:
            self.add(indent, f"at += {fixed_bytes}")

    def _is_looked_at(self, slot: Slot) -> bool:
        return self.reads_metadata_log and slot.field.name in _LOOKED_AT

    def value(self, slot: Slot, indent: int, of_nodes: bool) -> None:
        """A field, but not the count before a struct in a tag."""
        field = slot.field
        if field.kind == "struct":
            self.nested(slot, indent, of_nodes)
            return
        if field.kind == "array":
            self.array(slot, indent, of_nodes)
            return
        if field.kind in _SIZES:
            self.add(indent, "start = at", f"at += {_SIZES[field.kind]}")
        else:
            self.counted(slot, indent)
        if self._is_looked_at(slot):
            self.add(indent, _LOOKED_AT[field.name])
        elif REQUEST_INSIDE.get(self.spec.name) == field.name:
            arguments = f"(length_at, start, at, {_name(slot)})"
            self.add(indent, f"marks.append(WholeRequest{arguments})")
        elif field.kind == "records" and self.reads_metadata_log:
            self.records(slot, indent)

    def counted(self, slot: Slot, indent: int) -> None:
        """Over text or bytes: ``length_at``, ``start``, and ``at`` behind the last byte."""
        self.add(indent, "length_at = at")
        self.length(_length_of(slot), slot.nullable, indent)
        self.add(indent, "start = at", "at += n")

    def length(self, length: Length, nullable: bool, indent: int) -> None:
        """``n``, none for null, and the cursor behind it."""
        if length is Length.UVARINT_PLUS_1:
            self.add(indent, "n = data[at] - 1", "at += 1", "if n > 126:")
            self.add(indent + 1, "n, at = long_length(data, at - 1)")
        else:
            form, size = ("h", 2) if length is Length.INT16 else ("i", 4)
            self.add(indent, f"(n,) = {self.source.packer(form, 'unpack_from')}(data, at)")
            self.over(indent, size)
        self.add(indent, "if n < 0:")
        self.add(indent + 1, "n = null(n)" if nullable else "refuse(f'length {n}')")

    def nested(self, slot: Slot, indent: int, of_nodes: bool) -> None:
        if slot.nullable:  # behind an int8 that is negative for null
            self.add(indent, "at += 1", "if data[at - 1] < 128:")
            self._struct_of(slot, indent + 1, of_nodes)
        else:
            self._struct_of(slot, indent, of_nodes)

    def _struct_of(self, slot: Slot, indent: int, of_nodes: bool) -> None:
        assert slot.field.struct is not None
        own = layout(self.spec, slot.field.struct, self.version)
        if own.plain or own.flexible:
            self.struct(own, indent, of_nodes and slot.field.name not in OF_APPLICATIONS)
        else:
            self.add(indent, "pass")

    def array(self, slot: Slot, indent: int, of_nodes: bool) -> None:
        element = slot.field.element
        self.length(Length.UVARINT_PLUS_1 if slot.compact else Length.INT32, slot.nullable, indent)
        if element in _SIZES:
            self.add(indent, f"at += n * {_SIZES[element]}")
            return
        smallest = minimum_bytes(self.spec, slot, self.version)
        self.add(indent, f"if n * {smallest} > end - at:")
        self.add(indent + 1, "refuse(f'{n} elements in {end - at} bytes')")
        self.add(indent, "for _ in range(n):")
        if element == "struct":
            self._struct_of(slot, indent + 1, of_nodes)
        else:
            self.length(_length(element == "string", slot.compact), False, indent + 1)
            self.add(indent + 1, "at += n")

    def tags(self, own: Layout, indent: int, of_nodes: bool) -> None:
        known = {tag: self._tagged(slot, of_nodes) for tag, slot in own.tagged.items()}
        name = self.source.constant("known", known)
        self.add(indent, "if data[at]:")
        self.add(indent + 1, f"at = over_tags(data, at, end, marks, {name})")
        self.add(indent, "else:")
        self.add(indent + 1, "at += 1")

    def _tagged(self, slot: Slot, of_nodes: bool) -> Way:
        """A field's value inside its tag: a way of its own."""
        writer = _Writer(self.cls, self.version)
        if slot.field.kind != "struct":
            writer.value(slot, 1, of_nodes)
        elif slot.nullable:
            writer.add(1, "at += 1", "if data[at - 1]:")  # a varint that is 0 for null, else 1
            writer._struct_of(slot, 2, of_nodes)
        else:
            writer._struct_of(slot, 1, of_nodes)
        return writer.made()

    def address(self, first: Slot, second: Slot, indent: int, *, has_id: bool) -> None:
        port_first = first.field.kind != "string"
        host, port = (second, first) if port_first else (first, second)
        form, size = FIXED_FORMATS[port.field.kind], _SIZES[port.field.kind]
        read_port = f"(port,) = {self.source.packer(form, 'unpack_from')}(data, at)"
        self.add(indent, "address_at = at")
        if has_id:
            packer = self.source.packer(FIXED_FORMATS["int32"], "unpack_from")
            self.add(indent, f"(node_id,) = {packer}(data, at - {_SIZES['int32']})")
        if port_first:
            self.add(indent, read_port, f"at += {size}")
        self.counted(host, indent)
        self.add(indent, "host = data[start:at].decode()")
        if not port_first:
            self.add(indent, read_port, f"at += {size}")
        where = f"address_at, at, host, port, {_name(host)}, {size}, {port_first}"
        where += ", node_id" if has_id else ""
        self.add(indent, f"marks.append(NodeAddress({where}))")

    def records(self, slot: Slot, indent: int) -> None:
        self.add(indent, "if is_metadata_log and n:")
        found = f"MetadataRecords(length_at, start, at, {_name(slot)})"
        if self.spec.name == "FetchSnapshotResponse":
            found = f"MetadataSnapshot(size_at, position_at, {found})"
        self.add(indent + 1, f"marks.append({found})")


def _length_of(slot: Slot) -> Length:
    """Return the form of the length before this text or these bytes."""
    return _length(slot.field.kind == "string", slot.compact)


def _name(slot: Slot) -> str:
    return f"Length.{_length_of(slot).name}"


def _length(text: bool, compact: bool) -> Length:
    if compact:
        return Length.UVARINT_PLUS_1
    return Length.INT16 if text else Length.INT32
