"""Defects of area COORD."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FindCoordinatorResponse
from labs.defects.changed_field import changed_field
from labs.defects.edited_answer import answers


@answers("COORD-005", r"asked for the keys .*, the answer has", range(4, 99))
def only_two_keys_are_looked_at(answer: FindCoordinatorResponse) -> None:
    """FindCoordinator ignores all but the first two keys of a request."""
    del answer.coordinators[2:]


DEFECTS = [
    replace(
        changed_field("COORD-003", "nobody_is_named_without_an_error", r"first: error is NONE",
            "FindCoordinator names no node and has no error before the offsets topic exists.",
            FindCoordinatorResponse, "coordinators.error_code",
            ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NONE, range(4, 99)),
        private=True,
    ),
    only_two_keys_are_looked_at,
]  # fmt: skip
