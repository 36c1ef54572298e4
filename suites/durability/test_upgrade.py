"""APIV: the versions that a broker advertises after a restart as a newer release."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import ConnectionClosed
from harness.codec.messages import ApiVersionsRequest
from harness.codec.versions import VersionRange
from harness.conformance.checks import Inconclusive, requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker

Table = dict[int, VersionRange]


def _table(broker: BrokerUnderTest) -> Table:
    """Return the version ranges that a new connection receives.

    Empty for a broker older than ApiVersions (0.10.0).
    """
    try:
        answer = broker.connect("APIV-014").ask(ApiVersionsRequest(), 0)
    except ConnectionClosed:
        return {}
    return {one.api_key: VersionRange(one.min_version, one.max_version) for one in answer.api_keys}


@judges("APIV-014")
@needs_broker(Use.PERSISTENT)
def test_api_versions_after_upgrade_returns_ranges_of_newer_release(
    broker: BrokerUnderTest, upgraded_broker: PersistentBroker
) -> None:
    """New connections receive the same ranges as from any broker of the newer release.

    The set of listed APIs may differ: the built-in broker in memory has no UnregisterBroker.
    """
    broker.version("ApiVersions")
    own, before = _table(broker), _table(upgraded_broker.client)
    if all(before.get(key) == own[key] for key in own):
        raise Inconclusive("both releases have the same versions of all requests")
    upgraded_broker.stop()
    upgraded_broker.start()
    with requirement("APIV-014"):
        after = _table(upgraded_broker.client)
        both = sorted(own.keys() & after.keys())
        assert both, "after the upgrade no request is listed"
        told = {
            key: f"{after[key]} instead of {own[key]}" for key in both if after[key] != own[key]
        }
        assert not told, f"after the upgrade ranges by api key are {told}"
