"""Configs of one broker in a cluster, described and changed at each of its brokers."""

from __future__ import annotations

import asyncio

import pytest

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
)
from tests.reference_broker.cluster.test_cluster_of_nodes import Cluster, running, until

BROKER, LOGGER, METRICS = 4, 8, 16
NAME, DEFAULT = "log.cleaner.backoff.ms", "15000"
Change = tuple[int, str, str, str]


async def changed(cluster: Cluster, at: int, *changes: Change) -> list[tuple[str, ErrorCode]]:
    """The answers of IncrementalAlterConfigs there, by (type, resource, config, value)."""
    entry = IncrementalAlterConfigsRequest.AlterConfigsResource
    config = IncrementalAlterConfigsRequest.AlterableConfig
    request = IncrementalAlterConfigsRequest(
        resources=[
            entry(resource_type=kind, resource_name=who, configs=[config(name=key, value=value)])
            for kind, who, key, value in changes
        ]
    )
    answer = await cluster.ask(at, request, 1)
    return [(each.resource_name, ErrorCode(each.error_code)) for each in answer.responses]


async def replaced(cluster: Cluster, at: int, who: str, value: str) -> ErrorCode:
    """Change one broker's config by AlterConfigs."""
    config = AlterConfigsRequest.AlterableConfig(name=NAME, value=value)
    entry = AlterConfigsRequest.AlterConfigsResource(
        resource_type=BROKER, resource_name=who, configs=[config]
    )
    answer = await cluster.ask(at, AlterConfigsRequest(resources=[entry]), 2)
    return ErrorCode(answer.responses[0].error_code)


async def shown(cluster: Cluster, at: int) -> str | None:
    """The value in effect there."""
    entry = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=BROKER, resource_name=str(at), configuration_keys=[NAME]
    )
    answer = await cluster.ask(at, DescribeConfigsRequest(resources=[entry]), 4)
    value: str | None = answer.results[0].configs[0].value
    return value


async def listed(cluster: Cluster, at: int) -> list[str]:
    """The brokers that have configs."""
    request = ListConfigResourcesRequest(resource_types=[BROKER])
    answer = await cluster.ask(at, request, 1)
    return sorted(each.resource_name for each in answer.config_resources)


@pytest.fixture
def metrics() -> Change:
    return METRICS, "watched", "interval.ms", "60000"


def test_broker_configs_are_changed_only_at_that_broker(metrics: Change) -> None:
    """The answer has an error in place of a refused resource; the broker applies the others."""

    async def scenario() -> None:
        async with running() as cluster:
            two = BROKER, "2", NAME, "3"
            assert await changed(cluster, 2, two) == [("2", ErrorCode.NONE)]
            assert await changed(cluster, 1, two, metrics, (LOGGER, "1", "no.such", "INFO")) == [
                ("2", ErrorCode.INVALID_REQUEST),
                ("watched", ErrorCode.NONE),
                ("1", ErrorCode.INVALID_CONFIG),
            ]
            assert await changed(cluster, 3, (BROKER, "x", NAME, "3")) == [
                ("x", ErrorCode.INVALID_REQUEST)
            ]
            at_two = cluster.brokers[2].node
            await until(lambda: at_two and at_two.state.configs.value(NAME) == "3")
            assert [await shown(cluster, at) for at in (1, 2, 3)] == [DEFAULT, "3", DEFAULT]
            assert await replaced(cluster, 3, "2", "4") == ErrorCode.INVALID_REQUEST
            assert await replaced(cluster, 2, "2", "4") == ErrorCode.NONE
            await until(lambda: at_two and at_two.state.configs.value(NAME) == "4")
            assert [await shown(cluster, at) for at in (1, 3)] == [DEFAULT, DEFAULT]
            assert await listed(cluster, 3) == ["1", "2", "3"]

    asyncio.run(scenario())
