"""Marks that a walk sets on values of a message, and edits that replace these values.

Nothing else of a message changes: bytes are cut out and inserted, and the lengths around them are
written anew.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

from harness.codec.varint import encode_uvarint, encode_varlong

_INT64 = struct.Struct(">q")


class Edit(NamedTuple):
    """``data[start:stop]`` becomes ``new``."""

    start: int
    stop: int
    new: bytes


class Replacements(Protocol):
    """The replacements of marked values; None: the value stays."""

    def address(
        self, host: str, port: int, node_id: int | None = None
    ) -> tuple[str, int] | None: ...

    def records(self, batches: bytes) -> bytes | None: ...

    def request(self, payload: bytes) -> bytes | None: ...

    def count(self, reason: str) -> None: ...


class Length(Enum):
    """The form of a length before the bytes that it counts."""

    INT16 = "int16"
    INT32 = "int32"
    UVARINT = "uvarint"
    UVARINT_PLUS_1 = "uvarint + 1"
    VARINT = "zig-zag varint"

    def bytes_of(self, length: int) -> bytes:
        if self is Length.UVARINT:
            return encode_uvarint(length)
        if self is Length.UVARINT_PLUS_1:
            return encode_uvarint(length + 1)
        if self is Length.VARINT:
            return encode_varlong(length)
        return length.to_bytes(2 if self is Length.INT16 else 4, "big")


class AddressMark(Protocol):
    def edits(self, data: bytes, asked: Replacements) -> list[Edit]: ...


def edits_of(marks: Sequence[AddressMark], data: bytes, asked: Replacements) -> list[Edit]:
    """Return the edits of all marks, in the order of the bytes, which is that of the marks."""
    return [edit for mark in marks for edit in mark.edits(data, asked)]


def spliced(data: bytes, edits: Sequence[Edit], start: int = 0, stop: int | None = None) -> bytes:
    """``data[start:stop]`` with the edits, which lie in it, done."""
    pieces: list[bytes] = []
    at = start
    for edit in edits:
        pieces += (data[at : edit.start], edit.new)
        at = edit.stop
    pieces.append(data[at : len(data) if stop is None else stop])
    return b"".join(pieces)


class NodeAddress(NamedTuple):
    """A host and its port, next to each other; ``node_id``: of the node, where it stands before."""

    start: int
    stop: int
    host: str
    port: int
    host_length: Length
    port_bytes: int
    port_first: bool
    node_id: int | None = None

    def edits(self, data: bytes, asked: Replacements) -> list[Edit]:  # noqa: ARG002
        new = asked.address(self.host, self.port, self.node_id)
        if new is None or new == (self.host, self.port):
            return []
        host = new[0].encode()
        parts = [
            self.host_length.bytes_of(len(host)) + host,
            new[1].to_bytes(self.port_bytes, "big"),
        ]
        if self.port_first:
            parts.reverse()
        return [Edit(self.start, self.stop, b"".join(parts))]


class CountedLength(NamedTuple):
    """Bytes with their length before them, and what is marked in them."""

    length_at: int
    start: int
    stop: int
    length: Length
    inside: Sequence[AddressMark]

    def edits(self, data: bytes, asked: Replacements) -> list[Edit]:
        edits = edits_of(self.inside, data, asked)
        if not edits:
            return []
        return [_counted(self, spliced(data, edits, self.start, self.stop))]


class MetadataRecords(NamedTuple):
    """Batches of the metadata log."""

    length_at: int
    start: int
    stop: int
    length: Length

    def edits(self, data: bytes, asked: Replacements) -> list[Edit]:
        new = asked.records(data[self.start : self.stop])
        return [] if new is None else [_counted(self, new)]


class MetadataSnapshot(NamedTuple):
    """Batches of a snapshot, which begin at any byte of it unless all of it is here.

    The reader requests the next part by the count of bytes that it has, so only a whole one can
    change.
    """

    size_at: int
    position_at: int
    records: MetadataRecords

    def edits(self, data: bytes, asked: Replacements) -> list[Edit]:
        size = self.records.stop - self.records.start
        position, whole = (
            _INT64.unpack_from(data, at)[0] for at in (self.position_at, self.size_at)
        )
        if position or whole != size:
            asked.count("part_of_snapshot")
            return []
        new = asked.records(data[self.records.start : self.records.stop])
        if new is None:
            return []
        new_size = Edit(self.size_at, self.size_at + _INT64.size, _INT64.pack(len(new)))
        return [new_size, _counted(self.records, new)]


class WholeRequest(NamedTuple):
    """A request, with its header, as bytes."""

    length_at: int
    start: int
    stop: int
    length: Length

    def edits(self, data: bytes, asked: Replacements) -> list[Edit]:
        new = asked.request(data[self.start : self.stop])
        return [] if new is None else [_counted(self, new)]


def _counted(around: CountedLength | MetadataRecords | WholeRequest, body: bytes) -> Edit:
    return Edit(around.length_at, around.stop, around.length.bytes_of(len(body)) + body)
