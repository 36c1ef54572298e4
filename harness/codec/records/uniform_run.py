"""Many records of one shape, read at once.

What producers batch is often alike: the same lengths, one record after the other. Then every
field stands ``size`` bytes behind the one of the record before, and slices with that step do
the work of a loop.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from struct import Struct, unpack
from typing import NamedTuple

from harness.codec.varint import decode_varint

_WIDEST_OFFSET, _WIDEST_TIMESTAMP = 4, 8  # bytes; longer ones might not fit their type
_MOST_BYTES_OF_HEADERS = 64
_AT_A_TIME = 32  # records that one layout describes: fewer steps, and it is soon compiled
_FLAGS = bytes(128) + b"\1" * 128  # which bytes of a varint say that another follows
# The two-byte varints of 0, 1, 2, ... 8191 (those below 64 are never looked up).
_FIRST_BYTES = bytes(range(128, 256, 2)) * 128
_SECOND_BYTES = b"".join(bytes([byte]) * 64 for byte in range(128))
_WITHOUT_FLAG = bytes(range(128)) * 2
_SIGNS = bytes((0, 1)) * 128
_HALF = bytes((byte & 0x7F) >> 1 for byte in range(256))
_TO_THE_TOP = bytes((byte & 3) << 6 for byte in range(256))
_QUARTER = bytes(byte >> 2 for byte in range(256))
_FAR = 1 << 62
WORTH_A_RUN = 16  # so many records of one size must fit into what is left
_LONGEST_PAUSE = 1024
_FIRST, _MOST = 64, 4096  # records tried at once: what is tried in vain stays small


class Shape(NamedTuple):
    """A record and where things stand in it; places count from its start."""

    start: int
    size: int
    same: tuple[int, ...]  # bytes that all records of the run must share
    timestamp: range
    offset: range
    offset_delta: int
    key: range | None
    value: range | None


class UniformRun(NamedTuple):
    """The fields of ``length`` records behind the one that gave the shape."""

    length: int
    offsets: Iterable[int] = ()
    timestamps: Iterable[int] = ()
    keys: Iterable[bytes | None] = ()
    values: Iterable[bytes | None] = ()


NO_RUN = UniformRun(0)


class Deltas(NamedTuple):
    """Offsets and timestamps of ``length`` records behind the one that gave the shape."""

    length: int
    offsets: Iterable[int] = ()
    timestamps: Sequence[int] = ()


NO_DELTAS = Deltas(0)


class RunPace:
    """After how many records a run is tried, and how many it may have, by how it went before."""

    __slots__ = ("most", "pause")

    def __init__(self) -> None:
        self.pause, self.most = 1, _FIRST

    def hit(self) -> None:
        """A run was taken."""
        self.pause, self.most = 1, _MOST

    def miss(self) -> None:
        """There was none, or one too short to be worth it."""
        self.pause, self.most = min(4 * self.pause, _LONGEST_PAUSE), _FIRST


def shape_of(payload: bytes, start: int, stop: int, offset_delta: int) -> Shape | None:
    """The shape of a good record, None for one that no run is made of."""
    attributes = _end_of_varint(payload, start)
    offset_at = _end_of_varint(payload, attributes + 1)
    key_length_at = _end_of_varint(payload, offset_at)
    key_at, value_length_at = _content(payload, key_length_at)
    key = None if value_length_at < 0 else range(key_at - start, value_length_at - start)
    value_length_at = max(value_length_at, key_at)
    value_at, headers_at = _content(payload, value_length_at)
    value = None if headers_at < 0 else range(value_at - start, headers_at - start)
    headers_at = max(headers_at, value_at)
    places = chain(
        range(start, attributes + 1),
        range(key_length_at, key_at),
        range(value_length_at, value_at),
        range(headers_at, stop),
    )
    if (
        headers_at >= stop
        or stop - headers_at > _MOST_BYTES_OF_HEADERS
        or key_length_at - offset_at > _WIDEST_OFFSET
        or offset_at - attributes - 1 > _WIDEST_TIMESTAMP
    ):
        return None
    return Shape(
        start,
        stop - start,
        tuple(place - start for place in places),
        range(attributes + 1 - start, offset_at - start),
        range(offset_at - start, key_length_at - start),
        offset_delta,
        key,
        value,
    )


def _end_of_varint(payload: bytes, at: int) -> int:
    while payload[at] > 127:
        at += 1
    return at + 1


def _content(payload: bytes, at: int) -> tuple[int, int]:
    """Return begin and end of a key or value; its length is at ``at``; the end of null is -1.

    Raises ValueError for a negative length other than that of null; some readers take it for null.
    """
    length, begin = (payload[at], at + 1) if payload[at] < 128 else _long(payload, at)
    if length != 1 and (length < 0 or length & 1):
        raise ValueError(f"the length of a key or value is {length >> 1 ^ -(length & 1)}")
    return begin, -1 if length == 1 else begin + (length >> 1)


def _long(payload: bytes, at: int) -> tuple[int, int]:
    length, begin = decode_varint(payload, at)
    return 2 * length, begin


def uniform_run(
    payload: bytes, shape: Shape, most: int, base_offset: int, base_timestamp: int
) -> UniformRun:
    """The records behind ``shape.start`` that have its shape, as many as there are up to ``most``.

    Only good records are taken; a record that is not taken may still be good. The bases are added
    to the deltas.
    """
    run = uniform_deltas(payload, shape, most, base_offset, base_timestamp)
    if not run.length:
        return NO_RUN
    first = shape.start + shape.size
    stop = first + run.length * shape.size
    keys, values = _contents(memoryview(payload)[first:stop], shape, run.length)
    return UniformRun(run.length, run.offsets, run.timestamps, keys, values)


def uniform_deltas(
    payload: bytes, shape: Shape, most: int, base_offset: int = 0, base_timestamp: int = 0
) -> Deltas:
    """The same without keys and values."""
    first = shape.start + shape.size
    length = min((len(payload) - first) // shape.size, most)
    for place in shape.same:
        byte = payload[shape.start + place : shape.start + place + 1]
        column = payload[first + place : first + length * shape.size : shape.size]
        if column.count(byte) != length:
            length -= len(column.lstrip(byte))
    timestamps = _varints(payload, first, length, shape.size, shape.timestamp)
    offsets = _varints(payload, first, len(timestamps[0]), shape.size, shape.offset)
    length = len(offsets[0])
    if not length:
        return NO_DELTAS
    return Deltas(
        length,
        _offsets(offsets, shape.offset_delta + 1, length, base_offset),
        _numbers([column[:length] for column in timestamps], base_timestamp),
    )


def _varints(payload: bytes, first: int, length: int, size: int, places: range) -> list[bytes]:
    """Their first bytes, second bytes and so on; fewer when one is not as long as the others."""
    columns = []
    for place in places:
        column = payload[first + place : first + length * size : size]
        flags = column.translate(_FLAGS)
        flag = b"\0" if place == places[-1] else b"\1"
        if flags.count(flag) != length:
            length -= len(flags.lstrip(flag))
        columns.append(column)
    return [column[:length] for column in columns]


@lru_cache(maxsize=64)
def _layouts(key: range | None, value: range | None, size: int) -> tuple[Struct, Struct]:
    """Keys and values of so many records, and of one."""
    layout, at = "", 0
    for place in (key, value):
        if place is not None:
            layout += f"{place.start - at}x{len(place)}s"
            at = place.stop
    layout += f"{size - at}x"
    return Struct(layout * _AT_A_TIME), Struct(layout)


def _contents(
    records: memoryview, shape: Shape, length: int
) -> tuple[Iterable[bytes | None], Iterable[bytes | None]]:
    """Keys and values."""
    nulls = [None] * length
    many, one = _layouts(shape.key, shape.value, shape.size)
    whole = length - length % _AT_A_TIME
    found = list(chain.from_iterable(many.iter_unpack(records[: whole * shape.size])))
    found += chain.from_iterable(one.iter_unpack(records[whole * shape.size :]))
    if shape.key is None:
        return nulls, nulls if shape.value is None else found
    return (found, nulls) if shape.value is None else (found[::2], found[1::2])


def _offsets(columns: list[bytes], begin: int, length: int, base: int) -> Iterable[int]:
    """Most often they follow one another, ``begin`` being the first delta."""
    end = begin + length
    if len(columns) == 1:
        in_sequence = end <= 64 and columns[0] == bytes(range(2 * begin, 2 * end, 2))
    else:
        in_sequence = len(columns) == 2 and columns == [
            _FIRST_BYTES[begin:end],
            _SECOND_BYTES[begin:end],
        ]
    return range(base + begin, base + end) if in_sequence else _numbers(columns, base)


def _numbers(columns: list[bytes], base: int) -> list[int]:
    """Varints by their first bytes, second bytes and so on; ``base`` is added."""
    length, first = len(columns[0]), columns[0]
    if all(column.count(column[:1]) == length for column in columns):
        return _one_by_one([column[:1] for column in columns], base) * length
    if first.translate(_SIGNS).count(1):  # some are negative
        return _one_by_one(columns, base)
    if len(columns) == 2:
        return _pairs(columns[0], columns[1], base)
    return _side_by_side(columns, base) if 0 <= base < _FAR else _one_by_one(columns, base)


def _pairs(first: bytes, second: bytes, base: int) -> list[int]:
    """None is negative: 6 bits in each first byte, 7 in each second."""
    length = len(first)
    low = int.from_bytes(first.translate(_HALF), "big")
    low |= int.from_bytes(second.translate(_TO_THE_TOP), "big")
    pairs = bytearray(2 * length)
    little = sys.byteorder == "little"
    pairs[not little :: 2] = low.to_bytes(length, "big")
    pairs[little::2] = second.translate(_QUARTER)
    return [base + number for number in memoryview(pairs).cast("H")]


def _one_by_one(columns: list[bytes], base: int) -> list[int]:
    raws = [byte & 0x7F for byte in columns[0]]
    for index, column in enumerate(columns[1:], 1):
        shift = 7 * index
        raws = [raw | (byte & 0x7F) << shift for raw, byte in zip(raws, column, strict=True)]
    return [base + (raw >> 1 ^ -(raw & 1)) for raw in raws]


def _side_by_side(columns: list[bytes], base: int) -> list[int]:
    """None is negative: as parts of one large number, each 64 bits wide, no sum leaves its part."""
    length = len(columns[0])
    raws = 0
    for index, column in enumerate(columns):
        part = bytearray(8 * length)
        part[::8] = column.translate(_WITHOUT_FLAG)
        raws |= int.from_bytes(part, "little") << 7 * index
    bases = int.from_bytes(base.to_bytes(8, "little") * length, "little")
    sums = (raws >> 1) + bases
    return list(unpack(f"<{length}q", sums.to_bytes(8 * length, "little")))
