"""The compression codecs of record batches, by their ids in the attributes.

Wheels do the work and are imported on first use. Decompression is bounded: the caller names a
limit, and nothing much larger than the true output is ever allocated.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

from harness.codec.errors import CodecError

CODEC_IDS = {"none": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}
CODEC_NAMES = {number: name for name, number in CODEC_IDS.items()}
_XERIAL_HEADER = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
_XERIAL_MAGIC = b"\x82SNAPPY\x00"
_XERIAL_BLOCK_BYTES = 32 * 1024
_SNAPPY_LARGEST_RATIO = 22  # the densest element makes 64 bytes out of 3
_LZ4_MAGIC, _LZ4_INDEPENDENT = bytes.fromhex("04224d18"), 0x20  # the flag is in the byte behind
_GZIP_WINDOW = 31  # zlib's code for a gzip wrapper
_FIRST_PIECE_BYTES = 4096
_FIRST_BUFFER_BYTES = 64 * 1024


class CompressionError(CodecError):
    """The compressed bytes cannot be read, or would grow beyond the limit.

    ``offset`` and ``path`` as in RecordsError; a caller that knows them sets them.
    """

    offset: int | None = None
    path = ""


class LimitError(CompressionError):
    """The bytes would grow beyond the caller's limit."""


def compress(codec_id: int, data: bytes) -> bytes:
    """``data`` in the framing that Kafka's Java client writes. KeyError for an unknown codec."""
    return _COMPRESSORS[codec_id](data)


def decompress(codec_id: int, data: bytes, limit_bytes: int) -> bytes:
    """The bytes that were compressed; CompressionError when broken or above ``limit_bytes``."""
    reader = _DECOMPRESSORS.get(codec_id)
    if reader is None:
        raise CompressionError(f"unknown compression codec {codec_id}")
    return reader(data, limit_bytes)


def decompress_up_to_damage(codec_id: int, data: bytes) -> bytes:
    """Return the bytes that a streaming reader gets before the damage.

    With gzip these are all bytes up to the damage; with the other codecs none, since a block is
    decompressed as a whole.
    """
    if codec_id != CODEC_IDS["gzip"]:
        return b""
    out, member = bytearray(), zlib.decompressobj(_GZIP_WINDOW)
    try:
        for at in range(len(data)):
            out += member.decompress(data[at : at + 1])
    except zlib.error:
        pass
    return bytes(out)


def _cramjam() -> Any:
    try:
        import cramjam
    except ImportError as error:
        raise CompressionError(
            "snappy, lz4 and zstd need the package cramjam: pip install cramjam"
        ) from error
    return cramjam


def _none(data: bytes, limit_bytes: int) -> bytes:
    if len(data) > limit_bytes:
        raise LimitError(f"more than {limit_bytes} bytes")
    return data


def _gunzip(data: bytes, limit_bytes: int) -> bytes:
    """Members may follow one another (RFC 1952)."""
    if not data:
        raise CompressionError("gzip: empty")
    out, view, at = bytearray(), memoryview(data), 0
    while at < len(view):
        at = _gunzip_member(view, at, out, limit_bytes)
    return bytes(out)


def _gunzip_member(view: memoryview, at: int, out: bytearray, limit_bytes: int) -> int:
    """Add one member to ``out``; where it ends.

    Piece by piece: zlib copies what it was given and did not use, and there may be thousands.
    """
    member = zlib.decompressobj(_GZIP_WINDOW)
    step = _FIRST_PIECE_BYTES
    while not member.eof:
        piece = view[at : at + step]
        if not piece:
            raise CompressionError("gzip: the data ends inside a member")
        try:
            out += member.decompress(piece, limit_bytes + 1 - len(out))
        except zlib.error as error:
            raise CompressionError(f"gzip: {error}") from error
        if len(out) > limit_bytes:
            raise LimitError(f"gzip: more than {limit_bytes} bytes")
        at += len(piece) - len(member.unused_data)
        step *= 4
    return at


def _gzip(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=_GZIP_WINDOW)
    return packer.compress(data) + packer.flush()


