"""Messages of Kafka 0.7 in a log and in a fetch response, written after the documents only.

A log entry is the message's length and the message. A message is its magic byte, with magic 1 an
attributes byte, the CRC-32 of the payload alone, and the payload; there is no key. The lowest two
bits of the attributes are the codec. A compressed message holds a set of messages, which may
themselves be compressed. A message has no number: its id is the byte position of its entry in the
log, and the id of the next message is ``id + 4 + length``. Messages inside a compressed one share
its id, so a consumer that stops among them reads the compressed message again.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.codec.records.compression import CompressionError, compress, decompress
from harness.historical.errors import ByDocumentError
from harness.historical.fields import INT8, INT32, UINT32, DocumentReader

CODECS = {"none": 0, "gzip": 1, "snappy": 2}
_NAMES = {number: name for name, number in CODECS.items()}
_CODEC_MASK = 0x03
_HEADER_BYTES = {0: 5, 1: 6}
_DEEPEST = 16  # sets inside of sets; a stream may unpack to itself
_NAME = "Message of 0.7"


@dataclass(slots=True)
class Message07:
    """One message; ``crc`` is computed unless it is set, as wrong as may be."""

    payload: bytes
    magic: int = 1
    attributes: int = 0
    crc: int | None = field(default=None, compare=False)

    @property
    def codec_id(self) -> int:
        return self.attributes & _CODEC_MASK if self.magic else 0


class LogEntry(NamedTuple):
    """A message with the byte position of its entry, and that of the entry behind it."""

    offset: int
    next_offset: int
    message: Message07


class MessageSet(NamedTuple):
    """``partial_bytes``: of an entry at the end that is cut, as a fetch's limit may cut it.

    When nothing else is there, the limit was smaller than the one message: ask for more.
    """

    entries: list[LogEntry]
    partial_bytes: int


def entry_bytes(message: Message07) -> bytes:
    """The log entry: length and message. Raises ByDocumentError for another magic than 0 and 1."""
    if message.magic not in _HEADER_BYTES:
        raise _bad(f"magic {message.magic}; there are 0 and 1", "magic")
    crc = zlib.crc32(message.payload) if message.crc is None else message.crc
    start = INT8.pack(message.magic)
    if message.magic:
        start += (message.attributes & 0xFF).to_bytes(1, "big")
    body = start + UINT32.pack(crc) + message.payload
    return INT32.pack(len(body)) + body


def message_set_bytes(messages: Iterable[Message07], compression: str = "none") -> bytes:
    """All messages as they are, or in one compressed message. Raises ByDocumentError."""
    if compression not in CODECS:
        raise _bad(f"{compression}; there are {', '.join(CODECS)}", "compression")
    inner = b"".join(map(entry_bytes, messages))
    codec_id = CODECS[compression]
    if not codec_id:
        return inner
    return entry_bytes(Message07(compress(codec_id, inner), attributes=codec_id))


def read_message_set(
    data: bytes, initial_offset: int = 0, *, limit_bytes: int, is_deep: bool = True
) -> MessageSet:
    """Return the messages in ``data``; its first byte has the offset ``initial_offset``.

    With ``is_deep`` compressed messages are opened; they may decompress to ``limit_bytes`` in
    total. Raises ByDocumentError and CompressionError.
    """
    left_bytes = limit_bytes
    entries: list[LogEntry] = []
    reader = DocumentReader("Message set of 0.7", data)
    while (message := _next_message(reader, f"messages[{len(entries)}]")) is not None:
        offset = entries[-1].next_offset if entries else initial_offset
        next_offset = initial_offset + reader.at
        if not (is_deep and message.codec_id):
            entries.append(LogEntry(offset, next_offset, message))
            continue
        inner, used_bytes = _opened(message, left_bytes, _DEEPEST)
        left_bytes -= used_bytes
        entries += [LogEntry(offset, next_offset, one) for one in inner]
    return MessageSet(entries, reader.left_bytes)


def _next_message(reader: DocumentReader, path: str) -> Message07 | None:
    """None at the end, or before an entry that is cut."""
    if reader.left_bytes < INT32.size:
        return None
    (length,) = INT32.unpack_from(reader.data, reader.at)
    if length < _HEADER_BYTES[0]:
        raise reader.bad(f"impossible length {length}", path)
    if length > reader.left_bytes - INT32.size:
        return None
    start = reader.at
    body = DocumentReader(reader.name, reader.data, start + INT32.size, start + INT32.size + length)
    magic = body.number(INT8, f"{path}.magic")
    if magic not in _HEADER_BYTES:
        raise reader.bad(f"magic {magic}; there are 0 and 1", f"{path}.magic", start)
    attributes = body.number(INT8, f"{path}.attributes") & 0xFF if magic else 0
    crc = body.number(UINT32, f"{path}.crc")
    payload = body.raw(body.left_bytes, f"{path}.payload")
    computed = zlib.crc32(payload)
    if crc != computed:
        raise reader.bad(f"checksum {crc:#x}, computed {computed:#x}", f"{path}.crc", start)
    reader.at = body.at
    return Message07(payload, magic, attributes, crc)


def _opened(message: Message07, limit_bytes: int, depth: int) -> tuple[list[Message07], int]:
    """(messages inside, bytes unpacked)."""
    if not depth:
        raise CompressionError(f"more than {_DEEPEST} compressed messages in one another")
    if message.codec_id not in _NAMES:
        raise CompressionError(f"0.7 has no compression codec {message.codec_id}")
    data = decompress(message.codec_id, message.payload, limit_bytes)
    used_bytes = len(data)
    found: list[Message07] = []
    reader = DocumentReader("Message set of 0.7 inside a compressed message", data)
    while (inner := _next_message(reader, f"messages[{len(found)}]")) is not None:
        if not inner.codec_id:
            found.append(inner)
            continue
        deeper, more_bytes = _opened(inner, limit_bytes - used_bytes, depth - 1)
        used_bytes += more_bytes
        found += deeper
    reader.end()
    return found, used_bytes


def valid_bytes(data: bytes) -> int:
    """Return the length in bytes of the good entries at the start of a log file.

    Recovery cuts the file there. An entry is good when it ends within the file and its checksum is
    right.
    """
    reader = DocumentReader("Log of 0.7", data)
    try:
        while _next_message(reader, "entry") is not None:
            pass
    except ByDocumentError:
        pass  # what follows is not looked at, nor is it by the recovery of that time
    return reader.at


def _bad(problem: str, path: str) -> ByDocumentError:
    return ByDocumentError(problem, name=_NAME, path=path)
