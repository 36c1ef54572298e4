"""Damaged batches and message sets from a seed: what a reader refuses, or takes all the same."""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace

import cramjam
import google_crc32c

from harness.codec.records import (
    Header,
    LegacyMessage,
    Record,
    RecordBatch,
    encode_batch,
    encode_message,
    encode_message_set,
    encode_record,
)
from harness.codec.records.batch import encode_batch_around
from harness.codec.records.compression import CODEC_IDS, compress
from harness.codec.records.lz4_header import with_right_checksum, with_wrong_checksum
from harness.codec.records.message_set import wrapper_of
from harness.codec.varint import encode_varlong

Damage = Callable[[random.Random, str], bytes]
CODECS = ("none", "gzip", "snappy", "lz4")
LZ4, ZSTD = CODEC_IDS["lz4"], CODEC_IDS["zstd"]
_MAGIC_AT, _HEADER_BYTES = 16, 61


def hostile(chance: random.Random, each: int) -> Iterator[tuple[str, bytes]]:
    """(what is wrong, bytes): ``each`` of every damage, magic and codec."""
    for magic in (0, 1, 2):
        for name, damage in {**_everywhere(magic), **(IN_SET if magic < 2 else IN_BATCH)}.items():
            codecs = (*CODECS, "zstd") if magic == 2 else CODECS
            for codec in CODECS_OF.get(name, codecs):
                for _ in range(each):
                    yield f"magic {magic}: {name}", damage(chance, codec)


def good(chance: random.Random, codec: str, magic: int) -> bytes:
    """A few records that can be compressed, at offset 100."""
    parts = [chance.randbytes(chance.choice((0, 3, 40))) for _ in range(chance.choice((1, 2, 3)))]
    if magic == 2:
        records = [Record(part, b"k" * 30, timestamp_delta=at) for at, part in enumerate(parts)]
        return encode_batch(RecordBatch(records, base_offset=100, base_timestamp=5000), codec)
    return encode_message_set(_messages(parts, magic), codec)


def _messages(parts: list[bytes], magic: int) -> list[LegacyMessage]:
    time = -1 if magic == 0 else 5000
    return [LegacyMessage(part, b"k" * 30, time, 100 + at, magic) for at, part in enumerate(parts)]


def _everywhere(magic: int) -> dict[str, Damage]:
    def at(edit: Callable[[random.Random, bytearray], object]) -> Damage:
        def damage(chance: random.Random, codec: str) -> bytes:
            raw = bytearray(good(chance, codec, magic))
            edit(chance, raw)
            return bytes(raw)

        return damage

    return {
        "nothing": at(lambda chance, raw: None),
        "truncated": at(_truncate),
        "bit flipped": at(_flip),
        "bit flipped, checksum right": at(_flip_and_mend),
        "length lies": at(_other_length),
        "magic": at(lambda chance, raw: raw.__setitem__(_MAGIC_AT, chance.choice((3, 4, 255)))),
        "other magic, checksum right": at(lambda chance, raw: _other_magic(chance, raw, magic)),
        "followed by a part": at(lambda chance, raw: raw.extend(raw[: chance.randrange(len(raw))])),
        "followed by zeros": at(lambda chance, raw: raw.extend(bytes(chance.choice((1, 12, 70))))),
    }


def _truncate(chance: random.Random, raw: bytearray) -> None:
    del raw[chance.randrange(len(raw)) :]


def _flip(chance: random.Random, raw: bytearray) -> None:
    raw[chance.randrange(_MAGIC_AT + 1, len(raw))] ^= 1 << chance.randrange(8)


def _flip_and_mend(chance: random.Random, raw: bytearray) -> None:
    raw[chance.randrange(_MAGIC_AT + 1, len(raw))] ^= 1 << chance.randrange(8)
    mend(raw)


def mend(raw: bytearray) -> None:
    """Put the right checksum into the first batch or message."""
    (length,) = struct.unpack_from(">i", raw, 8)
    if raw[_MAGIC_AT] == 2:
        raw[17:21] = struct.pack(">I", google_crc32c.value(bytes(raw[21 : 12 + length])))
    else:
        raw[12:16] = struct.pack(">I", zlib.crc32(raw[_MAGIC_AT : 12 + length]))


