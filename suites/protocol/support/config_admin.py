"""Requests that show and change configs, with the answer for each resource."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import TypeVar

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    IncrementalAlterConfigsRequest,
)
from suites.protocol.support.expect import expect_error

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
FIRST_WITH_SOURCES = 1
FIRST_WITH_DOCUMENTATION = 3
CHANGE_WITHIN_MS = 5_000

Described = DescribeConfigsResponse.DescribeConfigsResult
Config = DescribeConfigsResponse.DescribeConfigsResourceResult
Resource = tuple[int, str]
T = TypeVar("T")
OF_TIERED_STORAGE = {
    "local.retention.bytes": "-2",
    "local.retention.ms": "-2",
    "remote.copy.lag.bytes": "-1",
    "remote.copy.lag.ms": "-1",
    "remote.log.copy.disable": "false",
    "remote.log.delete.on.disable": "false",
    "remote.storage.enable": "false",
}
"""Kafka 3.0 to 3.5 accept some of these and show none: the feature was not released (KIP-405)."""


class ShownSource(IntEnum):
    """The source of a config's value, from v1 on (KIP-226), in order of precedence."""

    TOPIC = 1
    BROKER = 2
    ALL_BROKERS = 3
    STATIC = 4
    DEFAULT = 5


class AlterOperation(IntEnum):
    """An operation on a config key (KIP-339)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


Change = tuple[str, AlterOperation, str | None]


def describe(
    broker: BrokerUnderTest,
    resource: Resource,
    version: int | None = None,
    keys: Sequence[str] | None = None,
    *,
    synonyms: bool = False,
    documentation: bool = False,
) -> Described:
    """The answer for one resource; ``keys`` None: all that it has."""
    request = DescribeConfigsRequest(
        resources=[
            DescribeConfigsRequest.DescribeConfigsResource(
                resource_type=resource[0],
                resource_name=resource[1],
                configuration_keys=None if keys is None else list(keys),
            )
        ],
        include_synonyms=synonyms,
        include_documentation=documentation,
    )
    return only(broker.ask(request, version).results, "resource")


class ShownConfig(dict[str, T]):
    """Values by a config's name; a missing name is a fault of the broker."""

    def __missing__(self, name: str) -> T:
        raise AssertionError(f"{name} is not shown, of {len(self)} configs")


def configs_of(
    broker: BrokerUnderTest,
    resource: Resource,
    version: int | None = None,
    keys: Sequence[str] | None = None,
    *,
    synonyms: bool = False,
) -> ShownConfig[Config]:
    """Return the configs by name; the resource must exist."""
    result = describe(broker, resource, version, keys, synonyms=synonyms)
    expect_error(result.error_code, ErrorCode.NONE, f"DescribeConfigs of {resource}")
    return ShownConfig((config.name, config) for config in result.configs)


def values_of(
    broker: BrokerUnderTest,
    resource: Resource,
    keys: Sequence[str] | None = None,
    version: int | None = None,
) -> ShownConfig[str | None]:
    """Return the values in effect, by name."""
    configs = configs_of(broker, resource, version, keys)
    return ShownConfig((name, config.value) for name, config in configs.items())


def values_once_changed(
    broker: BrokerUnderTest,
    resource: Resource,
    expected: Mapping[str, str | None],
    version: int | None = None,
) -> ShownConfig[str | None]:
    """The values of these keys as soon as they are as expected, else the last that were seen.

    A change is answered before every broker has heard of it.
    """

    def found() -> ShownConfig[str | None]:
        values = values_of(broker, resource, list(expected), version)
        return ShownConfig((name, value) for name, value in values.items() if name in expected)

    return broker.last_seen(found, lambda values: values == dict(expected), CHANGE_WITHIN_MS)


def expect_values(
    broker: BrokerUnderTest,
    resource: Resource,
    expected: Mapping[str, str | None],
    when: str,
    version: int | None = None,
) -> None:
    """They have to become so, and soon."""
    found = values_once_changed(broker, resource, expected, version)
    assert found == dict(expected), f"{when}: {found}, expected {dict(expected)}"


