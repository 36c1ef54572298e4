"""ACL: entries of access control lists at every broker of a cluster, across restarts."""

from __future__ import annotations

from collections.abc import Collection

from harness.client.cluster import Cluster
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker, needs_listener
from suites.protocol.acls.test_restarts import REFUSED
from suites.protocol.support.acl_terms import Operation
from suites.protocol.support.bindings import EVERY_USER, Binding, create, listed, removed
from suites.protocol.support.expect import expect_error
from suites.protocol.support.principals import ordinary_user
from suites.protocol.support.rights import require_authorizer


@judges("ACL-014")
@needs_listener(sasl=True)
@needs_broker(Use.CLUSTER, nodes=3)
def test_entries_have_effect_at_every_broker_and_survive_restarts(cluster: Cluster) -> None:
    """Given at one broker and taken at another; given while the third is down; all are killed."""
    require_authorizer(cluster.front)
    first, second, third = cluster.nodes[:3]
    topic = cluster.create_topic([cluster.nodes]).name
    entry = Binding(topic, EVERY_USER, Operation.DESCRIBE)
    with requirement("ACL-014"):
        assert create(cluster.at(first), [entry]) == [ErrorCode.NONE]
        _expect_effect(cluster, entry, cluster.nodes, is_given=True)
        assert removed(cluster.at(second), name=topic) == [entry]
        _expect_effect(cluster, entry, cluster.nodes, is_given=False)
        cluster.kill(third)
        assert create(cluster.at(first), [entry]) == [ErrorCode.NONE]
        _expect_effect(cluster, entry, [first, second], is_given=True)
        cluster.restart(third)
        _expect_effect(cluster, entry, cluster.nodes, is_given=True)
        _kill_and_restart_all(cluster)
        _expect_effect(cluster, entry, cluster.nodes, is_given=True)
    removed(cluster.front, name=topic)


def _kill_and_restart_all(cluster: Cluster) -> None:
    every = [*cluster.controller_nodes, *cluster.nodes]
    for node in every:
        cluster.kill(node)
    for node in every:
        cluster.restart(node)


def _expect_effect(
    cluster: Cluster, entry: Binding, nodes: Collection[int], *, is_given: bool
) -> None:
    """These brokers describe the entry, and let a new user describe the topic, or do neither."""
    expected = {entry} if is_given else set()
    for node in nodes:
        broker = cluster.at(node)
        found = broker.last_seen(
            lambda broker=broker: listed(broker, name=entry.name),  # type: ignore[misc]
            lambda found: found == expected,
        )
        assert found == expected, f"broker {node} describes {len(found)} entries"
        request = MetadataRequest(
            topics=[MetadataRequest.MetadataRequestTopic(name=entry.name)],
            allow_auto_topic_creation=False,
        )
        with ordinary_user(broker, cluster.at(cluster.controller())) as user:
            (shown,) = user.ask(request, broker.version("Metadata", "4-9")).topics
        right = ErrorCode.NONE if is_given else REFUSED
        expect_error(shown.error_code, right, f"broker {node}")
