"""Defects of area CONN."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from harness.codec.apis import APIS
from harness.proxies import FrameRule, SeenRequest
from tests.defects.defect import correlation_id, error_answer, rule


class NegativeCorrelationIdBecomesZero(FrameRule):
    """The broker answers with correlation id 0 when the request's is -1."""

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if correlation_id(seen.payload) == -1:
            payload = struct.pack(">i", 0) + payload[4:]
        return [payload]


class AnswersInReverse(FrameRule):
    """Two answers of a long pipeline change places."""

    def __init__(self) -> None:
        self.held: bytes | None = None

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if correlation_id(seen.payload) == 1010:
            self.held = payload
            return []
        if correlation_id(seen.payload) == 1011 and self.held is not None:
            return [payload, self.held]
        return [payload]


class UnsupportedVersionIsAnswered(FrameRule):
    """A version that is not supported is answered with an error instead of a close."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        key, version = struct.unpack_from(">hh", seen.payload)
        known = APIS.get(key)
        advertised_too_high = known is not None and version > known.valid_versions.highest
        return [error_answer(seen)] if advertised_too_high else []


DEFECTS = [
    rule("CONN-003", r"\(-1,\)|\(0,\)", NegativeCorrelationIdBecomesZero),
    rule("CONN-004", r"assert \[", AnswersInReverse),
    rule(
        "CONN-014",
        r"bytes came where the connection had to be closed",
        UnsupportedVersionIsAnswered,
    ),
]
