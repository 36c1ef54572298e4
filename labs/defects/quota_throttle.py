"""Defects of area QUOTA, and of throttled fetches."""

from __future__ import annotations

from harness.codec.messages import (
    FetchResponse,
    MetadataResponse,
    ProduceRequest,
    ProduceResponse,
)
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_answer import answers

MANY_BYTES = 50_000


@answers("FETCH-038", r"throttled for [1-9]\d* ms: \('NONE \(0\)', 0\)", range(7, 99))
def a_throttled_fetch_loses_its_session(answer: FetchResponse) -> None:
    """The answer to a throttled Fetch contains no session id (KAFKA-6946)."""
    if answer.throttle_time_ms > 0:
        answer.session_id = 0


@answers("QUOTA-023", r"9 seconds' bytes at once: throttled for 8000 ms")
def large_requests_are_throttled(request: ProduceRequest, answer: ProduceResponse) -> None:
    """A Produce of many bytes is throttled, whatever the mean is."""
    sizes = [len(one.records or b"") for each in request.topic_data for one in each.partition_data]
    if sum(sizes) > MANY_BYTES:
        answer.throttle_time_ms = max(answer.throttle_time_ms, 8_000)


@answers("QUOTA-023", r"6 seconds' bytes more: throttled for 1000 ms")
def producers_are_throttled_for_a_second(answer: ProduceResponse) -> None:
    """The throttle time of a producer is one second at most."""
    answer.throttle_time_ms = min(answer.throttle_time_ms, 1_000)


@answers("QUOTA-024", r"throttled for 60000 ms")
def request_time_throttles_for_a_minute(answer: MetadataResponse) -> None:
    """The throttle time of a Metadata request is a minute."""
    if answer.throttle_time_ms > 0:
        answer.throttle_time_ms = 60_000


DEFECTS = [
    large_requests_are_throttled,
    producers_are_throttled_for_a_second,
    request_time_throttles_for_a_minute,
    changed_field("QUOTA-004", "a_throttled_producer_is_not_told",
        r"a producer above its quota is (told|throttled)|no answer before",
        "The broker throttles a producer above its quota, and returns no throttle time.",
        ProduceResponse, "throttle_time_ms", ANY, 0),
    changed_field("QUOTA-005", "a_throttled_reader_is_not_told",
        r"fetches above the quota are not throttled|no answer before",
        "The broker throttles a client above its quota, and returns no throttle time.",
        FetchResponse, "throttle_time_ms", ANY, 0),
    a_throttled_fetch_loses_its_session,
]  # fmt: skip
