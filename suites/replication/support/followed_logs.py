"""Partition 0 of an internal topic, which a virtual broker follows."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.errors import PreparationFailed
from harness.client.only import only
from harness.client.preparing import preparing
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterPartitionReassignmentsRequest
from harness.virtual_broker.cluster import JoinedCluster
from harness.virtual_broker.membership import Membership
from harness.virtual_broker.partition import WatchedPartition
from suites.replication.support.elections import elect_preferred


def followed_log(peers: JoinedCluster, follower: Membership, name: str) -> WatchedPartition:
    """Return the partition, moved so that this broker follows it, which is in sync.

    The topic has one partition, and is there before the virtual broker joins.
    """
    broker, replicas = peers.broker, (peers.leader, follower.broker_id)
    known = only(broker.metadata([name]).topics, "topic")
    topic, version = Topic(name, known.topic_id), broker.version("Fetch")
    log = WatchedPartition(broker, peers.world, topic, peers.leader, replicas, version)
    _move(broker, name, list(replicas))
    broker.eventually(
        lambda: follower.broker_id in _replicas(broker, name),
        f"{follower.broker_id} has a replica",
    )
    for offset in (0, log.log_end()):
        log.follow(follower, offset)
    log.await_isr(*replicas)
    return log


def let_follower_lead(log: WatchedPartition, follower: Membership) -> None:
    """Elect this broker, which is in sync, as the leader of the log."""
    first = [follower.broker_id, *(each for each in log.replicas if each != follower.broker_id)]
    _move(log.broker, log.topic.name, first)
    log.broker.eventually(
        lambda: _replicas(log.broker, log.topic.name) == first, f"{first} are the replicas"
    )
    elect_preferred(log.broker, log, follower.broker_id)


def _move(broker: BrokerUnderTest, name: str, replicas: list[int]) -> None:
    kinds = AlterPartitionReassignmentsRequest
    wanted = kinds.ReassignablePartition(partition_index=0, replicas=replicas)
    topic = kinds.ReassignableTopic(name=name, partitions=[wanted])
    with preparing("AlterPartitionReassignments"):
        answer = broker.ask(kinds(topics=[topic], timeout_ms=10_000))
    code = only(only(answer.responses, "topic").partitions, "partition").error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"AlterPartitionReassignments: {ErrorCode.describe(code)}", code)


def _replicas(broker: BrokerUnderTest, name: str) -> list[int]:
    partitions = only(broker.metadata([name]).topics, "topic").partitions
    return list(only(partitions, "partition").replica_nodes)
