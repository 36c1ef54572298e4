"""Message sets of magic 0 and 1: every byte, nesting, cuts, damage."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec import CodecError
from harness.codec.records import (
    LOG_APPEND_TIME,
    CompressionError,
    CorruptMessageError,
    LegacyMessage,
    NestingError,
    RecordsError,
    decode_message_set,
    encode_message,
    encode_message_set,
    split_message_set,
)
from harness.codec.records.compression import compress
from harness.codec.records.message_set import wrapper_of
from labs.message_values.values import QUICK, outcome

pytestmark = pytest.mark.rotates(8)

CODECS = ("none", "gzip", "snappy", "lz4")
BYTES = st.none() | st.binary(max_size=60) | st.just(b"v" * 40_000)
INT64 = st.integers(-(2**63), 2**63 - 1)


@st.composite
def message_sets(draw: st.DrawFn, magic: int) -> list[LegacyMessage]:
    """Messages as a log holds them: one magic, one kind of time, offsets that grow."""
    count = draw(st.integers(1, 5))
    offset = draw(st.integers(1, 2**40))
    time_type = draw(st.sampled_from([0, LOG_APPEND_TIME])) if magic else 0
    append_time = draw(st.integers(0, 2**60))
    found = []
    for _ in range(count):
        own_time = draw(INT64) if magic else -1
        time = append_time if time_type else own_time
        found.append(LegacyMessage(draw(BYTES), draw(BYTES), time, offset, magic, time_type))
        offset += draw(st.integers(1, 3))
    return found


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
@settings(QUICK, max_examples=40)
@given(data=st.data())
def test_message_set_round_trips(codec: str, magic: int, data: st.DataObject) -> None:
    sent = data.draw(message_sets(magic))
    raw = encode_message_set(sent, codec)
    assert decode_message_set(raw) == sent
    assert decode_message_set(raw, tolerant=True) == sent
    assert len(split_message_set(raw)) == (len(sent) if codec == "none" else 1)


@pytest.mark.parametrize("magic", [0, 1])
def test_message_encodes_to_hand_written_bytes(magic: int) -> None:
    """Offset, length; checksum of CRC-32 from the magic on; magic 1 alone has a time."""
    time = struct.pack(">q", 1_000) if magic else b""
    covered = bytes([magic, 8]) + time + struct.pack(">i1si", 1, b"k", -1)
    message = LegacyMessage(None, b"k", 1_000, 77, magic, LOG_APPEND_TIME)
    expected = struct.pack(">qiI", 77, 4 + len(covered), zlib.crc32(covered)) + covered
    assert encode_message(message) == expected
    assert zlib.crc32(b"123456789") == 0xCBF43926, "the check value of CRC-32 (IEEE 802.3)"


def test_inner_offsets_are_absolute_in_magic_0_and_relative_in_magic_1() -> None:
    """Magic 0 keeps them, magic 1 counts from the first; the wrapper has the last one's."""
    for magic, inside in ((0, [40, 41, 43]), (1, [0, 1, 3])):
        messages = [
            LegacyMessage(b"x", offset=at, magic=magic, timestamp=at) for at in (40, 41, 43)
        ]
        wrapper = wrapper_of(messages, "gzip")
        assert (wrapper.offset, wrapper.key, wrapper.codec_id) == (43, None, 1)
        assert wrapper.timestamp == 43, "the largest time stands outside"
        opened = zlib.decompress(wrapper.value or b"", 31)
        assert [message.offset for message in split_message_set(opened)] == inside


def test_wrapper_at_offset_0_has_inner_offsets_from_0() -> None:
    """Producers that leave the wrapper's offset at 0 number their messages all the same."""
    sent = [LegacyMessage(b"x", offset=at) for at in range(3)]
    raw = encode_message(replace(wrapper_of(sent, "gzip"), offset=0))
    assert [message.offset for message in decode_message_set(raw)] == [0, 1, 2]


def test_log_append_time_of_wrapper_applies_to_inner_messages() -> None:
    inside = [LegacyMessage(b"x", timestamp=5, offset=at) for at in (1, 2)]
    wrapper = replace(wrapper_of(inside, "gzip"), timestamp=99)
    wrapper = replace(wrapper, attributes=wrapper.attributes | LOG_APPEND_TIME)
    found = decode_message_set(encode_message(wrapper))
    assert [(m.timestamp, m.attributes) for m in found] == [(99, LOG_APPEND_TIME)] * 2


def test_truncated_last_message_is_ignored() -> None:
    first, second = (encode_message(LegacyMessage(word, offset=1)) for word in (b"one", b"two"))
    for size in range(len(second)):
        assert [m.value for m in decode_message_set(first + second[:size])] == [b"one"]


GOOD = LegacyMessage(b"v", b"k", 5, 3)


def _raw(covered: bytes) -> bytes:
    """A message with these bytes behind its checksum, which is right."""
    return struct.pack(">qiI", 0, 4 + len(covered), zlib.crc32(covered)) + covered


