"""Who changes addresses in frames, before any rule sees them."""

from __future__ import annotations

from harness.proxies.counters import Kind
from harness.proxies.direction import Direction
from harness.proxies.seen import Place


class Rewriter:
    """Changes nothing. One object serves all connections of its proxies, on their loop only."""

    def touches(self, direction: Direction, api_key: int, version: int) -> bool:  # noqa: ARG002
        """Whether frames of this API can hold an address: asked once of what is known."""
        return False

    def request(self, payload: bytes, place: Place) -> bytes | None:  # noqa: ARG002
        """The payload in place of a request's; None: as it came."""
        return None

    def response(self, payload: bytes, kind: Kind, place: Place) -> bytes | None:  # noqa: ARG002
        """The payload in place of a response's to a request of this kind; None: as it came."""
        return None
