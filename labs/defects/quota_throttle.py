"""Defects of area QUOTA, and of throttled fetches."""

from __future__ import annotations

from harness.codec.messages import FetchResponse, ProduceResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers


@answers("QUOTA-004", r"a producer above its quota is told|no answer before", "Produce")
def a_throttled_producer_is_not_told(_: SeenRequest, message: Message) -> None:
    """The broker throttles a producer above its quota, and returns no throttle time."""
    assert isinstance(message, ProduceResponse)
    message.throttle_time_ms = 0


@answers("FETCH-038", r"throttled for [1-9]\d* ms: \('NONE \(0\)', 0\)", "Fetch", range(7, 99))
def a_throttled_fetch_loses_its_session(_: SeenRequest, message: Message) -> None:
    """The answer to a throttled Fetch contains no session id (KAFKA-6946)."""
    assert isinstance(message, FetchResponse)
    if message.throttle_time_ms > 0:
        message.session_id = 0


DEFECTS = [a_throttled_producer_is_not_told, a_throttled_fetch_loses_its_session]
