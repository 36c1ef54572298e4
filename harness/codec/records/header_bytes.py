"""A record's headers as they stand in its bytes: looked at first, made when asked for.

Few readers look at headers, and objects for all of them would be most of a batch's memory.
"""

from __future__ import annotations

from harness.codec.records.record import Header, read_headers

_LONG = 0x81  # in the first byte of a varint: not one byte, or negative


def end_of_headers(payload: bytes, offset: int, stop: int, into: list[Header] | None = None) -> int:
    """Where they end; ``offset`` is where their count stands. Raises as ``read_headers`` does.

    On bad bytes the end may be beyond ``stop``. Headers are made only when there is a list to put
    them ``into``.
    """
    begin, count = offset, payload[offset]
    if count & _LONG:
        return _any_headers(payload, begin, stop, into)
    for _ in range(count >> 1):
        length = payload[offset + 1]
        value_at = offset + 2 + (length >> 1)
        value_length = payload[value_at]
        if (length | value_length) & _LONG:
            return _any_headers(payload, begin, stop, into)
        name = payload[offset + 2 : value_at].decode()
        offset = value_at + (value_length >> 1)
        if into is not None:
            into.append(Header(name, payload[value_at + 1 : offset + 1]))
    return offset + 1


def _any_headers(payload: bytes, offset: int, stop: int, into: list[Header] | None) -> int:
    found, end = read_headers(payload, offset, stop, "strict")
    if into is not None:
        into[:] = found
    return end


def headers_of(raw: bytes) -> tuple[Header, ...]:
    """The headers of good bytes, their count included; names as in ``surrogateescape``."""
    headers: list[Header] = []
    try:
        end_of_headers(raw, 0, len(raw), headers)
    except (UnicodeDecodeError, IndexError):  # a length of several bytes, taken for one, leads out
        return read_headers(raw, 0, len(raw), "surrogateescape")[0]
    return tuple(headers)
