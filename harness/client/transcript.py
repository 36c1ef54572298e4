"""The events of a connection, kept as evidence: bounded, decoded only when they are rendered."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from harness.codec import CodecError
from harness.codec.apis import API_VERSIONS_KEY, Api, api_for_key
from harness.codec.header import decode_request_header, decode_response
from harness.codec.message_codec import decode_prefix
from harness.codec.secret_fields import has_secret
from harness.codec.structs import Message

KEPT_EVENTS = 200
KEPT_BYTES = 8 * 1024 * 1024  # of data; the last event is kept whatever its size
_SHOWN_BYTES = 512
_HEX_COLUMNS = 16


@dataclass(frozen=True, slots=True)
class TranscriptEvent:
    """One thing that happened on a connection."""

    at_ms: float  # since the transcript began
    what: str  # connected, sent, received, closed, ...
    data: bytes = b""
    api: Api | None = None  # of a received response
    version: int = -1


@dataclass(slots=True)
class Transcript:
    """The last events of one connection, oldest first."""

    name: str
    clock: Callable[[], float] = time.monotonic
    events: deque[TranscriptEvent] = field(default_factory=deque)
    dropped: int = 0
    kept_bytes: int = 0
    began: float = 0.0

    def __post_init__(self) -> None:
        self.began = self.clock()

    def add(self, what: str, data: bytes = b"", api: Api | None = None, version: int = -1) -> None:
        """Note an event; the oldest are dropped (and counted) when there are too many."""
        self.events.append(
            TranscriptEvent((self.clock() - self.began) * 1000, what, data, api, version)
        )
        self.kept_bytes += len(data)
        while len(self.events) > KEPT_EVENTS or self._has_too_many_bytes():
            self.kept_bytes -= len(self.events.popleft().data)
            self.dropped += 1

    def _has_too_many_bytes(self) -> bool:
        return self.kept_bytes > KEPT_BYTES and len(self.events) > 1

    def render(self) -> str:
        """Readable text: each event decoded where possible, and its bytes in hex."""
        lines = [f"connection {self.name}"]
        if self.dropped:
            lines.append(f"  ({self.dropped} earlier events are not kept)")
        for event in self.events:
            lines.append(f"  {event.at_ms:9.1f} ms  {event.what}, {len(event.data)} bytes")
            if event.data:
                lines += _shown(event)
        return "\n".join(lines)


def _shown(event: TranscriptEvent) -> list[str]:
    """The decoded message and its bytes; no bytes of one that contains a secret."""
    try:
        head, body = _decoded(event)
    except CodecError as error:
        return [f"      (not decodable: {error})", *_hex(event.data)]
    if has_secret(body):
        return [f"      {head}", "      (the bytes contain a secret and are not shown)"]
    return [f"      {head}", *_hex(event.data)]


def _decoded(event: TranscriptEvent) -> tuple[str, Message | None]:
    if event.what == "sent":
        return _request(event.data)
    return ("(raw bytes)", None) if event.api is None else _response(event, event.api)


def _request(data: bytes) -> tuple[str, Message]:
    header, start = decode_request_header(data)
    api = api_for_key(header.request_api_key)
    body, _ = decode_prefix(api.request, header.request_api_version, data, start)
    head = (
        f"{api.name} v{header.request_api_version} correlation={header.correlation_id} "
        f"client={header.client_id!r} {body!r}"
    )
    return head, body


def _response(event: TranscriptEvent, api: Api) -> tuple[str, Message]:
    version = event.version
    if api.key == API_VERSIONS_KEY and version not in api.valid_versions:
        version = 0
    correlation_id, body = decode_response(api, version, event.data)
    return f"{api.name} v{version} correlation={correlation_id} {body!r}", body


def _hex(data: bytes) -> list[str]:
    shown = data[:_SHOWN_BYTES]
    lines = []
    for start in range(0, len(shown), _HEX_COLUMNS):
        part = shown[start : start + _HEX_COLUMNS]
        text = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
        lines.append(f"      {start:06x}  {part.hex(' '):<{_HEX_COLUMNS * 3}} {text}")
    if len(data) > _SHOWN_BYTES:
        lines.append(f"      ... {len(data) - _SHOWN_BYTES} more bytes")
    return lines
