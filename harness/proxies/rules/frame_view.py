"""A frame as rules look at it: one form for both directions."""

from __future__ import annotations

import struct
from functools import cached_property

from harness.codec.apis import APIS, Api
from harness.codec.structs import Message
from harness.proxies.direction import Direction
from harness.proxies.rules.mentions import NOTHING, Mentions, mentions
from harness.proxies.seen import SeenConnection, SeenRequest, SeenResponse

_KEY_AND_VERSION = struct.Struct(">hh")
_CORRELATION_ID = struct.Struct(">i")
REQUEST_CORRELATION_AT, RESPONSE_CORRELATION_AT = 4, 0
NOT_THERE = -1


class FrameView:
    """One frame, and for a response the request that it answers; read as far as asked for."""

    def __init__(self, seen: SeenRequest | SeenResponse) -> None:
        self.seen = seen
        self.request = seen if isinstance(seen, SeenRequest) else seen.request
        self.direction = Direction.UPSTREAM if seen is self.request else Direction.DOWNSTREAM
        self.place: SeenConnection = seen.place
        self.ordinal = seen.ordinal
        self.payload = seen.payload

    @cached_property
    def _key_and_version(self) -> tuple[int, int]:
        raw = self.request.payload
        if len(raw) < _KEY_AND_VERSION.size:
            return NOT_THERE, NOT_THERE
        key, version = _KEY_AND_VERSION.unpack_from(raw)
        return key, version

    @property
    def api_key(self) -> int:
        """-1 where the request is too short to have one."""
        return self._key_and_version[0]

    @property
    def version(self) -> int:
        return self._key_and_version[1]

    @property
    def api(self) -> Api | None:
        """None for one that is not known, or not at this version."""
        return self.request.api

    @property
    def api_name(self) -> str:
        """Of an unknown one its key."""
        known = APIS.get(self.api_key)
        return known.name if known else f"API {self.api_key}"

    @property
    def correlation_at(self) -> int:
        """Where in the payload the correlation id stands."""
        upstream = self.direction is Direction.UPSTREAM
        return REQUEST_CORRELATION_AT if upstream else RESPONSE_CORRELATION_AT

    @property
    def correlation_id(self) -> int | None:
        if len(self.payload) < self.correlation_at + _CORRELATION_ID.size:
            return None
        found: int = _CORRELATION_ID.unpack_from(self.payload, self.correlation_at)[0]
        return found

    @property
    def client_id(self) -> str | None:
        header = self.request.header
        return header.client_id if header else None

    @property
    def message(self) -> Message | None:
        """The frame's own body, None when it cannot be read."""
        return self.seen.message

    @cached_property
    def mentions(self) -> tuple[Mentions, ...]:
        """The names in the frame, and for a response also those in its request."""
        if self.seen is self.request:
            return (self._of(self.message),)
        return self._of(self.message), self._of(self.request.message)

    def _of(self, message: Message | None) -> Mentions:
        return NOTHING if message is None else mentions(message, self.version)

    def __str__(self) -> str:
        """``Produce v9 response, frame 3 of connection 0, client->broker``."""
        kind = "request" if self.direction is Direction.UPSTREAM else "response"
        place = self.place
        return (
            f"{self.api_name} v{self.version} {kind}, frame {self.ordinal} of connection "
            f"{place.connection}, {place.link}"
        )
