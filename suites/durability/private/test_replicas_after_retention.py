"""STOR: replicas that have lost old segments, read as followers and as new leaders."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import LATEST, Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.segments import (
    DAY_MS,
    OFTEN,
    SEGMENT_MS,
    aged,
    begin_of,
    begin_once,
)
from suites.protocol.support.appended import append
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import values_of
from suites.replication.support.failover import change_leader
from suites.replication.support.reading import follower_version

TOO_OLD, KEPT = (b"r0", b"r1"), (b"r2", b"r3")
START, END = len(TOO_OLD), len(TOO_OLD + KEPT)
LEADERS = 3


def _after_retention(cluster: Cluster) -> Topic:
    """Return a topic after retention removed two segments of three from the leader's log."""
    configs = {"segment.ms": str(SEGMENT_MS), "retention.ms": str(DAY_MS)}
    topic = cluster.create_topic(configs=configs)
    leader = cluster.leader_client(topic)
    old = [aged(3 * DAY_MS - place * 2 * SEGMENT_MS, value) for place, value in enumerate(TOO_OLD)]
    append(leader, topic, *old, *(aged(0, value) for value in KEPT))
    begin = begin_once(leader, topic, START)
    if begin != START:
        raise PreparationFailed(f"retention left offset {begin} as the first, expected {START}")
    return topic


@judges("STOR-028")
@needs_broker(Use.CLUSTER, OFTEN)
def test_followers_remove_what_retention_removed_from_leader(cluster: Cluster) -> None:
    """Two segments of three are too old: each follower returns OFFSET_OUT_OF_RANGE for their
    records, and the records behind them."""
    topic = _after_retention(cluster)
    version = follower_version(cluster, topic)
    with requirement("STOR-028") as check:
        for node in cluster.others(cluster.leader(topic)):
            with check.subtest(f"follower {node}"):
                follower = cluster.at(node)
                gone = cluster.last_seen(
                    lambda follower=follower: follower.fetch(topic, START - 1, version),  # type: ignore[misc]
                    lambda data: data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE,
                )
                told = f"Fetch at {START - 1} from follower {node}"
                expect_error(gone.error_code, ErrorCode.OFFSET_OUT_OF_RANGE, told)
                found = cluster.last_seen(
                    lambda follower=follower: values_of(follower.fetch(topic, START, version)),  # type: ignore[misc]
                    lambda values: len(values) == len(KEPT),
                )
                assert found == [*KEPT], f"from {START} on follower {node} returns {found}"


@judges("STOR-028")
@needs_broker(Use.CLUSTER, OFTEN)
def test_new_leaders_log_starts_where_retention_ended(cluster: Cluster) -> None:
    """Each of three brokers leads, after one was killed and came back: the first and the last
    offset and the records are those of the first leader."""
    topic = _after_retention(cluster)
    for _ in range(LEADERS - 1):
        node = change_leader(cluster, topic)
        with requirement("STOR-028"):
            _expect_kept(cluster.at(node), topic, node)


def _expect_kept(leader: BrokerUnderTest, topic: Topic, node: int) -> None:
    found = begin_of(leader, topic), leader.list_offset(topic, LATEST).offset
    told = f"leader {node}: first and next offset are {found}"
    assert found == (START, END), f"{told}, expected {(START, END)}"
    code = leader.fetch(topic, START - 1).error_code
    expect_error(code, ErrorCode.OFFSET_OUT_OF_RANGE, f"Fetch at {START - 1} from leader {node}")
    values = values_of(leader.fetch(topic, START))
    assert values == [*KEPT], f"leader {node} returns {values}"
