"""A walk through the bytes of a message to the addresses in it, and what generated walks call."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from harness.codec.varint import decode_uvarint
from harness.proxies.addresses.marks import Counted, Length, Mark

Way = Callable[[bytes, int, int, list[Mark]], int]
"""``(data, at, end, marks)``: from the first byte of something to the byte behind it, which is
returned. A way may lead beyond the end; the last one is checked."""


class Unreadable(ValueError):
    """The bytes are not this message."""


def walk(way: Way, data: bytes, start: int, stop: int) -> list[Mark]:
    """What is marked between ``start`` and ``stop``. Raises Unreadable when it ends elsewhere."""
    marks: list[Mark] = []
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
    """The bytes of something whose length is negative, where it may be null: none."""
    if length != -1:
        raise Unreadable(f"length {length}")
    return 0


def refuse(problem: str) -> None:
    """Raises Unreadable."""
    raise Unreadable(problem)


def over_tags(data: bytes, at: int, end: int, marks: list[Mark], known: Mapping[int, Way]) -> int:
    """Over a section of tagged fields; what is marked in one is marked inside its length."""
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
                marks.append(Counted(length_at, at, stop, Length.UVARINT, found))
        at = stop
    return at
