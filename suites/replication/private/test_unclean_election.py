"""ELECT: no in-sync replica is left, and one that lacks records may lead, or may not."""

from __future__ import annotations

from harness.base.pace import time_left
from harness.client.cluster import NOBODY, Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import batch_of
from suites.protocol.support.config_admin import TOPIC, replace_all
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import values_of
from suites.replication.support.failover import await_in_sync
from suites.replication.support.lagging import (
    NO_UNCLEAN,
    ON_BOTH,
    ON_LAST,
    SMALLEST,
    UNCLEAN,
    await_nobody,
    lagging_is_back,
    leaders_told,
    left_behind,
)
from suites.replication.support.reassigning import PREFERRED, elect
from suites.replication.support.reassigning import UNCLEAN as BY_FORCE
from suites.replication.support.served import checked, served

LOOK_MS = 2_000  # no election may happen for so long
AFTER = b"after it"
AT_LEADERS_ONLY = "0-10"
"""The versions of Fetch at which no follower gives consumers anything (KIP-392)."""


def _expect_nobody(cluster: Cluster, topic: Topic, lagging: int) -> None:
    """For a while the partition has no leader, and the lagging broker serves no request for it."""
    for _ in time_left(LOOK_MS):
        leaders = leaders_told(cluster, topic)
        assert leaders == {NOBODY}, f"{leaders} lead, in sync is nobody that is up"
        client = cluster.at(lagging)
        codes = {
            "Produce": client.produce(topic, batch_of(b"no"), acks=1).error_code,
            "Fetch": client.fetch(topic, 0, client.version("Fetch", AT_LEADERS_ONLY)).error_code,
            "ListOffsets": client.list_offset(topic, -1).error_code,
        }
        for api, code in codes.items():
            assert code != ErrorCode.NONE, f"{api} is served by {lagging}, which does not lead"


def _expect_values(cluster: Cluster, topic: Topic, node: int, expected: list[bytes]) -> None:
    """Read at this broker, which leads."""
    values = values_of(cluster.at(node).fetch(topic, 0))
    assert values == expected, f"{node} has {values}, expected {expected}"


@judges("ELECT-004")
@needs_broker(Use.CLUSTER)
def test_unclean_election_disabled_by_default_leaves_partition_leaderless(cluster: Cluster) -> None:
    """One is back that is not in sync; then the one that was."""
    (topic,), last, lagging = left_behind(cluster, [{}])
    lagging_is_back(cluster, lagging)
    await_nobody(cluster, topic)
    with requirement("ELECT-004"):
        _expect_nobody(cluster, topic, lagging)
        cluster.restart(last)
        leader = cluster.leader(topic)
        assert leader == last, f"{leader} leads, in sync was {last}"
        _expect_values(cluster, topic, last, [ON_BOTH, ON_LAST])


@judges("ELECT-006")
@needs_broker(Use.CLUSTER)
def test_unclean_leader_is_sole_isr_member_and_serves_requests(cluster: Cluster) -> None:
    """It takes records and gives what it has."""
    (topic,), _last, lagging = left_behind(cluster, [UNCLEAN])
    cluster.restart(lagging)
    with requirement("ELECT-006"):
        leader = cluster.leader(topic)
        assert leader == lagging, f"{leader} leads, there is only {lagging}"
        isr = cluster.isr(topic)
        assert isr == {lagging}, f"the ISR is {isr}, {lagging} alone has what there is"
        answer = cluster.at(lagging).produce(topic, batch_of(AFTER))
        expect_error(answer.error_code, ErrorCode.NONE, "Produce at the unclean leader")
        _expect_values(cluster, topic, lagging, [ON_BOTH, AFTER])


