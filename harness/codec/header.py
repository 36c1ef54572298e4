"""Request and response headers: their versions, and payloads of a header and a body.

The header of a request with an unknown version can still be read: the API key, version and
correlation id have the same place in all header versions.
"""

from __future__ import annotations

import struct

from harness.codec.apis import API_VERSIONS_KEY, APIS, Api, api_of
from harness.codec.errors import CodecError, UnknownApiError, UnsupportedVersionError
from harness.codec.message_codec import decode, decode_prefix, encode
from harness.codec.messages import RequestHeader, ResponseHeader
from harness.codec.structs import Message

DEFAULT_CLIENT_ID = "kafka-conformance"
_FIXED = struct.Struct(">hhi")
_HEADERS = (struct.Struct(">i"), struct.Struct(">ix"))  # of responses: id, and no tagged fields


class RequestRefused(CodecError):
    """The header names an API or version that is not known; ``header`` holds what could be read."""

    header: RequestHeader


class RefusedApi(RequestRefused, UnknownApiError):
    """No such API key."""


class RefusedVersion(RequestRefused, UnsupportedVersionError):
    """The API exists, but not at this version."""


def encode_request(
    message: Message,
    version: int,
    correlation_id: int,
    client_id: str | None = DEFAULT_CLIENT_ID,
    header_tags: dict[int, bytes] | None = None,
) -> bytes:
    """Header and body of a request, without the length in front."""
    api = api_of(type(message))
    header = RequestHeader(
        request_api_key=api.key,
        request_api_version=version,
        correlation_id=correlation_id,
        client_id=client_id,
        unknown_tagged_fields=header_tags,
    )
    return encode(header, api.request_header_version(version)) + encode(message, version)


def decode_request_header(payload: bytes, *, tolerant: bool = False) -> tuple[RequestHeader, int]:
    """The header at the start of a request, and where its body begins.

    ``tolerant``: as in ``decode_prefix``.

    Raises RefusedApi and RefusedVersion (with ``.header``: key, version, correlation id), and
    DecodeError when the bytes are no header.
    """
    if len(payload) < _FIXED.size:
        return decode_prefix(RequestHeader, 1, payload)  # raises, and says where
    key, version, _ = _FIXED.unpack_from(payload)
    api = APIS.get(key)
    if api is None or version not in api.valid_versions:
        raise _refusal(payload, api, tolerant)
    header_version = api.request_header_version(version)
    return decode_prefix(RequestHeader, header_version, payload, tolerant=tolerant)


def _refusal(payload: bytes, api: Api | None, tolerant: bool) -> RequestRefused:
    key, version, correlation_id = _FIXED.unpack_from(payload)
    known = RequestHeader(
        request_api_key=key, request_api_version=version, correlation_id=correlation_id
    )
    refused: RequestRefused
    if api is None:
        refused = RefusedApi(f"unknown api key {key}")
    else:
        refused = RefusedVersion(f"{api.name} has versions {api.valid_versions}, not {version}")
        if key == API_VERSIONS_KEY and version > api.valid_versions.highest:
            known = decode_prefix(RequestHeader, 2, payload, tolerant=tolerant)[0]
    refused.header = known
    return refused


def encode_response(
    message: Message,
    version: int,
    correlation_id: int,
    header_tags: dict[int, bytes] | None = None,
) -> bytes:
    """Header and body of a response, without the length in front."""
    api = api_of(type(message))
    return response_header(api, version, correlation_id, header_tags) + encode(message, version)


def response_header(
    api: Api, version: int, correlation_id: int, tags: dict[int, bytes] | None = None
) -> bytes:
    """Return the header of a response of ``api`` at ``version``, as bytes."""
    if tags is None:  # what the definition comes to then
        return _HEADERS[api.response_header_version(version)].pack(correlation_id)
    header = ResponseHeader(correlation_id=correlation_id, unknown_tagged_fields=tags)
    return encode(header, api.response_header_version(version))


def decode_response(
    api: Api, version: int, payload: bytes, *, tolerant: bool = False
) -> tuple[int, Message]:
    """(correlation id, message) of a response to ``api`` at ``version``.

    Strict, unless ``tolerant``: see ``decode_prefix``; bytes left over are then passed over too.
    """
    header, body = decode_prefix(
        ResponseHeader, api.response_header_version(version), payload, tolerant=tolerant
    )
    if tolerant:
        message, _ = decode_prefix(api.response, version, payload, body, tolerant=True)
        return header.correlation_id, message
    return header.correlation_id, decode(api.response, version, payload, body)
