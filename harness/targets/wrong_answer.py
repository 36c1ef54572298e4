"""Wrong answers of Kafka's form at the first contact, and the requirement that each one breaks.

A broker that cannot be asked is no verdict; a broker that answers, and wrongly, is one. Bytes count
as an answer of a Kafka broker when they have the correlation id of the request, or when they can be
read as the response in any layout of its API.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from harness.client.errors import BrokerMisbehaved, WireViolation
from harness.codec import CodecError
from harness.codec.apis import API_VERSIONS_KEY, Api
from harness.codec.error_code import ErrorCode
from harness.codec.frame import LENGTH_BYTES
from harness.codec.message_codec import decode

SIZE, CORRELATION_ID, LAYOUT = "CONN-001", "CONN-003", "CONN-025"
HEADER, API_VERSIONS_HEADER = "CONN-026", "CONN-027"
RANGES, OTHER_VERSION = "APIV-001", "APIV-002"
BROKERS = "META-002"
"""Ids of the catalogue's requirements."""

ID_BYTES = 4
ERROR_BYTES = 2
UNSUPPORTED_VERSION = struct.pack(">h", ErrorCode.UNSUPPORTED_VERSION)
TAGS_BYTES = 1
"""Of the empty tagged fields that end a response header of version 1."""


class ContactRequest(NamedTuple):
    """A request that awaits its answer."""

    api: Api
    version: int
    correlation_id: int

    def __str__(self) -> str:
        return f"{self.api.name} v{self.version}"


class WrongAnswer(NamedTuple):
    """The requirement that an answer breaks, and the observation in words."""

    requirement: str
    observed: str


class _Layout(NamedTuple):
    version: int
    header_version: int


def wrong_answer(
    sent: ContactRequest, problem: BrokerMisbehaved, unread: bytes
) -> WrongAnswer | None:
    """Return what is wrong with the answer; None where no Kafka broker has answered.

    ``unread``: the bytes that came and are no part of the frame in ``problem``.
    """
    payload = problem.payload if isinstance(problem, WireViolation) else None
    if payload is None:
        return _without_frame(sent, problem, unread)
    return _of_frame(sent, problem, payload, unread)


def _of_frame(
    sent: ContactRequest, problem: BrokerMisbehaved, payload: bytes, unread: bytes
) -> WrongAnswer | None:
    whole = payload + unread
    if _is_for(sent, payload):
        if unread and _layout(sent, whole):
            return _size(f"its size is {len(payload)}, and it has {len(whole)} bytes")
        return _other_layout(sent, payload) or WrongAnswer(LAYOUT, str(problem))
    if _layout(sent, payload):
        (given,) = struct.unpack_from(">i", payload)
        return WrongAnswer(
            CORRELATION_ID,
            f"the answer to {sent} with correlation id {sent.correlation_id} has the correlation "
            f"id {given}",
        )
    bare = struct.pack(">i", len(payload)) + whole
    if _is_for(sent, bare) and _layout(sent, bare):
        return _size("no size comes before it: the first bytes are its correlation id")
    return None


def _without_frame(
    sent: ContactRequest, problem: BrokerMisbehaved, unread: bytes
) -> WrongAnswer | None:
    """An impossible size, or more bytes announced than the answer has."""
    answer = unread[LENGTH_BYTES:]
    if not _is_for(sent, answer):
        return None
    if not isinstance(problem, WireViolation) and _layout(sent, answer) is None:
        return None  # it may be cut: the broker has ended, or is slow
    (size,) = struct.unpack_from(">i", unread)
    return _size(f"its size is {size}, and {len(answer)} bytes came")


def _size(observed: str) -> WrongAnswer:
    return WrongAnswer(SIZE, f"the answer has a wrong frame: {observed}")


def _other_layout(sent: ContactRequest, payload: bytes) -> WrongAnswer | None:
    """Name the layout in which a response with the right correlation id can be read."""
    found = _layout(sent, payload)
    if found is None:
        return None
    if _is_refusal(sent, payload):
        return WrongAnswer(RANGES, f"{sent} is refused with UNSUPPORTED_VERSION, as v0 is")
    expected = sent.api.response_header_version(sent.version)
    if found.header_version != expected:
        requirement = API_VERSIONS_HEADER if sent.api.key == API_VERSIONS_KEY else HEADER
        return WrongAnswer(
            requirement,
            f"the answer to {sent} has a response header of version {found.header_version}, "
            f"not {expected}",
        )
    return WrongAnswer(LAYOUT, f"the answer to {sent} has the layout of v{found.version}")


def _is_refusal(sent: ContactRequest, payload: bytes) -> bool:
    """True for the answer to an ApiVersions version that is not served: it has the layout of v0."""
    error = payload[ID_BYTES : ID_BYTES + ERROR_BYTES]
    return sent.api.key == API_VERSIONS_KEY and error == UNSUPPORTED_VERSION


def _is_for(sent: ContactRequest, answer: bytes) -> bool:
    return answer[:ID_BYTES] == struct.pack(">i", sent.correlation_id)


def _layout(sent: ContactRequest, payload: bytes) -> _Layout | None:
    """The first layout in which the whole answer can be read, that of the request first."""
    for layout in _layouts(sent):
        start = ID_BYTES + TAGS_BYTES * layout.header_version
        if layout.header_version and payload[ID_BYTES:start] != bytes(TAGS_BYTES):
            continue
        with suppress(CodecError):
            decode(sent.api.response, layout.version, payload, start)
            return layout
    return None


def _layouts(sent: ContactRequest) -> Iterator[_Layout]:
    others = [version for version in sent.api.valid_versions if version != sent.version]
    expected = sent.api.response_header_version(sent.version)
    for header_version in (expected, 1 - expected):
        for version in (sent.version, *others):
            yield _Layout(version, header_version)
