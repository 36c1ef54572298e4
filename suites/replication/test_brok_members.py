"""BROK: brokers that come, move and leave, as those see it that are there."""

from __future__ import annotations

from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.marks import joined_broker, judges
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.door import Address
from suites.replication.expect import expect_error

SESSION_MS = 6000
FIRST, SECOND = ("127.0.0.1", 9), ("localhost", 13)
"""Where a virtual broker says it listens; nobody connects to it."""


def _told(peers: JoinedCluster) -> dict[int, Address]:
    """Brokers that Metadata lists, and where."""
    listed = peers.broker.metadata([]).brokers
    return {each.node_id: (each.host, each.port) for each in listed}


@judges("BROK-004")
@joined_broker(broker__session__timeout__ms=str(SESSION_MS), broker__heartbeat__interval__ms="300")
def test_a_broker_that_comes_back_elsewhere(peers: JoinedCluster) -> None:
    """Another process with the same id, at another host and port.

    Brokers before 2.3 are not asked: one that is back before the controller has seen it go is no
    news to them (KIP-380), and the oldest tell of a new broker with the next topic only.
    """
    peers.broker.version("Metadata", "8+")
    member = peers.join(FIRST)
    broker = peers.broker
    before = broker.last_seen(
        lambda: _told(peers).get(member.broker_id), lambda told: told is not None
    )
    with requirement("BROK-004"):
        assert before == FIRST, f"it is told to be at {before}, it is at {FIRST}"
        member.move(SECOND)
        now = broker.last_seen(
            lambda: _told(peers).get(member.broker_id), lambda told: told not in (None, FIRST)
        )
        assert now == SECOND, f"it is told to be at {now}, it has moved to {SECOND}"


@judges("BROK-017")
@joined_broker()
def test_a_broker_comes_and_goes_while_others_run(peers: JoinedCluster) -> None:
    """Nobody else is told of it: it is listed, has partitions, and is gone again.

    Brokers before 0.11 are not asked: they list replicas in no order (META-012), and the oldest
    tell of a new broker with the next topic only.
    """
    broker = peers.broker
    broker.version("Metadata", "4+")
    with requirement("BROK-017"):
        member = peers.join()
        new = member.broker_id
        broker.eventually(lambda: new in _told(peers), "the new broker is listed")
        name, wanted = broker.unique_topic(), {0: [new, peers.leader], 1: [peers.leader, new]}
        peers.world.create_topic(name, list(wanted.values()), {})
        shown = broker.last_seen(lambda: _replicas(peers, name), lambda seen: seen == wanted)
        assert shown == wanted, f"the replicas are {shown}, not {wanted}"
        member.shut_down()
        broker.eventually(lambda: new not in _told(peers), "the broker that left is not listed")
        answer = broker.list_offset(Topic(name), -1, partition=1)
        expect_error(answer.error_code, ErrorCode.NONE, "a partition on the one that is left")


def _replicas(peers: JoinedCluster, name: str) -> dict[int, list[int]]:
    topic = only(peers.broker.metadata([name]).topics, "topic")
    return {each.partition_index: list(each.replica_nodes) for each in topic.partitions}
