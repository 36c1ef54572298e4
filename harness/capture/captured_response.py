"""The content of a captured frame of the server, by the request that it answers."""

from __future__ import annotations

import struct

from harness.capture.events import Captured
from harness.capture.evidence import is_api_versions_response
from harness.capture.reading import ReadBody, read_response
from harness.codec import CodecError
from harness.codec.apis import API_VERSIONS_KEY
from harness.codec.error_code import ErrorCode
from harness.codec.header import RequestRefused

_INT16 = struct.Struct(">h")


def read_answer(seen: Captured) -> None:
    """Fill in the body of a response, and its problem."""
    if seen.api is None or seen.version is None or seen.cut:
        return
    refused = seen.request.problem if seen.request is not None else None
    if isinstance(refused, RequestRefused) and seen.api.key != API_VERSIONS_KEY:
        seen.problem = refused
        return
    try:
        seen.message, seen.left_over, seen.note = _body(seen, seen.version)
    except CodecError as problem:
        seen.problem = problem


def is_surely_response(seen: Captured) -> bool:
    """True if it answers a request that was read, or shows by itself that it is one."""
    if seen.request is not None and seen.request.message is not None:
        return seen.message is not None and not seen.left_over
    return not seen.cut and is_api_versions_response(seen.payload)


def _body(seen: Captured, version: int) -> ReadBody:
    assert seen.api is not None
    refused = seen.api.key == API_VERSIONS_KEY and (
        seen.payload[4:6] == _INT16.pack(ErrorCode.UNSUPPORTED_VERSION)
    )
    if refused and version:  # KIP-511: answered in the form of version 0
        try:
            body = read_response(seen.api, 0, seen.payload)
        except CodecError:
            body = None
        if body is not None and not body.left_over:
            seen.version = 0
            return body
    return read_response(seen.api, version, seen.payload)
