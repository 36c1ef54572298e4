"""The sparse indexes of a segment: from offsets to positions, and from times to offsets.

Offsets are kept relative to the segment's base. While a segment is written its indexes have their
largest size, the rest zeros; no entry is all zeros (the first one stands behind a batch, or has a
time). Source: classes OffsetIndex, TimeIndex; KIP-33.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.codec.errors import DecodeError, EncodeError

_OFFSET_ENTRY = struct.Struct(">ii")
_TIME_ENTRY = struct.Struct(">qi")
OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES = _OFFSET_ENTRY.size, _TIME_ENTRY.size
_OFFSET_INDEX, _TIME_INDEX = "OffsetIndex", "TimeIndex"


class OffsetIndexEntry(NamedTuple):
    """Records from ``offset`` on stand at ``position`` of the segment or behind it."""

    offset: int
    position: int


class TimeIndexEntry(NamedTuple):
    """Up to ``offset`` no record is younger than ``timestamp`` (milliseconds)."""

    timestamp: int
    offset: int


def offset_index_entries(data: bytes, base_offset: int) -> Iterator[OffsetIndexEntry]:
    """The entries without the zeros behind them. Raises DecodeError for a cut entry, at once."""
    entries = _OFFSET_ENTRY.iter_unpack(_entries_of(data, OFFSET_ENTRY_BYTES, _OFFSET_INDEX))
    return (OffsetIndexEntry(base_offset + offset, position) for offset, position in entries)


def time_index_entries(data: bytes, base_offset: int) -> Iterator[TimeIndexEntry]:
    """The entries without the zeros behind them. Raises DecodeError for a cut entry, at once."""
    entries = _TIME_ENTRY.iter_unpack(_entries_of(data, TIME_ENTRY_BYTES, _TIME_INDEX))
    return (TimeIndexEntry(timestamp, base_offset + offset) for timestamp, offset in entries)


def _entries_of(data: bytes, size_bytes: int, name: str) -> bytes:
    cut = len(data) % size_bytes
    if cut:
        raise DecodeError(
            f"{len(data)} bytes are no multiple of {size_bytes}: the last entry is cut",
            message=name,
            version=-1,
            path=f"[{len(data) // size_bytes}]",
            offset=len(data) - cut,
        )
    used = len(data.rstrip(b"\0"))
    return data[: -(-used // size_bytes) * size_bytes]


def offset_index_bytes(entries: Iterable[OffsetIndexEntry], base_offset: int) -> bytes:
    """The file without zeros behind its entries. Raises EncodeError: too far from the base."""
    return b"".join(
        _packed(_OFFSET_ENTRY, (offset - base_offset, position), _OFFSET_INDEX, place)
        for place, (offset, position) in enumerate(entries)
    )


def time_index_bytes(entries: Iterable[TimeIndexEntry], base_offset: int) -> bytes:
    """The file without zeros behind its entries. Raises EncodeError: too far from the base."""
    return b"".join(
        _packed(_TIME_ENTRY, (timestamp, offset - base_offset), _TIME_INDEX, place)
        for place, (timestamp, offset) in enumerate(entries)
    )


def _packed(form: struct.Struct, numbers: tuple[int, int], name: str, place: int) -> bytes:
    try:
        return form.pack(*numbers)
    except struct.error as error:
        problem = f"{numbers} as {form.format}: {error}"
        raise EncodeError(problem, message=name, version=-1, path=f"[{place}]") from error
