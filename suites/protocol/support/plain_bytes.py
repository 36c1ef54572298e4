"""Requests written and answers read by hand, apart from the codec.

The encodings from before flexible versions: numbers of fixed width, big endian and signed; an
int16 length before a string, an int32 one before bytes and arrays; -1 for null.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named

T = TypeVar("T")
CORRELATION_ID = 0x01020304
NULL_STRING = b"\xff\xff"


def int8(value: int) -> bytes:
    """One byte."""
    return struct.pack(">b", value)


def int16(value: int) -> bytes:
    """Two bytes, the high one first."""
    return struct.pack(">h", value)


def int32(value: int) -> bytes:
    """Four bytes, the high one first."""
    return struct.pack(">i", value)


def int64(value: int) -> bytes:
    """Eight bytes, the high one first."""
    return struct.pack(">q", value)


def string(text: str) -> bytes:
    """Length and UTF-8."""
    data = text.encode()
    return int16(len(data)) + data


def array(*elements: bytes) -> bytes:
    """Count and elements."""
    return int32(len(elements)) + b"".join(elements)


class PlainReader:
    """Reads one field after the other; fails with an assertion where the bytes run out."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes."""
        left = len(self.data) - self.at
        assert 0 <= count <= left, f"{count} bytes are announced at byte {self.at}, {left} are left"
        self.at += count
        return self.data[self.at - count : self.at]

    def _number(self, form: str) -> int:
        (value,) = struct.unpack(form, self.take(struct.calcsize(form)))
        return int(value)

    def int8(self) -> int:
        """One byte."""
        return self._number(">b")

    def int16(self) -> int:
        """Two bytes."""
        return self._number(">h")

    def int32(self) -> int:
        """Four bytes."""
        return self._number(">i")

    def int64(self) -> int:
        """Eight bytes."""
        return self._number(">q")

    def string(self) -> str | None:
        """None for null."""
        length = self.int16()
        return None if length == -1 else self.take(length).decode()

    def bytes_(self) -> bytes | None:
        """None for null."""
        length = self.int32()
        return None if length == -1 else self.take(length)

    def array(self, element: Callable[[], T]) -> Sequence[T]:
        """Read as many elements as the count gives; a null array has none."""
        count = self.int32()
        assert count >= -1, f"an array of {count} elements at byte {self.at - 4}"
        return [element() for _ in range(max(count, 0))]

    def end(self) -> None:
        """No bytes may be left."""
        left = len(self.data) - self.at
        assert not left, f"{left} bytes are left behind the last field: {self.data[self.at :]!r}"


def ask_plainly(
    broker: BrokerUnderTest, api_name: str, version: int, body: bytes, client_id: str
) -> PlainReader:
    """Send ``body`` behind a header v1; the answer from behind its correlation id."""
    key = api_named(api_name).key
    header = int16(key) + int16(version) + int32(CORRELATION_ID) + string(client_id)
    connection = broker.connect(client_id)
    connection.send_frame(header + body)
    reader = PlainReader(connection.receive_frame())
    found = reader.int32()
    assert found == CORRELATION_ID, f"correlation id {found:#x}, sent was {CORRELATION_ID:#x}"
    return reader
