"""CONF: values of the configs of groups, which configs of the broker limit (KIP-848)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.client.broker import BrokerUnderTest
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.config_admin import (
    GROUP,
    AlterOperation,
    Resource,
    asked_broker,
    change,
    expect_values,
    values_of,
)
from suites.protocol.support.expect import expect_error

INTERVAL, TIMEOUT = "consumer.heartbeat.interval.ms", "consumer.session.timeout.ms"
FIRST_WITH_GROUPS = "1+"


@dataclass(frozen=True, slots=True)
class Limits:
    """Of the config of a group: the least and the greatest value that the broker allows."""

    name: str
    lowest: int
    highest: int


@judges("CONF-034")
@needs_broker(Use.OWN)
@at_versions("IncrementalAlterConfigs")
def test_group_configs_accept_values_up_to_limits_of_broker(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each config with a least and a greatest value, each alone in a group of its own."""
    broker.version("ListConfigResources", FIRST_WITH_GROUPS)
    with requirement("CONF-034") as check:
        for one in _limits(broker):
            for value in (one.lowest, one.highest):
                group, where = (GROUP, broker.unique_topic()), f"{one.name}={value}"
                with check.subtest(where):
                    expect_error(
                        _set(broker, group, {one.name: str(value)}, api_version),
                        ErrorCode.NONE,
                        where,
                    )
                    expect_values(broker, group, {one.name: str(value)}, f"after {where}")


@judges("CONF-034")
@needs_broker(Use.OWN)
@at_versions("IncrementalAlterConfigs")
def test_group_configs_refuse_values_beyond_limits_of_broker(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each beside a good value; the group keeps what it had."""
    broker.version("ListConfigResources", FIRST_WITH_GROUPS)
    group = GROUP, broker.unique_topic()
    with requirement("CONF-034") as check:
        before = {INTERVAL: "6000", TIMEOUT: "50000"}
        expect_error(_set(broker, group, before, api_version), ErrorCode.NONE, f"{before}")
        expect_values(broker, group, before, "before any bad value")
        for name, value in _refused(broker):
            good = TIMEOUT if name == INTERVAL else INTERVAL
            wanted = {good: "7000" if good == INTERVAL else "49000", name: value}
            with check.subtest(f"{name}={value}"):
                code = _set(broker, group, wanted, api_version)
                expect_error(code, ErrorCode.INVALID_CONFIG, f"{name}={value}")
                expect_values(broker, group, before, f"after {name}={value}")


@judges("CONF-034")
@needs_broker(Use.OWN)
@at_versions("IncrementalAlterConfigs")
def test_group_config_without_group_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """There are no configs of all groups."""
    broker.version("ListConfigResources", FIRST_WITH_GROUPS)
    with requirement("CONF-034"):
        code = _set(broker, (GROUP, ""), {INTERVAL: "6000"}, api_version)
        expect_error(code, ErrorCode.INVALID_REQUEST, "a group without a name")


def _refused(broker: BrokerUnderTest) -> Iterator[tuple[str, str]]:
    yield "consumer.no.such.config", "1"
    yield INTERVAL, "often"
    for one in _limits(broker):
        yield one.name, str(one.lowest - 1)
        yield one.name, str(one.highest + 1)


def _limits(broker: BrokerUnderTest) -> list[Limits]:
    """Of all configs of groups that have two limits, which the broker names as its own configs."""
    own = values_of(broker, asked_broker(broker))
    names = values_of(broker, (GROUP, broker.unique_topic()))
    found = [
        Limits(name, int(lowest), int(highest))
        for name in sorted(names)
        if (lowest := own.get(_limit(name, "min"))) and (highest := own.get(_limit(name, "max")))
    ]
    assert {INTERVAL, TIMEOUT} <= {one.name for one in found}, f"limits of {names}: {found}"
    return found


def _limit(name: str, word: str) -> str:
    kind, _, rest = name.partition(".")
    return f"group.{kind}.{word}.{rest}"


def _set(broker: BrokerUnderTest, group: Resource, values: Mapping[str, str], version: int) -> int:
    changes = [(name, AlterOperation.SET, value) for name, value in values.items()]
    return change(broker, group, *changes, version=version)
