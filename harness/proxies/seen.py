"""Frames on their way through a proxy, decoded only as far as they are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from harness.codec import CodecError, decode_prefix
from harness.codec.apis import Api, api_for_key
from harness.codec.header import decode_request_header, decode_response
from harness.codec.messages import RequestHeader
from harness.codec.structs import Message

PRODUCE_KEY = 0


@dataclass(frozen=True, slots=True)
class SeenConnection:
    """A connection: ``source`` opened it to ``destination`` (``client``, a broker id, ...), as the
    ``connection``-th of this link, from 0.
    """

    source: str = "client"
    destination: str = "broker"
    connection: int = 0

    @property
    def link(self) -> str:
        return f"{self.source}->{self.destination}"


NOWHERE = SeenConnection()


@dataclass
class SeenRequest:
    """A request on its way to the broker."""

    payload: bytes
    ordinal: int = 0  # position among the requests of its connection, from 0
    notes: dict[str, object] = field(default_factory=dict)  # for the rule, from request to answer
    place: SeenConnection = NOWHERE

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
        """The body, None when it cannot be read. Bytes after it are ignored."""
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


@dataclass
class SeenResponse:
    """A response on its way to the client, and the request that it answers."""

    payload: bytes
    request: SeenRequest
    ordinal: int = 0  # position among the responses of its connection, from 0

    @property
    def place(self) -> SeenConnection:
        return self.request.place

    @cached_property
    def _read(self) -> tuple[int, Message] | None:
        api = self.request.api
        if api is None:
            return None
        try:
            return decode_response(api, self.request.version, self.payload)
        except CodecError:
            return None

    @property
    def message(self) -> Message | None:
        """The body, None when it cannot be read."""
        return self._read[1] if self._read else None