@pytest.mark.parametrize(
    ("raw", "error", "problem"),
    [
        (encode_message(replace(GOOD, crc=1)), CorruptMessageError, "checksum 0x1, computed"),
        (encode_message(replace(GOOD, magic=2)), CorruptMessageError, "magic 2"),
        (encode_message(replace(GOOD, magic=-1)), CorruptMessageError, "magic -1"),
        (encode_message(replace(GOOD, length=13)), CorruptMessageError, "impossible length 13"),
        (encode_message(replace(GOOD, length=-1)), CorruptMessageError, "impossible length -1"),
        (_raw(b"\1\0" + bytes(8)), RecordsError, "a length needs 4 bytes, 0 are left"),
        (_raw(b"\0\0" + struct.pack(">ii", 5, 0)), RecordsError, "length 5 with 4 bytes left"),
        (_raw(b"\0\0" + struct.pack(">ii", -1, -2)), RecordsError, "length -2"),
        (_raw(b"\0\0" + struct.pack(">ii", -1, -1) + b"x"), RecordsError, "1 bytes behind"),
    ],
    ids=range(9),
)
def test_malformed_message_raises_records_error_with_position(
    raw: bytes, error: type[RecordsError], problem: str
) -> None:
    for before in (b"", encode_message(GOOD)):
        with pytest.raises(error, match=problem) as caught:
            decode_message_set(before + raw)
        assert f"message at byte {len(before)}" in str(caught.value)
        assert type(caught.value) is error


def test_tolerant_decoder_accepts_negative_lengths_and_trailing_bytes() -> None:
    """Any negative length is null; bytes after the value are ignored."""
    raw = _raw(b"\0\0" + struct.pack(">ii", -7, -2) + b"rest")
    (message,) = decode_message_set(raw, tolerant=True)
    assert (message.key, message.value) == (None, None)


def _wrapped(inner: bytes, codec: int = 1, magic: int = 1, offset: int = 0) -> bytes:
    packed = compress(codec, inner)
    return encode_message(LegacyMessage(packed, offset=offset, magic=magic, attributes=codec))


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (_wrapped(b""), "no message is inside"),
        (_wrapped(encode_message(GOOD)[:-1]), "no message is inside"),
        (encode_message(LegacyMessage(None, attributes=1)), "it has no value"),
        (_wrapped(_wrapped(encode_message(GOOD))), "a gzip message is inside"),
        (_wrapped(encode_message(GOOD), magic=0), "magic 1 inside of magic 0"),
        (_wrapped(encode_message(GOOD), offset=2), "last message inside has offset 3"),
        (_wrapped(encode_message(GOOD), codec=4), "zstd is for magic 2 only"),
    ],
    ids=range(7),
)
def test_wrong_nesting_raises_nesting_error(raw: bytes, problem: str) -> None:
    with pytest.raises(NestingError, match=problem):
        decode_message_set(raw)


def test_damaged_inner_message_raises_corrupt_message_error() -> None:
    raw = _wrapped(encode_message(replace(GOOD, crc=1)))
    assert len(split_message_set(raw)) == 1, "the wrapper itself is sound"
    with pytest.raises(CorruptMessageError, match="checksum 0x1"):
        decode_message_set(raw)


@pytest.mark.parametrize("codec", CODECS[1:])
@pytest.mark.parametrize("magic", [0, 1])
def test_decompression_of_wrapper_stops_at_limit(codec: str, magic: int) -> None:
    bomb = encode_message_set([LegacyMessage(bytes(1 << 22), magic=magic)], codec)
    assert len(bomb) < 1 << 19
    with pytest.raises(CompressionError, match="more than 100000 bytes"):
        decode_message_set(bomb, 100_000)


def test_unknown_codec_raises_compression_error() -> None:
    with pytest.raises(CompressionError, match="unknown compression codec 5"):
        decode_message_set(encode_message(LegacyMessage(b"x", attributes=5)))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("magic", [0, 1])
@settings(QUICK, max_examples=100)
@given(data=st.data())
def test_decode_of_damaged_message_set_raises_only_codec_error(
    codec: str, magic: int, data: st.DataObject
) -> None:
    """With the outer checksum made right again, so that the damage is reached."""
    raw = bytearray(encode_message_set(data.draw(message_sets(magic)), codec))
    length = struct.unpack_from(">i", raw, 8)[0]
    at = data.draw(st.integers(16, 11 + length))
    raw[at] ^= data.draw(st.integers(1, 255))
    raw[12:16] = struct.pack(">I", zlib.crc32(raw[16 : 12 + length]))
    found = outcome(lambda: decode_message_set(bytes(raw)), CodecError)
    assert isinstance(found, CodecError) or found


@settings(QUICK, max_examples=100)
@given(st.binary(max_size=200))
def test_decode_of_random_bytes_raises_codec_error_or_returns_nothing(raw: bytes) -> None:
    found = outcome(lambda: decode_message_set(raw), CodecError)
    assert isinstance(found, CodecError) or found == []
