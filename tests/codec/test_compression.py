"""Framings that brokers meet, limits, and garbage."""

from __future__ import annotations

import gzip
import struct
import subprocess
import sys
import time

import cramjam
import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.records.compression import (
    CODEC_IDS,
    CompressionError,
    compress,
    decompress,
)
from labs.message_values.values import QUICK, outcome

PACKING = [codec for name, codec in CODEC_IDS.items() if name != "none"]
TEXT = b"the quick brown fox " * 10_000
LIMIT = 1 << 22


@pytest.mark.parametrize("codec", CODEC_IDS.values())
@settings(QUICK, max_examples=30)
@given(data=st.binary(max_size=300) | st.just(TEXT) | st.just(b"\0" * 70_000))
def test_compressed_data_round_trips(codec: int, data: bytes) -> None:
    packed = compress(codec, data)
    assert decompress(codec, packed, LIMIT) == data
    assert decompress(codec, packed, len(data)) == data


@pytest.mark.parametrize("codec", CODEC_IDS.values())
@pytest.mark.parametrize("size", [1, 100, 65_535, 65_536, 65_537, 300_000])
def test_decompress_limit_is_exact(codec: int, size: int) -> None:
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    packed = compress(codec, data)
    assert decompress(codec, packed, size) == data
    with pytest.raises(CompressionError, match=f"more than {size - 1} bytes"):
        decompress(codec, packed, size - 1)


@pytest.mark.parametrize("codec", PACKING)
def test_decompress_of_compression_bomb_stops_at_limit(codec: int) -> None:
    bomb = compress(codec, bytes(1 << 25))
    assert len(bomb) < 1 << 22
    with pytest.raises(CompressionError, match="more than 100000 bytes"):
        decompress(codec, bomb, 100_000)


def test_decompress_reads_concatenated_gzip_members() -> None:
    data = gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two")
    assert decompress(1, data, 7) == b"one two"
    with pytest.raises(CompressionError, match="more than 6 bytes"):
        decompress(1, data, 6)


def test_decompress_time_is_linear_in_number_of_gzip_members() -> None:
    """Each used to copy all that were behind it: hours for a message of a hundred megabytes."""
    member = gzip.compress(b"a", mtime=0)
    few, many = member * 2_000, member * 32_000
    quick = min(_seconds(few) for _ in range(3))
    assert _seconds(many) < 6 * 16 * quick


def _seconds(data: bytes) -> float:
    began = time.process_time()
    assert len(decompress(1, data, LIMIT)) == len(data) // 21
    return time.process_time() - began


def test_decompress_reads_raw_and_stream_snappy() -> None:
    raw = bytes(cramjam.snappy.compress_raw(TEXT))
    assert decompress(2, raw, LIMIT) == TEXT
    stream = compress(2, TEXT)
    assert stream.startswith(b"\x82SNAPPY\0\0\0\0\1\0\0\0\1")
    assert len(TEXT) > 6 * 32 * 1024, "more than one block is wanted here"
    assert decompress(2, stream, LIMIT) == TEXT


def test_lz4_blocks_are_independent() -> None:
    """Bit 5 of the frame's flags; Kafka's reader refuses linked blocks."""
    packed = compress(3, TEXT)
    assert packed[:4] == bytes.fromhex("04224d18")
    assert packed[4] & 0x20


def test_skippable_frame_before_linked_lz4_blocks_is_refused() -> None:
    linked = lz4.frame.compress(b"x" * 100, block_linked=True)
    skippable = struct.pack("<II", 0x184D2A50, 0)
    with pytest.raises(CompressionError, match="lz4: no frame"):
        decompress(CODEC_IDS["lz4"], skippable + linked, LIMIT)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("block_size", [4, 5, 6, 7])
@pytest.mark.parametrize("checksums", [False, True])
@pytest.mark.parametrize("size_told", [False, True])
def test_decompress_reads_independent_lz4_blocks_and_refuses_linked_blocks(
    linked: bool, block_size: int, checksums: bool, size_told: bool
) -> None:
    text = TEXT * 22  # more than one block of the largest size, or lz4 links nothing
    frame = lz4.frame.compress(
        text,
        block_linked=linked,
        block_size=block_size,
        content_checksum=checksums,
        block_checksum=checksums,
        store_size=size_told,
    )
    if linked:
        with pytest.raises(CompressionError, match="linked blocks"):
            decompress(3, frame, LIMIT)
    else:
        assert decompress(3, frame, len(text)) == text


