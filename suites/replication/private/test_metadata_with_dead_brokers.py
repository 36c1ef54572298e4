"""META: the Metadata of brokers and replicas that are not there."""

from __future__ import annotations

import time
from functools import partial

from harness.base.pace import time_left
from harness.client.broker import BrokerUnderTest
from harness.client.cluster import NOBODY, Cluster
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeClusterRequest,
    MetadataRequest,
    MetadataResponse,
    UnregisterBrokerRequest,
)
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.expect import expect_error
from suites.replication.support.served import checked, served
from suites.replication.support.told import ReportedValue, told_by

ABSENT = 1_000_000  # a broker that no cluster has
LOOK_MS = 3_000  # how long nothing must be created
FIRST_EPOCH = 0  # of a partition's first leader
WITH_FENCED = 2  # from this version of DescribeCluster on (KIP-1073)


def _without(cluster: Cluster, node: int) -> None:
    """Kill the broker; wait until no broker lists it."""
    cluster.kill(node)
    cluster.await_brokers(cluster.up)


def _told(cluster: Cluster, topic: Topic, version: int) -> ReportedValue:
    return told_by(cluster, cluster.up[0], topic, version)


@judges("META-011")
@needs_broker(Use.CLUSTER)
def test_metadata_of_leaderless_partition_returns_leader_not_available(cluster: Cluster) -> None:
    """Its only replica is on a broker that was killed; another broker is asked. The partition
    keeps its replica, and the other partition of the topic its leader.
    """
    alive, *_, dead = cluster.nodes
    topic = cluster.create_topic([[dead], [alive]])
    _without(cluster, dead)
    for version in served(cluster.front, "Metadata"):
        with checked("META-011", "Metadata", version):
            told = cluster.last_seen(
                partial(_told, cluster, topic, version),
                lambda told: told.partitions[0].leader == NOBODY,
            ).partitions
            lost, kept = told[0], told[1]
            assert lost.leader == NOBODY, f"the leader told is {lost.leader}"
            expect_error(lost.error_code, ErrorCode.LEADER_NOT_AVAILABLE, "the partition")
            assert kept.leader == alive, f"the other partition has the leader {kept.leader}"
            expect_error(kept.error_code, ErrorCode.NONE, "the other partition")


@judges("META-012")
@needs_broker(Use.CLUSTER)
def test_metadata_lists_replicas_in_assignment_order_while_one_is_down(cluster: Cluster) -> None:
    """Also when the broker is down that is preferred for one partition and follows in another.

    All brokers that are up are asked.
    """
    one, two, three = cluster.nodes[:3]
    assignment = [[three, one, two], [two, three, one]]
    topic = cluster.create_topic(assignment)
    for dead in (None, three):
        if dead is not None:
            _without(cluster, dead)
            cluster.await_leader(topic, among=[one])
        for version in served(cluster.front, "Metadata", "1+"):
            with checked("META-012", "Metadata", version):
                for node in cluster.up:
                    views = told_by(cluster, node, topic, version).partitions
                    for index, expected in enumerate(assignment):
                        replicas = views[index].replicas
                        told = f"with {dead} down: {replicas}, expected {expected}"
                        assert replicas == tuple(expected), f"broker {node}, {told}"


@judges("META-014")
@needs_broker(Use.CLUSTER)
def test_metadata_v0_alone_returns_replica_not_available_for_dead_replica(cluster: Cluster) -> None:
    """REPLICA_NOT_AVAILABLE at v0, no error later, and none for a partition of live brokers."""
    one, two, three = cluster.nodes[:3]
    topic, whole = cluster.create_topic([[one, two, three]]), cluster.create_topic([[two, one]])
    _without(cluster, three)
    for version in served(cluster.front, "Metadata"):
        with checked("META-014", "Metadata", version):
            view = _told(cluster, topic, version).partitions[0]
            expected = ErrorCode.NONE if version else ErrorCode.REPLICA_NOT_AVAILABLE
            expect_error(view.error_code, expected, "the partition")
            view = _told(cluster, whole, version).partitions[0]
            expect_error(view.error_code, ErrorCode.NONE, "the partition of live brokers")


