"""A broker's fetchers: one for each other broker that leads partitions with a replica here.

Source: class ReplicaFetcherManager.
"""

from __future__ import annotations

import asyncio
from uuid import UUID

from harness.base.ids import BrokerId, PartitionIndex
from harness.reference_broker.cluster.background import begun
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer
from harness.reference_broker.cluster.replica_fetcher import FetchSettings, ReplicaFetcher
from harness.reference_broker.node import Node
from harness.reference_broker.state.registrations.brokers import Endpoint
from harness.reference_broker.state.registrations.partition_registration import NO_LEADER

_Key = tuple[UUID, PartitionIndex]


class ReplicaFetchers:
    """One fetcher for each leader, started with the first partition that follows it."""

    def __init__(
        self, node: Node, member: NodeMembership, settings: FetchSettings, timeout_ms: int
    ) -> None:
        self._node, self._member, self._settings = node, member, settings
        self._timeout_ms = timeout_ms
        self._running: dict[BrokerId, tuple[ReplicaFetcher, Peer, asyncio.Task[None]]] = {}
        self._leader_of: dict[_Key, BrokerId] = {}

    def moved(self, topic_id: UUID, index: PartitionIndex) -> None:
        """Handle a partition's changed registration, or its deletion."""
        key = (topic_id, index)
        topic = self._node.state.cluster.with_id(topic_id)
        partition = None if topic is None else topic.partition(index)
        leader = NO_LEADER
        if partition is not None and partition.is_here and partition.leading is None:
            leader = partition.registration.leader
        before = self._leader_of.pop(key, NO_LEADER)
        if before not in (NO_LEADER, leader):
            self._leave(before, key)
        if leader == NO_LEADER or partition is None:
            return
        self._leader_of[key] = leader
        self._fetcher(leader).follow(partition)

    def _leave(self, leader: BrokerId, key: _Key) -> None:
        fetcher, peer, task = self._running[leader]
        fetcher.leave(key)
        if fetcher.is_idle:
            task.cancel()
            peer.close()
            del self._running[leader]

    def _fetcher(self, leader: BrokerId) -> ReplicaFetcher:
        if leader not in self._running:
            peer = Peer(
                lambda: self._where(leader),
                f"broker-{self._member.broker_id}-fetcher",
                self._timeout_ms,
                self._member.security_between_brokers,
            )
            fetcher = ReplicaFetcher(self._node, self._member, peer, self._settings)
            task = begun(fetcher.run())
            self._running[leader] = fetcher, peer, task
        return self._running[leader][0]

    def _where(self, leader: BrokerId) -> Endpoint | None:
        return self._member.way_to_broker(self._node.state.brokers.get(leader))

    async def close(self) -> None:
        """Stop all fetchers."""
        running, self._running = self._running, {}
        for _, peer, task in running.values():
            task.cancel()
            peer.close()
        await asyncio.gather(*(task for _, _, task in running.values()), return_exceptions=True)
