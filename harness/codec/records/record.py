"""Records of batches of magic 2 and their headers (KIP-98, KIP-82), one at a time.

Class DefaultRecord in Apache Kafka. ``decode_record`` is the plain reading, which says what is
wrong; ``columns.py`` reads many at once and leaves the complaint to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.codec.varint import decode_varint, decode_varlong, encode_varlong

_KEPT = range(-8192, 8192)  # up to two bytes; lengths, offset deltas and most timestamp deltas


@dataclass(slots=True)  # not frozen, which would triple the time that it takes to make one
class Header:
    """A record header (KIP-82)."""

    key: str
    value: bytes | None = None


@dataclass(slots=True)
class Record:
    """One record; deltas are relative to the batch. ``offset_delta`` None: its position."""

    value: bytes | None = None
    key: bytes | None = None
    headers: Sequence[Header] = ()
    timestamp_delta: int = 0
    offset_delta: int | None = None
    attributes: int = 0


class _Varints(dict[int, bytes]):
    """Numbers as varints; short ones are kept."""

    def __missing__(self, number: int) -> bytes:
        made = encode_varlong(number)
        if number in _KEPT:
            self[number] = made
        return made


_VARINTS = _Varints()
_END = 2048
_SHORT = [encode_varlong(number) for number in range(_END)]  # a list is quicker than a dict


def encode_record(record: Record, position: int) -> bytes:
    """One record with its length; ``position`` is its offset delta unless it names one."""
    return b"".join(_parts(record, position))


def encode_records(records: Iterable[Record]) -> bytes:
    """All records, one behind the other."""
    parts: list[bytes] = []
    short, varints = _SHORT, _VARINTS
    for position, record in enumerate(records):
        key, value, place = record.key, record.value, record.offset_delta
        if value is None or record.attributes:
            parts += _parts(record, position)
            continue
        end = encode_headers(record.headers) if record.headers else b"\0"
        delta, length = record.timestamp_delta, len(value)
        if place is None:
            place = position
        start = b"\0%b%b%b%b" % (
            short[delta] if 0 <= delta < _END else varints[delta],
            short[place] if 0 <= place < _END else varints[place],
            b"\1" if key is None else varints[len(key)] + key,
            short[length] if length < _END else varints[length],
        )
        length += len(start) + len(end)
        parts += (short[length] if length < _END else varints[length], start, value, end)
    return b"".join(parts)


def encode_rows_as_records(
    rows: Iterable[tuple[int, bytes | None, bytes | None]], base_timestamp: int
) -> bytes:
    """Records of these (timestamp, key, value), without headers, numbered from 0."""
    parts: list[bytes] = []
    short, varints = _SHORT, _VARINTS
    for position, (timestamp, key, value) in enumerate(rows):
        if value is None:
            parts += _parts(Record(None, key, (), timestamp - base_timestamp), position)
            continue
        delta, length = timestamp - base_timestamp, len(value)
        start = b"\0%b%b%b%b" % (
            short[delta] if 0 <= delta < _END else varints[delta],
            short[position] if position < _END else varints[position],
            b"\1" if key is None else varints[len(key)] + key,
            short[length] if length < _END else varints[length],
        )
        length += len(start) + 1
        parts += (short[length] if length < _END else varints[length], start, value, b"\0")
    return b"".join(parts)


def _parts(record: Record, position: int) -> tuple[bytes, bytes, bytes, bytes]:
    """Length, what stands before the value, the value, its headers."""
    varints, key, value, headers = _VARINTS, record.key, record.value, record.headers
    delta = position if record.offset_delta is None else record.offset_delta
    attributes = record.attributes.to_bytes(1, "big", signed=True) if record.attributes else b"\0"
    start = attributes + varints[record.timestamp_delta] + varints[delta]
    start += b"\1" if key is None else varints[len(key)] + key
    if value is None:
        start, value = start + b"\1", b""
    else:
        start += varints[len(value)]
    end = encode_headers(headers) if headers else b"\0"
    return varints[len(start) + len(value) + len(end)], start, value, end


def encode_headers(headers: Sequence[Header]) -> bytes:
    """Their count and all of them.

    Names that were no UTF-8 have their bytes again, see :func:`decode_record`.
    """
    varints = _VARINTS
    parts = [varints[len(headers)]]
    for header in headers:
        value = header.value
        if value is None:
            parts += (_name(header.key), b"\1")
        else:
            parts += (_name(header.key), varints[len(value)], value)
    return b"".join(parts)


@lru_cache(maxsize=256)
def _name(key: str) -> bytes:
    """With its length; the names are few."""
    try:
        name = key.encode()
    except UnicodeEncodeError:
        name = key.encode("utf-8", "surrogateescape")
    return _VARINTS[len(name)] + name


def decode_record(data: bytes, offset: int, *, bad_utf8: str = "strict") -> tuple[Record, int]:
    """(record, next offset). Raises IndexError or ValueError on bad bytes.

    ``bad_utf8``: how header names that are no UTF-8 are read, as in ``bytes.decode``; with
    ``surrogateescape`` they are read and can be written again.
    """
    length, offset = decode_varint(data, offset)
    stop = offset + length
    if length < 0 or stop > len(data):
        raise ValueError(f"record length {length} with {len(data) - offset} bytes left")
    attributes = data[offset] - 256 if data[offset] > 127 else data[offset]
    timestamp_delta, offset = decode_varlong(data, offset + 1)
    offset_delta, offset = decode_varint(data, offset)
    key, offset = _read_nullable(data, offset, stop)
    value, offset = _read_nullable(data, offset, stop)
    headers, offset = read_headers(data, offset, stop, bad_utf8)
    if offset != stop:
        raise ValueError(f"record of {length} bytes ends {stop - offset} bytes off")
    return Record(value, key, headers, timestamp_delta, offset_delta, attributes), stop


def read_headers(
    data: bytes, offset: int, stop: int, bad_utf8: str
) -> tuple[tuple[Header, ...], int]:
    """(headers, next offset); ``offset`` is where their count stands. Raises as above."""
    count, offset = decode_varint(data, offset)
    if not 0 <= count <= stop - offset:
        raise ValueError(f"{count} headers with {stop - offset} bytes left")
    headers = []
    for _ in range(count):
        name, offset = _read_nullable(data, offset, stop)
        if name is None:
            raise ValueError("a header without key")
        value, offset = _read_nullable(data, offset, stop)
        headers.append(Header(name.decode("utf-8", bad_utf8), value))
    return tuple(headers), offset


def _read_nullable(data: bytes, offset: int, stop: int) -> tuple[bytes | None, int]:
    length, offset = decode_varint(data, offset)
    if length == -1:
        return None, offset
    if length < 0 or offset + length > stop:
        raise ValueError(f"length {length} with {stop - offset} bytes left in the record")
    return data[offset : offset + length], offset + length
