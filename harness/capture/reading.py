"""The content of a frame as brokers and clients read it: strictly first, then as Apache Kafka does.

Apache Kafka ignores bytes behind the body of a request, and accepts some bytes that its protocol
does not allow (``decode_prefix``, ``tolerant``). Such a message is decoded, with a note.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from harness.codec import DecodeError
from harness.codec.apis import Api
from harness.codec.header import decode_request_header
from harness.codec.message_codec import decode_prefix
from harness.codec.messages import RequestHeader, ResponseHeader
from harness.codec.structs import Message

T = TypeVar("T")
M = TypeVar("M", bound=Message)
_FIRST_WITH_CLIENT_ID = 1


class ReadBody(NamedTuple):
    """A message; ``left_over``: the bytes behind it.

    ``note``: the error of the strict decoder, for a message that only Kafka's own readers accept.
    """

    message: Message
    left_over: int
    note: str = ""


class ReadHeader(NamedTuple):
    """The header of a request, and the offset of its body; ``note`` as in ``ReadBody``."""

    header: RequestHeader
    body: int
    note: str = ""


def read_header(payload: bytes) -> ReadHeader:
    """Return the header of a request. Raises as ``decode_request_header`` does."""
    found, note = _leniently(lambda tolerant: decode_request_header(payload, tolerant=tolerant))
    return ReadHeader(*found, note)


def read_body(kind: type[Message], version: int, payload: bytes, at: int) -> ReadBody:
    """Return the message that begins at ``at``. Raises DecodeError where Kafka refuses it, too."""
    (message, end), note = _leniently(
        lambda tolerant: decode_prefix(kind, version, payload, at, tolerant=tolerant)
    )
    return ReadBody(message, len(payload) - end, note)


def read_response(api: Api, version: int, payload: bytes) -> ReadBody:
    """Return the body of a response to ``api`` at ``version``. Raises DecodeError."""
    header_version = api.response_header_version(version)
    (_, at), note = _leniently(
        lambda tolerant: decode_prefix(ResponseHeader, header_version, payload, tolerant=tolerant)
    )
    body = read_body(api.response, version, payload, at)
    return body._replace(note=note or body.note)


def client_id_of_refused(payload: bytes) -> str | None:
    """Return the client id of a request with an unknown API or version; None without one.

    It has the same place in all header versions that have it. Raises DecodeError.
    """
    header, _ = decode_prefix(RequestHeader, _FIRST_WITH_CLIENT_ID, payload)
    return header.client_id


def _leniently(read: Callable[[bool], T]) -> tuple[T, str]:
    """Return the strict reading, else the tolerant one with the strict error as text."""
    try:
        return read(False), ""
    except DecodeError as strict:
        try:
            return read(True), str(strict)
        except DecodeError:
            raise strict from None
