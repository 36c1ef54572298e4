"""A frame's payload taken apart: header, body and what stands behind it; and whole again."""

from __future__ import annotations

from dataclasses import dataclass

from harness.codec import CodecError, decode_prefix, encode
from harness.codec.dictionary_form import from_dict, to_dict
from harness.codec.header import decode_request_header
from harness.codec.messages import ResponseHeader
from harness.codec.structs import Message
from harness.proxies.direction import Direction
from harness.proxies.rules.errors import Skip
from harness.proxies.rules.frame_view import FrameView


@dataclass(frozen=True, slots=True)
class Body:
    """``head`` and ``tail`` stay the bytes that they were."""

    head: bytes
    message: Message
    tail: bytes
    version: int

    def form(self) -> dict[str, object]:
        """The message as a dictionary."""
        return to_dict(self.message, self.version)

    def with_form(self, form: dict[str, object]) -> bytes:
        """The payload with this message instead. Raises Skip when the version cannot carry it."""
        try:
            changed = encode(from_dict(type(self.message), self.version, form), self.version)
        except CodecError as error:
            raise Skip(str(error)) from None
        return self.head + changed + self.tail


def open_body(frame: FrameView, payload: bytes) -> Body:
    """Raises Skip when the payload cannot be read."""
    api = frame.api
    if api is None:
        raise Skip(f"{frame.api_name} v{frame.version} is not known")
    try:
        if frame.direction is Direction.UPSTREAM:
            cls, start = api.request, decode_request_header(payload)[1]
        else:
            cls, header = api.response, api.response_header_version(frame.version)
            start = decode_prefix(ResponseHeader, header, payload)[1]
        message, end = decode_prefix(cls, frame.version, payload, start)
    except CodecError as error:
        raise Skip(f"it cannot be read: {error}") from None
    return Body(payload[:start], message, payload[end:], frame.version)
