"""A coordinator that has loaded all groups: it loads the groups of each partition separately."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Address
from harness.client.errors import BrokerMisbehaved
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeGroupsRequest
from suites.protocol.support.internal_topics import NOT_YET

NAMES = 1_000
"""Their hashes leave out one of 50 partitions once in ten million times."""


LOADED_WITHIN_MS = 60_000
_LOADED: set[Address] = set()
"""Shared brokers that were seen to have loaded all: they stay so."""


def await_all_loaded(broker: BrokerUnderTest) -> None:
    """Wait until names that no group has, and the list of all groups, are answered as ever."""
    if broker.private or broker.address not in _LOADED:
        what = "the coordinator has loaded all groups"
        broker.eventually(lambda: _all_are_loaded(broker), what, LOADED_WITHIN_MS)
        if not broker.private:
            _LOADED.add(broker.address)


def _all_are_loaded(broker: BrokerUnderTest) -> bool:
    """True if DescribeGroups returns no loading error for any of many group names.

    True also if the broker does not advertise DescribeGroups, or sends a response that no Kafka
    sends.
    """
    if not broker.advertised("DescribeGroups"):
        return True
    prefix = broker.unique_topic()
    names = [f"{prefix}-{number}" for number in range(NAMES)]
    try:
        answer = broker.ask(DescribeGroupsRequest(groups=names), tolerant=True)
    except BrokerMisbehaved:
        return True
    loading = {*NOT_YET} if broker.node is not None else {*NOT_YET, ErrorCode.NOT_COORDINATOR}
    return loading.isdisjoint(group.error_code for group in answer.groups)
