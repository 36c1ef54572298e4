"""Log recovery: the part of a log file that can be kept after a crash.

"Guarantees": at the start the broker checks all entries of the newest segment; a good one ends
within the file and its checksum is right. The broker cuts the file behind the last good one. That
covers both things that a crash may leave: a tail that was not written, and a block of nonsense that
was added.
"""

from __future__ import annotations

import struct

from harness.codec.records.errors import RecordsError
from harness.codec.records.message_set import (
    ENTRY_OVERHEAD_BYTES,
    MESSAGE_OVERHEAD_BYTES,
    read_message,
)
from harness.historical.log_format import LogFormat
from harness.historical.messages_0_7 import valid_bytes

_ENTRY = struct.Struct(">qi")


def kept_bytes(data: bytes, log_format: LogFormat) -> int:
    """Return the number of bytes at the file's start that hold good entries."""
    return valid_bytes(data) if log_format is LogFormat.V0_7 else _kept_of_0_8(data)


def recovered(data: bytes, log_format: LogFormat) -> bytes:
    """Return the recovered file; recovering it again changes nothing."""
    return data[: kept_bytes(data, log_format)]


def _kept_of_0_8(data: bytes) -> int:
    start = 0
    while start + ENTRY_OVERHEAD_BYTES <= len(data):
        _, length = _ENTRY.unpack_from(data, start)
        stop = start + ENTRY_OVERHEAD_BYTES + length
        if length < MESSAGE_OVERHEAD_BYTES[0] or stop > len(data):
            break
        try:
            read_message(data, start, stop)
        except RecordsError:
            break
        start = stop
    return start
