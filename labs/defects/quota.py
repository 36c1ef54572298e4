"""Defects of area QUOTA."""

from __future__ import annotations

from harness.codec.messages import FetchResponse
from harness.codec.structs import Message
from harness.proxies import SeenRequest
from labs.defects.defect import answers


@answers("QUOTA-006", r"Fetch v\d+: throttle_time_ms is 1 without a quota", "Fetch", range(1, 99))
def every_fetch_is_throttled(_: SeenRequest, message: Message) -> None:
    """Every Fetch answer contains a throttle time of one millisecond."""
    assert isinstance(message, FetchResponse)
    message.throttle_time_ms = 1


DEFECTS = [every_fetch_is_throttled]
