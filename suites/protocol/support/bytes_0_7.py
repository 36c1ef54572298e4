"""Bytes of Kafka 0.7, put together by its document and not by our codec."""

from __future__ import annotations

import gzip
import struct
import zlib

SNAPPY_STREAM = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
LONGEST_LITERAL_BYTES = 60


def entry(payload: bytes, *, magic: int = 0, codec: int = 0) -> bytes:
    """Length, magic, with magic 1 attributes, CRC-32 of the payload, payload."""
    attributes = bytes([codec]) if magic else b""
    body = bytes([magic]) + attributes + struct.pack(">I", zlib.crc32(payload)) + payload
    return struct.pack(">i", len(body)) + body


def gzipped(messages: bytes) -> bytes:
    """A message that holds these."""
    return entry(gzip.compress(messages, mtime=0), magic=1, codec=1)


def snapped(messages: bytes) -> bytes:
    """The same with snappy: its size and one literal, in the stream's frame."""
    assert len(messages) <= LONGEST_LITERAL_BYTES
    block = bytes([len(messages), len(messages) - 1 << 2]) + messages
    framed = SNAPPY_STREAM + struct.pack(">i", len(block)) + block
    return entry(framed, magic=1, codec=2)


def log_of(*payloads: bytes) -> bytes:
    """Entries one behind the other, magic 0 and 1 in turn."""
    return b"".join(entry(payload, magic=at % 2) for at, payload in enumerate(payloads))
