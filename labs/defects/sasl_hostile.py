"""Defects of area SASL that hostile clients show: what should be refused is answered."""

from __future__ import annotations

from collections.abc import Sequence

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import (
    MetadataResponse,
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from harness.proxies import FrameRule, SeenRequest
from labs.defects.conn import NOT_CLOSED
from labs.defects.defect import correlation_id, error_answer, rule

PROOF = b",p="
MOST_FAILURES = 20
"""In a row; no other test has so many."""


class WhatIsNoRequestIsAnswered(FrameRule):
    """The broker answers bytes of an unknown form before the authentication, with an error."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        return [error_answer(seen)] if seen.api is None else []


class WhatFollowsAFailureIsAnswered(FrameRule):
    """The broker answers the next request behind a failed authentication, too."""

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:
        return [error_answer(seen)] if seen.api is not None and seen.ordinal == 2 else []


class AProofIsTakenTwice(FrameRule):
    """SCRAM accepts a proof that it has seen in another exchange."""

    def __init__(self) -> None:
        self._proofs: set[bytes] = set()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        token = _token(seen)
        proof = token.rpartition(PROOF)[2] if token.startswith(b"c=") else b""
        if not proof or proof not in self._proofs:
            self._remember(seen, payload, proof)
            return [payload]
        answer = SaslAuthenticateResponse(error_code=ErrorCode.NONE, auth_bytes=b"v=AAAA")
        return [encode_response(answer, seen.version, correlation_id(seen.payload))]

    def _remember(self, seen: SeenRequest, payload: bytes, proof: bytes) -> None:
        """Remember a proof that the broker has accepted."""
        if proof and seen.api is not None:
            _, answer = decode_response(seen.api, seen.version, payload)
            if getattr(answer, "error_code", None) == ErrorCode.NONE:
                self._proofs.add(proof)


class ManyFailuresKeepOthersOut(FrameRule):
    """Behind twenty failed logins in a row the next Metadata answer has no broker."""

    def __init__(self) -> None:
        self._failures = 0

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is api_named("SaslAuthenticate"):
            _, answer = decode_response(seen.api, seen.version, payload)
            has_failed = getattr(answer, "error_code", ErrorCode.NONE) != ErrorCode.NONE
            self._failures = self._failures + 1 if has_failed else 0
        elif seen.api is api_named("Metadata") and self._failures >= MOST_FAILURES:
            self._failures = 0
            return [encode_response(MetadataResponse(), seen.version, correlation_id(seen.payload))]
        return [payload]


def _token(seen: SeenRequest) -> bytes:
    message = seen.message
    return bytes(message.auth_bytes) if isinstance(message, SaslAuthenticateRequest) else b""


DEFECTS = [
    rule("SASL-016", NOT_CLOSED, WhatIsNoRequestIsAnswered),
    rule("SASL-017", r"behind a wrong token is answered", WhatFollowsAFailureIsAnswered),
    rule("SASL-018", r"error is NONE", AProofIsTakenTwice),
    rule("SASL-019", r"Metadata lists no broker", ManyFailuresKeepOthersOut),
]
