"""CONF: configs of brokers, of groups, and of what clients are asked to measure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListConfigResourcesRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    CHANGE_WITHIN_MS,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    AlterOperation,
    Resource,
    asked_broker,
    change,
    expect_values,
    prepare_key,
    set_key,
)
from suites.protocol.support.expect import expect_error

ALL_BROKERS: Resource = (BROKER, "")
INHERITED, OWN = "log.retention.ms", "retention.ms"
FIRST_WITH_TYPES = 1
LIST_CONFIG_RESOURCES = api_named("ListConfigResources")


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
SET, DELETE = AlterOperation.SET, AlterOperation.DELETE
OTHER = {CLIENT_METRICS: "120000", GROUP: "7000"}


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


@judges("CONF-012")
@needs_broker(Use.OWN)
@pytest.mark.parametrize("kind", LISTED_FROM, ids=["client metrics", "groups"])
def test_validation_of_client_metrics_and_group_configs_changes_nothing(
    broker: BrokerUnderTest, kind: int
) -> None:
    """Another value, and none: once a later change is seen, the config is as it was."""
    first, name, value = LISTED_FROM[kind]
    broker.version("ListConfigResources", f"{first}+")
    resource, later = (kind, broker.unique_topic()), (kind, broker.unique_topic())
    prepare_key(broker, resource, name, value)
    with requirement("CONF-012"):
        error = change(broker, resource, (name, SET, OTHER[kind]), validate_only=True)
        expect_error(error, ErrorCode.NONE, f"validation of SET of {name}")
        error = change(broker, resource, (name, DELETE, None), validate_only=True)
        expect_error(error, ErrorCode.NONE, f"validation of DELETE of {name}")
        error = change(broker, later, (name, AlterOperation.SET, OTHER[kind]))
        expect_error(error, ErrorCode.NONE, "the later change")
        expect_values(broker, later, {name: OTHER[kind]}, "after the later change")
        expect_values(broker, resource, {name: value}, "after validations")


SOME_KINDS = ((CLIENT_METRICS, GROUP), (GROUP, TOPIC), (BROKER,))


def _all_listed(broker: BrokerUnderTest, kinds: Sequence[int]) -> set[Resource]:
    request = ListConfigResourcesRequest(resource_types=list(kinds))
    answer = broker.ask(request)
    expect_error(answer.error_code, ErrorCode.NONE, f"ListConfigResources of {kinds}")
    return {(each.resource_type, each.resource_name) for each in answer.config_resources}


def _kept_resources(broker: BrokerUnderTest) -> dict[int, Resource]:
    """Return a resource of each kind, with its configs if it exists by these."""
    found = {BROKER: asked_broker(broker), TOPIC: (TOPIC, broker.create_topic().name)}
    for kind, (_, name, value) in LISTED_FROM.items():
        found[kind] = kind, broker.unique_topic()
        prepare_key(broker, found[kind], name, value)
    return found


@judges("CONF-035")
@needs_broker(Use.OWN)
def test_list_config_resources_returns_resources_of_each_requested_type(
    broker: BrokerUnderTest,
) -> None:
    """One type, two types and all types, while each type has a resource; no other type is
    returned."""
    version = broker.version("ListConfigResources", f"{FIRST_WITH_TYPES}+")
    there = _kept_resources(broker)
    with requirement("CONF-035", api_key=LIST_CONFIG_RESOURCES.key, api_version=version) as check:
        for kinds in (*SOME_KINDS, (), tuple(there)):
            with check.subtest(f"types {kinds}"):
                expected = {there[kind] for kind in kinds or there}
                shown = broker.last_seen(
                    lambda kinds=kinds: _all_listed(broker, kinds),  # type: ignore[misc]
                    lambda shown, expected=expected: expected <= shown,  # type: ignore[misc]
                    CHANGE_WITHIN_MS,
                )
                assert expected <= shown, f"types {kinds}: {sorted(expected - shown)} is missing"
                others = {kind for kind, _ in shown} - {*kinds} if kinds else set()
                assert not others, f"types {kinds}: resources of types {others} are returned"


@judges("CONF-035")
@needs_broker(Use.OWN)
def test_list_config_resources_leaves_out_subscription_without_configs(
    broker: BrokerUnderTest,
) -> None:
    """Its only config is removed, and it is no longer listed; another one is."""
    _expect_left_out(broker, CLIENT_METRICS, "CONF-035")


@judges("CONF-036")
@needs_broker(Use.OWN)
def test_list_config_resources_leaves_out_group_without_configs(broker: BrokerUnderTest) -> None:
    """Its only config is removed, and it is no longer listed; another one is."""
    _expect_left_out(broker, GROUP, "CONF-036")


def _expect_left_out(broker: BrokerUnderTest, kind: int, requirement_id: str) -> None:
    version = broker.version("ListConfigResources", f"{FIRST_WITH_TYPES}+")
    _, name, value = LISTED_FROM[kind]
    gone, kept = (kind, broker.unique_topic()), (kind, broker.unique_topic())
    prepare_key(broker, kept, name, value)
    with requirement(requirement_id, api_key=LIST_CONFIG_RESOURCES.key, api_version=version):
        expect_error(change(broker, gone, (name, SET, value)), ErrorCode.NONE, f"SET of {gone}")
        _expect_listed(broker, {gone: True, kept: True}, "after SET")
        expect_error(change(broker, gone, (name, DELETE, None)), ErrorCode.NONE, "DELETE")
        _expect_listed(broker, {gone: False, kept: True}, "after DELETE")


def _expect_listed(broker: BrokerUnderTest, expected: dict[Resource, bool], when: str) -> None:
    """The resources with True must be listed soon, the others not."""

    def listed() -> dict[Resource, bool]:
        shown = _all_listed(broker, sorted({kind for kind, _ in expected}))
        return {resource: resource in shown for resource in expected}

    found = broker.last_seen(listed, lambda found: found == expected, CHANGE_WITHIN_MS)
    assert found == expected, f"{when} the listed are {found}, expected {expected}"
