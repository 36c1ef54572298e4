"""The content of a captured frame of the client: header, client id, body."""

from __future__ import annotations

from contextlib import suppress

from harness.capture.events import Captured
from harness.capture.evidence import is_readable, refused_is_sure, request_evidence
from harness.capture.produce_acks import acks_at_start
from harness.capture.reading import client_id_of_refused, read_body, read_header
from harness.codec import CodecError
from harness.codec.apis import APIS
from harness.codec.header import RefusedVersion, RequestRefused
from harness.codec.messages import ProduceRequest, RequestHeader

_PRODUCE = 0


def read_request(seen: Captured) -> None:
    """Fill in all that the payload of a request contains, and its problem."""
    try:
        header, body, seen.note = read_header(seen.payload)
    except RequestRefused as refused:
        seen.problem = refused
        _take_refused(seen, refused.header)
    except CodecError as problem:
        seen.problem = problem
    else:
        _take_header(seen, header)
        _read_body(seen, body)


def is_surely_request(seen: Captured) -> bool:
    """True if no other protocol has such bytes at the start of a frame.

    A whole request is evidence; of one that was cut, a client id that people can read is.
    """
    if isinstance(seen.problem, RefusedVersion):
        return refused_is_sure(seen.payload, seen.problem)
    if seen.cut:
        return seen.problem is None and is_readable(seen.client_id)
    found = request_evidence(seen.payload)
    return found is not None and (found.exact or found.named)


def _read_body(seen: Captured, at: int) -> None:
    assert seen.api is not None
    assert seen.version is not None
    if not seen.cut:
        try:
            seen.message, seen.left_over, note = read_body(
                seen.api.request, seen.version, seen.payload, at
            )
            seen.note = seen.note or note
        except CodecError as problem:
            seen.problem = problem
    if isinstance(seen.message, ProduceRequest):
        seen.answer_expected = seen.message.acks != 0
    elif seen.api.key == _PRODUCE:
        seen.answer_expected = acks_at_start(seen.version, seen.payload[at:]) != 0


def _take_header(seen: Captured, header: RequestHeader) -> None:
    seen.api, seen.api_key = APIS.get(header.request_api_key), header.request_api_key
    seen.version = header.request_api_version
    seen.correlation_id = header.correlation_id
    has_client = seen.api is None or seen.api.request_header_version(seen.version) > 0
    seen.client_id = header.client_id if has_client else None


def _take_refused(seen: Captured, header: RequestHeader) -> None:
    """Take the header of an unknown API or version; all header versions begin alike."""
    _take_header(seen, header)
    with suppress(CodecError):
        client_id = client_id_of_refused(seen.payload)
        seen.client_id = client_id if is_readable(client_id) else None
