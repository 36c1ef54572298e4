"""The settings of a broker at a given address, as the broker shows them."""

from __future__ import annotations

from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.client.only import only
from harness.codec.messages import DescribeConfigsRequest
from harness.conformance.outcome import NotApplicable
from harness.oracle.likeness import CAPABILITY
from harness.reference_broker.settings import known_settings

BROKER = 4
"""The resource type."""
STATIC = 4
"""The source of a value from the broker's own file (KIP-226)."""
NODE_ID, RACK = "node.id", "broker.rack"
_OF_THE_MACHINE = frozenset({"log.dirs", "advertised.listeners"})
"""Settings with values of that machine, which the normal form of responses leaves out."""


def read_settings(broker: BrokerUnderTest) -> dict[str, str]:
    """Return the settings for a specification like this broker, which is alone in its cluster.

    Values that the broker reports as its defaults are left out: they are compared. Raises
    NotApplicable if there are other brokers, or if the broker does not show its settings.
    """
    identity = identity_of(broker)
    shown = _static_settings(broker, int(identity[NODE_ID]))
    known = known_settings() - _OF_THE_MACHINE
    return {**identity, **{name: text for name, text in shown.items() if name in known}}


def identity_of(broker: BrokerUnderTest) -> dict[str, str]:
    """Return the id and the rack of a broker that is alone in its cluster, as settings.

    Both are its own choice. Raises NotApplicable if there are other brokers.
    """
    brokers = broker.metadata([]).brokers
    if len(brokers) != 1:
        raise NotApplicable(CAPABILITY, f"a single broker is compared, not {len(brokers)}")
    found = only(brokers, "broker")
    return {NODE_ID: str(found.node_id)} | ({RACK: found.rack} if found.rack else {})


def _static_settings(broker: BrokerUnderTest, node: int) -> dict[str, str]:
    try:
        version = broker.version("DescribeConfigs", "1+")
    except ApiNotAdvertised as problem:
        raise NotApplicable(CAPABILITY, f"the settings are not known: {problem}") from problem
    asked = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=BROKER, resource_name=str(node), configuration_keys=None
    )
    answer = broker.ask(DescribeConfigsRequest(resources=[asked]), version, tolerant=True)
    found = only(answer.results, "resource")
    if found.error_code:
        raise NotApplicable(CAPABILITY, f"the settings are not known: error {found.error_code}")
    return {
        one.name: one.value
        for one in found.configs
        if one.config_source == STATIC and one.value is not None
    }