def _snappy(data: bytes) -> bytes:
    """The xerial stream: a header, then blocks of 32 KiB with their lengths."""
    pack = _cramjam().snappy.compress_raw
    out = bytearray(_XERIAL_HEADER)
    for start in range(0, len(data), _XERIAL_BLOCK_BYTES):
        block = bytes(pack(data[start : start + _XERIAL_BLOCK_BYTES]))
        out += struct.pack(">i", len(block)) + block
    return bytes(out)


def _unsnappy(data: bytes, limit_bytes: int) -> bytes:
    """A xerial stream, or one raw block without header (other clients write that)."""
    if not data.startswith(_XERIAL_MAGIC):
        return _raw_snappy(data, limit_bytes)
    if len(data) < len(_XERIAL_HEADER):
        raise CompressionError("snappy: the data ends inside the stream's header")
    out = bytearray()
    at = len(_XERIAL_HEADER)
    while at < len(data):
        if at + 4 > len(data):
            raise CompressionError("snappy: the data ends inside a block length")
        if data.startswith(_XERIAL_HEADER, at):  # streams may follow one another
            at += len(_XERIAL_HEADER)
            continue
        (length,) = struct.unpack_from(">i", data, at)
        at += 4
        if not 0 <= length <= len(data) - at:
            raise CompressionError(f"snappy: a block of {length} bytes, {len(data) - at} are left")
        out += _raw_snappy(data[at : at + length], limit_bytes, len(out))
        at += length
    return bytes(out)


def _raw_snappy(data: bytes, limit_bytes: int, made_bytes: int = 0) -> bytes:
    """One block; ``made_bytes`` of the limit are used up by the blocks before it."""
    snappy = _cramjam().snappy
    try:
        size = snappy.decompress_raw_len(data)
        if made_bytes + size > limit_bytes:
            raise LimitError(f"snappy: more than {limit_bytes} bytes")
        if size > _SNAPPY_LARGEST_RATIO * len(data):
            raise CompressionError(f"snappy: {len(data)} bytes cannot hold the {size} they promise")
        return bytes(snappy.decompress_raw(data))
    except _cramjam().DecompressionError as error:
        raise CompressionError(f"snappy: {error}") from error


def _lz4(data: bytes) -> bytes:
    """Blocks are independent: Kafka's reader refuses linked ones."""
    packer = _cramjam().lz4.Compressor(content_checksum=False, block_linked=False)
    packer.compress(data)
    return bytes(packer.finish())


def _unlz4(data: bytes, limit_bytes: int) -> bytes:
    """One frame or several. Linked blocks are refused, as Kafka's reader does."""
    _cramjam()  # what is missing is said before what is wrong
    if not data.startswith(_LZ4_MAGIC):
        raise CompressionError("lz4: no frame; Kafka reads no skippable and no legacy ones")
    if len(data) > 4 and not data[4] & _LZ4_INDEPENDENT:
        raise CompressionError("lz4: linked blocks; Kafka reads independent ones only")
    return _growing("lz4", data, limit_bytes)


def _unzstd(data: bytes, limit_bytes: int) -> bytes:
    return _growing("zstd", data, limit_bytes)


def _zstd(data: bytes) -> bytes:
    return bytes(_cramjam().zstd.compress(data))


def _growing(module: str, data: bytes, limit_bytes: int) -> bytes:
    """Try buffers of growing size, so that a small input cannot claim a huge one."""
    into = getattr(_cramjam(), module).decompress_into
    size = min(limit_bytes, max(_FIRST_BUFFER_BYTES, 4 * len(data)))
    while True:
        buffer = bytearray(size)
        try:
            made = into(data, buffer)
            return bytes(memoryview(buffer)[:made])
        except _cramjam().DecompressionError as error:
            if "whole buffer" not in str(error):
                raise CompressionError(f"{module}: {error}") from error
            if size >= limit_bytes:
                raise LimitError(f"{module}: more than {limit_bytes} bytes") from error
            size = min(limit_bytes, size * 4)


_COMPRESSORS: dict[int, Callable[[bytes], bytes]] = {
    0: bytes,
    1: _gzip,
    2: _snappy,
    3: _lz4,
    4: _zstd,
}
_DECOMPRESSORS: dict[int, Callable[[bytes, int], bytes]] = {
    0: _none,
    1: _gunzip,
    2: _unsnappy,
    3: _unlz4,
    4: _unzstd,
}
