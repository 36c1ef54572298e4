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
    LegacyMessage,
    Record,
    RecordBatch,
    decode_batches,
    decode_message_set,
    decode_record,
    encode_batch,
    encode_message_set,
    encode_record,
    split_message_set,
)
from harness.codec.records.any_format import RecordsReading, read_records
from harness.codec.records.columns import BadColumnRecord, Columns, read_columns
from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES, compress, decompress
from harness.codec.records.value_form import records_bytes, records_value
from harness.codec.records.walk import BadRecord as BadWalk
from harness.codec.records.walk import walk_records
from labs.fuzz.memory import check_memory, sampled

LIMIT_BYTES = 1024 * 1024
_MEASURED = 256  # one input in so many
_ENTRY = struct.Struct(">qi")
_ENTRY_BYTES = _ENTRY.size
_INT64 = 1 << 63
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
    except BadWalk:
        return
    assert summary.timestamp_deltas is not None
    assert len(summary.timestamp_deltas) == summary.count == count
    assert all(0 <= position < count for position in summary.null_keys)


def _any_format(raw: bytes) -> None:
    """Every byte is accounted for, and nothing is raised."""
    reading = read_records(raw, limit_bytes=LIMIT_BYTES)
    known = sum(batch.size_bytes for batch in reading.batches)
    known += sum(problem.size_bytes for problem in reading.problems)
    assert known + reading.partial_bytes + reading.unread_bytes == len(raw)
    assert all(isinstance(problem.error, CodecError) for problem in reading.problems)
    for batch in reading.batches:
        records = list(batch.records)
        assert [(r.offset, r.timestamp, r.key, r.value) for r in records] == [*batch.records.rows()]
        assert all(
            -_INT64 <= r.offset < _INT64 and -_INT64 <= r.timestamp < _INT64 for r in records
        )
    held = sum(len(r.value or b"") for batch in reading.batches for r in batch.records)
    assert held <= LIMIT_BYTES
    if reading.batches and not reading.problems:
        _check_against_one_format(raw, reading)


def _check_against_one_format(raw: bytes, reading: RecordsReading) -> None:
    """Where all is of magic 2, the older function returns the same."""
    if any(batch.magic != 2 for batch in reading.batches):
        return
    with suppress(CodecError):  # it takes no text that is no UTF-8
        for old, new in zip(decode_batches(raw), reading.batches, strict=True):
            assert [(r.key, r.value, tuple(r.headers)) for r in old.records] == [
                (r.key, r.value, tuple(r.headers)) for r in new.records
            ]


def _values(raw: bytes) -> None:
    """Plain values and back: the same bytes, or what is compressed as equal values."""
    values = records_value(raw, limit_bytes=LIMIT_BYTES)
    made = records_bytes(values)
    if all(value.get("compression", "none") == "none" for value in values):
        assert made == raw
    else:
        assert records_value(made, limit_bytes=2 * LIMIT_BYTES) == values


def _columns(raw: bytes) -> None:
    """Many alike records read at once are what they are one by one."""
    columns, told = _at_once(raw)
    records, problem = _one_by_one(raw)
    assert told == problem, f"at once: {told or 'read'}; one by one: {problem or 'read'}"
    if columns is not None:
        read = (
            *(columns.offsets, columns.timestamps, columns.keys, columns.values),
            *(columns.headers_of_all(), columns.attributes_of_all()),
        )
        assert list(zip(*read, strict=False)) == [  # the last two may go on for ever
            (r.offset_delta, r.timestamp_delta, r.key, r.value, tuple(r.headers), r.attributes)
            for r in records
        ]


def _at_once(raw: bytes) -> tuple[Columns | None, str]:
    try:
        return read_columns(raw), ""
    except BadColumnRecord as problem:
        return None, str(problem)


