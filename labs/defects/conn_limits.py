"""Defects of area CONN that strike brokers with limits for their connections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.proxies import FrameRule, SeenRequest
from harness.proxies.toxics.half_open import HalfOpen
from harness.proxies.toxics.toxic import NEVER_MS, Draw, Due, StreamMarker, ToxicState
from labs.defects.defect import rule
from labs.defects.one_client import misread

FOURTH = 3  # from 0
LARGEST_REQUEST_BYTES = 20_000  # of the broker in the test


@dataclass(frozen=True)
class _HalfOpenAfter(HalfOpen):
    """Hide the end of a stream that had bytes, or of one that had none."""

    had_bytes: bool = True

    def begin(self, draw: Draw) -> _HalfOpenAfterState:  # type: ignore[override]
        return _HalfOpenAfterState(self, draw)


class _HalfOpenAfterState(ToxicState[_HalfOpenAfter]):
    passed = False

    def data(self, data: bytes, arrived_ms: float) -> Iterable[Due]:
        self.passed = True
        return (Due(data, arrived_ms),)

    def mark(self, mark: StreamMarker, arrived_ms: float) -> Iterable[Due]:
        is_hidden = self.passed is self.toxic.had_bytes
        return (Due(mark, NEVER_MS if is_hidden else arrived_ms),)


class SilentConnectionsStay(FrameRule):
    """The broker never closes a silent connection."""

    toxics = (_HalfOpenAfter(),)


class WaitingConnectionsStay(SilentConnectionsStay):
    """The broker never closes a silent connection with a waiting request."""


class TooManyAreKeptWaiting(FrameRule):
    """The broker neither serves nor closes a connection beyond the limit."""

    toxics = (_HalfOpenAfter(had_bytes=False),)


class TheFourthRequestComesTooLate(FrameRule):
    """The broker closes a connection some time after its start, however often it is used."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        is_probe = seen.api is not None and (seen.api.name, seen.version) == ("ApiVersions", 0)
        return misread(seen) if is_probe and seen.ordinal == FOURTH else seen.payload


class TheLargestRequestIsTooLarge(FrameRule):
    """The broker refuses a request of just socket.request.max.bytes."""

    def on_request(self, seen: SeenRequest) -> bytes | None:
        return misread(seen) if len(seen.payload) == LARGEST_REQUEST_BYTES else seen.payload


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        rule("CONN-023", r"neither answered nor closed", SilentConnectionsStay),
        rule("CONN-032", r"neither answered nor closed", WaitingConnectionsStay),
        rule("CONN-023", r"closed the connection", TheFourthRequestComesTooLate),
        rule("CONN-010", r"closed the connection", TheLargestRequestIsTooLarge),
        rule("CONN-024", r"no answer before the deadline", TooManyAreKeptWaiting),
    )
]
