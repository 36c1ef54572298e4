"""Defects of area QUOTA."""

from __future__ import annotations

from harness.codec.header import DEFAULT_CLIENT_ID
from harness.codec.messages import DescribeGroupsResponse, FetchResponse
from labs.defects.changed_field import ANY, changed_field
from labs.defects.one_client import of_client

DEFECTS = [
    changed_field("QUOTA-006", "every_fetch_is_throttled",
        r"Fetch v\d+: throttle_time_ms is 1 without a quota",
        "Every Fetch answer to a client without a quota has a throttle time of one millisecond.",
        FetchResponse, "throttle_time_ms", ANY, 1, range(1, 99),
        asked=of_client(DEFAULT_CLIENT_ID)),
    changed_field("QUOTA-006", "every_description_is_throttled",
        r"DescribeGroups v\d+: throttle_time_ms is 1 without a quota",
        "DescribeGroups returns a throttle time of one millisecond to each client.",
        DescribeGroupsResponse, "throttle_time_ms", ANY, 1, range(1, 99)),
]  # fmt: skip