def _has_offline(dead: list[int], told: ReportedValue) -> bool:
    return list(told.partitions[0].offline) == dead


@judges("META-015")
@needs_broker(Use.CLUSTER)
def test_metadata_lists_replicas_on_dead_brokers_as_offline(cluster: Cluster) -> None:
    """None is while all are there, then that of the one that was killed, in its partition alone."""
    one, two, three = cluster.nodes[:3]
    topic, whole = cluster.create_topic([[one, two, three]]), cluster.create_topic([[two, one]])
    versions = served(cluster.front, "Metadata", "5+")
    for dead in ([], [three]):
        if dead:
            _without(cluster, three)
        for version in versions:
            with checked("META-015", "Metadata", version):
                told = cluster.last_seen(
                    partial(_told, cluster, topic, version), partial(_has_offline, dead)
                )
                offline = list(told.partitions[0].offline)
                assert offline == dead, f"offline replicas are {offline}, dead are {dead}"
                offline = list(_told(cluster, whole, version).partitions[0].offline)
                assert not offline, f"offline replicas of live brokers: {offline}"


@judges("META-016")
@needs_broker(Use.CLUSTER)
def test_metadata_lists_only_live_brokers(cluster: Cluster) -> None:
    """One is killed: soon no broker lists it, at any version."""
    dead = cluster.nodes[-1]
    topic = cluster.create_topic([cluster.nodes[:2]])
    cluster.kill(dead)
    for version in served(cluster.front, "Metadata"):
        for node in cluster.up:
            with checked("META-016", "Metadata", version):
                told = cluster.last_seen(
                    partial(told_by, cluster, node, topic, version),
                    lambda told: dead not in told.brokers,
                )
                assert set(told.brokers) == set(cluster.up), (
                    f"broker {node} lists {sorted(told.brokers)}, alive are {cluster.up}"
                )


@judges("META-021")
@needs_broker(Use.CLUSTER)
def test_metadata_leader_epoch_never_decreases(cluster: Cluster) -> None:
    """Asked of all brokers all the time, while the leader dies and comes back, twice.

    The epoch of each new leader is higher, and all versions from 7 on have it.
    """
    versions = served(cluster.front, "Metadata", "7+")
    version, topic = versions[-1], cluster.create_topic()
    highest: dict[int, int] = {}

    def look(gone: int) -> bool:
        """True if all brokers name a leader other than ``gone``; their epochs must not go back."""
        views = {node: told_by(cluster, node, topic, version).partitions[0] for node in cluster.up}
        for node, view in views.items():
            before = highest.get(node, FIRST_EPOCH)
            assert view.epoch >= before, f"broker {node} told epoch {before}, now {view.epoch}"
            highest[node] = view.epoch
        return all(view.is_led and view.leader != gone for view in views.values())

    with requirement("META-021"):
        for _ in range(2):
            leader = cluster.leader(topic)
            look(NOBODY)
            former = max(highest.values())
            cluster.kill(leader)
            cluster.await_that(partial(look, leader), bool, "another leader is told by all")
            cluster.restart(leader)
            highest.pop(leader)
            cluster.await_that(partial(look, leader), bool, "the broker that came back tells it")
            for node, epoch in highest.items():
                assert epoch > former, f"broker {node}: epoch {epoch}, the former is {former}"
    for version in versions:
        with checked("META-021", "Metadata", version):
            for node, epoch in highest.items():
                shown = told_by(cluster, node, topic, version).partitions[0].epoch
                assert shown >= epoch, (
                    f"broker {node}: the leader epoch went back from {epoch} to {shown}"
                )


