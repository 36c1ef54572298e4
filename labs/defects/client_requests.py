"""Defects of a broker that takes a request of one client for another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import Defect, made_from, parameter_types
from labs.defects.edited_request import with_body
from labs.defects.one_client import is_from

M = TypeVar("M", bound=Message)


@dataclass
class EditedRequestsOfClient(FrameRule):
    """Edit the requests of one type from one client."""

    request: type[Message]
    edit: Callable[[Any], None]
    client_id: str

    def on_request(self, seen: SeenRequest) -> bytes | None:
        message = seen.message
        if not isinstance(message, self.request) or not is_from(seen, self.client_id):
            return seen.payload
        self.edit(message)
        return with_body(seen, message)


def takes_from_client(requirement: str, reason: str) -> Callable[[Callable[[M], None]], Defect]:
    """Make a defect of a function that edits requests, as ``takes`` does.

    It strikes those of the client with the id of the requirement.
    """

    def make(edit: Callable[[M], None]) -> Defect:
        (request,) = parameter_types(edit)
        rule = partial(EditedRequestsOfClient, request, edit, requirement)
        return made_from(edit, requirement, reason, rule)

    return make
