"""The proposal of enriched messages, byte by byte."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.historical.enriched_message import (
    NUM_MESSAGES_TAG,
    TIMESTAMP_TAG,
    EnrichedMessage,
    absolute_offsets,
    decode_enriched,
    encode_enriched,
)
from harness.historical.errors import ByDocumentError
from labs.message_values.values import QUICK, outcome


def by_hand(offset: str, body: str) -> bytes:
    """Size (with the checksum), offset, checksum of what is behind it, the rest."""
    rest = bytes.fromhex(body)
    return (
        (4 + len(rest)).to_bytes(4, "big")
        + bytes.fromhex(offset)
        + zlib.crc32(rest).to_bytes(4, "big")
        + rest
    )


PLAIN = by_hand(
    "0000000000000005",
    "01"  # magic
    "00"  # attributes: not compressed
    "00000007"  # timestamp
    "ffffffff"  # no tags
    "00000001 6b"  # key
    "00000002 7676",  # value
)
TAGGED = by_hand(
    "0000000000000009",
    "01"
    "01"  # gzip
    "00000000"
    "0000000e"  # the tags: 9 + 5 bytes
    "00 0000000000000400"  # the broker's time
    "20 00000003"  # three messages inside
    "ffffffff"  # no key
    "ffffffff",  # no value
)
UNKNOWN = by_hand(
    "0000000000000000",
    "01 00 00000000"
    "00000008"  # the tags: 5 + 3 bytes
    "20 00000001"
    "63 0102"  # id 99, unknown: no field after it can be recognized
    "ffffffff 00000000",
)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (PLAIN, EnrichedMessage(5, b"vv", b"k", 7)),
        (TAGGED, EnrichedMessage(9, attributes=1, tags={TIMESTAMP_TAG: 1024, NUM_MESSAGES_TAG: 3})),
        (UNKNOWN, EnrichedMessage(0, b"", tags={NUM_MESSAGES_TAG: 1}, unknown_tags=b"\x63\1\2")),
    ],
    ids=["plain", "tagged", "unknown"],
)
def test_enriched_message_matches_vectors_in_both_directions(
    raw: bytes, message: EnrichedMessage
) -> None:
    assert encode_enriched(message) == raw
    assert decode_enriched(raw) == (message, len(raw))
    assert decode_enriched(b"...." + raw, 4) == (message, 4 + len(raw))
    for size in range(len(raw)):
        with pytest.raises(ByDocumentError, match="bytes needed"):
            decode_enriched(raw[:size])


def test_empty_enriched_message_is_8_bytes_longer_than_magic_0() -> None:
    """The document's sum: time and tag length. Magic 0 has 12 bytes of entry, 14 around key and
    value.
    """
    assert len(encode_enriched(EnrichedMessage())) == 12 + 14 + 8


@pytest.mark.parametrize(
    ("raw", "path", "problem"),
    [
        (PLAIN[:-1] + b"w", "crc", "computed"),
        (bytes.fromhex("00000003 0000000000000000 000000"), "size", "impossible size 3"),
        (bytes.fromhex("ffffffff 0000000000000000"), "size", "impossible size -1"),
        (by_hand("00" * 8, "00 00 00000000 ffffffff ffffffff ffffffff"), "magic", "0, the prop"),
        (by_hand("00" * 8, "01 00 00000000 fffffffe"), "tags", "a length of -2"),
        (by_hand("00" * 8, "01 00 00000000 00000002 2000"), r"tags[32]", "4 bytes needed, 1"),
        (by_hand("00" * 8, "01 00 00000000 0000000a 2000000001 2000000001"), "tags[32]", "twice"),
        (by_hand("00" * 8, "01 00 00000000 ffffffff fffffffe"), "key", "a length of -2"),
        (by_hand("00" * 8, "01 00 00000000 ffffffff ffffffff ffffffff 00"), "", "1 bytes behind"),
    ],
    ids=range(9),
)
def test_malformed_enriched_message_raises_error_with_path(
    raw: bytes, path: str, problem: str
) -> None:
    with pytest.raises(ByDocumentError, match=problem) as caught:
        decode_enriched(raw)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (EnrichedMessage(tags={5: 1}), "tags[5]"),
        (EnrichedMessage(tags={NUM_MESSAGES_TAG: 1 << 31}), "tags[32]"),
        (EnrichedMessage(timestamp=1 << 31), "timestamp"),
        (EnrichedMessage(offset=1 << 63), "offset"),
    ],
)
def test_encode_refuses_value_out_of_range_with_path(message: EnrichedMessage, path: str) -> None:
    with pytest.raises(ByDocumentError) as caught:
        encode_enriched(message)
    assert caught.value.path == path


def test_absolute_offsets_adds_inner_offsets_to_first_offset() -> None:
    """After compaction with holes; after mirroring by place, where they are not honored."""
    inner = [EnrichedMessage(offset) for offset in (0, 2, 7)]
    assert [one.offset for one in absolute_offsets(100, inner)] == [100, 102, 107]
    by_place = absolute_offsets(100, inner, are_honored=False)
    assert [one.offset for one in by_place] == [100, 101, 102]


@settings(QUICK, max_examples=200)
@given(st.binary(max_size=60))
def test_random_body_round_trips_or_raises_error(body: bytes) -> None:
    raw = by_hand("00" * 8, (b"\1" + body).hex())
    found = outcome(lambda: decode_enriched(raw), ByDocumentError)
    if not isinstance(found, ByDocumentError):
        message, _ = found
        assert decode_enriched(encode_enriched(message))[0] == message