def _other_length(chance: random.Random, raw: bytearray) -> None:
    (length,) = struct.unpack_from(">i", raw, 8)
    wrong = (-1, 0, 13, 14, 48, length - 1, length + 1, 2**31 - 1)
    raw[8:12] = struct.pack(">i", chance.choice(wrong))


def _other_magic(chance: random.Random, raw: bytearray, magic: int) -> None:
    raw[_MAGIC_AT] = chance.choice([other for other in (0, 1, 2) if other != magic])
    mend(raw)


def _batch(change: Callable[[random.Random, RecordBatch], RecordBatch]) -> Damage:
    """A batch of two records with a wrong header."""

    def damage(chance: random.Random, codec: str) -> bytes:
        records = [Record(b"v", b"k", (Header("h", b"x"),)), Record(b"w")]
        batch = RecordBatch(records, base_offset=100, base_timestamp=5000)
        return encode_batch(change(chance, batch), codec)

    return damage


def _payload(make: Callable[[random.Random], bytes], count: int = 1) -> Damage:
    """A batch that promises ``count`` records, around these bytes."""

    def damage(chance: random.Random, codec: str) -> bytes:
        batch = RecordBatch((), attributes=CODEC_IDS[codec], record_count=count)
        return encode_batch_around(replace(batch, last_offset_delta=count - 1), make(chance))

    return damage


def _packed(make: Callable[[random.Random, bytes], bytes]) -> Damage:
    """A batch around bytes that are compressed by hand."""

    def damage(chance: random.Random, codec: str) -> bytes:
        payload = encode_record(Record(b"v" * 300, b"k"), 0)
        raw = encode_batch_around(RecordBatch((), record_count=1), make(chance, payload))
        made = bytearray(raw)
        made[21:27] = struct.pack(">hi", CODEC_IDS[codec], 0)
        mend(made)
        return bytes(made)

    return damage


def record(body: bytes, length: int | None = None) -> bytes:
    """A record around hand-made bytes."""
    return encode_varlong(len(body) if length is None else length) + body


_START = b"\0\0\0"  # attributes, timestamp delta, offset delta
_TAIL = b"\x02k\x02v"  # a key and a value of one byte each


def _frame(data: bytes, **options: bool) -> bytes:
    packer = cramjam.lz4.Compressor(**options)
    packer.compress(data)
    return bytes(packer.finish())


def _other_checksum(frame: bytes) -> bytes:
    return with_wrong_checksum(with_right_checksum(frame))


def _xerial_cut(packed: bytes) -> bytes:
    return packed[:12]


def _with_gzip_flags(chance: random.Random, payload: bytes) -> bytes:
    packed = bytearray(compress(1, payload))
    packed[3] |= chance.choice((0x20, 0x40, 0x80))  # reserved by RFC 1952
    return bytes(packed)


