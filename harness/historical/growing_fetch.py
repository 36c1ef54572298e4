"""Reading from an offset with a buffer that grows until a message fits into it.

"Reads": a read returns a limited number of bytes, so its last message may be cut, which its size
shows. When not even the first message is whole, the reader asks again for twice the bytes, up to a
limit.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import NamedTuple

from harness.historical.log_format import LogFormat

_LENGTH_AT = {LogFormat.V0_7: 0, LogFormat.V0_8: 8}
_LENGTH = struct.Struct(">i")

Read = Callable[[int], bytes]
"""Returns the bytes from the offset on, at most as many as the argument."""


class MessageTooLarge(Exception):
    """The message at this offset does not fit into the largest buffer."""


class Fetched(NamedTuple):
    """The whole ``entries`` in order; ``partial_bytes`` of a cut one behind them.

    ``sizes``: the sizes of all reads; the last read was successful.
    """

    entries: list[bytes]
    partial_bytes: int
    sizes: list[int]


def growing_fetch(read: Read, log_format: LogFormat, *, first_size: int, max_size: int) -> Fetched:
    """Return the entries from an offset: one at least, unless the log ends there.

    Raises:
        MessageTooLarge: ``max_size`` bytes do not hold the first message.
        ValueError: an entry has an impossible length, or a size is not positive.
    """
    if not 0 < first_size <= max_size:
        raise ValueError(f"first {first_size} bytes, {max_size} at most")
    sizes = [first_size]
    while True:
        data = read(sizes[-1])
        entries, partial_bytes = split_entries(data, log_format)
        if entries or len(data) < sizes[-1]:  # all that there is was read
            return Fetched(entries, partial_bytes, sizes)
        if sizes[-1] == max_size:
            raise MessageTooLarge(f"no whole message in {max_size} bytes")
        sizes.append(min(2 * sizes[-1], max_size))


def split_entries(data: bytes, log_format: LogFormat) -> tuple[list[bytes], int]:
    """Return (whole entries, bytes of the cut one behind them), by the entries' sizes alone."""
    before = _LENGTH_AT[log_format] + _LENGTH.size
    entries: list[bytes] = []
    start = 0
    while start + before <= len(data):
        (length,) = _LENGTH.unpack_from(data, start + before - _LENGTH.size)
        if length <= 0:
            raise ValueError(f"impossible length {length} at byte {start}")
        stop = start + before + length
        if stop > len(data):
            break
        entries.append(data[start:stop])
        start = stop
    return entries, len(data) - start
