"""Each decompressor, and the lz4 header's checksum, under a limit.

An input is a byte that chooses the codec and the limit, then the compressed bytes.
"""

from __future__ import annotations

import gzip
import random
import struct
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from harness.codec.records import CompressionError
from harness.codec.records.compression import CODEC_IDS, CODEC_NAMES, compress, decompress
from harness.codec.records.lz4_header import with_right_checksum, with_wrong_checksum
from labs.fuzz.memory import check_memory, sampled

lz4_frame: Any = import_module("lz4.frame")
LIMITS = (0, 100, 64 * 1024, 1024 * 1024)
CODECS = 8  # three bits, as in the attributes
_MEASURED = 64  # one input in so many
_BUFFERS = 8  # of the limit's size: what a decompressor may hold beside what it returns
_XERIAL_HEADER_BYTES = 16
PLAIN = (
    b"",
    b"a",
    b"abcabcabc" * 20,
    bytes(range(256)) * 3,
    b"\0" * 300_000,
    random.Random(3).randbytes(700),
    b"The same line again and again, and some numbers 123123123.\n" * 1500,
)


def check(data: bytes) -> None:
    """Never more than the limit, and CompressionError is all that may be raised."""
    if not data:
        return
    codec_id, limit_bytes = data[0] % CODECS, LIMITS[data[0] // CODECS % len(LIMITS)]
    packed = data[1:]
    made = _decompressed(codec_id, packed, limit_bytes)
    if made is not None:
        assert type(made) is bytes
        assert len(made) <= limit_bytes
        assert decompress(codec_id, compress(codec_id, made), limit_bytes) == made
        _check_against_peer(codec_id, packed, made)
    if CODEC_NAMES.get(codec_id) == "lz4":
        _check_header(packed)
    if sampled(data, _MEASURED):
        check_memory(
            lambda: _decompressed(codec_id, packed, limit_bytes), len(data), _BUFFERS * limit_bytes
        )


def _decompressed(codec_id: int, packed: bytes, limit_bytes: int) -> bytes | None:
    try:
        return decompress(codec_id, packed, limit_bytes)
    except CompressionError:
        return None


def _check_against_peer(codec_id: int, packed: bytes, made: bytes) -> None:
    """Other wheels may refuse more, but what they read is the same."""
    readers = {"gzip": gzip.decompress, "lz4": lz4_frame.decompress}
    read = readers.get(CODEC_NAMES.get(codec_id, ""))
    if read is None:
        return
    try:
        theirs = read(packed)
    except (OSError, EOFError, RuntimeError, ValueError):
        return
    assert made.startswith(theirs) if codec_id == CODEC_IDS["lz4"] else made == theirs


def _check_header(packed: bytes) -> None:
    try:
        right = with_right_checksum(packed)
    except CompressionError:
        return
    assert len(right) == len(packed)
    assert with_right_checksum(with_wrong_checksum(packed)) == right


def seeds() -> Iterator[tuple[str, bytes]]:
    """Each codec over a few texts at each limit, and framings that other clients write."""
    for codec_id, name in CODEC_NAMES.items():
        for number, plain in enumerate(PLAIN):
            if len(compress(codec_id, plain)) > 4000:
                continue
            for step in range(len(LIMITS)) if number == 2 else (3,):
                yield f"{name}-{number}-{step}", _input(codec_id, step, compress(codec_id, plain))
    snappy, lz4_id = CODEC_IDS["snappy"], CODEC_IDS["lz4"]
    raw = compress(snappy, PLAIN[2])[_XERIAL_HEADER_BYTES + 4 :]
    yield "snappy-raw", _input(snappy, 3, raw)
    yield "lz4-magic-0", _input(lz4_id, 3, with_wrong_checksum(compress(lz4_id, PLAIN[2])))
    for flag in ("store_size", "content_checksum", "block_checksum", "block_linked"):
        options = {"block_linked": False, flag: True}
        yield f"lz4-{flag}", _input(lz4_id, 3, lz4_frame.compress(PLAIN[2], **options))
    two = gzip.compress(PLAIN[2], mtime=0) + gzip.compress(PLAIN[3], mtime=0)
    yield "gzip-two-members", _input(CODEC_IDS["gzip"], 3, two)
    yield "snappy-claims-much", _input(snappy, 3, b"\xff\xff\xff\xff\x0f" + raw[2:])


def _input(codec_id: int, step: int, packed: bytes) -> bytes:
    return bytes([codec_id + CODECS * step]) + packed


def mutated(data: bytes, chance: random.Random) -> bytes:
    """Another limit, a xerial block length that lies, or the input twice."""
    if len(data) < 2:
        return data
    how = chance.randrange(3)
    if how == 0:
        return _input(data[0] % CODECS, chance.randrange(len(LIMITS)), data[1:])
    if how == 1:
        return data + data[1:]
    at = chance.randrange(1, len(data))
    length = struct.pack(">i", chance.choice((-1, 0, 1, 2**31 - 1, len(data) - at - 4)))
    return data[:at] + length + data[at + 4 :]


def repaired(data: bytes, chance: random.Random) -> bytes:
    """An lz4 header's checksum made right again, mostly."""
    if len(data) < 2 or CODEC_NAMES.get(data[0] % CODECS) != "lz4" or chance.random() < 0.2:
        return data
    try:
        return data[:1] + with_right_checksum(data[1:])
    except CompressionError:
        return data
