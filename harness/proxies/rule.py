"""What a relay may be told to do with the frames that pass through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness.codec import CodecError, decode_prefix
from harness.codec.apis import Api, api_for_key
from harness.codec.header import decode_request_header
from harness.codec.messages import RequestHeader
from harness.codec.structs import Message

PRODUCE_KEY = 0


@dataclass
class SeenRequest:
    """A request on its way to the broker; decoded only as far as somebody looks."""

    payload: bytes
    ordinal: int = 0  # position on its connection, from 0
    notes: dict[str, object] = field(default_factory=dict)  # for the rule, from request to answer

    @cached_property
    def _header(self) -> tuple[RequestHeader, int] | None:
        try:
            return decode_request_header(self.payload)
        except CodecError:
            return None

    @property
    def header(self) -> RequestHeader | None:
        """None when it cannot be read."""
        return self._header[0] if self._header else None

    @property
    def api(self) -> Api | None:
        """None when the header cannot be read or names nothing that is known."""
        return api_for_key(self._header[0].request_api_key) if self._header else None

    @property
    def version(self) -> int:
        """-1 without a readable header."""
        return self._header[0].request_api_version if self._header else -1

    @cached_property
    def message(self) -> Message | None:
        """The body, None when it cannot be read. Bytes after it are not looked at."""
        if self._header is None or self.api is None:
            return None
        header, start = self._header
        try:
            body, _ = decode_prefix(
                self.api.request, header.request_api_version, self.payload, start
            )
        except CodecError:
            return None
        return body

    @property
    def gets_answer(self) -> bool:
        """False for Produce with acks=0, the only request that is never answered."""
        if self.api is None or self.api.key != PRODUCE_KEY:
            return True
        return getattr(self.message, "acks", -1) != 0


class FrameRule:
    """The rule that changes nothing; a subclass overrides what it wants to change.

    One object serves all connections of a relay; it is called on the relay's loop only.
    """

    def on_request(self, seen: SeenRequest) -> bytes | None:
        """The payload to forward in its place; None keeps it from the broker."""
        return seen.payload

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:  # noqa: ARG002
        """The payloads to send to the client in its place, none or several."""
        return [payload]

    def on_close(self, seen: SeenRequest) -> Sequence[bytes]:  # noqa: ARG002
        """The broker ended instead of answering ``seen``: payloads to send before ending too."""
        return []

    def on_bad_length(self, length: int) -> bytes | None:  # noqa: ARG002
        """A frame's length that cannot be: raw bytes to answer with; None passes it on.

        After an answer, nothing more of what this client sends reaches the broker.
        """
        return None
