"""Record batches and message sets of any magic, as they lie in a log or come in an answer.

An input is a byte that chooses the reader, then the records.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import google_crc32c

from harness.codec import CodecError
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    CODEC_MASK,
    CompressionError,
    Header,
    Message,
    Record,
    RecordBatch,
    decode_batches,
    decode_message_set,
    encode_batch,
    encode_message_set,
    encode_record,
    split_message_set,
)
from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES, compress, decompress
from harness.codec.records.walk import BadRecord, walk_records
from tests.fuzz.memory import check_memory, sampled

LIMIT_BYTES = 1024 * 1024
_MEASURED = 256  # one input in so many
_ENTRY = struct.Struct(">qi")
_ENTRY_BYTES = _ENTRY.size
_MAGIC_AT, _V2_CRC_AT, _OLD_CRC_AT = 16, 17, 12
_V2_COVERED_AT, _OLD_COVERED_AT = 21, 16


def check(data: bytes) -> None:
    """CodecError or records, and records that are written again are the same."""
    if not data:
        return
    read, raw = READERS[data[0] % len(READERS)], data[1:]
    with suppress(CodecError):
        read(raw)
    if sampled(data, _MEASURED):
        check_memory(lambda: read(raw), len(raw), 8 * LIMIT_BYTES)


def _batches(raw: bytes) -> None:
    read = decode_batches(raw)
    for batch in read:
        fresh = replace(batch, crc=None, batch_length=None)  # compressed anew, they may differ
        assert decode_batches(encode_batch(fresh)) == [batch]


def _message_set(raw: bytes) -> None:
    messages = decode_message_set(raw, LIMIT_BYTES)
    assert decode_message_set(raw, LIMIT_BYTES, tolerant=True) == messages
    plain = split_message_set(raw)
    assert encode_message_set(plain) == raw[: len(encode_message_set(plain))]


def _message_set_tolerantly(raw: bytes) -> None:
    decode_message_set(raw, LIMIT_BYTES, tolerant=True)


def _walk(raw: bytes) -> None:
    """A byte for the count, then records: what the reader takes, the walk takes."""
    count, payload = raw[0] if raw else 0, raw[1:]
    try:
        summary = walk_records(payload, count, keep_timestamps=True)
    except BadRecord:
        return
    assert summary.timestamp_deltas is not None
    assert len(summary.timestamp_deltas) == summary.count == count
    assert all(0 <= position < count for position in summary.null_keys)


READERS: tuple[Callable[[bytes], None], ...] = (
    _batches,
    _message_set,
    _message_set_tolerantly,
    _walk,
)

RECORDS = (
    Record(b"value", b"key", (Header("h", b"v"), Header("n", None)), timestamp_delta=5),
    Record(None, None),
    Record(b"x" * 70, b""),
)
MESSAGES = (Message(b"value", b"key", 5, 10), Message(None, None, 6, 11), Message(b"", b"", 7, 12))


def seeds() -> Iterator[tuple[str, bytes]]:
    """Each magic and codec, control and transactional batches, several in a row, a cut one."""
    for name in CODEC_IDS:
        raw = encode_batch(RecordBatch(RECORDS, base_offset=3, base_timestamp=99), name)
        yield f"batch-{name}", b"\0" + raw
        yield f"batches-{name}", b"\0" + raw + raw[:8] + raw[8:] + raw[:50]
        for magic in (0, 1) if name != "zstd" else ():
            times = [5, 6, 7] if magic else [-1, -1, -1]
            messages = [
                Message(m.value, m.key, time, m.offset, magic)
                for m, time in zip(MESSAGES, times, strict=True)
            ]
            raw = encode_message_set(messages, name)
            for reader in (1, 2):
                yield f"set-{magic}-{name}-{reader}", bytes([reader]) + raw
    for attributes in (0x08, 0x10, 0x20, 0x30, 0x40, 0x80):
        batch = RecordBatch(RECORDS[:1], attributes=attributes, producer_id=7, producer_epoch=1)
        yield f"batch-attributes-{attributes:#x}", b"\0" + encode_batch(batch)
    yield "batch-empty", b"\0" + encode_batch(RecordBatch())
    for count in range(4):
        some = b"".join(encode_record(one, at) for at, one in enumerate(RECORDS[:count]))
        yield f"walk-{count}", bytes([3, count]) + some


def mutated(data: bytes, chance: random.Random) -> bytes:
    """One entry said to be of another reader, doubled, or changed inside its compression."""
    if len(data) < BATCH_HEADER_BYTES:
        return data
    how = chance.randrange(5)
    if how == 0:
        return bytes([chance.randrange(len(READERS))]) + data[1:]
    if how == 1:
        return data + data[1:]
    return data[:1] + _inside_changed(data[1:], chance)


def _inside_changed(raw: bytes, chance: random.Random) -> bytes:
    """The first batch with its records changed and compressed anew, perhaps otherwise."""
    if raw[_MAGIC_AT] != 2:
        return raw
    (attributes,) = struct.unpack_from(">h", raw, _V2_COVERED_AT)
    (length,) = struct.unpack_from(">i", raw, 8)
    stop = _ENTRY_BYTES + length
    if not BATCH_HEADER_BYTES <= stop <= len(raw) or attributes & CODEC_MASK not in CODEC_NAMES:
        return raw
    try:
        payload = decompress(attributes & CODEC_MASK, raw[BATCH_HEADER_BYTES:stop], LIMIT_BYTES)
    except CompressionError:
        return raw
    codec_id = chance.choice(tuple(CODEC_NAMES))
    packed = compress(codec_id, _changed(payload, chance))
    made = bytearray(raw[:BATCH_HEADER_BYTES]) + packed
    struct.pack_into(">i", made, 8, len(made) - _ENTRY_BYTES)
    struct.pack_into(">h", made, _V2_COVERED_AT, attributes & ~CODEC_MASK | codec_id)
    return bytes(made) + raw[stop:]


def _changed(payload: bytes, chance: random.Random) -> bytes:
    made = bytearray(payload)
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(made) + 1)
        wrong = chance.choice((b"\x01", b"\0", b"\xff\xff\xff\xff\x0f", b"\x80", b"\x7f", b"\xc3"))
        made[at : at + chance.randrange(3)] = wrong
    return bytes(made)


def repaired(data: bytes, chance: random.Random) -> bytes:
    """Lengths and checksums made right, entry by entry; one time in five left as they are."""
    if not data or READERS[data[0] % len(READERS)] is _walk or chance.random() < 0.2:
        return data
    made = bytearray(data)
    start = 1
    while start + _MAGIC_AT < len(made):
        (length,) = struct.unpack_from(">i", made, start + 8)
        stop = start + _ENTRY_BYTES + length
        if length < 14 or stop > len(made):
            stop = len(made)  # the last one takes what is left
            struct.pack_into(">i", made, start + 8, stop - start - _ENTRY_BYTES)
        _repair(made, start, stop)
        start = stop
    return bytes(made)


def _repair(made: bytearray, start: int, stop: int) -> None:
    """The checksum of the entry between."""
    if made[start + _MAGIC_AT] == 2:
        crc_at, covered = start + _V2_CRC_AT, start + _V2_COVERED_AT
        compute = google_crc32c.value
    else:
        crc_at, covered = start + _OLD_CRC_AT, start + _OLD_COVERED_AT
        compute = zlib.crc32
    if crc_at + 4 <= stop:
        struct.pack_into(">I", made, crc_at, compute(bytes(made[covered:stop])))
