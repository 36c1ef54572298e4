"""Defects of area COORD."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorRequest, FindCoordinatorResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers


@answers("COORD-005", r"asked for the keys .*, the answer has", "FindCoordinator", range(4, 99))
def only_two_keys_are_looked_at(seen: SeenRequest, message: Message) -> None:
    """FindCoordinator ignores all but the first two keys of a request."""
    assert isinstance(seen.message, FindCoordinatorRequest)
    assert isinstance(message, FindCoordinatorResponse)
    del message.coordinators[2:]


def nobody_is_named_without_an_error(_seen: SeenRequest, message: Message) -> None:
    """FindCoordinator names no node and has no error before the offsets topic exists."""
    assert isinstance(message, FindCoordinatorResponse)
    for one in message.coordinators:
        if one.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE:
            one.error_code = ErrorCode.NONE


DEFECTS = [
    replace(
        answers("COORD-003", r"first: error is NONE", "FindCoordinator", range(4, 99))(
            nobody_is_named_without_an_error
        ),
        private=True,
    ),
    only_two_keys_are_looked_at,
]
