"""The header of an lz4 frame: the right checksum, and the wrong one of magic 0."""

from __future__ import annotations

import lz4.frame  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codec.records import LegacyMessage, decode_message_set, encode_message_set
from harness.codec.records.compression import CompressionError, compress
from harness.codec.records.lz4_header import with_right_checksum, with_wrong_checksum, xxh32
from harness.codec.records.message_set import wrapper_of
from labs.message_values.values import QUICK

FRAME = compress(3, b"a text that is worth it " * 20)
CHECKSUM_AT = 6  # of a frame without a content size


def test_xxh32_returns_published_values() -> None:
    """Of the reference implementation, seed 0: nothing, one lane, several lanes with a rest."""
    assert xxh32(b"") == 0x02CC5D05
    assert xxh32(b"abc") == 0x32D153FF
    assert xxh32(b"Nobody inspects the spammish repetition") == 0xE2293B2F


@pytest.mark.parametrize("content_size", [False, True])
@given(data=st.binary(min_size=1, max_size=200))
@QUICK
def test_right_checksum_equals_checksum_of_lz4_library(content_size: bool, data: bytes) -> None:
    frame = lz4.frame.compress(data, store_size=content_size)
    assert with_right_checksum(frame) == frame
    wrong = with_wrong_checksum(frame)
    at = CHECKSUM_AT + 8 * content_size
    assert (wrong[:at], wrong[at + 1 :]) == (frame[:at], frame[at + 1 :])
    assert with_right_checksum(wrong) == frame


def test_wrong_checksum_covers_magic_number() -> None:
    """The byte that Kafka's own writer gives its frames of magic 0: flags 0x60, blocks 0x40."""
    frame = bytes.fromhex("04224d18 60 40") + b"?" + bytes(4)
    assert with_right_checksum(frame)[CHECKSUM_AT] == 0x82
    assert with_wrong_checksum(frame)[CHECKSUM_AT] == xxh32(frame[:CHECKSUM_AT]) >> 8 & 0xFF


@pytest.mark.parametrize("raw", [b"", FRAME[:6], b"\0" * 20, FRAME[:4] + b"\x68\x40" + bytes(8)])
def test_bytes_that_are_not_lz4_frame_are_refused(raw: bytes) -> None:
    for change in (with_right_checksum, with_wrong_checksum):
        with pytest.raises(CompressionError, match="lz4: "):
            change(raw)


def test_magic_0_writes_wrong_checksum_and_reads_both() -> None:
    for magic in (0, 1):
        wrapper = wrapper_of([LegacyMessage(b"x", magic=magic)], "lz4")
        packed = wrapper.value or b""
        assert (with_right_checksum(packed) == packed) == (magic == 1)
    sent = [LegacyMessage(b"x" * 99, magic=0)]
    raw = encode_message_set(sent, "lz4")
    assert decode_message_set(raw) == sent
    right = with_right_checksum(wrapper_of(sent, "lz4").value or b"")
    assert (
        decode_message_set(encode_message_set([LegacyMessage(right, magic=0, attributes=3)]))
        == sent
    )


def test_magic_1_with_wrong_checksum_raises_compression_error() -> None:
    wrapper = wrapper_of([LegacyMessage(b"x" * 99)], "lz4")
    wrong = LegacyMessage(with_wrong_checksum(wrapper.value or b""), attributes=3)
    with pytest.raises(CompressionError, match="lz4"):
        decode_message_set(encode_message_set([wrong]))
