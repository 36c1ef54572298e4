"""The rewriter of addresses in frames, before any rule sees them."""

from __future__ import annotations

from harness.proxies.counters import Kind
from harness.proxies.direction import Direction
from harness.proxies.seen import SeenConnection


class Rewriter:
    """A rewriter that changes nothing. One object serves all its proxies, on their loop only."""

    def touches(self, direction: Direction, api_key: int, version: int) -> bool:  # noqa: ARG002
        """True if frames of this API can hold an address; kept for a known API and version."""
        return False

    def request(self, payload: bytes, place: SeenConnection) -> bytes | None:  # noqa: ARG002
        """Return the payload in place of a request's; None: unchanged."""
        return None

    def response(self, payload: bytes, kind: Kind, place: SeenConnection) -> bytes | None:  # noqa: ARG002
        """Return the payload in place of a response's to this kind of request; None: unchanged."""
        return None
