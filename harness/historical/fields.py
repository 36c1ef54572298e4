"""Fields of fixed layouts: integers, strings and bytes with their lengths, one behind the other."""

from __future__ import annotations

import struct

from harness.historical.errors import ByDocumentError

INT8, INT16, INT32, INT64 = (struct.Struct(f">{code}") for code in "bhiq")
UINT32 = struct.Struct(">I")
_LONGEST_STRING = 2**15 - 1


class DocumentReader:
    """Takes fields from ``data``, from ``at`` on. Every method raises ByDocumentError."""

    def __init__(self, name: str, data: bytes, at: int = 0, stop: int | None = None) -> None:
        self.name, self.data, self.at = name, data, at
        self.stop = len(data) if stop is None else stop

    @property
    def left_bytes(self) -> int:
        return self.stop - self.at

    def number(self, kind: struct.Struct, path: str) -> int:
        self.require(kind.size, path)
        (value,) = kind.unpack_from(self.data, self.at)
        self.at += kind.size
        return int(value)

    def string(self, path: str) -> str:
        """An int16 length, then UTF-8."""
        start = self.at
        raw = self.raw(self.number(INT16, path), path)
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise self.bad(f"not UTF-8: {error}", path, start) from error

    def nullable(self, path: str) -> bytes | None:
        """An int32 length, -1 for null, then the bytes."""
        length = self.number(INT32, path)
        return None if length == -1 else self.raw(length, path)

    def raw(self, length: int, path: str) -> bytes:
        if length < 0:
            raise self.bad(f"a length of {length}", path, self.at)
        self.require(length, path)
        self.at += length
        return self.data[self.at - length : self.at]

    def require(self, length: int, path: str) -> None:
        if length > self.left_bytes:
            raise self.bad(f"{length} bytes needed, {self.left_bytes} are left", path, self.at)

    def end(self) -> None:
        """Nothing may be left."""
        if self.left_bytes:
            raise self.bad(f"{self.left_bytes} bytes behind the last field", "", self.at)

    def bad(self, problem: str, path: str, at: int | None = None) -> ByDocumentError:
        return ByDocumentError(
            problem, name=self.name, path=path, offset=self.at if at is None else at
        )


def number_bytes(kind: struct.Struct, value: int, name: str, path: str) -> bytes:
    """Raises ByDocumentError for a number that does not fit."""
    try:
        return kind.pack(value)
    except struct.error as error:
        raise ByDocumentError(f"{value!r}: {error}", name=name, path=path) from error


def string_bytes(value: str, name: str, path: str) -> bytes:
    """Return the string with an int16 length. Raises ByDocumentError when it is too long."""
    raw = value.encode()
    if len(raw) > _LONGEST_STRING:
        raise ByDocumentError(f"{len(raw)} bytes of text, too many", name=name, path=path)
    return INT16.pack(len(raw)) + raw


def nullable_bytes(value: bytes | None) -> bytes:
    return INT32.pack(-1) if value is None else INT32.pack(len(value)) + value
