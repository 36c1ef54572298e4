"""Defects of area CONN that strike brokers with limits for their connections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.proxies import FrameRule
from harness.proxies.toxics.half_open import HalfOpen
from harness.proxies.toxics.toxic import NEVER_MS, Draw, Due, StreamMarker, ToxicState
from labs.defects.defect import rule


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


class TooManyAreKeptWaiting(FrameRule):
    """The broker neither serves nor closes a connection beyond the limit."""

    toxics = (_HalfOpenAfter(had_bytes=False),)


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        rule("CONN-023", r"neither answered nor closed", SilentConnectionsStay),
        rule("CONN-024", r"no answer before the deadline", TooManyAreKeptWaiting),
    )
]