def _one_by_one(raw: bytes) -> tuple[list[Record], str]:
    found, offset = [], 0
    try:
        while offset < len(raw):
            record, offset = decode_record(raw, offset)
            found.append(record)
    except (IndexError, ValueError) as error:
        return found, f"record {len(found)} (byte {offset} of the records): {error}"
    return found, ""


READERS: tuple[Callable[[bytes], None], ...] = (
    _batches,
    _message_set,
    _message_set_tolerantly,
    _walk,
    _any_format,
    _columns,
    _values,
)
SETS, TOLERANT_SETS, WALK, ANY_FORMAT, COLUMNS, VALUES = range(1, 7)

RECORDS = (
    Record(b"value", b"key", (Header("h", b"v"), Header("n", None)), timestamp_delta=5),
    Record(None, None),
    Record(b"x" * 70, b""),
)
MESSAGES = (
    LegacyMessage(b"value", b"key", 5, 10),
    LegacyMessage(None, None, 6, 11),
    LegacyMessage(b"", b"", 7, 12),
)


def seeds() -> Iterator[tuple[str, bytes]]:
    """Each magic and codec, control and transactional batches, several in a row, a cut one."""
    for name in CODEC_IDS:
        raw = encode_batch(RecordBatch(RECORDS, base_offset=3, base_timestamp=99), name)
        yield f"batch-{name}", b"\0" + raw
        yield f"values-{name}", bytes([VALUES]) + raw + raw[:40]
        yield f"batches-{name}", b"\0" + raw + raw + raw[:50]
        damaged = bytearray(raw)
        damaged[-1] ^= 1
        yield f"any-{name}", bytes([ANY_FORMAT]) + raw + damaged + raw + raw[:50]
        for magic in (0, 1) if name != "zstd" else ():
            times = [5, 6, 7] if magic else [-1, -1, -1]
            messages = [
                LegacyMessage(m.value, m.key, time, m.offset, magic)
                for m, time in zip(MESSAGES, times, strict=True)
            ]
            raw = encode_message_set(messages, name)
            for reader in (SETS, TOLERANT_SETS, ANY_FORMAT, VALUES):
                yield f"set-{magic}-{name}-{reader}", bytes([reader]) + raw
    for attributes in (0x08, 0x10, 0x20, 0x30, 0x40, 0x80):
        batch = RecordBatch(RECORDS[:1], attributes=attributes, producer_id=7, producer_epoch=1)
        yield f"batch-attributes-{attributes:#x}", b"\0" + encode_batch(batch)
    yield "batch-empty", b"\0" + encode_batch(RecordBatch())
    for count in range(4):
        some = b"".join(encode_record(one, at) for at, one in enumerate(RECORDS[:count]))
        yield f"walk-{count}", bytes([WALK, count]) + some
    yield from _runs()


def _runs() -> Iterator[tuple[str, bytes]]:
    """Many records of one shape, with and without one of another between them."""
    shapes = {
        "values": [Record(b"v" * 8, None, timestamp_delta=at) for at in range(70)],
        "same-time": [Record(b"v" * 30, b"key")] * 40,
        "long": [Record(b"v" * 100, b"k" * 3, timestamp_delta=at * 99) for at in range(40)],
        "null": [Record(None, b"k", timestamp_delta=at % 3) for at in range(40)],
        "headers": [Record(b"v", None, (Header("h", b"x"),))] * 40,
        "mixed": [*[Record(b"v" * 8)] * 30, RECORDS[0], *[Record(b"v" * 9)] * 30],
    }
    for name, records in shapes.items():
        payload = b"".join(encode_record(one, at) for at, one in enumerate(records))
        yield f"run-{name}", bytes([COLUMNS]) + payload
        batch = encode_batch(RecordBatch(records, base_offset=2**40, base_timestamp=1_600_000_000))
        yield f"run-batch-{name}", bytes([ANY_FORMAT]) + batch


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
    if not data or READERS[data[0] % len(READERS)] in (_walk, _columns) or chance.random() < 0.2:
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
