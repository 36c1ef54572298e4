"""Defects of area COORD."""

from __future__ import annotations

from harness.codec.messages import FindCoordinatorRequest, FindCoordinatorResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from tests.defects.defect import answers


@answers("COORD-005", r"asked for the keys .*, the answer has", "FindCoordinator", range(4, 99))
def only_two_keys_are_looked_at(seen: SeenRequest, message: Message) -> None:
    """Of several keys in one request the third and all after it are forgotten."""
    assert isinstance(seen.message, FindCoordinatorRequest)
    assert isinstance(message, FindCoordinatorResponse)
    del message.coordinators[2:]


DEFECTS = [
    only_two_keys_are_looked_at,
]
