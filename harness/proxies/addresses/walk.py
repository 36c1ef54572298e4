"""A walk through the bytes of a message to the addresses in it, and helpers of generated walks."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from harness.codec.varint import decode_uvarint
from harness.proxies.addresses.marks import AddressMark, CountedLength, Length

Way = Callable[[bytes, int, int, list[AddressMark]], int]
"""``(data, at, end, marks)``: walk over a value from its first byte and return the position behind
it. A way may lead beyond the end; the last position is checked.
"""


class Unreadable(ValueError):
    """The bytes are not this message."""


def walk(way: Way, data: bytes, start: int, stop: int) -> list[AddressMark]:
    """Return the marks between ``start`` and ``stop``. Raises Unreadable for another end."""
    marks: list[AddressMark] = []
    try:
        reached = way(data, start, stop, marks)
    except (IndexError, ValueError, struct.error) as error:
        raise Unreadable(str(error)) from None
    if reached != stop:
        raise Unreadable(f"the message ends at byte {reached}, the bytes at {stop}")
    return marks


def long_length(data: bytes, at: int) -> tuple[int, int]:
    """(length, where the bytes begin) of a compact length of more than one byte."""
    value, at = decode_uvarint(data, at)
    return value - 1, at


def null(length: int) -> int:
    """Return 0, the size of a null. Raises Unreadable for a negative length other than -1."""
    if length != -1:
        raise Unreadable(f"length {length}")
    return 0


def refuse(problem: str) -> None:
    """Raises Unreadable."""
    raise Unreadable(problem)


def over_tags(
    data: bytes, at: int, end: int, marks: list[AddressMark], known: Mapping[int, Way]
) -> int:
    """Return the position behind a section of tagged fields.

    The marks inside a field become one mark, which also covers the length of that field.
    """
    count, at = decode_uvarint(data, at)
    for _ in range(count):
        tag, length_at = decode_uvarint(data, at)
        size, at = decode_uvarint(data, length_at)
        stop = at + size
        if stop > end:
            raise Unreadable(f"tag {tag} claims {size} bytes, {end - at} are left")
        if tag in known:
            found = walk(known[tag], data, at, stop)
            if found:
                marks.append(CountedLength(length_at, at, stop, Length.UVARINT, found))
        at = stop
    return at
