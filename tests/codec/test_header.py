"""Request headers: what can be said about a request that cannot be read."""

from __future__ import annotations

import struct
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec import CodecError, DecodeError, UnknownApiError, UnsupportedVersionError
from harness.codec.apis import APIS, Api, api_for_key, api_named, api_of
from harness.codec.header import (
    RefusedApi,
    RefusedVersion,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from harness.codec.message_codec import decode
from harness.codec.messages import MetadataRequest, RequestHeader, message_class
from labs.message_values.values import QUICK, outcome, rich
from tests.codec.each_layout import each_of

each_api = each_of({api.name: api for api in APIS.values()})


@each_api
def test_request_with_header_round_trips(api: Api) -> None:
    for version, client_id in product(api.valid_versions, ("me", "", None)):
        sent = rich(api.request, version)
        payload = encode_request(sent, version, -7, client_id)
        header, start = decode_request_header(payload)
        assert (header.request_api_key, header.request_api_version) == (api.key, version)
        carried = "" if api.request_header_version(version) == 0 else client_id
        assert (header.correlation_id, header.client_id) == (-7, carried)
        assert decode(api.request, version, payload, start) == sent


@each_api
def test_response_with_header_round_trips(api: Api) -> None:
    for version in api.valid_versions:
        sent = rich(api.response, version)
        payload = encode_response(sent, version, 2**31 - 1)
        assert decode_response(api, version, payload) == (2**31 - 1, sent)


def test_header_tags_are_refused_at_inflexible_version() -> None:
    tags = {5: b"five"}
    header, _ = decode_request_header(encode_request(MetadataRequest(), 9, 1, None, tags))
    assert header.unknown_tagged_fields == tags
    with pytest.raises(CodecError, match="not flexible"):
        encode_request(MetadataRequest(), 8, 1, None, tags)


def test_unknown_api_error_contains_decoded_header() -> None:
    with pytest.raises(RefusedApi, match="unknown api key 999") as caught:
        decode_request_header(struct.pack(">hhi", 999, 3, 77))
    assert isinstance(caught.value, UnknownApiError)
    header = caught.value.header
    assert (header.request_api_key, header.request_api_version, header.correlation_id) == (
        999,
        3,
        77,
    )


@pytest.mark.parametrize("version", [-1, 14, 32767])
def test_unknown_version_error_contains_decoded_header(version: int) -> None:
    with pytest.raises(
        RefusedVersion, match=f"Metadata has versions 0-13, not {version}"
    ) as caught:
        decode_request_header(struct.pack(">hhi", 3, version, 77))
    assert isinstance(caught.value, UnsupportedVersionError)
    assert caught.value.header.correlation_id == 77


def test_newer_api_versions_request_is_read_with_header_2() -> None:
    payload = struct.pack(">hhih", 18, 9, 77, 2) + b"me\0" + b"whatever a newer body holds"
    with pytest.raises(RefusedVersion) as caught:
        decode_request_header(payload)
    assert caught.value.header == RequestHeader(
        request_api_key=18, request_api_version=9, correlation_id=77, client_id="me"
    )


@pytest.mark.parametrize("size", range(8))
def test_payload_shorter_than_header_raises_decode_error(size: int) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_request_header(b"\0\3\0\1\0\0\0\7"[:size])
    assert caught.value.message == "RequestHeader"


@settings(QUICK, max_examples=200)
@given(st.binary(max_size=40))
def test_random_bytes_decode_to_header_or_raise_codec_error(raw: bytes) -> None:
    found = outcome(lambda: decode_request_header(raw), CodecError)
    assert isinstance(found, CodecError) or found[1] <= len(raw)


def test_api_is_found_by_key_name_and_class() -> None:
    for key, api in APIS.items():
        assert (
            api_for_key(key) is api_named(api.name) is api_of(api.request) is api_of(api.response)
        )
    with pytest.raises(UnknownApiError, match="no API with key -3"):
        api_for_key(-3)
    with pytest.raises(UnknownApiError, match="no API 'Fetsh' is loaded; there are Produce, Fetch"):
        api_named("Fetsh")
    with pytest.raises(UnknownApiError, match="RequestHeader is neither"):
        api_of(RequestHeader)
    with pytest.raises(UnknownApiError, match="PartitionRecord is neither"):
        api_of(message_class("PartitionRecord"))  # its number is a record type's


def test_unstable_versions_are_marked() -> None:
    assert list(api_named("InitProducerId").unstable_versions) == [6]
    assert not api_named("Fetch").unstable_versions