IN_BATCH: dict[str, Damage] = {
    "count": _batch(
        lambda chance, batch: replace(
            batch, record_count=chance.choice((-1, 0, 1, 3, 2**31 - 1, -(2**31)))
        )
    ),
    "last offset delta": _batch(
        lambda chance, batch: replace(batch, last_offset_delta=chance.choice((-1, 0, 5, 2**31 - 1)))
    ),
    "unused attributes": _batch(
        lambda chance, batch: replace(
            batch, attributes=chance.choice((1 << 7, 1 << 14, -(1 << 15)))
        )
    ),
    "base offset": _batch(
        lambda chance, batch: replace(batch, base_offset=chance.choice((-1, -(2**63), 2**63 - 2)))
    ),
    "no records, a count": _payload(lambda chance: b"", count=1),
    "no records, no count": _payload(lambda chance: b"", count=0),
    "record length": _payload(
        lambda chance: record(_START + _TAIL + b"\0", chance.choice((-1, 0, 7, 9, 2**31 - 1)))
    ),
    "bytes in a record's end": _payload(lambda chance: record(_START + _TAIL + b"\0\0")),
    "bytes behind the records": _payload(lambda chance: record(_START + _TAIL + b"\0") + b"\0"),
    "key length": _payload(lambda chance: record(_START + b"\3" + b"\x02v\0")),
    "key length beyond": _payload(lambda chance: record(_START + b"\x40" + _TAIL)),
    "value length": _payload(lambda chance: record(_START + b"\x02k" + b"\x05" + b"\0")),
    "headers below none": _payload(lambda chance: record(_START + _TAIL + b"\1")),
    "headers beyond": _payload(lambda chance: record(_START + _TAIL + b"\x10")),
    "header without key": _payload(lambda chance: record(_START + _TAIL + b"\2\1\2x")),
    "header key not UTF-8": _payload(lambda chance: record(_START + _TAIL + b"\2\2\xff\2x")),
    "header value length": _payload(lambda chance: record(_START + _TAIL + b"\2\2h\3")),
    "record attributes": _payload(lambda chance: record(b"\x81\0\0" + _TAIL + b"\0")),
    "varint of 6 bytes": _payload(
        lambda chance: record(b"\0\0" + b"\x80" * 5 + b"\0" + _TAIL + b"\0")
    ),
    "varint of zeros": _payload(lambda chance: record(b"\0\0" + b"\x80\x80\0" + _TAIL + b"\0")),
    "varint above int32": _payload(
        lambda chance: record(b"\0\0" + b"\xff" * 4 + b"\x7f" + _TAIL + b"\0")
    ),
    "varlong of 11 bytes": _payload(
        lambda chance: record(b"\0" + b"\x80" * 10 + b"\0\0" + _TAIL + b"\0")
    ),
    "codec id": _batch(lambda chance, batch: replace(batch, attributes=chance.choice((5, 6, 7)))),
    "compressed rubbish": _packed(lambda chance, payload: chance.randbytes(40)),
    "lz4 linked blocks": _packed(lambda chance, payload: _frame(payload, block_linked=True)),
    "lz4 wrong header checksum": _packed(
        lambda chance, payload: _other_checksum(_frame(payload, block_linked=False))
    ),
    "lz4 content checksum": _packed(
        lambda chance, payload: _frame(payload, block_linked=False, content_checksum=True)
    ),
    "lz4 two frames": _packed(lambda chance, payload: _frame(payload, block_linked=False) * 2),
    "lz4 cut": _packed(lambda chance, payload: _frame(payload, block_linked=False)[:-5]),
    "snappy raw": _packed(lambda chance, payload: bytes(cramjam.snappy.compress_raw(payload))),
    "snappy header cut": _packed(lambda chance, payload: _xerial_cut(compress(2, payload))),
    "snappy cut": _packed(lambda chance, payload: compress(2, payload)[:-2]),
    "gzip two members": _packed(
        lambda chance, payload: compress(1, payload[:9]) + compress(1, payload[9:])
    ),
    "gzip cut": _packed(
        lambda chance, payload: compress(1, payload)[: chance.choice((-1, -8, -12))]
    ),
    "gzip flags without meaning": _packed(_with_gzip_flags),
    "gzip rubbish behind": _packed(lambda chance, payload: compress(1, payload) + b"rubbish"),
    "zstd two frames": _packed(
        lambda chance, payload: compress(4, payload[:9]) + compress(4, payload[9:])
    ),
    "zstd cut": _packed(lambda chance, payload: compress(4, payload)[:-3]),
}


def _wrapper(
    change: Callable[[LegacyMessage], LegacyMessage] = lambda wrapper: wrapper,
    inner: Callable[[list[LegacyMessage]], list[LegacyMessage]] = lambda messages: messages,
    magic: int = 1,
) -> Damage:
    """A compressed set, its wrapper or what is inside changed."""

    def damage(chance: random.Random, codec: str) -> bytes:
        messages = inner(_messages([b"a", b"b" * 50, b"c"], magic))
        return encode_message(change(wrapper_of(messages, codec)))

    return damage


def _around(make: Callable[[bytes], bytes], codec: str, magic: int = 1) -> Damage:
    """A wrapper around bytes that are compressed by hand."""

    def damage(chance: random.Random, _: str) -> bytes:
        inner = encode_message_set(
            [replace(m, offset=at) for at, m in enumerate(_messages([b"a", b"b"], magic))]
        )
        time = -1 if magic == 0 else 5000
        return encode_message(LegacyMessage(make(inner), None, time, 1, magic, CODEC_IDS[codec]))

    return damage


def _message(body: bytes, magic: int = 1, attributes: int = 0) -> Damage:
    """A message around a hand-made key and value, its checksum right."""

    def damage(chance: random.Random, codec: str) -> bytes:
        covered = struct.pack(">bb", magic, attributes) + (b"\0" * 8 if magic else b"") + body
        return struct.pack(">qiI", 7, 4 + len(covered), zlib.crc32(covered)) + covered

    return damage


