"""The interceptor of a proxied connection: it sees frames and returns the steps in their place."""

from __future__ import annotations

from collections.abc import Sequence

from harness.proxies.direction import Direction
from harness.proxies.seen import SeenConnection, SeenRequest, SeenResponse
from harness.proxies.step import Step


class Interceptor:
    """An interceptor that sees nothing; a subclass overrides the methods that it needs.

    One object serves all connections of its proxies and is called on their loop only. Where it
    returns None the frame goes on as it came, byte for byte.
    """

    wishes: object = None
    """Another object whenever ``wants`` or ``is_idle`` may return something else from now on."""

    def wants(self, direction: Direction, api_key: int, version: int) -> bool:  # noqa: ARG002
        """True if frames of this API are shown; others go on before they are complete.

        Of a response: the API of its request.
        """
        return False

    @property
    def is_idle(self) -> bool:
        """True if no frame is wanted now: a proxy may pass bytes without finding frames."""
        return True

    def opened(self, place: SeenConnection) -> Sequence[Step] | None:  # noqa: ARG002
        """Return steps for the upstream direction of an accepted connection, before any byte."""
        return None

    def encrypted(self, place: SeenConnection) -> None:
        """Note that the bytes of a connection are TLS that does not end here: no frame is shown.

        An error that it raises becomes an event of the proxy.
        """

    def closed(self, place: SeenConnection) -> None:
        """Forget the state of a connection that is gone, both its sockets."""

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:  # noqa: ARG002
        """Return the steps in place of a request."""
        return None

    def response(self, seen: SeenResponse) -> Sequence[Step] | None:  # noqa: ARG002
        """Return the steps in place of a response."""
        return None

    def ended(self, unanswered: SeenRequest) -> Sequence[Step] | None:  # noqa: ARG002
        """Return steps towards the client before its end: the broker ended instead of answering."""
        return None

    def cut(self, place: SeenConnection, rest: bytes) -> Sequence[Step] | None:  # noqa: ARG002
        """Return steps for a client that ended inside a frame, ``rest`` of it; None passes it."""
        return None

    def bad_length(self, place: SeenConnection, length: int) -> Sequence[Step] | None:  # noqa: ARG002
        """Return steps for an impossible length of a client's frame.

        None passes it on, and all behind it unread. With steps nothing more of what this client
        sends reaches the broker.
        """
        return None
