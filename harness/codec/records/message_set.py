"""Message sets, magic 0 and 1: the log format before record batches.

A set is a sequence of messages, each with its offset and length in front. Magic 1 adds a timestamp
and relative offsets (KIP-31, KIP-32). A compressed set is one message, the wrapper, with another
set as its value. Classes LegacyRecord and AbstractLegacyRecordBatch in Apache Kafka.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.codec.records.batch import CODEC_MASK, LOG_APPEND_TIME
from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES, compress, decompress
from harness.codec.records.errors import CorruptMessageError, RecordsError
from harness.codec.records.lz4_header import with_right_checksum, with_wrong_checksum

NO_TIMESTAMP = -1
ENTRY_OVERHEAD_BYTES = 12  # offset and length, which the length does not count
MESSAGE_OVERHEAD_BYTES = (14, 22)  # by magic: all but the bytes of key and value
_ENTRY = struct.Struct(">qi")
_MESSAGE = struct.Struct(">qiIbb")
_MAGIC_AT = 16  # from the entry's start
_LZ4, _ZSTD = CODEC_IDS["lz4"], CODEC_IDS["zstd"]
_LIMIT_BYTES = 256 * 1024 * 1024


class NestingError(RecordsError):
    """Good messages that may not stand in each other like this."""


@dataclass(slots=True)
class LegacyMessage:
    """One message; ``crc`` and ``length`` are computed unless they are set, as wrong as may be.

    ``timestamp``: milliseconds, -1 for none; magic 0 has none. ``attributes``: the codec, and in
    magic 1 the bit LOG_APPEND_TIME.
    """

    value: bytes | None = None
    key: bytes | None = None
    timestamp: int = NO_TIMESTAMP
    offset: int = 0
    magic: int = 1
    attributes: int = 0
    crc: int | None = field(default=None, compare=False)
    length: int | None = field(default=None, compare=False)

    @property
    def codec_id(self) -> int:
        return self.attributes & CODEC_MASK


def encode_message(message: LegacyMessage) -> bytes:
    """The message with its offset and length in front."""
    body = bytearray(struct.pack(">bb", message.magic, message.attributes))
    if message.magic > 0:
        body += struct.pack(">q", message.timestamp)
    for part in (message.key, message.value):
        body += b"\xff\xff\xff\xff" if part is None else struct.pack(">i", len(part)) + part
    crc = zlib.crc32(body) if message.crc is None else message.crc
    length = 4 + len(body) if message.length is None else message.length
    return _ENTRY.pack(message.offset, length) + struct.pack(">I", crc) + bytes(body)


def encode_message_set(messages: Sequence[LegacyMessage], compression: str = "none") -> bytes:
    """All messages as they are, or with a codec in one wrapper, see :func:`wrapper_of`."""
    if compression != "none" and messages:
        messages = [wrapper_of(messages, compression)]
    return b"".join(encode_message(message) for message in messages)


def wrapper_of(messages: Sequence[LegacyMessage], compression: str) -> LegacyMessage:
    """The message that holds these, which must not be empty, of one magic, sorted by offset.

    It has the offset of the last and the largest timestamp. In magic 1 the offsets inside are
    relative to the first one, in magic 0 they stay as they are.
    """
    first, last, codec_id = messages[0], messages[-1], CODEC_IDS[compression]
    base_offset = first.offset if first.magic > 0 else 0
    inner = [replace(message, offset=message.offset - base_offset) for message in messages]
    return LegacyMessage(
        value=packed(inner, codec_id),
        timestamp=max(message.timestamp for message in messages),
        offset=last.offset,
        magic=first.magic,
        attributes=first.attributes & LOG_APPEND_TIME | codec_id,
    )


def packed(inner: Sequence[LegacyMessage], codec_id: int) -> bytes:
    """The value of a wrapper around these messages, which stay as they are."""
    found = compress(codec_id, b"".join(map(encode_message, inner)))
    if codec_id == _LZ4 and inner[0].magic == 0:
        return with_wrong_checksum(found)
    return found


def decode_message_set(
    data: bytes, limit_bytes: int = _LIMIT_BYTES, *, tolerant: bool = False
) -> list[LegacyMessage]:
    """Every message with its own offset, wrappers opened; one that is cut at the end is left out.

    ``limit_bytes`` bounds what a wrapper may grow to. ``tolerant`` reads as a broker does: any
    negative length of key or value is null, bytes behind the value are not looked at. Raises
    CorruptMessageError, NestingError, CompressionError, and RecordsError for anything else.
    """
    found: list[LegacyMessage] = []
    for message in split_message_set(data, tolerant=tolerant):
        if message.codec_id:
            found += open_wrapper(message, limit_bytes, tolerant=tolerant)
        else:
            found.append(message)
    return found


def split_message_set(data: bytes, *, tolerant: bool = False) -> list[LegacyMessage]:
    """The outer messages, wrappers closed; one that is cut at the end is left out.

    Raises like :func:`decode_message_set`, but for compression and nesting.
    """
    found = []
    start = 0
    while start + ENTRY_OVERHEAD_BYTES <= len(data):
        _, length = _ENTRY.unpack_from(data, start)
        if length < MESSAGE_OVERHEAD_BYTES[0]:
            raise CorruptMessageError(f"message at byte {start}: impossible length {length}")
        stop = start + ENTRY_OVERHEAD_BYTES + length
        if stop > len(data):
            break
        found.append(read_message(data, start, stop, tolerant=tolerant))
        start = stop
    return found


def read_message(data: bytes, start: int, stop: int, *, tolerant: bool = False) -> LegacyMessage:
    """The one message between ``start``, where its offset stands, and ``stop``.

    Raises CorruptMessageError, and RecordsError for anything else.
    """
    offset, _, crc, magic, attributes = _MESSAGE.unpack_from(data, start)
    if magic not in (0, 1):
        raise CorruptMessageError(f"message at byte {start}: magic {magic}, here it is 0 or 1")
    computed = zlib.crc32(data[start + _MAGIC_AT : stop])
    if crc != computed:
        raise CorruptMessageError(
            f"message at byte {start}: checksum {crc:#x}, computed {computed:#x}"
        )
    timestamp, at = NO_TIMESTAMP, start + _MAGIC_AT + 2
    try:
        if magic > 0:
            (timestamp,) = struct.unpack_from(">q", data, at)
            at += 8
        key, at = _read_nullable(data, at, stop, tolerant)
        value, at = _read_nullable(data, at, stop, tolerant)
    except ValueError as error:
        raise RecordsError(f"message at byte {start}: {error}") from error
    if at != stop and not tolerant:
        raise RecordsError(f"message at byte {start}: {stop - at} bytes behind its value")
    length = stop - start - ENTRY_OVERHEAD_BYTES
    return LegacyMessage(value, key, timestamp, offset, magic, attributes, crc, length)


def _read_nullable(data: bytes, at: int, stop: int, tolerant: bool) -> tuple[bytes | None, int]:
    if at + 4 > stop:
        raise ValueError(f"a length needs 4 bytes, {stop - at} are left")
    (length,) = struct.unpack_from(">i", data, at)
    at += 4
    if length == -1 or (length < 0 and tolerant):
        return None, at
    if not 0 <= length <= stop - at:
        raise ValueError(f"length {length} with {stop - at} bytes left")
    return data[at : at + length], at + length


def open_wrapper(
    wrapper: LegacyMessage, limit_bytes: int = _LIMIT_BYTES, *, tolerant: bool = False
) -> list[LegacyMessage]:
    """The messages inside a compressed one, with their own offsets and timestamps.

    In magic 1 the last one has the wrapper's offset, and all have its time when that is the
    broker's. A wrapper with offset 0 numbers from 0, as a producer may send it. Raises like
    :func:`decode_message_set`.
    """
    where = f"wrapper at offset {wrapper.offset}"
    if wrapper.codec_id == _ZSTD:
        raise NestingError(f"{where}: zstd is for magic 2 only")
    if wrapper.value is None:
        raise NestingError(f"{where}: it has no value")
    value = wrapper.value
    if wrapper.codec_id == _LZ4 and wrapper.magic == 0:
        value = with_right_checksum(value)
    payload = decompress(wrapper.codec_id, value, limit_bytes)
    inner = split_message_set(payload, tolerant=tolerant)
    if not inner:
        raise NestingError(f"{where}: no message is inside")
    for message in inner:
        if message.codec_id:
            raise NestingError(f"{where}: a {CODEC_NAMES.get(message.codec_id)} message is inside")
        if message.magic != wrapper.magic:
            raise NestingError(f"{where}: magic {message.magic} inside of magic {wrapper.magic}")
    return inner if wrapper.magic == 0 else _as_outside(wrapper, inner, where)


def _as_outside(
    wrapper: LegacyMessage, inner: list[LegacyMessage], where: str
) -> list[LegacyMessage]:
    last = inner[-1].offset
    if wrapper.offset != 0 and wrapper.offset < last:
        raise NestingError(f"{where}: the last message inside has offset {last}")
    base_offset = wrapper.offset - last if wrapper.offset else 0
    time_type = wrapper.attributes & LOG_APPEND_TIME
    return [
        replace(
            message,
            offset=base_offset + message.offset,
            timestamp=wrapper.timestamp if time_type else message.timestamp,
            attributes=message.attributes & ~LOG_APPEND_TIME | time_type,
        )
        for message in inner
    ]