@pytest.mark.parametrize("size_told", [False, True])
def test_decompress_reads_zstd_frames_with_and_without_content_size(size_told: bool) -> None:
    frame = zstandard.ZstdCompressor(write_content_size=size_told).compress(TEXT)
    assert decompress(4, frame, LIMIT) == TEXT


def test_decompress_reads_concatenated_snappy_streams() -> None:
    assert decompress(2, compress(2, TEXT) + compress(2, b"more"), LIMIT) == TEXT + b"more"


WITHOUT_WHEEL = """
import sys
sys.modules["cramjam"] = None  # an import of it now fails
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.records.any_format import read_records
for codec in ("none", "gzip"):
    data = encode_batch(RecordBatch([Record(b"v")]), codec)
    print(read_records(data, limit_bytes=99).batches[0].records[0].value)
data = data[:21] + b"\\0\\3" + data[23:]
import struct, google_crc32c
data = data[:17] + struct.pack(">I", google_crc32c.value(data[21:])) + data[21:]
print(read_records(data, limit_bytes=99).problems[0].error)
try:
    encode_batch(RecordBatch([Record(b"v")]), "zstd")
except Exception as error:
    print(type(error).__name__, error)
"""


def test_missing_cramjam_package_is_named_only_when_needed() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_WHEEL], capture_output=True, text=True, check=True
    )
    said = "snappy, lz4 and zstd need the package cramjam: pip install cramjam"
    assert done.stdout.splitlines() == ["b'v'", "b'v'", said, f"CompressionError {said}"]


BLOCK = bytes(cramjam.snappy.compress_raw(b"block"))
HEADER = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
BROKEN: list[tuple[int, bytes, str]] = [
    (1, b"", "empty"),
    (1, gzip.compress(b"text")[:-1], "ends inside a member"),
    (1, gzip.compress(b"text") + b"junk", "incorrect header"),
    (2, HEADER[:-1], "ends inside the stream's header"),
    (2, HEADER + b"\0\0", "ends inside a block length"),
    (2, HEADER + struct.pack(">i", -1), "a block of -1 bytes"),
    (2, HEADER + struct.pack(">i", len(BLOCK) + 1) + BLOCK, f"{len(BLOCK)} are left"),
    (2, b"\xff\xff\xff\x7f\0", "more than"),
    (2, b"\x80\x80\x80\x01\x04abc", "cannot hold the 2097152 they promise"),
    (5, b"", "unknown compression codec 5"),
    (7, b"x", "unknown compression codec 7"),
]


@pytest.mark.parametrize(("codec", "data", "problem"), BROKEN, ids=range(len(BROKEN)))
def test_decompress_of_malformed_stream_raises_compression_error(
    codec: int, data: bytes, problem: str
) -> None:
    with pytest.raises(CompressionError, match=problem):
        decompress(codec, data, LIMIT)


@pytest.mark.parametrize("codec", PACKING)
def test_decompress_of_every_truncated_stream_raises_compression_error(codec: int) -> None:
    packed = compress(codec, b"some text that is not all the same " * 3)
    whole = range(len(packed))
    ends = [len(HEADER)] if codec == 2 else []  # a snappy stream without blocks is empty, not cut
    for size in whole:
        if size not in ends:
            with pytest.raises(CompressionError):
                decompress(codec, packed[:size], LIMIT)


@pytest.mark.parametrize("codec", PACKING)
@settings(QUICK, max_examples=150)
@given(garbage=st.binary(max_size=120), keep=st.integers(0, 20))
def test_decompress_of_random_bytes_raises_only_compression_error(
    codec: int, garbage: bytes, keep: int
) -> None:
    packed = compress(codec, b"a text a text a text, and something else")
    out = outcome(lambda: decompress(codec, packed[:keep] + garbage, LIMIT), CompressionError)
    assert isinstance(out, CompressionError) or len(out) <= LIMIT
