"""CONF: rules for the configs of each kind of resource: topics, brokers, groups, subscriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from harness.client.broker import BrokerUnderTest
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterConfigsRequest, DescribeConfigsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    CLIENT_METRICS,
    GROUP,
    TOPIC,
    AlterOperation,
    Change,
    Resource,
    asked_broker,
    change,
    change_keys,
    expect_values,
    prepare_key,
    prepare_shown,
    replace_all,
    values_of,
)
from suites.protocol.support.expect import expect_error

ALTER, INCREMENTAL = api_named("AlterConfigs"), api_named("IncrementalAlterConfigs")
SET, DELETE = AlterOperation.SET, AlterOperation.DELETE
APPEND, SUBTRACT = AlterOperation.APPEND, AlterOperation.SUBTRACT
AGE, SIZE, POLICY = "retention.ms", "retention.bytes", "cleanup.policy"
OF_BROKER = {AGE: "log.retention.ms", SIZE: "log.retention.bytes"}


def _replace_each(
    broker: BrokerUnderTest, configs: Mapping[Resource, Mapping[str, str | None]], version: int
) -> dict[Resource, int]:
    """AlterConfigs of several resources; return the error of each."""
    entry, config = AlterConfigsRequest.AlterConfigsResource, AlterConfigsRequest.AlterableConfig
    resources = [
        entry(
            resource_type=kind,
            resource_name=name,
            configs=[config(name=key, value=value) for key, value in values.items()],
        )
        for (kind, name), values in configs.items()
    ]
    answer = broker.ask(AlterConfigsRequest(resources=resources), version)
    return {(one.resource_type, one.resource_name): one.error_code for one in answer.responses}


def _describe_each(
    broker: BrokerUnderTest, keys: Mapping[Resource, Sequence[str]]
) -> list[tuple[Resource, dict[str, str | None]]]:
    """DescribeConfigs of several resources; return the values of each result."""
    entry = DescribeConfigsRequest.DescribeConfigsResource
    resources = [
        entry(resource_type=kind, resource_name=name, configuration_keys=list(wanted))
        for (kind, name), wanted in keys.items()
    ]
    return [
        ((one.resource_type, one.resource_name), {each.name: each.value for each in one.configs})
        for one in broker.ask(DescribeConfigsRequest(resources=resources)).results
    ]


@judges("CONF-037")
@needs_broker(Use.OWN)
def test_topic_with_id_of_broker_as_name_has_configs_of_its_own(broker: BrokerUnderTest) -> None:
    """Both in one request: replaced, changed key by key, and described."""
    broker.version("DescribeConfigs", "1+")
    version, here = broker.version("AlterConfigs"), asked_broker(broker)
    topic = TOPIC, broker.create_topic(name=here[1]).name
    keys = {topic: [AGE], here: [OF_BROKER[AGE]]}
    with requirement("CONF-037", api_key=ALTER.key, api_version=version):
        wanted = {topic: {AGE: "1000000"}, here: {OF_BROKER[AGE]: "2000000"}}
        errors = _replace_each(broker, wanted, version)
        assert errors == dict.fromkeys(wanted, 0), f"AlterConfigs: errors are {errors}"
        _expect_each(broker, wanted)
        if broker.advertised("IncrementalAlterConfigs"):
            changes: list[tuple[Resource, list[Change]]] = [
                (here, [(OF_BROKER[AGE], SET, "3000000")]),
                (topic, [(AGE, SET, "4000000")]),
            ]
            answers = change_keys(broker, None, *changes)
            assert answers == [(of, 0) for of, _ in changes], f"key by key: errors are {answers}"
            wanted = {topic: {AGE: "4000000"}, here: {OF_BROKER[AGE]: "3000000"}}
            _expect_each(broker, wanted)
        found = _describe_each(broker, keys)
        assert sorted(found) == sorted(wanted.items()), f"described are {found}, set are {wanted}"


def _expect_each(broker: BrokerUnderTest, wanted: Mapping[Resource, Mapping[str, str]]) -> None:
    for resource, values in wanted.items():
        expect_values(broker, resource, values, f"{resource} beside the other one of its name")


# Two configs of a resource with their values, by its kind.
TWO_KEYS = {
    BROKER: {"message.max.bytes": "2000000", OF_BROKER[SIZE]: "2000000000"},
    CLIENT_METRICS: {"interval.ms": "60000", "metrics": "org.apache.kafka.kept"},
    GROUP: {"consumer.heartbeat.interval.ms": "6000", "consumer.session.timeout.ms": "50000"},
}
LISTED_AT = {BROKER: None, CLIENT_METRICS: "0+", GROUP: "1+"}


@judges("CONF-041")
@needs_broker(Use.OWN)
@pytest.mark.parametrize("kind", TWO_KEYS, ids=["broker", "client metrics", "group"])
def test_alter_configs_of_broker_group_or_subscription_resets_unnamed_configs(
    broker: BrokerUnderTest, kind: int
) -> None:
    """Two are set, then one of them with another value, then none: what is not named is as it was
    before, and as it is for another resource."""
    broker.version("DescribeConfigs", "1+")
    if (versions := LISTED_AT[kind]) is not None:
        broker.version("ListConfigResources", versions)
    version, both = broker.version("AlterConfigs"), TWO_KEYS[kind]
    resource = asked_broker(broker) if kind == BROKER else (kind, broker.unique_topic())
    before = values_of(broker, resource, list(both))
    first, second = both
    with requirement("CONF-041", api_key=ALTER.key, api_version=version) as check:
        for given in (both, {second: both[second]}, {first: both[first]}, {}):
            with check.subtest(f"AlterConfigs with {sorted(given)}"):
                code = replace_all(broker, resource, given, version)
                when = f"AlterConfigs with {given}"
                expect_error(code, ErrorCode.NONE, when)
                expect_values(broker, resource, {**before, **given}, f"after {when}")


@judges("CONF-038")
@needs_broker(
    Use.OWN,
    {
        "group.consumer.min.session.timeout.ms": "5000",
        "group.consumer.max.heartbeat.interval.ms": "40000",
    },
)
def test_group_session_timeout_has_to_be_above_heartbeat_interval_that_is_in_effect(
    broker: BrokerUnderTest,
) -> None:
    """One of them is changed, while the other one has its default, or was set by an earlier
    request; a refused change changes nothing."""
    broker.version("ListConfigResources", "1+")
    version = broker.version("IncrementalAlterConfigs")
    interval, timeout = TWO_KEYS[GROUP]
    steps: Sequence[tuple[str, str | None, ErrorCode]] = (
        (timeout, "5000", ErrorCode.INVALID_CONFIG),  # the default of the interval
        (timeout, "20000", ErrorCode.NONE),
        (interval, "20000", ErrorCode.INVALID_CONFIG),
        (interval, "19999", ErrorCode.NONE),
        (timeout, "19999", ErrorCode.INVALID_CONFIG),
        (timeout, None, ErrorCode.NONE),
        (interval, "30000", ErrorCode.NONE),
        (timeout, "29999", ErrorCode.INVALID_CONFIG),
        (timeout, "30001", ErrorCode.NONE),
        (interval, None, ErrorCode.NONE),
    )
    group = GROUP, broker.unique_topic()
    default = values_of(broker, group, [interval, timeout])
    with requirement("CONF-038", api_key=INCREMENTAL.key, api_version=version):
        _expect_steps(broker, group, default, steps)


def _expect_steps(
    broker: BrokerUnderTest,
    resource: Resource,
    default: Mapping[str, str | None],
    steps: Sequence[tuple[str, str | None, ErrorCode]],
) -> None:
    """Each change of one config must have this error; what is not refused is in effect then."""
    expected = dict(default)
    for name, value, error in steps:
        when = f"{name}={value} beside {expected}"
        code = change(broker, resource, (name, DELETE if value is None else SET, value))
        expect_error(code, error, when)
        if error is ErrorCode.NONE:
            expected[name] = default[name] if value is None else value
        expect_values(broker, resource, expected, f"after {when}")


@judges("CONF-039")
@at_versions("AlterConfigs")
def test_alter_configs_with_null_value_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of a config that is set, and of one that is not, each beside a good value: nothing changes;
    another topic of the request is changed."""
    topics = [(TOPIC, broker.create_topic(configs={AGE: "1000000"}).name) for _ in range(3)]
    values: list[dict[str, str | None]] = [
        {AGE: None, SIZE: "2000000"},
        {AGE: "2000000", SIZE: None},
        {AGE: "3000000"},
    ]
    before = values_of(broker, topics[0], [AGE, SIZE])
    wanted = dict(zip(topics, values, strict=True))
    with requirement("CONF-039") as check:
        errors = _replace_each(broker, wanted, api_version)
        expect_error(errors[topics[2]], ErrorCode.NONE, "the topic without a null value")
        expect_values(broker, topics[2], {AGE: "3000000"}, "the topic without a null value")
        for topic in topics[:2]:
            with check.subtest(f"{wanted[topic]}"):
                expect_error(errors[topic], ErrorCode.INVALID_REQUEST, f"{wanted[topic]}")
                expect_values(broker, topic, before, f"after {wanted[topic]}, refused")


