"""Who looks at the frames of a proxied connection, and says what becomes of them."""

from __future__ import annotations

from collections.abc import Sequence

from harness.proxies.direction import Direction
from harness.proxies.seen import Place, SeenRequest, SeenResponse
from harness.proxies.step import Step


class Interceptor:
    """Looks at nothing; a subclass overrides what it wants to see.

    One object serves all connections of its proxies and is called on their loop only. Where it
    returns None the frame goes on as it came, byte for byte.
    """

    wishes: object = None
    """Another object whenever ``wants`` or ``is_idle`` may answer differently from now on."""

    def wants(self, direction: Direction, api_key: int, version: int) -> bool:  # noqa: ARG002
        """Whether frames of this API are shown at all; others go on before they are complete.

        Of a response: the API of its request.
        """
        return False

    @property
    def is_idle(self) -> bool:
        """Nothing is wanted of any frame now: a proxy may pass bytes without finding frames."""
        return True

    def opened(self, place: Place) -> Sequence[Step] | None:  # noqa: ARG002
        """A connection was accepted; steps for its upstream direction, before any byte."""
        return None

    def closed(self, place: Place) -> None:
        """A connection is gone, both its sockets: what was kept for it can be forgotten."""

    def request(self, seen: SeenRequest) -> Sequence[Step] | None:  # noqa: ARG002
        """What becomes of a request."""
        return None

    def response(self, seen: SeenResponse) -> Sequence[Step] | None:  # noqa: ARG002
        """What becomes of a response."""
        return None

    def ended(self, unanswered: SeenRequest) -> Sequence[Step] | None:  # noqa: ARG002
        """The broker ended instead of answering: steps towards the client before it ends too."""
        return None

    def cut(self, place: Place, rest: bytes) -> Sequence[Step] | None:  # noqa: ARG002
        """The client ended inside a frame, of which ``rest`` came; None passes it on."""
        return None

    def bad_length(self, place: Place, length: int) -> Sequence[Step] | None:  # noqa: ARG002
        """A client's frame length that cannot be; None passes it on, and all behind it unread.

        With steps nothing more of what this client sends reaches the broker.
        """
        return None