def replace_all(
    broker: BrokerUnderTest,
    resource: Resource,
    configs: Mapping[str, str],
    version: int | None = None,
    *,
    validate_only: bool = False,
) -> int:
    """AlterConfigs of one resource; its error."""
    request = AlterConfigsRequest(
        resources=[
            AlterConfigsRequest.AlterConfigsResource(
                resource_type=resource[0],
                resource_name=resource[1],
                configs=[
                    AlterConfigsRequest.AlterableConfig(name=name, value=value)
                    for name, value in configs.items()
                ],
            )
        ],
        validate_only=validate_only,
    )
    return only(broker.ask(request, version).responses, "resource").error_code


def change_keys(
    broker: BrokerUnderTest,
    version: int | None,
    *resources: tuple[Resource, Sequence[Change]],
    validate_only: bool = False,
) -> list[tuple[Resource, int]]:
    """IncrementalAlterConfigs; each resource of the answer with its error."""
    entry = IncrementalAlterConfigsRequest.AlterConfigsResource
    key = IncrementalAlterConfigsRequest.AlterableConfig
    request = IncrementalAlterConfigsRequest(
        resources=[
            entry(
                resource_type=resource[0],
                resource_name=resource[1],
                configs=[
                    key(name=name, config_operation=operation, value=value)
                    for name, operation, value in changes
                ],
            )
            for resource, changes in resources
        ],
        validate_only=validate_only,
    )
    return [
        ((answer.resource_type, answer.resource_name), answer.error_code)
        for answer in broker.ask(request, version).responses
    ]


def change(
    broker: BrokerUnderTest,
    resource: Resource,
    *changes: Change,
    version: int | None = None,
    validate_only: bool = False,
) -> int:
    """The same for one resource; its error."""
    answers = change_keys(broker, version, (resource, changes), validate_only=validate_only)
    return only(answers, "resource")[1]


def set_key(broker: BrokerUnderTest, resource: Resource, name: str, value: str) -> int:
    """Set one config that may be the only one; before KIP-339 the whole set is replaced."""
    if broker.advertised("IncrementalAlterConfigs"):
        return change(broker, resource, (name, AlterOperation.SET, value))
    return replace_all(broker, resource, {name: value})


def prepare_key(broker: BrokerUnderTest, resource: Resource, name: str, value: str) -> None:
    """Set a config. Raises PreparationFailed when the broker refuses it."""
    code = set_key(broker, resource, name, value)
    if code != ErrorCode.NONE:
        told = f"{name}={value} of {resource}: {ErrorCode.describe(code)}"
        raise PreparationFailed(told, code)


def prepare_all(broker: BrokerUnderTest, resource: Resource, configs: Mapping[str, str]) -> None:
    """Set all configs of a resource by AlterConfigs. Raises PreparationFailed when refused."""
    code = replace_all(broker, resource, configs)
    if code != ErrorCode.NONE:
        told = f"AlterConfigs of {resource}: {ErrorCode.describe(code)}"
        raise PreparationFailed(told, code)


def prepare_shown(
    broker: BrokerUnderTest, resource: Resource, expected: Mapping[str, str | None]
) -> None:
    """Wait until DescribeConfigs returns these values. Raises PreparationFailed."""
    found = values_once_changed(broker, resource, expected)
    if found != dict(expected):
        raise PreparationFailed(f"configs of {resource} are {found}, set were {dict(expected)}")


def asked_broker(broker: BrokerUnderTest) -> Resource:
    """The broker that answers, which is the one that knows its own configs."""
    return BROKER, str(broker.own_id())


def shows_tiered_storage(shown: Iterable[str]) -> bool:
    """True if a config of tiered storage is among the names of the configs of a topic."""
    return not OF_TIERED_STORAGE.keys().isdisjoint(shown)
