"""A check that a compressed message of format 0 or 1 can be opened.

Kafka opens each such batch that it passes in a search for an offset: their base offset is that of
the first message inside. Sources: classes AbstractLegacyRecordBatch (DeepRecordsIterator),
CompressionType (forId), LegacyRecord; seen on 4.4.0 for every codec and magics 0, 1 and below 0.
"""

from __future__ import annotations

import struct

from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES, CompressionError, decompress
from harness.codec.records.lz4_header import with_right_checksum
from harness.reference_broker.state.log.batch_bytes import (
    CorruptBatch,
    InvalidMessage,
    UnforeseenBytes,
    codec_of_message,
    magic_of,
)

_KEY_AT = {0: 18, 1: 26}
_SIZE = struct.Struct(">i")
_START = struct.Struct(">qi")  # offset, length
_SMALLEST_LENGTH = 14
_ALREADY_CHECKED_BYTES = 2**31 - 1


def look_into(message: bytes, where: str) -> None:
    """Open a message if it is compressed; errors begin with its place, ``where``.

    Raises UnforeseenBytes for no codec, for sizes that are too large and for bytes that no codec
    has written, InvalidMessage for content that no message may have, CorruptBatch for too short
    messages inside.
    """
    codec, magic = codec_of_message(message), magic_of(message)
    if codec not in CODEC_NAMES:
        raise UnforeseenBytes(f"{where}: there is no codec {codec}")
    if not codec:
        return
    if magic not in _KEY_AT or codec == CODEC_IDS["zstd"]:
        raise InvalidMessage(f"{where}: there is no codec {codec} in magic {magic}")
    value = _value_of(message, where)
    try:
        if codec == CODEC_IDS["lz4"] and magic == 0:
            value = with_right_checksum(value)
        inside = decompress(codec, value, _ALREADY_CHECKED_BYTES)
    except CompressionError as problem:
        raise UnforeseenBytes(f"{where}: {problem}") from problem
    if not _count(inside, where):
        raise InvalidMessage(f"{where}: there is no message inside")


def _value_of(message: bytes, where: str) -> bytes:
    key_at = _KEY_AT[magic_of(message)]
    try:
        (key_size,) = _SIZE.unpack_from(message, key_at)
        value_at = key_at + _SIZE.size + max(0, key_size)
        (value_size,) = _SIZE.unpack_from(message, value_at)
    except struct.error as problem:
        raise UnforeseenBytes(f"{where}: its key is longer than it") from problem
    begin = value_at + _SIZE.size
    if value_size < 0:
        raise InvalidMessage(f"{where}: it is compressed, and null")
    if begin + value_size > len(message):
        raise UnforeseenBytes(f"{where}: its value is longer than it")
    return message[begin : begin + value_size]


def _count(inside: bytes, where: str) -> int:
    at = count = 0
    while at + _START.size <= len(inside):
        _, length = _START.unpack_from(inside, at)
        if length < _SMALLEST_LENGTH:
            raise CorruptBatch(f"{where}: a message of {length} bytes is inside")
        at += _START.size + length
        count += at <= len(inside)
    return count
