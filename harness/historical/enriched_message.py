"""The enriched message: a proposed format that exists only in a document and in no release.

The document "Kafka Enriched Message Metadata" proposes a time and tags for messages of magic 1;
release 0.10 gave magic 1 another layout. The document's layout::

    MessageSize int32, Offset int64, Message
    Message: Crc int32, MagicByte int8 (1), Attributes int8, Timestamp int32, KafkaTagLength int32,
             tags, KeyLength int32, Key, ValueLength int32, Value

The tag length is the length of all tags, -1 for none. A tag is an id (int8) and a value; the id
determines the value's type: 0 is the broker's time (int64), 32 the number of messages inside a
compressed one (int32). Values have no lengths of their own, so the decoder cannot split the bytes
after an unknown id; it keeps them as they are. For points that the document leaves open, the codec
follows 0.8: the checksum covers all bytes after it, and a length of -1 is null. The lowest four
bits of the attributes are the kind of the message: 0 plain, 1 gzip, 2 snappy; the document assigns
no numbers to control messages.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.historical.errors import ByDocumentError
from harness.historical.fields import (
    INT8,
    INT32,
    INT64,
    UINT32,
    DocumentReader,
    nullable_bytes,
    number_bytes,
)

TIMESTAMP_TAG, NUM_MESSAGES_TAG = 0, 32
_TAG_TYPES = {TIMESTAMP_TAG: INT64, NUM_MESSAGES_TAG: INT32}
_NAME = "Enriched message"
_NO_TAGS = -1


@dataclass(frozen=True, slots=True)
class EnrichedMessage:
    """``tags``: values by id, in order; ``unknown_tags``: the rest from an unknown id on, as bytes.

    ``offset`` of a compressed message is that of the first one inside; theirs are relative to it.
    """

    offset: int = 0
    value: bytes | None = None
    key: bytes | None = None
    timestamp: int = 0
    attributes: int = 0
    tags: dict[int, int] = field(default_factory=dict)
    unknown_tags: bytes = b""
    magic: int = 1


def encode_enriched(message: EnrichedMessage) -> bytes:
    """Size, offset and message. Raises ByDocumentError for a value that does not fit."""
    tags = _tags_bytes(message)
    body = b"".join(
        (
            number_bytes(INT8, message.magic, _NAME, "magic"),
            number_bytes(INT8, message.attributes, _NAME, "attributes"),
            number_bytes(INT32, message.timestamp, _NAME, "timestamp"),
            INT32.pack(len(tags) if tags else _NO_TAGS),
            tags,
            nullable_bytes(message.key),
            nullable_bytes(message.value),
        )
    )
    size = INT32.pack(UINT32.size + len(body))
    offset = number_bytes(INT64, message.offset, _NAME, "offset")
    return size + offset + UINT32.pack(zlib.crc32(body)) + body


def _tags_bytes(message: EnrichedMessage) -> bytes:
    made = b""
    for number, value in message.tags.items():
        path = f"tags[{number}]"
        if number not in _TAG_TYPES:
            known = ", ".join(map(str, _TAG_TYPES))
            raise ByDocumentError(f"no known tag; there are {known}", name=_NAME, path=path)
        made += INT8.pack(number) + number_bytes(_TAG_TYPES[number], value, _NAME, path)
    return made + message.unknown_tags


def decode_enriched(data: bytes, at: int = 0) -> tuple[EnrichedMessage, int]:
    """(message, next position). Raises ByDocumentError."""
    reader = DocumentReader(_NAME, data, at)
    size = reader.number(INT32, "size")
    offset = reader.number(INT64, "offset")
    reader.require(max(size, 0), "size")
    if size < UINT32.size:
        raise reader.bad(f"impossible size {size}", "size", at)
    body = DocumentReader(_NAME, data, reader.at, reader.at + size)
    crc = body.number(UINT32, "crc")
    computed = zlib.crc32(data[body.at : body.stop])
    if crc != computed:
        raise body.bad(f"{crc:#x}, computed {computed:#x}", "crc", reader.at)
    magic = body.number(INT8, "magic")
    if magic != 1:
        raise body.bad(f"{magic}, the proposal's is 1", "magic", body.at - 1)
    attributes = body.number(INT8, "attributes")
    timestamp = body.number(INT32, "timestamp")
    tags, unknown_tags = _read_tags(body)
    key, value = body.nullable("key"), body.nullable("value")
    body.end()
    message = EnrichedMessage(offset, value, key, timestamp, attributes, tags, unknown_tags, magic)
    return message, body.at


def _read_tags(body: DocumentReader) -> tuple[dict[int, int], bytes]:
    length = body.number(INT32, "tags")
    raw = body.raw(0 if length == _NO_TAGS else length, "tags")
    reader = DocumentReader(_NAME, body.data, body.at - len(raw), body.at)
    tags: dict[int, int] = {}
    while reader.left_bytes:
        start = reader.at
        number = reader.number(INT8, "tags")
        if number not in _TAG_TYPES:
            return tags, body.data[start : reader.stop]
        if number in tags:
            raise reader.bad("it is there twice", f"tags[{number}]", start)
        tags[number] = reader.number(_TAG_TYPES[number], f"tags[{number}]")
    return tags, b""


def absolute_offsets(
    outer_offset: int, inner: Sequence[EnrichedMessage], *, are_honored: bool = True
) -> list[EnrichedMessage]:
    """The messages inside a compressed one with their own offsets.

    Each is the outer offset plus its relative one, which compaction leaves with holes. Where the
    relative ones are not to be honored, as after mirroring, the place in the set counts instead.
    """
    return [
        replace(one, offset=outer_offset + (one.offset if are_honored else place))
        for place, one in enumerate(inner)
    ]
