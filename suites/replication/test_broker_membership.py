"""BROK, ISR: brokers that join, move and leave, as the other brokers see them."""

from __future__ import annotations

from functools import partial

from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import UnregisterBrokerRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.partition import WatchedPartition
from harness.virtual_broker.peer_endpoint import Address
from suites.replication.support.expect import expect_error

SESSION_MS = 6000
FIRST, SECOND = ("127.0.0.1", 9), ("localhost", 13)
"""Addresses that a virtual broker registers; no client connects to them."""


def _told(peers: JoinedCluster) -> dict[int, Address]:
    """Brokers that Metadata lists, and where."""
    listed = peers.broker.metadata([]).brokers
    return {each.node_id: (each.host, each.port) for each in listed}


@judges("BROK-004")
@needs_broker(
    Use.JOINABLE,
    {"broker.session.timeout.ms": str(SESSION_MS), "broker.heartbeat.interval.ms": "300"},
)
def test_metadata_after_broker_moves_lists_new_address(peers: JoinedCluster) -> None:
    """Another process registers the same id at another host and port, after the first one has left.

    The test creates a topic before each look: the oldest brokers return a new broker only with the
    next topic.
    """
    member = peers.join(FIRST)
    broker, name = peers.broker, member.broker_id
    with_it = peers.partition([member])
    before = broker.last_seen(lambda: _told(peers).get(name), lambda told: told is not None)
    with requirement("BROK-004"):
        assert before == FIRST, f"it is told to be at {before}, it is at {FIRST}"
        member.shut_down()
        with_it.await_isr(peers.leader)
        member.move(SECOND)
        peers.partition([member])
        now = broker.last_seen(
            lambda: _told(peers).get(name), lambda told: told not in (None, FIRST)
        )
        assert now == SECOND, f"it is told to be at {now}, it has moved to {SECOND}"


@judges("BROK-017")
@needs_broker(Use.JOINABLE)
def test_broker_joins_gets_partitions_and_leaves_running_cluster(peers: JoinedCluster) -> None:
    """The broker is listed, has partitions, and is gone again; no other broker changes."""
    broker = peers.broker
    with requirement("BROK-017"):
        member = peers.join()
        new = member.broker_id
        name, both = broker.unique_topic(), sorted([new, peers.leader])
        peers.world.create_topic(name, [[new, peers.leader], [peers.leader, new]], {})
        wanted = {0: (new, both), 1: (peers.leader, both)}
        shown = broker.last_seen(lambda: _led(peers, name), wanted.__eq__)
        assert shown == wanted, f"leaders and replicas are {shown}, not {wanted}"
        broker.eventually(lambda: new in _told(peers), "the new broker is listed")
        member.shut_down()
        broker.eventually(lambda: new not in _told(peers), "the broker that left is not listed")
        answer = broker.list_offset(Topic(name), -1, partition=1)
        expect_error(answer.error_code, ErrorCode.NONE, "a partition on the one that is left")


@judges("ISR-016")
@needs_broker(Use.JOINABLE)
def test_unregistered_broker_leaves_every_isr_and_leads_nothing(peers: JoinedCluster) -> None:
    """It follows one partition and leads another; a second follower stays in sync."""
    member, other = peers.joined(), peers.joined()
    followed, led = peers.partition([member, other]), peers.beside(member, other)
    real = peers.leader
    with requirement("ISR-016") as check:
        answer = peers.broker.ask(UnregisterBrokerRequest(broker_id=member.broker_id))
        expect_error(answer.error_code, ErrorCode.NONE, "UnregisterBroker")
        for what, partition in (("followed", followed), ("led", led)):
            with check.subtest(f"the partition that it {what}"):
                wanted = (real, tuple(sorted((real, other.broker_id))))
                shown = peers.broker.last_seen(partial(_leader_and_isr, partition), wanted.__eq__)
                assert shown == wanted, f"leader and ISR are {shown}, not {wanted}"


def _leader_and_isr(partition: WatchedPartition) -> tuple[int, tuple[int, ...]]:
    state = partition.state()
    return state.leader, tuple(sorted(state.isr))


def _led(peers: JoinedCluster, name: str) -> dict[int, tuple[int, list[int]]]:
    """Return each partition's leader and sorted replicas; the oldest brokers do not order them."""
    topic = only(peers.broker.metadata([name]).topics, "topic")
    return {
        each.partition_index: (each.leader_id, sorted(each.replica_nodes))
        for each in topic.partitions
    }
