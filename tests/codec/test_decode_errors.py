"""Broken bytes by hand: the error says which field of which message, where, and why."""

from __future__ import annotations

import pytest

from harness.codec import DecodeError, decode, decode_prefix, encode
from harness.codec.apis import api_named
from harness.codec.header import decode_response
from harness.codec.messages import (
    ApiVersionsRequest,
    DeleteTopicsRequest,
    FetchRequest,
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
)
from harness.codec.structs import Message
from labs.message_values.all_kinds import ALL_KINDS

HAND_MADE: list[tuple[type[Message], int, str, str, int, str]] = [
    (MetadataRequest, 1, "", "topics", 0, "4 bytes needed, 0 left"),
    (MetadataRequest, 1, "0000 0001 0005 74", "topics[0].name", 4, "5 bytes needed, 1 left"),
    (MetadataRequest, 1, "0000 0001 ffff", "topics[0].name", 4, "null where this version allows"),
    (MetadataRequest, 1, "0000 0001 fffe", "topics[0].name", 4, "negative length -2"),
    (MetadataRequest, 0, "ffff ffff", "topics", 0, "null where this version allows none"),
    (MetadataRequest, 1, "ffff fffe", "topics", 0, "negative length -2"),
    (MetadataRequest, 1, "0000 0001 0002 c328", "topics[0].name", 4, "not UTF-8"),
    (MetadataRequest, 1, "7fff ffff 0000", "topics", 0, "2147483647 elements cannot fit in the 2"),
    (MetadataRequest, 9, "ffff ffff 0f", "topics", 0, "4294967294 elements cannot fit"),
    (MetadataRequest, 9, "ffff ffff 1f", "topics", 0, "varint above 32 bits"),
    (MetadataRequest, 9, "8080 8080 8000", "topics", 0, "varint longer than 5 bytes"),
    (MetadataRequest, 9, "80", "topics", 0, "the data ends inside a varint"),
    (MetadataRequest, 9, "00 01", "include_cluster_authorized_operations", 2, "1 bytes needed"),
    (ApiVersionsRequest, 3, "0261 0262", "(tagged fields)", 4, "ends inside a varint"),
    (ApiVersionsRequest, 3, "0261 0262 01 05 09 00", "(tagged fields)", 5, "claims 9 bytes, 1 are"),
    (ApiVersionsRequest, 3, "0261 0262 02 0500 0500", "(tagged fields)", 7, "tag 5 after tag 5"),
    (ApiVersionsRequest, 3, "0261 0262 02 0500 0400", "(tagged fields)", 7, "tags must ascend"),
    (DeleteTopicsRequest, 4, "02 0374 78 0000", "timeout_ms", 4, "4 bytes needed, 2 left"),
    (DeleteTopicsRequest, 4, "03 0374 78 00", "topic_names[1]", 4, "null where this version"),
    (DeleteTopicsRequest, 6, "02 00 0000", "topics", 0, "1 elements cannot fit in the 3 bytes"),
]


@pytest.mark.parametrize(("cls", "version", "digits", "path", "offset", "problem"), HAND_MADE)
def test_decode_error_names_message_version_path_and_offset(
    cls: type[Message], version: int, digits: str, path: str, offset: int, problem: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(cls, version, bytes.fromhex(digits))
    error = caught.value
    assert (error.message, error.version) == (cls.__name__, version)
    assert (error.path, error.offset) == (path, offset)
    assert problem in error.problem
    assert str(error) == f"{cls.__name__} v{version}: {path} at byte {offset}: {error.problem}"


FETCH_V12_PREFIX = "ffffffff 00000000 00000000 00000000 00 00000000 ffffffff 01 01 01"  # 28 bytes


@pytest.mark.parametrize(
    ("tags", "path", "offset", "problem"),
    [
        ("01 00 03 04 6162", "(tagged fields).cluster_id", 31, "3 bytes needed, 2 left"),
        ("01 00 03 02 6162", "(tagged fields)", 31, "tag 0: 1 of 3 bytes not used"),
        ("01 01 01 00", "(tagged fields)", 29, "tag 1 is not valid at this version"),
    ],
)
def test_known_tag_with_wrong_size_or_version_raises_decode_error(
    tags: str, path: str, offset: int, problem: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(FetchRequest, 12, bytes.fromhex(FETCH_V12_PREFIX + tags))
    assert (caught.value.path, caught.value.offset) == (path, offset)
    assert problem in caught.value.problem


def test_element_count_above_remaining_bytes_is_refused_before_elements() -> None:
    """Two elements of 13 bytes each cannot stand in 20, however long they say they are."""
    data = bytes.fromhex("00000000 0000 0000 0000 02 ff")
    with pytest.raises(DecodeError, match="1 elements cannot fit in the 1 bytes") as caught:
        decode(FetchResponse, 12, data)
    assert caught.value.path == "responses"


def test_retired_tag_is_refused_at_later_version() -> None:
    raw = encode(ALL_KINDS(), 3)
    assert raw[-1] == 0
    with pytest.raises(DecodeError, match="tag 2 is not valid at this version"):
        decode(ALL_KINDS, 3, raw[:-1] + b"\1\2\2\2x")
    read = decode(ALL_KINDS, 2, raw[:-1] + b"\1\2\2\2x")
    assert read.retired == "x"  # type: ignore[attr-defined]


def test_decode_error_offset_of_response_counts_from_start_of_payload() -> None:
    payload = bytes.fromhex("00000007 00 00000000 05")
    with pytest.raises(DecodeError) as caught:
        decode_response(api_named("Metadata"), 9, payload)
    assert (caught.value.message, caught.value.path) == (MetadataResponse.__name__, "brokers")
    assert caught.value.offset == 9


TOLERATED: list[tuple[type[Message], int, str, Message]] = [
    (MetadataRequest, 1, "ffff fffe", MetadataRequest(topics=None)),
    (
        MetadataRequest,
        0,
        "0000 0001 0002 c328",
        MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="\ufffd(")]),
    ),
    (
        ApiVersionsRequest,
        3,
        "0261 0262 03 0701aa 0500 0701bb",
        ApiVersionsRequest(
            client_software_name="a",
            client_software_version="b",
            unknown_tagged_fields={5: b"", 7: b"\xbb"},
        ),
    ),
    (
        FetchRequest,
        12,
        FETCH_V12_PREFIX + "01 00 01 04616263",
        FetchRequest(max_bytes=0, cluster_id="abc"),
    ),
]


@pytest.mark.parametrize(("cls", "version", "digits", "read"), TOLERATED)
def test_tolerant_decoder_accepts_deviations_that_kafka_accepts(
    cls: type[Message], version: int, digits: str, read: Message
) -> None:
    """Negative lengths are null, no UTF-8 is replaced, tags in any order, sizes of known tags."""
    data = bytes.fromhex(digits)
    assert decode_prefix(cls, version, data, tolerant=True) == (read, len(data))
    with pytest.raises(DecodeError):
        decode_prefix(cls, version, data)


def test_tolerant_decoder_refuses_truncated_message() -> None:
    for digits in ("", "0000 0001", "7fff ffff 00", "0000 0001 0005 74"):
        with pytest.raises(DecodeError):
            decode_prefix(MetadataRequest, 1, bytes.fromhex(digits), tolerant=True)