@judges("META-032")
@needs_broker(Use.CLUSTER)
def test_unregister_broker_removes_stopped_broker_from_describe_cluster(cluster: Cluster) -> None:
    """An unknown id returns an error, and that of the stopped broker does after its removal;
    DescribeCluster, which has the fenced broker where it can, no longer has it.
    """
    version = cluster.front.version("UnregisterBroker")
    gone = cluster.nodes[-1]
    cluster.stop(gone)
    cluster.await_brokers(cluster.up)
    with requirement("META-032"):
        unknown = cluster.front.ask(UnregisterBrokerRequest(broker_id=ABSENT), version)
        expect_error(unknown.error_code, ErrorCode.BROKER_ID_NOT_REGISTERED, "an unknown id")
        if cluster.front.version("DescribeCluster") >= WITH_FENCED:
            described = _described(cluster.front)
            assert gone in described, f"described are {described}, {gone} is registered"
        told = cluster.front.ask(UnregisterBrokerRequest(broker_id=gone), version)
        expect_error(told.error_code, ErrorCode.NONE, "a broker that has stopped")
        described = cluster.last_seen(
            lambda: _described(cluster.front), lambda nodes: gone not in nodes
        )
        assert set(described) == set(cluster.up), f"described are {described}, left {cluster.up}"
        again = cluster.front.ask(UnregisterBrokerRequest(broker_id=gone), version)
        expect_error(again.error_code, ErrorCode.BROKER_ID_NOT_REGISTERED, "unregistered before")


def _described(client: BrokerUnderTest) -> list[int]:
    """All registered brokers, fenced ones too where they can be asked for."""
    version = client.version("DescribeCluster")
    request = DescribeClusterRequest(include_fenced_brokers=version >= WITH_FENCED)
    return sorted(each.broker_id for each in client.ask(request, version).brokers)


DESCRIBE_CLUSTER = api_named("DescribeCluster")


@judges("META-041")
@needs_broker(Use.CLUSTER)
def test_describe_cluster_lists_fenced_broker_only_on_request(cluster: Cluster) -> None:
    """Three live brokers, none of them fenced; then one is killed, and keeps its registration."""
    version = cluster.front.version("DescribeCluster", f"{WITH_FENCED}+")
    with requirement("META-041", api_key=DESCRIBE_CLUSTER.key, api_version=version):
        before = _listed(cluster, version, include_fenced=True)
        fenced = [node for node, (*_, is_fenced) in before.items() if is_fenced]
        assert (sorted(before), fenced) == (sorted(cluster.nodes), []), f"listed are {before}"
    dead = cluster.nodes[-1]
    _without(cluster, dead)
    with requirement("META-041", api_key=DESCRIBE_CLUSTER.key, api_version=version):
        after = cluster.last_seen(
            partial(_listed, cluster, version, include_fenced=True),
            lambda listed: dead in listed and listed[dead][-1] is True,
        )
        expected = {**before, dead: (*before[dead][:-1], True)}
        assert after == expected, f"with fenced brokers: {after}, expected {expected}"
        alive = _listed(cluster, version, include_fenced=False)
        del expected[dead]
        assert alive == expected, f"without fenced brokers: {alive}, expected {expected}"


def _listed(
    cluster: Cluster, version: int, *, include_fenced: bool
) -> dict[int, tuple[object, ...]]:
    """Return host, port, rack and fencing of the brokers that a live one lists, by their ids."""
    request = DescribeClusterRequest(include_fenced_brokers=include_fenced)
    answer = cluster.at(cluster.up[0]).ask(request, version)
    return {
        each.broker_id: (each.host, each.port, each.rack, each.is_fenced) for each in answer.brokers
    }


@judges("META-027")
@needs_broker(Use.CLUSTER, {"auto.create.topics.enable": "true", "default.replication.factor": "4"})
def test_auto_creation_with_too_few_brokers_creates_no_topic(cluster: Cluster) -> None:
    """Four replicas are the default, and there are three brokers."""
    name = cluster.unique_topic()
    with requirement("META-027"):
        for _ in time_left(LOOK_MS):
            told = _auto_created(cluster, name)
            assert told.error_code != ErrorCode.NONE, f"it is made: {_placed(told)}"
            assert not told.partitions, f"it has partitions: {_placed(told)}"
            time.sleep(0.1)


def _auto_created(cluster: Cluster, name: str) -> MetadataResponse.MetadataResponseTopic:
    wanted = MetadataRequest.MetadataRequestTopic(name=name)
    request = MetadataRequest(topics=[wanted], allow_auto_topic_creation=True)
    return only(cluster.front.ask(request).topics, "topic")


def _placed(told: MetadataResponse.MetadataResponseTopic) -> list[list[int]]:
    return [list(each.replica_nodes) for each in told.partitions]
