"""Defects of area QUOTA, and of throttled fetches."""

from __future__ import annotations

from harness.codec.messages import FetchResponse, ProduceResponse
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers


@answers("FETCH-038", r"throttled for [1-9]\d* ms: \('NONE \(0\)', 0\)", range(7, 99))
def a_throttled_fetch_loses_its_session(answer: FetchResponse) -> None:
    """The answer to a throttled Fetch contains no session id (KAFKA-6946)."""
    if answer.throttle_time_ms > 0:
        answer.session_id = 0


DEFECTS = [
    changed_field("QUOTA-004", "a_throttled_producer_is_not_told",
        r"a producer above its quota is told|no answer before",
        "The broker throttles a producer above its quota, and returns no throttle time.",
        ProduceResponse, "throttle_time_ms", ANY, 0),
    changed_field("QUOTA-005", "a_throttled_reader_is_not_told",
        r"fetches above the quota are not throttled|no answer before",
        "The broker throttles a client above its quota, and returns no throttle time.",
        FetchResponse, "throttle_time_ms", ANY, 0),
    a_throttled_fetch_loses_its_session,
]  # fmt: skip
