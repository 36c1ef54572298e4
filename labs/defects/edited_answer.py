"""Defects of a broker that gives a wrong answer: functions that edit the decoded answer of one API.

They strike only where the request can be decoded too: a broker may read more tolerantly than we do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from labs.defects.defect import Defect, edited, made_from, parameter_types

Asked = Callable[[SeenRequest], bool]
"""A condition on the request."""


def any_request(_: SeenRequest) -> bool:
    """True: the condition of a defect that strikes the answer to every request."""
    return True


@dataclass
class EditedAnswers(FrameRule):
    """Edit the answers of one API: those at ``versions``, or all of them if it is None."""

    response: type[Message]
    edit: Callable[[SeenRequest, Message], None]
    versions: range | None

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        if seen.api is None or seen.api.response is not self.response or seen.message is None:
            return [payload]
        if self.versions is not None and seen.version not in self.versions:
            return [payload]
        return [edited(seen, payload, self.edit)]


def answers(
    requirement: str,
    reason: str,
    versions: range | None = None,
    *,
    asked: Asked = any_request,
) -> Callable[[Callable[..., None]], Defect]:
    """Make a defect of a function that edits the answers of the API that its annotations name.

    It has one of these forms::

        def name(answer: JoinGroupResponse) -> None
        def name(request: JoinGroupRequest, answer: JoinGroupResponse) -> None
        def name(seen: SeenRequest, answer: JoinGroupResponse) -> None

    ``versions``: only answers at these versions; all of them by default.
    ``asked``: only answers to requests for which it is true.
    """

    def make(edit: Callable[..., None]) -> Defect:
        *before, response = parameter_types(edit)

        def edit_typed(seen: SeenRequest, answer: Message) -> None:
            if asked(seen):
                edit(*(seen if kind is SeenRequest else seen.message for kind in before), answer)

        rule = partial(EditedAnswers, response, edit_typed, versions)
        return made_from(edit, requirement, reason, rule)

    return make
