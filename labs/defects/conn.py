"""Defects of area CONN."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.codec import decode_prefix
from harness.codec.apis import APIS, api_named
from harness.codec.frame import frame
from harness.codec.header import encode_response
from harness.codec.messages import (
    FindCoordinatorResponse,
    MetadataResponse,
    ProduceResponse,
    ResponseHeader,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import correlation_id, error_answer, rule
from labs.defects.one_client import is_from, misread

HEADER_FIXED = struct.Struct(">hhi")
NOT_CLOSED = r"bytes came where the connection had to be closed"
LONG_WAIT_MS = 10_000
CUT_NAME = b"a-to"


class BytesFollowTheFrame(FrameRule):
    """The broker sends four bytes after an answer that its size does not count."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        # An empty frame is four zero bytes on the wire.
        return [payload, b""] if is_from(seen, "CONN-001") else [payload]


class GreetsBeforeTheFirstAnswer(FrameRule):
    """The broker sends a greeting before the first answer of a connection."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.ordinal == 0 and is_from(seen, "CONN-002"):
            return [b"hello", payload]
        return [payload]


class NegativeCorrelationIdBecomesZero(FrameRule):
    """The broker answers with correlation id 0 if the request's is -1."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if correlation_id(seen.payload) == -1:
            payload = struct.pack(">i", 0) + payload[4:]
        return [payload]


class ChangesPlaces(FrameRule):
    """Swap two answers in a row if their requests have these correlation ids."""

    first, second = 1010, 1011

    def __init__(self) -> None:
        self.held: bytes | None = None

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if self.is_first(seen):
            self.held = payload
            return []
        if correlation_id(seen.payload) == self.second and self.held is not None:
            answers, self.held = [payload, self.held], None
            return answers
        return [payload]

    def is_first(self, seen: SeenRequest) -> bool:
        return correlation_id(seen.payload) == self.first


class AnswersInReverse(ChangesPlaces):
    """The broker swaps two answers of a long pipeline."""


class CheapRequestOvertakes(ChangesPlaces):
    """The broker answers ApiVersions before the long poll that was sent before it."""

    first, second = 71, 72

    def is_first(self, seen: SeenRequest) -> bool:
        waits = seen.api is not None and getattr(seen.message, "max_wait_ms", 0) > 0
        return waits and super().is_first(seen)


class LosesOneOfManyOutstanding(FrameRule):
    """The broker drops one of a thousand outstanding requests."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [] if seen.ordinal == 700 and correlation_id(seen.payload) == 5700 else [payload]


class LongPollStopsAllConnections(FrameRule):
    """The broker does not serve another connection while a Fetch waits."""

    def __init__(self) -> None:
        self.waiting: SeenRequest | None = None

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if getattr(seen.message, "max_wait_ms", 0) >= LONG_WAIT_MS:
            self.waiting = seen
        elif self.waiting is not None and is_from(seen, "CONN-007"):
            return None
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen is self.waiting:
            self.waiting = None
        return [payload]


class AcksZeroIsAnswered(FrameRule):
    """The broker answers a Produce with acks=0, before the next request."""

    def __init__(self) -> None:
        self.silent: SeenRequest | None = None

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if not seen.gets_answer:
            self.silent = seen
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        silent, self.silent = self.silent, None
        if silent is None or correlation_id(seen.payload) != 88:
            return [payload]
        identity = correlation_id(silent.payload)
        return [encode_response(ProduceResponse(), silent.version, identity), payload]


class OversizeFrameIsAnswered(FrameRule):
    """The broker answers an oversize frame with an error instead of a close."""

    def on_bad_length(self, length: int) -> bytes | None:
        return frame(struct.pack(">ih", 0, -1)) if length > 0 else None


class NegativeSizeIsAnswered(FrameRule):
    """The broker answers a negative frame size with an error instead of a close."""

    def on_bad_length(self, length: int) -> bytes | None:
        return frame(struct.pack(">ih", 0, -1)) if length < 0 else None


class HeaderlessFrameIsAnswered(FrameRule):
    """The broker answers a frame without room for a header with an error instead of a close."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        return [error_answer(seen)] if len(seen.payload) < HEADER_FIXED.size else []


class UnknownKeyIsAnswered(FrameRule):
    """The broker answers an API key far beyond the table with an error instead of a close."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        if len(seen.payload) < HEADER_FIXED.size:
            return []
        return [error_answer(seen)] if HEADER_FIXED.unpack_from(seen.payload)[0] > 1000 else []


class UnsupportedVersionIsAnswered(FrameRule):
    """The broker answers FindCoordinator above its highest version instead of a close."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        if len(seen.payload) < HEADER_FIXED.size:
            return []
        key, version, _ = HEADER_FIXED.unpack_from(seen.payload)
        known = APIS.get(key)
        if known is None or known.name != "FindCoordinator":
            return []
        return [error_answer(seen)] if version == known.valid_versions.highest + 1 else []


