"""QUOTA: the quota on new connections of an address (KIP-612)."""

from __future__ import annotations

import time

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ConnectionClosed
from harness.codec.messages import ApiVersionsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.quota_admin import (
    CONNECTIONS,
    QUOTA_WITHIN_MS,
    entity,
    prepare_quotas,
    quota,
)
from suites.protocol.support.seen_address import seen_address

RATE, FREE = 2.0, 1_000.0
"""Connections a second; those of ten seconds may come at once. And a rate that no test reaches."""
MANY = 40
ANOTHER = "192.0.2.1"
"""An address that no client has (RFC 5737)."""


def _is_served(broker: BrokerUnderTest) -> bool:
    """Open a connection, ask something and close it; False if the broker closes it instead."""
    try:
        with broker.connect() as connection:
            connection.ask(ApiVersionsRequest(), 0)
    except ConnectionClosed:
        return False
    return True


def _served_until_refused(broker: BrokerUnderTest) -> int | None:
    """Return how many connections are served before one is not; None if all are for some time."""
    deadline, served = time.monotonic() + broker.scaled_ms(QUOTA_WITHIN_MS) / 1000, 0
    while _is_served(broker):
        served += 1
        if time.monotonic() > deadline:
            return None
    return served


@judges("QUOTA-011")
@needs_broker(Use.OWN)
def test_connections_above_the_rate_of_their_address_are_closed(broker: BrokerUnderTest) -> None:
    """Neither the rate of another address nor one that is removed closes any."""
    broker.version("AlterClientQuotas")
    of_all, of_another = entity(ip=None), entity(ip=ANOTHER)
    with requirement("QUOTA-011") as check:
        prepare_quotas(broker, quota(of_another, {CONNECTIONS: RATE}))
        with check.subtest("of another address"):
            served = [_is_served(broker) for _ in range(MANY)]
            assert all(served), f"{served.count(False)} of {MANY} connections are closed"
        prepare_quotas(broker, quota(of_all, {CONNECTIONS: RATE}))
        with check.subtest("of all addresses"):
            count = _served_until_refused(broker)
            assert count is not None, f"no connection is closed above {RATE} a second"
            assert count >= RATE, f"{count} connections are served"
        prepare_quotas(broker, quota(of_all, {CONNECTIONS: None}))
        with check.subtest("removed"):
            is_free = broker.last_seen(
                lambda: all(_is_served(broker) for _ in range(MANY)), bool, QUOTA_WITHIN_MS
            )
            assert is_free, "without the quota connections are closed"


@judges("QUOTA-027")
@needs_broker(Use.OWN)
def test_the_rate_of_a_named_address_replaces_that_of_the_default_one(
    broker: BrokerUnderTest,
) -> None:
    """A higher one, then a lower one, then none beside a default of many connections."""
    broker.version("AlterClientQuotas")
    of_all, of_this = entity(ip=None), entity(ip=seen_address(broker))
    with requirement("QUOTA-027"):
        prepare_quotas(
            broker, quota(of_this, {CONNECTIONS: FREE}), quota(of_all, {CONNECTIONS: RATE})
        )
        served = [_is_served(broker) for _ in range(MANY)]
        assert all(served), f"a higher rate: {served.count(False)} of {MANY} are closed"
        prepare_quotas(
            broker, quota(of_this, {CONNECTIONS: RATE}), quota(of_all, {CONNECTIONS: FREE})
        )
        count = _served_until_refused(broker)
        assert count is not None, f"a lower rate: no connection is closed above {RATE} a second"
        prepare_quotas(broker, quota(of_this, {CONNECTIONS: None}))
        is_free = broker.last_seen(
            lambda: all(_is_served(broker) for _ in range(MANY)), bool, QUOTA_WITHIN_MS
        )
        assert is_free, "without the rate of the address connections are closed"
