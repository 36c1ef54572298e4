"""Variable-length integers: unsigned LEB128, and zig-zag for records."""

from __future__ import annotations

UVARINT_MAX_BYTES = 5
VARLONG_MAX_BYTES = 10


def encode_uvarint(value: int) -> bytes:
    """Unsigned LEB128 of 0 .. 2**32-1; ValueError outside."""
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{value} does not fit an unsigned varint of 32 bits")
    return _leb128(value)


def _leb128(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def decode_uvarint(data: bytes, offset: int) -> tuple[int, int]:
    """(value, next offset). ValueError beyond 5 bytes or 32 bits, IndexError at the end."""
    value, next_offset = _read(data, offset, UVARINT_MAX_BYTES)
    if value >= 1 << 32:
        raise ValueError("unsigned varint above 32 bits")
    return value, next_offset


def encode_varlong(value: int) -> bytes:
    """Zig-zag LEB128 of a signed 64-bit number."""
    return _leb128((value << 1 ^ value >> 63) & 0xFFFFFFFFFFFFFFFF)


def decode_varint(data: bytes, offset: int) -> tuple[int, int]:
    """Zig-zag, signed 32 bits, at most 5 bytes."""
    raw, next_offset = _read(data, offset, UVARINT_MAX_BYTES)
    if raw >= 1 << 32:
        raise ValueError("varint above 32 bits")
    return raw >> 1 ^ -(raw & 1), next_offset


def decode_varlong(data: bytes, offset: int) -> tuple[int, int]:
    """Zig-zag, signed 64 bits, at most 10 bytes."""
    raw, next_offset = _read(data, offset, VARLONG_MAX_BYTES)
    if raw >= 1 << 64:
        raise ValueError("varlong above 64 bits")
    return raw >> 1 ^ -(raw & 1), next_offset


def _read(data: bytes, offset: int, limit: int) -> tuple[int, int]:
    value = 0
    for index in range(limit):
        byte = data[offset + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, offset + index + 1
    raise ValueError(f"varint longer than {limit} bytes")
