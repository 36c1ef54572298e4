"""Partition 0 of a replicated topic: its leader as each broker names it, and its ISR."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from kazoo.client import KazooClient

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import MetadataRequest, MetadataResponse
from harness.targets.target import Target
from tests.targets.round_trip import eventually

STATE = "/brokers/topics/{}/partitions/0/state"
ANSWER_TIMEOUT_MS = 20_000  # a topic that is made by the question has been seen to take seven


class WatchedPartition:
    """``zookeeper``: a session with the one of the cluster; None without one.

    The ISR in Metadata lags behind by seconds before 3.9, and is never refreshed in 0.8
    (KAFKA-1367), so a cluster with a ZooKeeper is observed there.
    """

    def __init__(self, target: Target, topic: str, zookeeper: KazooClient | None) -> None:
        self._target, self._topic, self._zookeeper = target, topic, zookeeper

    def leader_by(self, node: int) -> int | None:
        """The leader as this broker names it; None without one, or if it is not known yet."""
        leader = self._told(node).leader_id
        return leader if leader >= 0 else None

    def _told(self, node: int) -> MetadataResponse.MetadataResponsePartition:
        wanted = [MetadataRequest.MetadataRequestTopic(name=self._topic)]
        address = self._target.address_of(node)
        with Connection(address, timeout_ms=ANSWER_TIMEOUT_MS) as connection:
            answer = connection.ask(MetadataRequest(topics=wanted), 0)
        (topic,) = answer.topics
        if topic.error_code != ErrorCode.NONE or not topic.partitions:
            return MetadataResponse.MetadataResponsePartition(leader_id=-1)
        return topic.partitions[0]

    def isr(self, by: int) -> set[int]:
        """Its replicas in sync, from ZooKeeper or from this broker."""
        if self._zookeeper is None:
            return set(self._told(by).isr_nodes)
        content, _ = self._zookeeper.get(STATE.format(self._topic))
        return set(json.loads(content)["isr"])

    def await_isr(self, isr: set[int], by: int) -> None:
        eventually(lambda: True if self.isr(by) == isr else None, f"the ISR is {isr}")

    def await_agreement(self) -> int:
        """Wait until brokers name one leader and all replicas are in sync; return the leader."""
        every = self._target.nodes

        def agreed() -> int | None:
            leaders = {self.leader_by(node) for node in every}
            whole = all(self.isr(node) == set(every) for node in every)
            return leaders.pop() if whole and len(leaders) == 1 else None

        return eventually(agreed, "all brokers name one leader, and all replicas are in sync")


@contextmanager
def watched(target: Target, topic: str) -> Iterator[WatchedPartition]:
    """A partition of a started cluster, in which the first request for a topic creates it."""
    if target.zookeeper is None:
        yield WatchedPartition(target, topic, None)
        return
    session = KazooClient(hosts=str(target.zookeeper))
    try:
        session.start(timeout=ANSWER_TIMEOUT_MS / 1000)
        partition = WatchedPartition(target, topic, session)
        eventually(lambda: partition.leader_by(target.nodes[0]), f"{topic} is led")
        yield partition
    finally:
        session.stop()
        session.close()
