"""RAFT: decisions that survive the loss of the controller or of all nodes, and its successor."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.deletion import delete_topics
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterClientQuotasRequest,
    DescribeClientQuotasRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.config_admin import (
    BROKER,
    TOPIC,
    AlterOperation,
    change,
    expect_values,
)
from suites.replication.support.active_controller import (
    active_controller,
    controllers_named,
    expect_successor,
    is_one_of,
)
from suites.replication.support.spread import ring

RETENTION = "retention.ms"
OF_TOPIC = {"RAFT-002": "123456789", "RAFT-016": "987654321"}
OF_BROKERS = {"log.retention.ms": "876543210"}
QUOTA, BYTES_PER_S = "consumer_byte_rate", 54_321.0
CLIENT_ID = "client-id"
ALL_BROKERS = (BROKER, "")
EXACT = 0


@judges("RAFT-002")
@needs_broker(Use.CLUSTER)
def test_acknowledged_topic_and_config_survive_controller_kill(cluster: Cluster) -> None:
    """A topic with a config is created, another one is deleted, and the controller is killed at
    once.
    """
    cluster.front.version("DescribeConfigs")
    controller = active_controller(cluster)
    kept = [node for node in cluster.nodes[:3] if node != controller]
    name, configs = cluster.unique_topic(), {RETENTION: OF_TOPIC["RAFT-002"]}
    gone = cluster.create_topic([kept]).name
    cluster.order_topic(name, [kept, kept[::-1]], configs)
    delete_topics(cluster.at(cluster.controller()), [gone])
    cluster.kill(controller)
    with requirement("RAFT-002") as check:
        if cluster.controller_nodes == (controller,):
            cluster.restart(controller)  # there is no other one
        _expect_topic(cluster, name, [kept, kept[::-1]], configs)
        for node in cluster.up:
            with check.subtest(f"deleted topic by {node}"):
                listed = cluster.last_seen(
                    lambda node=node: _listed(cluster, node),  # type: ignore[misc]
                    lambda seen: gone not in seen,
                )
                assert gone not in listed, f"broker {node} lists the deleted topic {gone}"


def _listed(cluster: Cluster, node: int) -> set[str | None]:
    return {topic.name for topic in cluster.at(node).metadata(None).topics}


def _expect_topic(
    cluster: Cluster, name: str, assignment: list[list[int]], configs: dict[str, str]
) -> None:
    """Every broker that is up returns the topic with this assignment and these configs."""
    wanted = dict(enumerate(map(set, assignment)))
    for node in cluster.up:
        found = cluster.last_seen(
            lambda node=node: _assigned(cluster, node, name),  # type: ignore[misc]
            lambda seen: seen == wanted,
        )
        assert found == wanted, f"broker {node}: {name} has the replicas {found}, not {wanted}"
        expect_values(cluster.at(node), (TOPIC, name), configs, f"broker {node}: {name}")
    cluster.await_created(name, len(assignment))


def _assigned(cluster: Cluster, node: int, name: str) -> dict[int, set[int]]:
    views = cluster.topic_by(node, name)
    return {index: set(view.replicas) for index, view in views.items()}


@judges("RAFT-010")
@needs_broker(Use.CLUSTER)
def test_new_controller_is_elected_after_kill_and_creates_topic(cluster: Cluster) -> None:
    """The active one is killed and stays dead; a topic that is created then needs a controller."""
    expect_successor(cluster)
    dead = active_controller(cluster)
    cluster.kill(dead)
    successors = {*(cluster.controller_nodes or cluster.up)} - {dead}
    with requirement("RAFT-010"):
        named = cluster.last_seen(
            lambda: controllers_named(cluster), lambda seen: is_one_of(seen, successors)
        )
        assert is_one_of(named, successors), (
            f"the controller {dead} was killed; by broker, the controllers named are {named}"
        )
        replicas = cluster.up[:3]
        assignment = [replicas, replicas[::-1]]
        name = cluster.unique_topic()
        cluster.order_topic(name, assignment, {})
        cluster.await_created(name, len(assignment))


@judges("RAFT-016")
@needs_broker(Use.CLUSTER)
def test_topics_configs_and_quotas_survive_kill_of_all_nodes(cluster: Cluster) -> None:
    """Topics, configs of a topic and of all brokers, a quota; every node is killed.

    ACLs and SCRAM users need a cluster with an authorizer and with SASL, and are not looked at.
    """
    front = cluster.front
    for api in ("IncrementalAlterConfigs", "DescribeClientQuotas"):
        front.version(api)
    name, client = cluster.unique_topic(), cluster.unique_group()
    assignment, configs = ring(cluster), {RETENTION: OF_TOPIC["RAFT-016"]}
    cluster.order_topic(name, assignment, configs)
    _set_for_all(front, OF_BROKERS)
    _set_quota(front, client, BYTES_PER_S)
    cluster.await_created(name, len(assignment))
    try:
        with requirement("RAFT-016"):
            _restart_all(cluster)
            _expect_topic(cluster, name, [list(each) for each in assignment], configs)
            for node in cluster.up:
                told = f"broker {node}: all brokers"
                expect_values(cluster.at(node), (BROKER, f"{node}"), OF_BROKERS, told)
                quota = cluster.last_seen(
                    lambda node=node: _quota_of(cluster.at(node), client),  # type: ignore[misc]
                    lambda seen: seen == {QUOTA: BYTES_PER_S},
                )
                assert quota == {QUOTA: BYTES_PER_S}, f"broker {node}: the quota is {quota}"
    finally:
        _set_for_all(cluster.front, dict.fromkeys(OF_BROKERS))
        _set_quota(cluster.front, client, None)


def _restart_all(cluster: Cluster) -> None:
    """Controllers come first: brokers wait for them."""
    every = [*cluster.nodes, *cluster.controller_nodes]
    for node in every:
        cluster.kill(node)
    for node in reversed(every):
        cluster.restart(node)


def _set_for_all(broker: BrokerUnderTest, configs: dict[str, str] | dict[str, None]) -> None:
    changes = [
        (key, AlterOperation.DELETE if value is None else AlterOperation.SET, value)
        for key, value in configs.items()
    ]
    code = change(broker, ALL_BROKERS, *changes)
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"IncrementalAlterConfigs: {ErrorCode.describe(code)}", code)


def _set_quota(broker: BrokerUnderTest, client: str, value: float | None) -> None:
    entry = AlterClientQuotasRequest.EntryData(
        entity=[AlterClientQuotasRequest.EntityData(entity_type=CLIENT_ID, entity_name=client)],
        ops=[AlterClientQuotasRequest.OpData(key=QUOTA, value=value or 0.0, remove=value is None)],
    )
    answer = only(broker.ask(AlterClientQuotasRequest(entries=[entry])).entries, "entity")
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"AlterClientQuotas: {ErrorCode.describe(answer.error_code)}")


def _quota_of(broker: BrokerUnderTest, client: str) -> dict[str, float]:
    """Return the client's quotas by key."""
    component = DescribeClientQuotasRequest.ComponentData(
        entity_type=CLIENT_ID, match_type=EXACT, match=client
    )
    answer = broker.ask(DescribeClientQuotasRequest(components=[component], strict=True))
    return {value.key: value.value for entry in answer.entries or [] for value in entry.values}
