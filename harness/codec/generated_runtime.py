"""Helpers of generated encoders and decoders for cases that are too rare for inline code.

All helpers may raise ``Malformed`` or any other exception: the interpreter then finds the cause.
"""

from __future__ import annotations

import struct
import uuid

from harness.codec.borrowed_buffer import BorrowedBuffer
from harness.codec.layout import STRING_LIMIT_BYTES
from harness.codec.specs import ZERO_UUID
from harness.codec.varint import decode_uvarint, encode_uvarint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

ONE_BYTE = tuple([bytes((value,)) for value in range(128)])  # lengths of most strings
_KEPT_COUNTS = 64  # formats for more elements than this are made again each time


class Malformed(Exception):
    """Raised by generated code; the interpreter then finds out what is wrong and where."""


class Lazy:
    """A generated function that is made when it is first called."""

    __slots__ = ("made", "make")

    def __init__(self, make: Callable[[], Callable[..., Any]]) -> None:
        self.make = make
        self.made: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self.made is None:
            self.made = self.make()
        return self.made(*arguments)


class CountedArray(dict[int, "Callable[..., Any]"]):
    """``[n]``: pack or unpack_from of n elements of ``form``, followed by ``rest``.

    ``bias``: the difference between a compact count and the true count. Only the formats of short
    arrays are kept, so that messages with many different counts cannot fill the memory.
    """

    __slots__ = ("bias", "form", "method", "rest")

    def __init__(self, form: str, rest: str, bias: int, method: str) -> None:
        self.form, self.rest, self.bias, self.method = form, rest, bias, method

    def __missing__(self, written: int) -> Callable[..., Any]:
        count = written - self.bias
        if count < 0 and self.method == "unpack_from":
            raise Malformed
        made: Callable[..., Any]
        made = getattr(struct.Struct(f">{max(count, 0)}{self.form}{self.rest}"), self.method)
        if count <= _KEPT_COUNTS:
            self[written] = made
        return made


def read_nullable_length(data: bytes, after: int) -> tuple[int, int]:
    """Length or count + 1 and what comes after it, when its first byte is not enough."""
    second = data[after]
    if second < 128:
        return data[after - 1] + (second << 7) - 128, after + 1
    return decode_uvarint(data, after - 1)


def read_length(data: bytes, after: int) -> tuple[int, int]:
    """The same when it is not enough or is null, which it must not be."""
    if not data[after - 1]:
        raise Malformed
    found = read_nullable_length(data, after)
    if not found[0]:
        raise Malformed
    return found


def read_nullable_text_length(data: bytes, after: int) -> tuple[int, int]:
    """The same of a string."""
    found = read_nullable_length(data, after)
    if found[0] > STRING_LIMIT_BYTES + 1:
        raise Malformed
    return found


def read_text_length(data: bytes, after: int) -> tuple[int, int]:
    """The same of a string that must not be null."""
    found = read_length(data, after)
    if found[0] > STRING_LIMIT_BYTES + 1:
        raise Malformed
    return found


def write_length(written: int) -> bytes:
    """The bytes of a length or count + 1 that does not fit one byte."""
    if written < 1 << 14:
        return bytes((written & 127 | 128, written >> 7))
    return encode_uvarint(written)


def write_text_length(written: int) -> bytes:
    """The same of a string."""
    if written > STRING_LIMIT_BYTES + 1:
        raise Malformed
    return write_length(written)


_new_uuid = uuid.UUID.__new__
_set_int = uuid.UUID.__dict__["int"].__set__  # what its constructor does, without its checks
_set_safe = uuid.UUID.__dict__["is_safe"].__set__
_UNKNOWN = uuid.SafeUUID.unknown
_from_bytes = int.from_bytes


def uuid_of(raw: bytes) -> uuid.UUID:
    """16 bytes as a UUID."""
    number = _from_bytes(raw, "big")
    if not number:
        return ZERO_UUID
    made = _new_uuid(uuid.UUID)
    _set_int(made, number)
    _set_safe(made, _UNKNOWN)
    return made


def read_uuids(data: bytes, start: int, stop: int) -> list[uuid.UUID]:
    """As many as there are between the two."""
    return [uuid_of(data[at : at + 16]) for at in range(start, stop, 16)]


def read_each(
    read: Callable[..., Any], data: bytes, offset: int, end: int, count: int
) -> tuple[list[Any], int]:
    """``count`` structs, each by a call; and the offset behind them."""
    items = []
    for _ in range(count):
        item, offset = read(data, offset, end)
        items.append(item)
    return items, offset


def require_list(value: Any) -> None:
    """A list or tuple; text and bytes could be iterated too, but are none."""
    if not isinstance(value, list | tuple):
        raise Malformed


def require_bools(values: Any) -> None:
    """Any object would pack: it has a truth."""
    for value in values:
        if type(value) is not bool:
            raise Malformed


def bytes_of(value: Any) -> bytes:
    """Return a bytes-like object as ``bytes``; a BorrowedBuffer is returned unchanged."""
    if isinstance(value, BorrowedBuffer):
        return value  # type: ignore[return-value]
    if not isinstance(value, bytes | bytearray | memoryview):
        raise Malformed
    return bytes(value)


def uuid_bytes(value: Any) -> bytes:
    """The 16 bytes of a UUID."""
    if type(value) is not uuid.UUID:
        raise Malformed
    return value.int.to_bytes(16, "big")


def tagged_section(found: dict[int, bytes], unknown: Any, known: frozenset[int]) -> bytes:
    """All tagged fields of a struct, with their number in front."""
    if unknown:
        for tag, raw in unknown.items():
            if type(tag) is not int or tag in known:
                raise Malformed
            found[tag] = bytes_of(raw)
    parts = [encode_uvarint(len(found))]
    for tag in sorted(found):
        parts += (encode_uvarint(tag), encode_uvarint(len(found[tag])), found[tag])
    return b"".join(parts)
