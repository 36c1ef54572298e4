"""Defects of a broker that takes a request for another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from harness.codec import encode
from harness.codec.header import decode_request_header
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import Defect, rule

M = TypeVar("M", bound=Message)


def with_body(seen: SeenRequest, message: Message) -> bytes:
    """Return the request's header with this body."""
    _, start = decode_request_header(seen.payload)
    return seen.payload[:start] + encode(message, seen.version)


def takes(
    requirement: str, reason: str, request_type: type[M], versions: range | None = None
) -> Callable[[Callable[[M], None]], Defect]:
    """Make a defect that changes the requests of one type: the function edits the message.

    ``versions``: only requests at these versions; all of them by default.
    """

    def make(edit: Callable[[M], None]) -> Defect:
        class EditRequests(FrameRule):
            def on_request(self, seen: SeenRequest) -> bytes | None:
                message = seen.message
                if not isinstance(message, request_type):
                    return seen.payload
                if versions is not None and seen.version not in versions:
                    return seen.payload
                edit(message)
                return with_body(seen, message)

        EditRequests.__name__, EditRequests.__doc__ = edit.__name__, edit.__doc__
        return rule(requirement, reason, EditRequests)

    return make