@judges("ELECT-007")
@needs_broker(Use.CLUSTER)
def test_returning_replica_truncates_to_log_of_unclean_leader(cluster: Cluster) -> None:
    """It follows; then it leads, and has the same."""
    (topic,), last, lagging = left_behind(cluster, [UNCLEAN])
    cluster.restart(lagging)
    cluster.await_leader(topic, among=[lagging])
    cluster.restart(last)
    await_in_sync(cluster, topic, last)
    with requirement("ELECT-007"):
        answer = cluster.leader_client(topic).produce(topic, batch_of(AFTER))
        expect_error(answer.error_code, ErrorCode.NONE, "Produce with both in sync")
        _expect_values(cluster, topic, cluster.leader(topic), [ON_BOTH, AFTER])
        cluster.kill(lagging)
        cluster.await_leader(topic, among=[last])
        _expect_values(cluster, topic, last, [ON_BOTH, AFTER])


@judges("ELECT-008")
@needs_broker(Use.CLUSTER, {"unclean.leader.election.interval.ms": "500"})
def test_unclean_election_enabled_by_topic_config_while_offline_elects_leader(
    cluster: Cluster,
) -> None:
    """By default they are not; they are by the topic's own configs, of one topic of two."""
    (topic, other), _last, lagging = left_behind(cluster, [{}, {}])
    lagging_is_back(cluster, lagging)
    await_nobody(cluster, topic)
    with requirement("ELECT-008"):
        resource, client = (TOPIC, topic.name), cluster.at(cluster.controller())
        code = replace_all(client, resource, {**SMALLEST, **UNCLEAN})
        expect_error(code, ErrorCode.NONE, "AlterConfigs")
        cluster.await_leader(topic, among=[lagging])
        leaders = leaders_told(cluster, other)
        assert leaders == {NOBODY}, f"{leaders} lead the topic that was not changed"


@judges("ELECT-008")
@needs_broker(
    Use.CLUSTER,
    {"unclean.leader.election.enable": "true", "unclean.leader.election.interval.ms": "500"},
)
def test_unclean_election_disabled_by_topic_config_leaves_partition_leaderless(
    cluster: Cluster,
) -> None:
    """The brokers allow it, and elect a leader of a topic without such a config."""
    (other, topic), _last, lagging = left_behind(cluster, [{}, NO_UNCLEAN])
    lagging_is_back(cluster, lagging)
    with requirement("ELECT-008"):
        cluster.await_leader(other, among=[lagging])
        _expect_nobody(cluster, topic, lagging)


@judges("ELECT-012")
@needs_broker(Use.CLUSTER)
def test_elect_leaders_unclean_elects_lagging_replica_only_without_leader(cluster: Cluster) -> None:
    """It is requested while no replica is up, when the lagging one is up, and once that leads."""
    versions = served(cluster.front, "ElectLeaders", "1+")
    topics, _last, lagging = left_behind(cluster, [{}] * len(versions))
    asked = list(zip(topics, versions, strict=True))

    def elected(topic: Topic, version: int) -> int:
        return elect(cluster, {topic.name: [0]}, version, BY_FORCE)[topic.name, 0]

    for topic, version in asked:
        with checked("ELECT-012", "ElectLeaders", version):
            code = elected(topic, version)
            expect_error(code, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, "no replica is alive")
    lagging_is_back(cluster, lagging)
    for topic, version in asked:
        with checked("ELECT-012", "ElectLeaders", version):
            expect_error(elected(topic, version), ErrorCode.NONE, "one is back that lags")
            cluster.await_leader(topic, among=[lagging])
            code = elected(topic, version)
            expect_error(code, ErrorCode.ELECTION_NOT_NEEDED, "it leads")


@judges("ELECT-013")
@needs_broker(Use.CLUSTER)
def test_elect_leaders_preferred_does_not_elect_lagging_replica(cluster: Cluster) -> None:
    """The broker is up, and no broker leads; ELECT-010 judges the election's response."""
    versions = served(cluster.front, "ElectLeaders", "1+")
    (topic,), _last, lagging = left_behind(cluster, [{}], preferred_lags=True)
    lagging_is_back(cluster, lagging)
    await_nobody(cluster, topic)
    for version in versions:
        with checked("ELECT-013", "ElectLeaders", version):
            elect(cluster, {topic.name: [0]}, version, PREFERRED)
            _expect_nobody(cluster, topic, lagging)
