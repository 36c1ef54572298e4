"""A batch with a flipped magic is read as an old message: the answers of 4.4.0 to such a batch."""

from __future__ import annotations

import struct

import pytest

from harness.codec.records import (
    LegacyMessage,
    Record,
    RecordBatch,
    encode_batch,
    encode_message_set,
)
from harness.reference_broker.state.log.batch_bytes import (
    CorruptBatch,
    InvalidMessage,
    UnforeseenBytes,
)
from harness.reference_broker.storage.old_message import look_into

WHERE = "0.log, byte 7"
KEY_AT = {0: 18, 1: 26}
BELOW_0 = (0x82, 0xFF)
NULL = -1


def flipped(magic: int, codec: int, key_size: int = NULL, value_size: int = 20) -> bytes:
    """A batch of format 2 that claims to be such a message, with these sizes in it."""
    batch = bytearray(
        encode_batch(RecordBatch([Record(b"v" * 30, b"k")], base_timestamp=1), "none")
    )
    batch[16:18] = magic, codec
    at = KEY_AT.get(magic, 18)
    batch[at : at + 8] = struct.pack(">ii", key_size, value_size)
    return bytes(batch)


@pytest.mark.parametrize("magic", [0, 1, *BELOW_0])
@pytest.mark.parametrize("codec", [5, 6, 7])
def test_old_message_with_unknown_codec_raises_unforeseen_bytes(magic: int, codec: int) -> None:
    with pytest.raises(UnforeseenBytes, match=f"^{WHERE}: there is no codec {codec}"):
        look_into(flipped(magic, codec), WHERE)


@pytest.mark.parametrize(
    ("magic", "codec"),
    [(0, 4), (1, 4), *((one, codec) for one in BELOW_0 for codec in (1, 2, 3, 4))],
)
def test_old_message_with_zstd_or_negative_magic_raises_invalid_message(
    magic: int, codec: int
) -> None:
    with pytest.raises(InvalidMessage, match="magic"):
        look_into(flipped(magic, codec), WHERE)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [1, 2, 3])
@pytest.mark.parametrize(
    ("sizes", "error"),
    [
        ((NULL, NULL), InvalidMessage),
        ((NULL, 0), UnforeseenBytes),
        ((NULL, 20), UnforeseenBytes),
        ((NULL, 10**6), UnforeseenBytes),
        ((10**6, 20), UnforeseenBytes),
    ],
)
def test_old_message_without_compressed_value_raises_error(
    magic: int, codec: int, sizes: tuple[int, int], error: type[Exception]
) -> None:
    with pytest.raises(error):
        look_into(flipped(magic, codec, *sizes), WHERE)


@pytest.mark.parametrize("magic", [0, 1, *BELOW_0])
def test_uncompressed_old_message_is_not_decoded(magic: int) -> None:
    look_into(flipped(magic, 0), WHERE)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
def test_valid_compressed_old_message_is_decoded(magic: int, codec: str) -> None:
    message = encode_message_set([LegacyMessage(b"value", b"key", 1, 0, magic)], codec)
    look_into(message, WHERE)


def test_wrapper_without_inner_messages_raises_corrupt_batch() -> None:
    import gzip

    nonsense = gzip.compress(struct.pack(">qi", 0, 3) + b"abc")
    with pytest.raises(CorruptBatch):
        look_into(flipped(0, 1)[:18] + struct.pack(">ii", NULL, len(nonsense)) + nonsense, WHERE)
