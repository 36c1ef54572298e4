"""The five requests of Kafka 0.7 and their answers, byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.historical.errors import ByDocumentError
from harness.historical.requests_0_7 import (
    EARLIEST_TIME,
    FetchRequest,
    FetchResponse,
    MultiFetchRequest,
    MultiFetchResponse,
    MultiProduceRequest,
    OffsetsRequest,
    OffsetsResponse,
    ProduceRequest,
    Request,
    decode_fetch_response,
    decode_multi_fetch_response,
    decode_offsets_response,
    decode_request,
    encode_fetch_response,
    encode_multi_fetch_response,
    encode_offsets_response,
    encode_request,
)
from labs.message_values.values import QUICK, outcome

SET = bytes.fromhex("0000000e 00 cbf43926 313233343536373839")  # one message of magic 0
PRODUCE = "0004 74657374 ffffffff 00000012" + SET.hex()  # topic, partition -1, size of the set, set
FETCH = "0004 74657374 00000001 0000000000000400 00100000"  # topic, partition, offset, most bytes
REQUESTS: dict[str, tuple[Request, str]] = {
    "produce": (
        ProduceRequest("test", -1, SET),
        "00000022"  # size: 2 + 6 + 4 + 4 + 18
        "0000" + PRODUCE,  # type
    ),
    "fetch": (
        FetchRequest("test", 1, 1024, 1 << 20),
        "00000018"  # size: 2 + 6 + 4 + 8 + 4
        "0001" + FETCH,
    ),
    "multi-fetch": (
        MultiFetchRequest([FetchRequest("test", 1, 1024, 1 << 20)] * 2),
        "00000030"  # size: 2 + 2 + 2 * 22
        "0002"
        "0002" + FETCH + FETCH,  # how many
    ),
    "multi-produce": (
        MultiProduceRequest([ProduceRequest("test", -1, SET)]),
        "00000024"  # size: 2 + 2 + 32
        "0003"
        "0001" + PRODUCE,
    ),
    "offsets": (
        OffsetsRequest("test", 2, EARLIEST_TIME, 10),
        (
            "00000018"
            "0004"
            "0004 74657374"  # topic
            "00000002"  # partition
            "fffffffffffffffe"  # time: the earliest
            "0000000a"
        ),  # offsets at most
    ),
    "no fetches": (MultiFetchRequest([]), "00000004 0002 0000"),
}
RESPONSES: dict[str, tuple[Any, str, Callable[[Any], bytes], Callable[[bytes], Any]]] = {
    "fetch": (
        FetchResponse(0, SET),
        "00000014"  # size: 2 + 18
        "0000" + SET.hex(),  # no error
        encode_fetch_response,
        decode_fetch_response,
    ),
    "fetch of nothing": (
        FetchResponse(1),  # the offset is out of range
        "00000002 0001",
        encode_fetch_response,
        decode_fetch_response,
    ),
    "multi-fetch": (
        MultiFetchResponse(0, [FetchResponse(0, SET), FetchResponse(3)]),
        "00000020"  # size: 2 + 24 + 6
        "0000"
        "00000014 0000" + SET.hex() + "00000002 0003",  # each with size and error
        encode_multi_fetch_response,
        decode_multi_fetch_response,
    ),
    "offsets": (
        OffsetsResponse(0, [1024, 0]),
        (
            "00000016"  # size: 2 + 4 + 2 * 8
            "0000"
            "00000002"  # how many
            "0000000000000400"
            "0000000000000000"
        ),
        encode_offsets_response,
        decode_offsets_response,
    ),
}


@pytest.mark.parametrize(("request_", "digits"), REQUESTS.values(), ids=list(REQUESTS))
def test_request_matches_vector_in_both_directions(request_: Request, digits: str) -> None:
    raw = bytes.fromhex(digits)
    assert encode_request(request_) == raw
    assert decode_request(raw) == request_
    assert type(decode_request(raw)) is type(request_)


@pytest.mark.parametrize(
    ("response", "digits", "write", "read"), RESPONSES.values(), ids=list(RESPONSES)
)
def test_response_matches_vector_and_truncation_is_refused(
    response: Any, digits: str, write: Callable[[Any], bytes], read: Callable[[bytes], Any]
) -> None:
    raw = bytes.fromhex(digits)
    assert write(response) == raw
    assert read(raw) == response
    for size in range(len(raw)):
        with pytest.raises(ByDocumentError):
            read(raw[:size])


@pytest.mark.parametrize("name", REQUESTS)
def test_truncated_request_is_refused(name: str) -> None:
    raw = bytes.fromhex(REQUESTS[name][1])
    for size in range(4, len(raw)):
        with pytest.raises(ByDocumentError, match="bytes are said"):
            decode_request(raw[:size])
        cut = (size - 4).to_bytes(4, "big") + raw[4:size]
        assert isinstance(outcome(lambda: decode_request(cut), ByDocumentError), ByDocumentError)  # noqa: B023


@pytest.mark.parametrize(
    ("digits", "path", "offset", "problem"),
    [
        ("00000002 0005", "type", 4, "5; there are 0 to 4"),
        ("00000002 ffff", "type", 4, "-1; there are"),
        ("00000004 0001 ffff", "topic", 8, "a length of -1"),
        ("00000005 0001 0001 ff", "topic", 6, "not UTF-8"),
        ("00000004 0002 ffff", "fetches", 6, "-1 elements"),
        ("00000006 0002 0002 0004", "fetches[0].topic", 10, "4 bytes needed, 0 are left"),
        ("00000005 0002 0000 00", "", 8, "1 bytes behind the last field"),
        ("0000000e 0000 0000 00000000 ffffffff", "", 0, ""),
    ],
)
def test_malformed_request_raises_error_with_path_and_offset(
    digits: str, path: str, offset: int, problem: str
) -> None:
    raw = bytes.fromhex(digits)
    if not problem:  # a message set of negative size
        raw = (len(raw) - 4).to_bytes(4, "big") + raw[4:]
        path, offset, problem = "messages", len(raw), "a length of -1"
    with pytest.raises(ByDocumentError, match=problem) as caught:
        decode_request(raw)
    assert (caught.value.path, caught.value.offset) == (path, offset)


@pytest.mark.parametrize(
    ("request_", "path"),
    [
        (FetchRequest("t" * 40_000), "topic"),
        (FetchRequest("t", 1 << 31), "partition"),
        (
            MultiFetchRequest([FetchRequest("t"), FetchRequest("t", 0, 1 << 63)]),
            "fetches[1].offset",
        ),
        (MultiProduceRequest([ProduceRequest("t")] * 40_000), "produces"),
    ],
    ids=range(4),
)
def test_encode_refuses_value_out_of_range_with_path(request_: Request, path: str) -> None:
    with pytest.raises(ByDocumentError) as caught:
        encode_request(request_)
    assert (caught.value.path, caught.value.offset) == (path, None)


@settings(QUICK, max_examples=300)
@given(st.binary(max_size=60), st.integers(0, 4))
def test_random_bytes_round_trip_or_raise_error(body: bytes, number: int) -> None:
    raw = (len(body) + 2).to_bytes(4, "big") + number.to_bytes(2, "big") + body
    found = outcome(lambda: decode_request(raw), ByDocumentError)
    assert isinstance(found, ByDocumentError) or encode_request(found) == raw
