"""The settings of a broker at a given address, as the broker shows them."""

from __future__ import annotations

from harness.client.broker import ApiNotAdvertised, BrokerUnderTest
from harness.client.coordinator import ask_for_coordinator
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeConfigsRequest
from harness.conformance.missing_rights import MissingRight, capability_of
from harness.conformance.outcome import NotApplicable
from harness.oracle.likeness import CAPABILITY
from harness.reference_broker.settings import known_settings

_NAME_OF_NO_TOPIC, _NAME_OF_NO_GROUP = ".", "kafka-conformance"
BROKER = 4
"""The resource type."""
STATIC = 4
"""The source of a value from the broker's own file (KIP-226)."""
NODE_ID, RACK = "node.id", "broker.rack"
_OF_THE_MACHINE = frozenset({"log.dirs", "advertised.listeners"})
"""Settings with values of that machine, which the normal form of responses leaves out."""
_OF_ITS_DOORS = frozenset(
    {"listener.security.protocol.map", "authorizer.class.name", "super.users"}
)
_BEGIN_OF_ITS_DOORS = ("ssl.", "sasl.", "allow.everyone.", "delegation.token.")
"""Settings of a listener's security: the specification is entered by a plain one, with all rights,
and secrets and files of that machine are not to be had."""


def read_settings(broker: BrokerUnderTest) -> dict[str, str]:
    """Return the settings for a specification like this broker, which is alone in its cluster.

    Values that the broker reports as its defaults are left out: they are compared. Raises
    NotApplicable if there are other brokers, if the broker does not show its settings, or if the
    user of the run has not all rights, as that of the specification has.
    """
    _require_all_rights(broker)
    identity = identity_of(broker)
    shown = _static_settings(broker, int(identity[NODE_ID]))
    known = known_settings() - _OF_THE_MACHINE - _OF_ITS_DOORS
    taken = {
        name: text
        for name, text in shown.items()
        if name in known and not name.startswith(_BEGIN_OF_ITS_DOORS)
    }
    return {**identity, **taken}


def _require_all_rights(broker: BrokerUnderTest) -> None:
    """Ask for a topic and a group that the run has not made. Raises NotApplicable."""
    topic = only(broker.metadata([_NAME_OF_NO_TOPIC]).topics, "topic")
    lacking = []
    if topic.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        lacking.append(MissingRight("ALL", "topic", "*"))
    if broker.advertised("FindCoordinator"):
        group = ask_for_coordinator(broker, _NAME_OF_NO_GROUP)
        if group.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
            lacking.append(MissingRight("ALL", "group", "*"))
    if lacking:
        raise NotApplicable(capability_of(lacking))


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
