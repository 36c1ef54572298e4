"""The data format of Java's ``DataOutputStream``: numbers, modified UTF-8, UTF-16 characters."""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection
from typing import TypeVar

from harness.codec.errors import DecodeError, EncodeError

T = TypeVar("T")
_INT32, _INT64, _UINT16 = struct.Struct(">i"), struct.Struct(">q"), struct.Struct(">H")
_JAVAS_NUL = b"\xc0\x80"  # how modified UTF-8 writes a zero


class JavaDataReader:
    """Reads on from ``offset``; every method takes the path of what it reads, for the error."""

    def __init__(self, data: bytes, message: str) -> None:
        self.data, self.message, self.version, self.offset = data, message, -1, 0

    def fail(self, problem: str, path: str, offset: int) -> DecodeError:
        return DecodeError(
            problem, message=self.message, version=self.version, path=path, offset=offset
        )

    def int32(self, path: str) -> int:
        value: int = _INT32.unpack(self.take(_INT32.size, path))[0]
        return value

    def int64(self, path: str) -> int:
        value: int = _INT64.unpack(self.take(_INT64.size, path))[0]
        return value

    def utf(self, path: str) -> str:
        """A uint16 of bytes, then modified UTF-8: pairs of surrogates, and no byte is zero."""
        start = self.offset
        raw = self.take(_UINT16.unpack(self.take(_UINT16.size, path))[0], path)
        try:
            units = raw.replace(_JAVAS_NUL, b"\0").decode("utf-8", "surrogatepass")
            return units.encode("utf-16-be", "surrogatepass").decode("utf-16-be")
        except UnicodeError as error:
            raise self.fail(f"not modified UTF-8: {error}", path, start) from None

    def chars(self, path: str) -> str:
        """An int32 of characters, then each in two bytes."""
        start = self.offset
        count = self.count(path, 2)
        try:
            return self.take(2 * count, path).decode("utf-16-be")
        except UnicodeError as error:
            raise self.fail(f"not UTF-16: {error}", path, start) from None

    def list_of(self, path: str, least_bytes: int, read: Callable[[str], T]) -> list[T]:
        """An int32 of elements, then the elements, of which each takes ``least_bytes`` or more."""
        return [read(f"{path}[{index}]") for index in range(self.count(path, least_bytes))]

    def count(self, path: str, least_bytes: int) -> int:
        start = self.offset
        count = self.int32(path)
        left = len(self.data) - self.offset
        if count < 0 or count * least_bytes > left:
            raise self.fail(f"{count} elements cannot be in the {left} bytes left", path, start)
        return count

    def take(self, size: int, path: str) -> bytes:
        start, stop = self.offset, self.offset + size
        if stop > len(self.data):
            problem = f"{size} bytes needed, {len(self.data) - start} left"
            raise self.fail(problem, path, start)
        self.offset = stop
        return self.data[start:stop]

    def finish(self) -> None:
        """Raises DecodeError when bytes are left over."""
        left = len(self.data) - self.offset
        if left:
            raise self.fail(f"{left} bytes left over after the message", "", self.offset)


class JavaDataWriter:
    """Appends to ``out``. What does not fit is an EncodeError."""

    def __init__(self, message: str, version: int) -> None:
        self.out, self.message, self.version = bytearray(), message, version

    def fail(self, problem: str, path: str) -> EncodeError:
        return EncodeError(problem, message=self.message, version=self.version, path=path)

    def int32(self, value: int) -> None:
        self.pack(_INT32, value, "int32")

    def int64(self, value: int) -> None:
        self.pack(_INT64, value, "int64")

    def pack(self, form: struct.Struct, value: int, kind: str) -> None:
        try:
            self.out += form.pack(value)
        except struct.error:
            raise self.fail(f"{value!r} is no {kind}", "") from None

    def utf(self, value: str) -> None:
        units = value.encode("utf-16-be", "surrogatepass")
        chars = (
            units[at : at + 2].decode("utf-16-be", "surrogatepass")
            for at in range(0, len(units), 2)
        )
        raw = "".join(chars).encode("utf-8", "surrogatepass").replace(b"\0", _JAVAS_NUL)
        self.pack(_UINT16, len(raw), "uint16 of bytes")
        self.out += raw

    def chars(self, value: str) -> None:
        units = value.encode("utf-16-be", "surrogatepass")
        self.int32(len(units) // 2)
        self.out += units

    def list_of(self, values: Collection[T], write: Callable[[T], None]) -> None:
        self.int32(len(values))
        for value in values:
            write(value)
