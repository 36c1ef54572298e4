"""A leader's proposals of ISRs, one request at a time.

Source: classes DefaultAlterPartitionManager and Partition (submitAlterPartition); KIP-497.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from uuid import UUID

from harness.base.ids import BrokerId, PartitionIndex, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.messages import AlterPartitionRequest, AlterPartitionResponse
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.effects import PartitionGrew
from harness.reference_broker.node import Node
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.registrations.partition_registration import ids_of
from harness.reference_broker.wall_clock import now_ms

_LOG = logging.getLogger(__name__)
_VERSION = 3
_RETRY_S = 0.05
_Key = tuple[UUID, PartitionIndex]
_Proposed = tuple[Partition, frozenset[BrokerId]]
_Asked = AlterPartitionRequest.PartitionData
_BACK_TO_COMMITTED = frozenset({ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED})
_METADATA_WILL_TELL = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
    }
)


class IsrProposals:
    """Sends at most one request at a time, and repeats proposals that were refused temporarily."""

    def __init__(self, node: Node, member: NodeMembership, controller: Peer) -> None:
        self._node, self._member, self._controller = node, member, controller
        self._pending: dict[_Key, None] = {}
        self._is_wanted = asyncio.Event()

    def propose(self, topic_id: UUID, index: PartitionIndex) -> None:
        """Send the proposal of the partition's leader."""
        self._pending[topic_id, index] = None
        self._is_wanted.set()

    async def run(self) -> None:
        """Send proposals until cancelled."""
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            asked = self._take()
            if not asked:
                continue
            try:
                answer = await self._controller.ask(self._request(asked), _VERSION)
                again = self._settle(asked, answer)
            except PeerGone as gone:
                _LOG.info("no answer to a proposal: %s", gone)
                again = list(asked)
            if again:
                await asyncio.sleep(_RETRY_S)
                for key in again:
                    self.propose(*key)

    def _take(self) -> dict[_Key, _Proposed]:
        """Take the queued partitions that still have a proposal."""
        keys, self._pending = self._pending, {}
        found = {key: self._partition(key) for key in keys}
        return {
            key: (one, one.leading.proposed)
            for key, one in found.items()
            if one is not None and one.leading is not None and one.leading.proposed is not None
        }

    def _partition(self, key: _Key) -> Partition | None:
        topic = self._node.state.cluster.with_id(key[0])
        return None if topic is None else topic.partition(key[1])

    def _request(self, asked: dict[_Key, _Proposed]) -> AlterPartitionRequest:
        topics: dict[UUID, list[_Asked]] = {}
        for (topic_id, _), (partition, _) in asked.items():
            topics.setdefault(topic_id, []).append(proposal(partition, self._member.epoch))
        return AlterPartitionRequest(
            broker_id=self._member.broker_id,
            broker_epoch=self._member.epoch,
            topics=[
                AlterPartitionRequest.TopicData(topic_id=topic_id, partitions=partitions)
                for topic_id, partitions in topics.items()
            ],
        )

    def _settle(
        self, asked: dict[_Key, _Proposed], answer: AlterPartitionResponse
    ) -> Iterable[_Key]:
        """Apply accepted proposals; return those to send again."""
        if answer.error_code != ErrorCode.NONE:
            _LOG.info("proposals refused: %s", ErrorCode(answer.error_code).name)
            return list(asked)
        told = {
            (topic.topic_id, PartitionIndex(one.partition_index)): one
            for topic in answer.topics
            for one in topic.partitions
        }
        again = []
        for key, (partition, proposed) in asked.items():
            if partition.leading is None or partition.leading.proposed != proposed:
                continue  # the metadata has brought another state meanwhile
            result = told.get(key)
            if result is None or not settled(partition, result, now_ms()):
                again.append(key)
        self._node.carry_out([PartitionGrew(*key) for key in asked])
        return again


def proposal(partition: Partition, own_epoch: int) -> AlterPartitionRequest.PartitionData:
    """Return the partition's part of an AlterPartition request, with the leader's proposal."""
    leading = partition.leading
    assert leading is not None
    assert leading.proposed is not None
    epochs = leading.broker_epochs_of(leading.proposed, own_epoch)
    return _Asked(
        partition_index=partition.index,
        leader_epoch=leading.epoch,
        partition_epoch=leading.partition_epoch,
        new_isr_with_epochs=[
            AlterPartitionRequest.BrokerState(broker_id=broker_id, broker_epoch=epoch)
            for broker_id, epoch in epochs.items()
        ],
    )


def settled(
    partition: Partition, result: AlterPartitionResponse.PartitionData, now: TimeMs
) -> bool:
    """Apply an answer to the current proposal; False if the leader must send it again."""
    leading, error = partition.leading, ErrorCode(result.error_code)
    assert leading is not None
    if error is ErrorCode.NONE:
        is_ours = result.leader_epoch == leading.epoch
        if is_ours and result.partition_epoch >= leading.partition_epoch:
            leading.committed(frozenset(ids_of(result.isr)), result.partition_epoch)
            partition.advance(now)
        return True
    if error in _BACK_TO_COMMITTED:
        leading.proposed = None
        return True
    return error in _METADATA_WILL_TELL