class CutBodyIsAnswered(FrameRule):
    """The broker answers Metadata that ends inside a topic's name as if it named no topic."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        is_cut = seen.api is not None and seen.api.name == "Metadata" and seen.message is None
        if not is_cut or CUT_NAME not in seen.payload:
            return []
        identity = correlation_id(seen.payload)
        return [encode_response(MetadataResponse(), seen.version, identity)]


class NullClientIdIsRefused(FrameRule):
    """The broker closes the connection on a Produce without a client id."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_nameless = seen.header is not None and seen.header.client_id is None
        is_produce = seen.api is not None and seen.api.name == "Produce"
        return misread(seen) if is_nameless and is_produce else seen.payload


class FirstSegmentIsTheFrame(FrameRule):
    """The broker reads only the first segment of a frame that comes in single bytes."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        return seen.payload[:1] if is_from(seen, "CONN-020") else seen.payload


class LaterFramesOfASegmentAreLost(FrameRule):
    """The broker loses the fifth of the frames in one segment."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        return [] if seen.ordinal == 4 and is_from(seen, "CONN-021") else [payload]


class TrailingByteAtOneVersion(FrameRule):
    """The broker answers InitProducerId v5 with a trailing byte."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        api = api_named("InitProducerId")
        if seen.api is api and seen.version == 5 and is_from(seen, "CONN-025"):
            payload += b"\0"
        return [payload]


class LayoutOfAnOlderVersion(FrameRule):
    """The broker answers FindCoordinator v6 in the layout of v3, which names one coordinator."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        api = api_named("FindCoordinator")
        if seen.api is api and seen.version == 6 and is_from(seen, "CONN-025"):
            answer = FindCoordinatorResponse(node_id=1, host="127.0.0.1", port=9092)
            return [encode_response(answer, 3, correlation_id(seen.payload))]
        return [payload]


class FlexibleAnswerWithoutHeaderTags(FrameRule):
    """The broker answers ListOffsets v6 and up with response header v0."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        api = api_named("ListOffsets")
        if seen.api is api and seen.version >= 6 and is_from(seen, "CONN-026"):
            _, body = decode_prefix(ResponseHeader, 1, payload)
            payload = payload[:4] + payload[body:]
        return [payload]


class ApiVersionsWithHeaderTags(FrameRule):
    """The broker answers ApiVersions v3 and up with response header v1."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if is_from(seen, "CONN-027"):
            payload = payload[:4] + b"\0" + payload[4:]
        return [payload]


DEFECTS = [
    rule("CONN-001", r"an answer of 0 bytes has no correlation id", BytesFollowTheFrame),
    rule("CONN-002", r"answer 0 has correlation id", GreetsBeforeTheFirstAnswer),
    rule("CONN-003", r"-1 was sent, 0 came back", NegativeCorrelationIdBecomesZero),
    rule("CONN-004", r"answer 10 has correlation id 1011", AnswersInReverse),
    rule("CONN-005", r"answer 0 has correlation id 72", CheapRequestOvertakes),
    rule("CONN-006", r"answer 700 has correlation id 5701", LosesOneOfManyOutstanding),
    rule("CONN-007", r"no answer before the deadline", LongPollStopsAllConnections),
    rule("CONN-008", r"acks=0 was answered", AcksZeroIsAnswered),
    rule("CONN-010", NOT_CLOSED, OversizeFrameIsAnswered),
    rule("CONN-011", NOT_CLOSED, NegativeSizeIsAnswered),
    rule("CONN-012", NOT_CLOSED, HeaderlessFrameIsAnswered),
    rule("CONN-013", NOT_CLOSED, UnknownKeyIsAnswered),
    rule("CONN-014", NOT_CLOSED, UnsupportedVersionIsAnswered),
    rule("CONN-016", NOT_CLOSED, CutBodyIsAnswered),
    rule("CONN-019", r"closed the connection", NullClientIdIsRefused),
    rule("CONN-020", r"closed the connection", FirstSegmentIsTheFrame),
    rule("CONN-021", r"answer 4 has correlation id 5,", LaterFramesOfASegmentAreLost),
    rule("CONN-025", r"1 bytes left over", TrailingByteAtOneVersion),
    rule("CONN-025", r"FindCoordinator v6 answer: ", LayoutOfAnOlderVersion),
    rule("CONN-026", r"DecodeError: ListOffsetsResponse", FlexibleAnswerWithoutHeaderTags),
    rule("CONN-027", r"DecodeError: ApiVersionsResponse", ApiVersionsWithHeaderTags),
]