_NULL = b"\xff\xff\xff\xff"
IN_SET: dict[str, Damage] = {
    "key below null": _message(b"\xff\xff\xff\xfe" + _NULL),
    "value below null": _message(_NULL + b"\xff\xff\xff\xfe"),
    "key beyond": _message(struct.pack(">i", 99) + _NULL),
    "value beyond": _message(_NULL + struct.pack(">i", 99)),
    "bytes behind the value": _message(_NULL + struct.pack(">i", 1) + b"vXYZ"),
    "no value length": _message(struct.pack(">i", 4) + b"abcd"),
    "unused attributes": _message(_NULL + _NULL, attributes=0x70),
    "codec id": _message(_NULL + struct.pack(">i", 1) + b"v", attributes=5),
    "append time bit in magic 0": _message(_NULL + _NULL, magic=0, attributes=8),
    "wrapper without value": _message(_NULL + _NULL, attributes=1),
    "wrapper of nothing": _around(lambda inner: compress(1, b""), "gzip"),
    "wrapper of a part": _around(lambda inner: compress(1, inner[:20]), "gzip"),
    "wrapper ends in a part": _around(lambda inner: compress(1, inner + inner[:20]), "gzip"),
    "wrapper of magic 0 ends in a part": _around(
        lambda inner: compress(1, inner + inner[:20]), "gzip", 0
    ),
    "wrapper of zstd": _around(lambda inner: compress(4, inner), "zstd"),
    "wrapper with key": _wrapper(lambda wrapper: replace(wrapper, key=b"key")),
    "wrapper at 0": _wrapper(lambda wrapper: replace(wrapper, offset=0)),
    "wrapper at 1 of 3": _wrapper(lambda wrapper: replace(wrapper, offset=1)),
    "wrapper at -1": _wrapper(lambda wrapper: replace(wrapper, offset=-1)),
    "wrapper of magic 0 with other offset": _wrapper(
        lambda wrapper: replace(wrapper, offset=500), magic=0
    ),
    "wrapper's time is another": _wrapper(lambda wrapper: replace(wrapper, timestamp=9)),
    "append time in the wrapper": _wrapper(
        lambda wrapper: replace(wrapper, timestamp=9, attributes=wrapper.attributes | 8)
    ),
    "append time inside": _wrapper(
        inner=lambda messages: [replace(m, attributes=8) for m in messages],
        change=lambda wrapper: replace(wrapper, attributes=wrapper.attributes & 7),
    ),
    "offsets inside fall": _wrapper(inner=lambda messages: messages[::-1]),
    "checksum inside": _wrapper(
        inner=lambda messages: [replace(messages[0], crc=1), *messages[1:]]
    ),
    "checksum inside of magic 0": _wrapper(
        inner=lambda messages: [*messages[:2], replace(messages[2], crc=1)], magic=0
    ),
    "magic 0 inside": _wrapper(inner=lambda m: [m[0], replace(m[1], magic=0), m[2]]),
    "magic 1 inside of magic 0": _wrapper(
        inner=lambda m: [m[0], replace(m[1], magic=1), m[2]], magic=0
    ),
    "wrapper inside": _wrapper(inner=lambda messages: [*messages, wrapper_of(messages, "gzip")]),
    "lz4 wrong header checksum": _around(
        lambda inner: _other_checksum(_frame(inner, block_linked=False)), "lz4"
    ),
    "lz4 wrong header checksum in magic 0": _around(
        lambda inner: _other_checksum(_frame(inner, block_linked=False)), "lz4", 0
    ),
    "lz4 right header checksum in magic 0": _around(
        lambda inner: _frame(inner, block_linked=False), "lz4", 0
    ),
    "lz4 linked blocks": _around(lambda inner: _frame(inner, block_linked=True), "lz4"),
    "snappy raw": _around(lambda inner: bytes(cramjam.snappy.compress_raw(inner)), "snappy"),
}
_COMPRESSED = CODECS[1:]
CODECS_OF: dict[str, tuple[str, ...]] = {
    **{name: (name.split()[0],) for name in IN_BATCH if name.split()[0] in (*_COMPRESSED, "zstd")},
    **dict.fromkeys(
        (name for name in IN_SET if IN_SET[name].__qualname__.startswith("_w")), _COMPRESSED
    ),
    "codec id": ("none",),
    "compressed rubbish": (*_COMPRESSED, "zstd"),
}
