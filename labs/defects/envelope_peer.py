"""Defects of area RAFT: a controller that handles forwarded requests wrongly."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import EnvelopeResponse
from harness.codec.structs import Message
from labs.defects.replicas import Replicas, told_to_others

CORRELATION_ID_BYTES = 4


@told_to_others("RAFT-017", r"the correlation id is 0, sent was \d+")
def a_forwarded_response_has_no_correlation_id(_: Replicas, __: Message, answer: Message) -> None:
    """The controller writes no correlation id into the response in an Envelope."""
    if isinstance(answer, EnvelopeResponse) and answer.response_data is not None:
        rest = bytes(answer.response_data)[CORRELATION_ID_BYTES:]
        answer.response_data = bytes(CORRELATION_ID_BYTES) + rest


@told_to_others("RAFT-018", r"(cut header|cut body|version 99): error is INVALID_REQUEST")
def every_wrong_envelope_is_invalid(_: Replicas, __: Message, answer: Message) -> None:
    """The controller answers INVALID_REQUEST to an Envelope with bytes that are no request."""
    if not isinstance(answer, EnvelopeResponse):
        return
    if answer.error_code == ErrorCode.UNSUPPORTED_VERSION:
        answer.error_code = ErrorCode.INVALID_REQUEST


DEFECTS = [a_forwarded_response_has_no_correlation_id, every_wrong_envelope_is_invalid]
