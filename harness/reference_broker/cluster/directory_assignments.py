"""A broker's reports to the controller of the directory of each replica, present or future.

Source: class AssignmentsManager; KIP-858.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from uuid import UUID

from harness.base.ids import PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AssignReplicasToDirsRequest, AssignReplicasToDirsResponse
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.node import Node
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.replica_moves.log_moving import directory_is_known

_LOG = logging.getLogger(__name__)
_VERSION = 0
_RETRY_S, _MOST_RETRY_S = 0.1, 10.0
_MOST = 2_250  # of one request
_Key = tuple[UUID, PartitionIndex]
_Request = AssignReplicasToDirsRequest


class DirectoryAssignments:
    """Sends at most one request at a time, and repeats refused assignments."""

    def __init__(self, node: Node, member: NodeMembership, controller: Peer) -> None:
        self._node, self._member, self._controller = node, member, controller
        self._pending: dict[_Key, UUID] = {}
        self._is_wanted = asyncio.Event()

    def tell(self, topic_id: UUID, index: PartitionIndex, directory: UUID) -> None:
        """Report that a replica is in this directory, or will be."""
        self._pending[topic_id, index] = directory
        self._is_wanted.set()

    def look_at(self, topic_id: UUID, index: PartitionIndex) -> None:
        """Report the replica's directory if the partition's changed registration has another."""
        partition, host = self._replica((topic_id, index)), self._node.state.cluster.host
        if partition is None or host.storage is None or partition.future is not None:
            return  # the end of a move is looked at too
        directory = host.storage.directory_of(partition.name)
        if directory == partition.registration.directory_of(host.own):
            self._pending.pop((topic_id, index), None)
        elif directory is not None:
            self.tell(topic_id, index, directory)

    def _replica(self, key: _Key) -> Partition | None:
        topic = self._node.state.cluster.with_id(key[0])
        partition = None if topic is None else topic.partition(key[1])
        return partition if partition is not None and partition.is_here else None

    async def run(self) -> None:
        """Send requests until cancelled; the pause before a repeated one doubles each time."""
        retry_s = _RETRY_S
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            told = self._take()
            if not told:
                continue
            try:
                answer = await self._controller.ask(self._request(told), _VERSION)
                again = self._settle(told, answer)
            except PeerGone as gone:
                _LOG.info("no answer to where replicas are: %s", gone)
                again = list(told)
            if again or self._pending:
                await asyncio.sleep(retry_s if again else 0)
                for key in again:
                    self._pending.setdefault(key, told[key])
                self._is_wanted.set()
            retry_s = min(2 * retry_s, _MOST_RETRY_S) if again else _RETRY_S

    def _take(self) -> dict[_Key, UUID]:
        """Take the next assignments of partitions that still have a replica here."""
        told: dict[_Key, UUID] = {}
        while self._pending and len(told) < _MOST:
            key = next(iter(self._pending))
            directory = self._pending.pop(key)
            if self._replica(key) is not None:
                told[key] = directory
        return told

    def _request(self, told: dict[_Key, UUID]) -> AssignReplicasToDirsRequest:
        directories: dict[UUID, dict[UUID, list[_Request.PartitionData]]] = {}
        for (topic_id, index), directory in told.items():
            topics = directories.setdefault(directory, {})
            topics.setdefault(topic_id, []).append(_Request.PartitionData(partition_index=index))
        return _Request(
            broker_id=self._member.broker_id,
            broker_epoch=self._member.epoch,
            directories=[
                _Request.DirectoryData(
                    id=directory,
                    topics=[
                        _Request.TopicData(topic_id=topic_id, partitions=partitions)
                        for topic_id, partitions in topics.items()
                    ],
                )
                for directory, topics in directories.items()
            ],
        )

    def _settle(
        self, told: dict[_Key, UUID], answer: AssignReplicasToDirsResponse
    ) -> Iterable[_Key]:
        """Apply an answer; return the assignments to repeat."""
        if answer.error_code != ErrorCode.NONE:
            _LOG.info("where replicas are is refused: %s", ErrorCode(answer.error_code).name)
            return list(told)
        known = {
            (topic.topic_id, PartitionIndex(one.partition_index))
            for directory in answer.directories
            for topic in directory.topics
            for one in topic.partitions
            if one.error_code == ErrorCode.NONE
        }
        for key in known.intersection(told):
            directory_is_known(self._node.state.cluster, key, told[key])
        return [key for key in told if key not in known]
