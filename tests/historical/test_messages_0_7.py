"""Messages and log entries of Kafka 0.7, byte by byte."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.errors import CodecError
from harness.codec.records.compression import CompressionError, LimitError
from harness.historical.errors import ByDocumentError
from harness.historical.messages_0_7 import (
    LogEntry,
    Message07,
    entry_bytes,
    message_set_bytes,
    read_message_set,
    valid_bytes,
)
from labs.message_values.values import QUICK, outcome

LIMIT = 1 << 20
PAYLOAD = b"123456789"
PLAIN_0 = bytes.fromhex(
    "0000000e"  # length: 1 + 4 + 9
    "00"  # magic 0: no attributes
    "cbf43926"  # CRC-32 of the payload alone
    "313233343536373839"  # payload
)
PLAIN_1 = bytes.fromhex(
    "0000000f"  # length: 1 + 1 + 4 + 9
    "01"  # magic 1
    "00"  # attributes: no codec
    "cbf43926"  # CRC-32 of the payload alone, the attributes are not covered
    "313233343536373839"  # payload
)
EMPTY = bytes.fromhex("00000005 00 00000000")  # nothing in it: the CRC-32 of nothing is 0


def gzip_by_hand(data: bytes) -> bytes:
    """RFC 1952 around one stored block of RFC 1951."""
    header = bytes.fromhex("1f8b 08 00 00000000 00 ff")  # magic, deflate, no flags, time, system
    block = b"\x01" + struct.pack("<HH", len(data), len(data) ^ 0xFFFF) + data  # last, stored
    return header + block + struct.pack("<II", zlib.crc32(data), len(data))


def snappy_by_hand(data: bytes) -> bytes:
    """The xerial stream with one block: its size, one literal of at most 60 bytes."""
    block = bytes([len(data), (len(data) - 1) << 2]) + data
    return b"\x82SNAPPY\0" + struct.pack(">iii", 1, 1, len(block)) + block


def compressed(codec_id: int, payload: bytes) -> bytes:
    body = struct.pack(">bBI", 1, codec_id, zlib.crc32(payload)) + payload
    return struct.pack(">i", len(body)) + body


def test_messages_of_each_magic_match_hand_written_bytes() -> None:
    found = read_message_set(PLAIN_0 + PLAIN_1 + EMPTY, limit_bytes=LIMIT)
    assert found.entries == [
        LogEntry(0, 18, Message07(PAYLOAD, magic=0)),
        LogEntry(18, 37, Message07(PAYLOAD)),
        LogEntry(37, 46, Message07(b"", magic=0)),
    ]
    assert found.partial_bytes == 0
    assert [entry.message.crc for entry in found.entries] == [0xCBF43926, 0xCBF43926, 0]
    assert entry_bytes(Message07(PAYLOAD, magic=0)) == PLAIN_0
    assert entry_bytes(Message07(PAYLOAD)) == PLAIN_1
    assert message_set_bytes([Message07(PAYLOAD, 0), Message07(PAYLOAD)]) == PLAIN_0 + PLAIN_1


def test_message_id_is_position_in_log() -> None:
    found = read_message_set(PLAIN_0 + PLAIN_1, 1000, limit_bytes=LIMIT)
    assert [entry[:2] for entry in found.entries] == [(1000, 1018), (1018, 1037)]


@pytest.mark.parametrize(("codec_id", "pack"), [(1, gzip_by_hand), (2, snappy_by_hand)])
def test_compressed_messages_share_id_of_their_wrapper(codec_id: int, pack: object) -> None:
    assert callable(pack)
    wrapper = compressed(codec_id, pack(PLAIN_0 + PLAIN_1))
    behind = 18 + len(wrapper)
    found = read_message_set(PLAIN_0 + wrapper + PLAIN_1, limit_bytes=LIMIT)
    assert [entry[:2] for entry in found.entries] == [
        (0, 18),
        (18, behind),
        (18, behind),
        (behind, behind + 19),
    ]
    assert [entry.message.magic for entry in found.entries] == [0, 0, 1, 1]
    (shallow,) = read_message_set(wrapper, limit_bytes=LIMIT, is_deep=False).entries
    assert shallow.message.codec_id == codec_id


def test_nested_compressed_messages_are_read() -> None:
    inner = compressed(2, snappy_by_hand(PLAIN_1)) + PLAIN_0
    found = read_message_set(compressed(1, gzip_by_hand(inner)), limit_bytes=LIMIT)
    assert [entry.message.magic for entry in found.entries] == [1, 0]


def test_byte_limit_applies_to_every_compression_level() -> None:
    inner = compressed(2, snappy_by_hand(PLAIN_1))
    wrapper = compressed(1, gzip_by_hand(inner))
    enough = len(inner) + len(PLAIN_1)
    assert len(read_message_set(wrapper, limit_bytes=enough).entries) == 1
    with pytest.raises(LimitError):
        read_message_set(wrapper, limit_bytes=enough - 1)
    with pytest.raises(LimitError):
        read_message_set(wrapper + wrapper, limit_bytes=2 * enough - 1)


def test_nesting_above_16_levels_raises_compression_error() -> None:
    data = PLAIN_0
    for _ in range(17):
        data = compressed(1, gzip_by_hand(data))
    with pytest.raises(CompressionError, match="more than 16 compressed messages"):
        read_message_set(data, limit_bytes=LIMIT)


def test_truncated_last_message_is_counted_as_partial_bytes() -> None:
    for size in range(len(PLAIN_1)):
        found = read_message_set(PLAIN_0 + PLAIN_1[:size], limit_bytes=LIMIT)
        assert (len(found.entries), found.partial_bytes) == (1, size)


@pytest.mark.parametrize(
    ("data", "path", "offset", "problem"),
    [
        (bytes.fromhex("00000004 00000000"), "messages[1]", 18, "impossible length 4"),
        (bytes.fromhex("ffffffff"), "messages[1]", 18, "impossible length -1"),
        (b"\0\0\0\x0e\2" + PLAIN_0[5:], "messages[1].magic", 18, "magic 2; there are 0 and 1"),
        (PLAIN_0[:-1] + b"8", "messages[1].crc", 18, "checksum 0xcbf43926, computed"),
        (bytes.fromhex("00000005 01 00 000000"), "messages[1].crc", 24, "4 bytes needed, 3"),
    ],
)
def test_damaged_message_raises_error_with_path_and_offset(
    data: bytes, path: str, offset: int, problem: str
) -> None:
    with pytest.raises(ByDocumentError, match=problem) as caught:
        read_message_set(PLAIN_0 + data, limit_bytes=LIMIT)
    assert (caught.value.path, caught.value.offset) == (path, offset)


def test_damaged_compressed_message_raises_error() -> None:
    with pytest.raises(ByDocumentError, match="3 bytes behind the last field"):
        read_message_set(compressed(1, gzip_by_hand(PLAIN_0 + b"\0\0\0")), limit_bytes=LIMIT)
    with pytest.raises(CompressionError, match="no compression codec 3"):
        read_message_set(compressed(3, PLAIN_0), limit_bytes=LIMIT)
    with pytest.raises(CompressionError, match="gzip"):
        read_message_set(compressed(1, PLAIN_0), limit_bytes=LIMIT)


def test_encode_refuses_unknown_magic_and_codec() -> None:
    with pytest.raises(ByDocumentError, match="magic 2; there are 0 and 1"):
        entry_bytes(Message07(b"", magic=2))
    with pytest.raises(ByDocumentError, match="lz4; there are none, gzip, snappy"):
        message_set_bytes([], "lz4")


def test_valid_bytes_ends_after_last_good_entry() -> None:
    log = PLAIN_0 + PLAIN_1
    assert valid_bytes(log) == len(log)
    assert valid_bytes(log + PLAIN_0[:-1]) == len(log), "an entry that was not written whole"
    assert valid_bytes(log + bytes(100)) == len(log), "a block of nonsense"
    assert valid_bytes(log + PLAIN_0[:-1] + b"8" + PLAIN_1) == len(log), "and what is behind it"
    assert valid_bytes(b"") == 0


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy"])
@settings(QUICK, max_examples=50)
@given(payloads=st.lists(st.binary(max_size=60), min_size=1, max_size=4))
def test_message_set_round_trips(compression: str, payloads: list[bytes]) -> None:
    sent = [Message07(payload, magic=at % 2) for at, payload in enumerate(payloads)]
    data = message_set_bytes(sent, compression)
    found = read_message_set(data, limit_bytes=LIMIT)
    assert [entry.message for entry in found.entries] == sent


@settings(QUICK, max_examples=200)
@given(st.binary(max_size=80))
def test_random_bytes_decode_to_messages_or_raise_codec_error(data: bytes) -> None:
    found = outcome(lambda: read_message_set(data, limit_bytes=LIMIT), CodecError)
    if not isinstance(found, CodecError):
        again = b"".join(entry_bytes(entry.message) for entry in found.entries)
        assert data.startswith(again) or any(entry.message.codec_id for entry in found.entries)
    assert 0 <= valid_bytes(data) <= len(data)
