"""The connection is reset."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from harness.proxies.toxics.attributes import number
from harness.proxies.toxics.toxic import Draw, Due, StreamMarker, Toxic, ToxicState


@dataclass(frozen=True)
class ResetPeer(Toxic):
    """RST to both sides ``timeout`` milliseconds after it began, whether bytes came or not.

    Nothing goes on in the meantime; what came does when the toxic is removed before the reset.
    """

    type = "reset_peer"
    timeout: float = number()

    def begin(self, draw: Draw) -> ResetPeerState:
        return ResetPeerState(self, draw)


class ResetPeerState(ToxicState[ResetPeer]):
    def opened(self, now_ms: float, began_ms: float) -> Iterable[Due]:  # noqa: ARG002
        return (Due(StreamMarker.RESET, now_ms + self.toxic.timeout, own=True),)
