"""Defects of a broker that takes a request for another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from harness.codec import encode
from harness.codec.header import decode_request_header
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import Defect, made_from, parameter_types

M = TypeVar("M", bound=Message)


def with_body(seen: SeenRequest, message: Message) -> bytes:
    """Return the request's header with this body."""
    _, start = decode_request_header(seen.payload)
    return seen.payload[:start] + encode(message, seen.version)


@dataclass
class EditedRequests(FrameRule):
    """Edit the requests of one type: those at ``versions``, or all of them if it is None."""

    request: type[Message]
    edit: Callable[[Any], None]
    versions: range | None

    def on_request(self, seen: SeenRequest) -> bytes | None:
        message = seen.message
        if not isinstance(message, self.request):
            return seen.payload
        if self.versions is not None and seen.version not in self.versions:
            return seen.payload
        self.edit(message)
        return with_body(seen, message)


def takes(
    requirement: str, reason: str, versions: range | None = None
) -> Callable[[Callable[[M], None]], Defect]:
    """Make a defect of a function that edits the requests of the type that its annotation names.

    ``versions``: only requests at these versions; all of them by default.
    """

    def make(edit: Callable[[M], None]) -> Defect:
        (request,) = parameter_types(edit)
        rule = partial(EditedRequests, request, edit, versions)
        return made_from(edit, requirement, reason, rule)

    return make
