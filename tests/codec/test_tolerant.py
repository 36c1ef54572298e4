"""Reading as Apache Kafka's own readers do, which a broker has to and a judge must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.codec import DecodeError, decode_prefix, encode
from harness.codec.apis import APIS
from harness.codec.interpreter_decode import FieldReader
from harness.codec.messages import FetchRequest, MetadataRequest
from harness.codec.structs import Message
from harness.codec.varint import encode_uvarint as uvarint
from labs.message_values.values import QUICK

DESCENDING = uvarint(2) + uvarint(200) + uvarint(1) + b"a" + uvarint(100) + uvarint(1) + b"b"
TWICE = uvarint(2) + uvarint(200) + uvarint(1) + b"a" + uvarint(200) + uvarint(1) + b"b"
LYING_SIZE = uvarint(1) + uvarint(0) + uvarint(9) + uvarint(2) + b"x"


def _flexible(message: Message, version: int, tags: bytes) -> bytes:
    body = encode(message, version)
    assert body[-1] == 0  # no tagged fields
    return body[:-1] + tags


@pytest.mark.parametrize(
    ("tags", "kept"), [(DESCENDING, {200: b"a", 100: b"b"}), (TWICE, {200: b"b"})]
)
def test_tolerant_decoder_accepts_descending_and_duplicate_tags(
    tags: bytes, kept: dict[int, bytes]
) -> None:
    data = _flexible(MetadataRequest(topics=[]), 9, tags)
    message, end = decode_prefix(MetadataRequest, 9, data, tolerant=True)
    assert message.unknown_tagged_fields == kept
    assert end == len(data)
    with pytest.raises(DecodeError, match="tags must ascend"):
        decode_prefix(MetadataRequest, 9, data)


def test_tolerant_decoder_ignores_size_of_known_tag() -> None:
    data = _flexible(FetchRequest(), 12, LYING_SIZE)
    message, end = decode_prefix(FetchRequest, 12, data, tolerant=True)
    assert message.cluster_id == "x"
    assert end == len(data)
    with pytest.raises(DecodeError, match="claims 9 bytes"):
        decode_prefix(FetchRequest, 12, data)


def test_tolerant_decoder_refuses_oversized_unknown_tag() -> None:
    data = _flexible(MetadataRequest(), 9, uvarint(1) + uvarint(99) + uvarint(9) + b"x")
    with pytest.raises(DecodeError):
        decode_prefix(MetadataRequest, 9, data, tolerant=True)


def test_tolerant_decoder_reads_negative_length_as_null() -> None:
    data = b"\xff\xff\xff\xfe"  # -2 topics
    assert decode_prefix(MetadataRequest, 1, data, tolerant=True)[0].topics is None
    with pytest.raises(DecodeError, match="negative length -2"):
        decode_prefix(MetadataRequest, 1, data)


def test_tolerant_decoder_replaces_invalid_utf8() -> None:
    data = b"\0\0\0\1\0\1\xff"
    message, _ = decode_prefix(MetadataRequest, 1, data, tolerant=True)
    assert message.topics is not None
    assert message.topics[0].name == "�"


@QUICK
@given(st.sampled_from(sorted(APIS)), st.data())
def test_generated_and_interpreted_readers_agree(key: int, data: st.DataObject) -> None:
    api = APIS[key]
    version = data.draw(st.sampled_from(list(api.valid_versions)))
    raw = data.draw(st.binary(max_size=60))
    try:
        message, end = decode_prefix(api.request, version, raw, tolerant=True)
    except DecodeError:
        with pytest.raises(DecodeError):
            FieldReader(api.request, version, raw, tolerant=True).read()
    else:
        reader = FieldReader(api.request, version, raw, tolerant=True)
        assert reader.read() == message
        assert reader.offset == end