@judges("CONF-039")
@at_versions("IncrementalAlterConfigs")
def test_incremental_alter_configs_with_null_value_returns_invalid_request(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """SET, APPEND and SUBTRACT need a value; DELETE takes null and ignores any other value."""
    topic = TOPIC, broker.create_topic(configs={AGE: "1000000", POLICY: "compact"}).name
    other = TOPIC, broker.create_topic(configs={AGE: "1000000"}).name
    default = values_of(broker, (TOPIC, broker.create_topic().name), [AGE])
    before = {AGE: "1000000", POLICY: "compact"}
    with requirement("CONF-039") as check:
        for key, operation in ((AGE, SET), (POLICY, APPEND), (POLICY, SUBTRACT)):
            good = (AGE, SET, "2000000") if key == POLICY else (POLICY, APPEND, "delete")
            where = f"{operation.name} of {key} with null"
            with check.subtest(where):
                code = change(broker, topic, good, (key, operation, None), version=api_version)
                expect_error(code, ErrorCode.INVALID_REQUEST, where)
                expect_values(broker, topic, before, f"after {where}, refused")
        with check.subtest("DELETE with a value"):
            code = change(broker, other, (AGE, DELETE, "5000000"), version=api_version)
            expect_error(code, ErrorCode.NONE, "DELETE with a value")
            expect_values(broker, other, default, "after DELETE with a value")


@judges("CONF-040")
@needs_broker(Use.OWN)
def test_configs_of_another_broker_are_refused(broker: BrokerUnderTest) -> None:
    """An id that no broker has, and names that are no ids; also where the request only validates.

    The broker that receives the request keeps its own configs.
    """
    version, here = broker.version("AlterConfigs"), asked_broker(broker)
    key, other = OF_BROKER[AGE], str(broker.own_id() + 9_000)
    prepare_key(broker, here, key, "1000000")
    prepare_shown(broker, here, {key: "1000000"})
    with requirement("CONF-040", api_key=ALTER.key, api_version=version) as check:
        for name in (other, "one", f"{here[1]}x"):
            for validates in (True, False):
                where = f"broker {name}{', only validated' if validates else ''}"
                with check.subtest(where):
                    given = {key: "2000000"}
                    code = replace_all(broker, (BROKER, name), given, validate_only=validates)
                    expect_error(code, ErrorCode.INVALID_REQUEST, where)
                    if broker.advertised("IncrementalAlterConfigs"):
                        changed = (key, SET, "2000000")
                        code = change(broker, (BROKER, name), changed, validate_only=validates)
                        expect_error(code, ErrorCode.INVALID_REQUEST, f"{where}, by key")
                    expect_values(broker, here, {key: "1000000"}, f"after {where}")
