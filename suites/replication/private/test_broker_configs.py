"""CONF: dynamic configs of one broker of a cluster, and of all its brokers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import batch_of
from suites.protocol.support.config_admin import (
    BROKER,
    CHANGE_WITHIN_MS,
    AlterOperation,
    Resource,
    change,
    replace_all,
    set_key,
)
from suites.protocol.support.expect import expect_error

LIMIT, LOW = "message.max.bytes", "2000"
LARGE = batch_of(bytes(4_000))


@judges("CONF-044")
@needs_broker(Use.CLUSTER, nodes=3)
def test_dynamic_config_has_effect_at_one_broker_or_at_all(cluster: Cluster) -> None:
    """A limit of batches: for the second broker, then for all by way of the third; each time it is
    deleted again. Each broker leads a topic."""
    cluster.front.version("AlterConfigs")
    topics = {node: cluster.create_topic([[node]]) for node in cluster.nodes}
    second, third = cluster.nodes[1:3]
    with requirement("CONF-044"):
        _expect_effect(cluster, topics, second, str(second), [second])
        _expect_effect(cluster, topics, third, "", cluster.nodes)


def _expect_effect(
    cluster: Cluster, topics: Mapping[int, Topic], asked: int, name: str, bound: Collection[int]
) -> None:
    """Set and delete the limit of this resource by way of a broker: it must bind these brokers."""
    where = f"{LIMIT} of {name or 'all brokers'}"
    with _limited(cluster.at(asked), (BROKER, name), where):
        _expect_bound(cluster, topics, bound, where)
    _expect_bound(cluster, topics, [], f"no {where}")


@contextmanager
def _limited(broker: BrokerUnderTest, resource: Resource, where: str) -> Iterator[None]:
    """Set the limit for the block; it is deleted after it."""
    expect_error(set_key(broker, resource, LIMIT, LOW), ErrorCode.NONE, where)
    try:
        yield
    finally:
        if broker.advertised("IncrementalAlterConfigs"):
            change(broker, resource, (LIMIT, AlterOperation.DELETE, None))
        else:
            replace_all(broker, resource, {})


def _expect_bound(
    cluster: Cluster, topics: Mapping[int, Topic], bound: Collection[int], where: str
) -> None:
    """These brokers refuse a large batch, soon; the others take it, also in a topic that is created
    after that."""
    for node in sorted(topics, key=lambda node: node not in bound):
        expected = ErrorCode.MESSAGE_TOO_LARGE if node in bound else ErrorCode.NONE
        client = cluster.at(node)
        code = client.last_seen(
            lambda client=client, node=node: client.produce(topics[node], LARGE, acks=1).error_code,  # type: ignore[misc]
            lambda code, expected=expected: code == expected,  # type: ignore[misc]
            CHANGE_WITHIN_MS,
        )
        expect_error(code, expected, f"{where}: a large batch at broker {node}")
        if node not in bound:
            later = cluster.create_topic([[node]])
            code = client.last_seen(
                lambda client=client, later=later: client.produce(later, LARGE, acks=1).error_code,  # type: ignore[misc]
                lambda code: code in (ErrorCode.NONE, ErrorCode.MESSAGE_TOO_LARGE),
                CHANGE_WITHIN_MS,
            )
            expect_error(code, expected, f"{where}: a large batch at broker {node}, a new topic")
