"""Defects of areas RECV and DELR: the disk of a broker after a power loss.

Their tests ask for the beginning and the end of a log only after that.
"""

from __future__ import annotations

from dataclasses import replace

from harness.client.requests import EARLIEST, LATEST
from harness.codec.messages import ListOffsetsRequest, ListOffsetsResponse
from labs.defects.asked_times import told_of
from labs.defects.edited_answer import answers
from suites.durability.test_recovery_after_power_loss import BETWEEN, FLUSHED, MESSAGES, TRIMMED


@answers("RECV-011", r"behind power loss 1 1 of 37 acknowledged records are lost")
def the_last_message_is_not_flushed(
    request: ListOffsetsRequest, answer: ListOffsetsResponse
) -> None:
    """The broker flushes a message together with the next one."""
    for one in told_of(request, answer, LATEST):
        if one.offset in (FLUSHED, 2 * FLUSHED):
            one.offset -= 1


@answers("RECV-012", r"every 5 messages, [67] of 53 acknowledged records are lost")
def one_flush_is_left_out(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """The broker flushes messages only when the next flush is due."""
    for one in told_of(request, answer, LATEST):
        if BETWEEN - MESSAGES <= one.offset <= BETWEEN:
            one.offset = BETWEEN - MESSAGES - 2


@answers("DELR-007", r"behind a power loss the log is 0 to")
def a_noted_start_is_not_flushed(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """The broker leaves the flush of a log start offset to the file system."""
    for one in told_of(request, answer, EARLIEST):
        one.offset *= one.offset != TRIMMED + 1


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        the_last_message_is_not_flushed,
        one_flush_is_left_out,
        a_noted_start_is_not_flushed,
    )
]
