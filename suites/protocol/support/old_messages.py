"""Messages of magic 0 and 1, written and read field by field, without the codec.

Offset and length; then checksum, magic, attributes, in magic 1 a timestamp (KIP-32), key, value.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from dataclasses import dataclass

OVERHEAD_BYTES = 12
CRC_COVERS_FROM = 16  # magic and all behind it
GZIP = 1


@dataclass(frozen=True, slots=True)
class OldMessage:
    """Every field as it stood; ``timestamp`` None in magic 0, null as None."""

    offset: int
    length: int
    crc: int
    magic: int
    attributes: int
    timestamp: int | None
    key: bytes | None
    value: bytes | None


def _nullable(data: bytes | None) -> bytes:
    return struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data


def message_bytes(
    magic: int,
    value: bytes | None,
    key: bytes | None = None,
    *,
    offset: int = 0,
    timestamp: int = -1,
    attributes: int = 0,
) -> bytes:
    """One message, offset and length in front."""
    covered = struct.pack(">bb", magic, attributes)
    if magic > 0:
        covered += struct.pack(">q", timestamp)
    covered += _nullable(key) + _nullable(value)
    body = struct.pack(">I", zlib.crc32(covered)) + covered
    return struct.pack(">qi", offset, len(body)) + body


def gzip_wrapper(
    magic: int, inner: bytes, *, offset: int = 0, timestamp: int = -1, attributes: int = GZIP
) -> bytes:
    """Return a message that contains ``inner``, a whole message set, compressed with gzip."""
    value = gzip.compress(inner)
    return message_bytes(
        magic, value, offset=offset, timestamp=timestamp, attributes=attributes | GZIP
    )


def read_message(entry: bytes) -> OldMessage:
    """One whole message; AssertionError where its fields do not fill it."""
    offset, length, crc, magic, attributes = struct.unpack_from(">qiIbb", entry)
    assert magic in (0, 1), f"offset {offset}: magic {magic}, expected 0 or 1"
    assert len(entry) == OVERHEAD_BYTES + length
    at, timestamp = CRC_COVERS_FROM + 2, None
    if magic > 0:
        (timestamp,) = struct.unpack_from(">q", entry, at)
        at += 8
    key, at = _read_nullable(entry, at)
    value, at = _read_nullable(entry, at)
    assert at == len(entry), f"offset {offset}: the value ends at byte {at} of {len(entry)}"
    return OldMessage(offset, length, crc, magic, attributes, timestamp, key, value)


def _read_nullable(entry: bytes, at: int) -> tuple[bytes | None, int]:
    assert at + 4 <= len(entry), f"a length needs 4 bytes, {len(entry) - at} are left"
    (length,) = struct.unpack_from(">i", entry, at)
    at += 4
    if length == -1:
        return None, at
    assert 0 <= length <= len(entry) - at, f"length {length}, {len(entry) - at} bytes are left"
    return entry[at : at + length], at + length
