"""Defects of area QUOTA."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.header import DEFAULT_CLIENT_ID
from harness.codec.messages import (
    AlterClientQuotasRequest,
    CreatePartitionsResponse,
    DeleteTopicsResponse,
    DescribeGroupsResponse,
    FetchResponse,
    ProduceResponse,
)
from labs.defects.changed_field import ANY, changed_field
from labs.defects.edited_request import takes
from labs.defects.one_client import of_client
from suites.protocol.quotas.test_connection_rate import RATE
from suites.protocol.quotas.test_quota_of_user import CLIENT_ID
from suites.protocol.support.quota_admin import CONNECTIONS


@takes("QUOTA-011", r"no connection is closed above 2\.0 a second")
def the_rate_of_all_addresses_is_ignored(request: AlterClientQuotasRequest) -> None:
    """A quota on connections that is for all addresses has no effect."""
    for entry in request.entries:
        for op in entry.ops:
            if op.key == CONNECTIONS and op.value == RATE and entry.entity[0].entity_name is None:
                op.value = 1e6


@takes("QUOTA-027", r"a higher rate: \d+ of 40 are closed")
def the_rate_of_all_addresses_is_that_of_each(request: AlterClientQuotasRequest) -> None:
    """The broker looks at the rate of the default address before that of a named one."""
    values = {entry.entity[0].entity_name: entry.ops[0] for entry in request.entries}
    if request.entries[0].ops[0].key == CONNECTIONS and None in values:
        for op in values.values():
            op.value = values[None].value


DEFECTS = [
    replace(the_rate_of_all_addresses_is_ignored, private=True),
    replace(the_rate_of_all_addresses_is_that_of_each, private=True),
    changed_field("QUOTA-006", "every_fetch_is_throttled",
        r"Fetch v\d+: throttle_time_ms is 1 without a quota",
        "Every Fetch answer to a client without a quota has a throttle time of one millisecond.",
        FetchResponse, "throttle_time_ms", ANY, 1, range(1, 99),
        asked=of_client(DEFAULT_CLIENT_ID)),
    changed_field("QUOTA-006", "every_description_is_throttled",
        r"DescribeGroups v\d+: throttle_time_ms is 1 without a quota",
        "DescribeGroups returns a throttle time of one millisecond to each client.",
        DescribeGroupsResponse, "throttle_time_ms", ANY, 1, range(1, 99)),
    replace(changed_field("QUOTA-026", "a_quota_is_shared_by_users",
        r"another user is throttled for 1 ms",
        "Produce returns a throttle time to another user with the client id of a throttled one.",
        ProduceResponse, "throttle_time_ms", 0, 1, range(1, 99),
        asked=of_client(CLIENT_ID)), private=True),
    changed_field("QUOTA-010", "a_topic_grows_above_the_quota",
        r"the codes of two topics are \[0, 0\]",
        "CreatePartitions returns no error for a topic above the quota of the client.",
        CreatePartitionsResponse, "results.error_code",
        ErrorCode.THROTTLING_QUOTA_EXCEEDED, ErrorCode.NONE),
    changed_field("QUOTA-010", "an_old_deletion_is_not_delayed", r"the throttle time is 0 ms",
        "DeleteTopics of an earlier version returns no throttle time to a client above its quota.",
        DeleteTopicsResponse, "throttle_time_ms", ANY, 0, range(1, 5)),
]  # fmt: skip
