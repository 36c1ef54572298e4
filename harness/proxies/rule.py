"""The simple form of a rule in Python: payload in, payloads out."""

from __future__ import annotations

from collections.abc import Sequence

from harness.proxies.seen import SeenRequest
from harness.proxies.toxics.toxic import Toxic


class FrameRule:
    """The rule that changes nothing; a subclass overrides what it wants to change.

    ``toxics`` treat the bytes on their way to the client. One object serves all connections of a
    relay; it is called on the relay's loop only.
    """

    toxics: Sequence[Toxic] = ()

    def on_request(self, seen: SeenRequest) -> bytes | None:
        """The payload to forward in its place; None keeps it from the broker."""
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:  # noqa: ARG002
        """The payloads to send to the client in its place, none or several."""
        return [payload]

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:  # noqa: ARG002
        """The broker ended instead of answering ``seen``: payloads to send before ending too."""
        return []

    def on_cut(self, rest: bytes) -> bytes:
        """The client ended inside a frame, of which ``rest`` came: bytes to forward instead."""
        return rest

    def on_bad_length(self, length: int) -> bytes | None:  # noqa: ARG002
        """A frame's length that cannot be: raw bytes to answer with; None passes it on.

        After an answer, nothing more of what this client sends reaches the broker.
        """
        return None
