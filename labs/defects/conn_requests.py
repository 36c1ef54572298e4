"""Defects of area CONN in single requests, unusual ones among them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import SaslHandshakeResponse
from harness.proxies import FrameRule, SeenRequest
from labs.defects.changed_field import changed_field
from labs.defects.conn import HEADER_FIXED, NOT_CLOSED
from labs.defects.defect import correlation_id, error_answer, rule
from labs.defects.one_client import is_from, misread

TRAILING = b"\xff\xff\xff"
LARGEST = struct.pack(">i", 2**31 - 1)


class ApiNeedsItsOwnConnection(FrameRule):
    """The broker serves ListOffsets only as the first request of a connection."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_late = seen.api is api_named("ListOffsets") and seen.ordinal > 0
        return misread(seen) if is_late and is_from(seen, "CONN-009") else seen.payload


class VoteIsAnsweredByABroker(FrameRule):
    """A broker answers the newest Vote, which only controllers serve, with an error."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        if len(seen.payload) < HEADER_FIXED.size:
            return []
        vote = api_named("Vote")
        key, version, _ = HEADER_FIXED.unpack_from(seen.payload)
        is_newest = (key, version) == (vote.key, vote.valid_versions.highest)
        return [error_answer(seen)] if is_newest else []


class WaitsForTheElementsOfAnAbsurdArray(FrameRule):
    """The broker neither answers nor refuses Metadata v0 that announces 2147483647 topics."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_metadata = seen.api is not None and seen.api.name == "Metadata" and seen.version == 0
        is_absurd = is_metadata and seen.message is None and LARGEST in seen.payload
        return None if is_absurd else seen.payload


class TrailingBytesAreARequest(FrameRule):
    """The broker answers bytes behind the body of DeleteTopics as if they were a request."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        is_delete = seen.api is not None and seen.api.name == "DeleteTopics"
        if is_delete and seen.payload.endswith(TRAILING) and correlation_id(seen.payload) == 181:
            return [payload, error_answer(seen)]
        return [payload]


DEFECTS = [
    rule("CONN-009", r"closed the connection", ApiNeedsItsOwnConnection),
    rule("CONN-015", NOT_CLOSED, VoteIsAnsweredByABroker),
    rule("CONN-017", r"no answer before the deadline", WaitsForTheElementsOfAnAbsurdArray),
    changed_field("CONN-029", "a_handshake_without_sasl_succeeds", r"error is NONE",
        "A listener without SASL accepts SaslHandshake.",
        SaslHandshakeResponse, "error_code", ErrorCode.ILLEGAL_SASL_STATE, ErrorCode.NONE),
    rule("CONN-018", r"correlation ids \[181, 181", TrailingBytesAreARequest),
]  # fmt: skip
