"""TOPIC: changes of a topic that any broker of a cluster is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.config_admin import TOPIC, set_key, values_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.topic_admin import ask_to_delete, ask_to_grow

RETENTION, CHANGED = "retention.ms", "123456789"


@dataclass(frozen=True, slots=True)
class _Change:
    """``ask`` returns the error code; ``is_done`` looks at the topic by the first broker."""

    ask: Callable[[BrokerUnderTest, str], int]
    is_done: Callable[[Cluster, str], bool]


def _grow(broker: BrokerUnderTest, name: str) -> int:
    version = broker.version("CreatePartitions")
    return ask_to_grow(broker, version, (name, 2))[name][0].error_code


def _has_grown(cluster: Cluster, name: str) -> bool:
    return len(cluster.topic_by(cluster.nodes[0], name)) == 2


def _delete(broker: BrokerUnderTest, name: str) -> int:
    version = broker.version("DeleteTopics")
    return ask_to_delete(broker, version, name)[name][0].error_code


def _is_deleted(cluster: Cluster, name: str) -> bool:
    listed = cluster.at(cluster.nodes[0]).metadata(None).topics
    return name not in {topic.name for topic in listed}


def _configure(broker: BrokerUnderTest, name: str) -> int:
    broker.version("AlterConfigs")
    return set_key(broker, (TOPIC, name), RETENTION, CHANGED)


def _is_configured(cluster: Cluster, name: str) -> bool:
    return values_of(cluster.at(cluster.nodes[0]), (TOPIC, name))[RETENTION] == CHANGED


CHANGES: Mapping[str, _Change] = {
    "new partition": _Change(_grow, _has_grown),
    "deletion": _Change(_delete, _is_deleted),
    "config": _Change(_configure, _is_configured),
}


@judges("TOPIC-022")
@pytest.mark.parametrize("what", CHANGES)
def test_change_of_topic_at_any_broker_is_made_or_returns_not_controller(
    cluster: Cluster, what: str
) -> None:
    """Each broker changes a topic of its own, which is changed soon, or not at all if the broker
    returns NOT_CONTROLLER.
    """
    change = CHANGES[what]
    topics = {node: cluster.create_topic([[cluster.nodes[0]]]).name for node in cluster.nodes}
    with requirement("TOPIC-022") as check:
        codes = {node: change.ask(cluster.at(node), name) for node, name in topics.items()}
        done = [node for node, code in codes.items() if code == ErrorCode.NONE]
        assert done, f"{what}: no broker takes the change: {codes}"
        for node in done:
            with check.subtest(f"broker {node}"):
                is_done = cluster.last_seen(partial(change.is_done, cluster, topics[node]), bool)
                assert is_done, f"{what} at broker {node}: error is NONE, and it is not made"
        for node in codes.keys() - done:
            with check.subtest(f"broker {node}"):
                where = f"{what} at broker {node}"
                expect_error(codes[node], ErrorCode.NOT_CONTROLLER, where)
                is_done = change.is_done(cluster, topics[node])
                assert not is_done, f"{where}: error is NOT_CONTROLLER, and it is made"
