"""The checksum in an lz4 frame's header, and the wrong one in messages of magic 0.

Kafka's first lz4 writer let the checksum cover the frame's magic number too. Readers of messages of
magic 0 therefore ignore the checksum, and writers keep writing the wrong one (KAFKA-3160). Frame
layout: LZ4 Frame Format 1.6.
"""

from __future__ import annotations

import struct

from harness.codec.records.compression import CompressionError

_MAGIC = bytes.fromhex("04224d18")
_FLAGS_AT = 4
_SHORTEST = 7  # magic number, two bytes of flags, checksum
_HAS_CONTENT_SIZE, _HAS_DICTIONARY = 0x08, 0x01
_MASK = 0xFFFFFFFF
_PRIMES = (2654435761, 2246822519, 3266489917, 668265263, 374761393)


def with_wrong_checksum(frame: bytes) -> bytes:
    """The frame as messages of magic 0 have it. Raises CompressionError for no lz4 frame."""
    at = _checksum_at(frame)
    return _with_byte(frame, at, _checksum(frame[:at]))


def with_right_checksum(frame: bytes) -> bytes:
    """The frame as the format wants it, whatever its checksum was. Raises CompressionError."""
    at = _checksum_at(frame)
    return _with_byte(frame, at, _checksum(frame[_FLAGS_AT:at]))


def _checksum_at(frame: bytes) -> int:
    if len(frame) < _SHORTEST or not frame.startswith(_MAGIC):
        raise CompressionError("lz4: no frame begins here")
    flags = frame[_FLAGS_AT]
    at = _FLAGS_AT + 2
    at += 8 if flags & _HAS_CONTENT_SIZE else 0
    at += 4 if flags & _HAS_DICTIONARY else 0
    if at >= len(frame):
        raise CompressionError("lz4: the data ends inside the frame's header")
    return at


def _with_byte(data: bytes, at: int, byte: int) -> bytes:
    return data[:at] + bytes([byte]) + data[at + 1 :]


def _checksum(covered: bytes) -> int:
    return xxh32(covered) >> 8 & 0xFF


def xxh32(data: bytes) -> int:
    """XXH32 with seed 0, for the few bytes of a frame's header."""
    first, second, third, fourth, fifth = _PRIMES
    at = 0
    if len(data) >= 16:
        lanes = [first + second, second, 0, -first]
        while at + 16 <= len(data):
            words = struct.unpack_from("<4I", data, at)
            lanes = [
                _rotated(lane + word * second, 13) * first
                for lane, word in zip(lanes, words, strict=True)
            ]
            at += 16
        pairs = zip(lanes, (1, 7, 12, 18), strict=True)
        found = sum(_rotated(lane, bits) for lane, bits in pairs)
    else:
        found = fifth
    found += len(data)
    while at + 4 <= len(data):
        (word,) = struct.unpack_from("<I", data, at)
        found = _rotated(found + word * third, 17) * fourth
        at += 4
    for byte in data[at:]:
        found = _rotated(found + byte * fifth, 11) * first
    found &= _MASK
    found = (found ^ found >> 15) * second & _MASK
    found = (found ^ found >> 13) * third & _MASK
    return found ^ found >> 16


def _rotated(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> 32 - bits) & _MASK
