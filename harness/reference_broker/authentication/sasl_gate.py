"""The gate of one connection to a SASL listener: its requests pass after the
authentication."""

import time
from typing import Protocol

from harness.reference_broker.authentication.sasl_session import (
    Denial,
    Reply,
    SaslSession,
    Served,
)
from harness.reference_broker.node import Response, WaitingRequest

_MS_PER_S = 1000
_ERROR_OF_VERSIONS = slice(4, 6)
"""In an answer to ApiVersions; its header never has more than the correlation id (KIP-511)."""


class Serve(Protocol):
    """Carries out a request of a user."""

    def __call__(
        self, payload: bytes, user: str, *, may_ask_for_tokens: bool
    ) -> Response | WaitingRequest:
        """Raises RequestRejected."""
        ...


class SaslGate:
    """`first_limit_bytes` is the largest frame of the authentication, `limit_bytes` of others."""

    def __init__(
        self, session: SaslSession, first_limit_bytes: int, limit_bytes: int, delay_ms: int
    ) -> None:
        self._session, self._delay_ms = session, delay_ms
        self._first_limit_bytes = min(first_limit_bytes, limit_bytes)
        self._limit_bytes = limit_bytes

    @property
    def is_open(self) -> bool:
        """True if the next frame is a request of an authenticated client."""
        return self._session.is_open

    @property
    def limit_bytes(self) -> int:
        """The largest frame that may come next."""
        return self._limit_bytes if self.is_open else self._first_limit_bytes

    def begin(self, payload: bytes, serve: Serve) -> Response | WaitingRequest:
        """Carry out a request of the client, or a step of its authentication.

        Raises RequestRejected.
        """
        step = self._session.receive(payload, time.monotonic() * _MS_PER_S)
        if isinstance(step, Reply):
            return Response([step.payload])
        if isinstance(step, Denial):
            return self._refused(step)
        session = self._session
        answer = serve(
            payload, session.user, may_ask_for_tokens=session.is_open and not session.by_token
        )
        if step is Served.VERSIONS and isinstance(answer, Response) and answer.parts is not None:
            head = b"".join(bytes(part) for part in answer.parts)[_ERROR_OF_VERSIONS]
            self._session.versions_answered(without_error=not any(head))
        return answer

    def _refused(self, refusal: Denial) -> Response:
        parts = None if refusal.payload is None else [refusal.payload]
        delay_ms = self._delay_ms if refusal.is_late else 0
        return Response(parts, closes_after_ms=delay_ms, reason=refusal.reason)
