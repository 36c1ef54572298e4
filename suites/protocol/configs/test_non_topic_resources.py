"""CONF: configs of brokers, of groups, and of what clients are asked to measure."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListConfigResourcesRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    AlterOperation,
    Resource,
    asked_broker,
    change,
    expect_values,
    set_key,
)
from suites.protocol.support.expect import expect_error

ALL_BROKERS: Resource = (BROKER, "")
INHERITED, OWN = "log.retention.ms", "retention.ms"
FIRST_WITH_TYPES = 1


@judges("CONF-016")
@needs_broker(Use.OWN)
def test_topic_without_override_inherits_per_broker_then_cluster_wide_config(
    broker: BrokerUnderTest,
) -> None:
    """For all brokers, then for this one; what a topic has for itself stays in effect."""
    broker.version("DescribeConfigs", "1+")
    this_broker = asked_broker(broker)
    plain = TOPIC, broker.create_topic().name
    own = TOPIC, broker.create_topic(configs={OWN: "3000000"}).name
    steps = (
        # set for, value, which a topic without its own has then
        (ALL_BROKERS, "1000000", "1000000"),
        (this_broker, "2000000", "2000000"),
        (ALL_BROKERS, "1500000", "2000000"),
    )
    with requirement("CONF-016"):
        for resource, value, in_effect in steps:
            where = f"{INHERITED}={value} for {resource[1] or 'all brokers'}"
            error = set_key(broker, resource, INHERITED, value)
            expect_error(error, ErrorCode.NONE, where)
            expect_values(broker, resource, {INHERITED: value}, where)
            expect_values(broker, plain, {OWN: in_effect}, f"a topic, {where}")
            expect_values(broker, own, {OWN: "3000000"}, f"a topic with its own, {where}")


def _listed(broker: BrokerUnderTest, version: int, kind: int) -> set[Resource]:
    request = ListConfigResourcesRequest()
    if version >= FIRST_WITH_TYPES:
        request.resource_types = [kind]
    answer = broker.ask(request, version)
    expect_error(answer.error_code, ErrorCode.NONE, f"ListConfigResources v{version}")
    return {(each.resource_type, each.resource_name) for each in answer.config_resources}


# Which configs can be listed from which version of ListConfigResources on.
LISTED_FROM = {
    CLIENT_METRICS: (0, "interval.ms", "60000"),
    GROUP: (FIRST_WITH_TYPES, "consumer.heartbeat.interval.ms", "6000"),
}


@judges("CONF-018")
@needs_broker(Use.OWN)
@pytest.mark.parametrize("kind", LISTED_FROM, ids=["client metrics", "groups"])
def test_client_metrics_and_group_configs_are_described_and_listed(
    broker: BrokerUnderTest, kind: int
) -> None:
    """Set for a name that nothing else has: it is described so, and listed at every version."""
    first, name, value = LISTED_FROM[kind]
    newest = broker.version("ListConfigResources", f"{first}+")
    resource = kind, broker.unique_topic()
    with requirement("CONF-018") as check:
        error = change(broker, resource, (name, AlterOperation.SET, value))
        expect_error(error, ErrorCode.NONE, f"{name}={value} of {resource}")
        expect_values(broker, resource, {name: value}, f"{resource} once it is set")
        for version in range(first, newest + 1):
            with check.subtest(f"listed at v{version}"):
                listed = _listed(broker, version, kind)
                assert resource in listed, f"v{version}: {resource} is not listed: {sorted(listed)}"
