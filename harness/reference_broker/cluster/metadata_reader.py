"""A broker reads the controller's log by fetching it, and does what its records say.

Source: KIP-500, KIP-595 (an observer of the log), class BrokerMetadataPublisher.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from harness.base.ids import Offset
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    FetchRequest,
    FetchResponse,
)
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.cluster.snapshot_fetching import fetch_snapshot
from harness.reference_broker.node import Node
from harness.reference_broker.state.metadata.metadata_batches import UNREADABLE, MetadataReading
from harness.reference_broker.state.metadata.metadata_fold import MetadataFold
from harness.reference_broker.state.metadata.metadata_image import apply_records, begin_replicas
from harness.reference_broker.state.metadata.metadata_log import METADATA_TOPIC_ID
from harness.reference_broker.state.metadata.snapshot_removals import removals
from harness.reference_broker.wall_clock import now_ms

_LOG = logging.getLogger(__name__)
_VERSION = 17
_WAIT_MS = 500
_MAX_BYTES = 8 * 1024 * 1024
_RETRY_S = 0.1


class MetadataReader:
    """``caught_up`` is called when all that there was had been read."""

    def __init__(
        self, node: Node, member: NodeMembership, controller: Peer, caught_up: Callable[[], None]
    ) -> None:
        self._node, self._member, self._controller = node, member, controller
        self._caught_up = caught_up
        self._offset, self._reading, self._fold = 0, MetadataReading(), MetadataFold()

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                answer = await self._controller.ask(self._request(), _VERSION, _WAIT_MS)
                part = self._part_of(answer)
                if part.snapshot_id.end_offset >= 0:
                    await self._take_snapshot(part.snapshot_id)
                else:
                    self._take(part)
            except PeerGone as gone:
                _LOG.info("no metadata: %s", gone)
                await asyncio.sleep(_RETRY_S)

    def _request(self) -> FetchRequest:
        partition = FetchRequest.FetchPartition(
            partition=0,
            fetch_offset=self._offset,
            partition_max_bytes=_MAX_BYTES,
            current_leader_epoch=-1,
        )
        return FetchRequest(
            replica_state=FetchRequest.ReplicaState(replica_id=self._member.broker_id),
            max_wait_ms=_WAIT_MS,
            min_bytes=1,
            max_bytes=_MAX_BYTES,
            topics=[FetchRequest.FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])],
            session_epoch=-1,
        )

    def _part_of(self, answer: FetchResponse) -> FetchResponse.PartitionData:
        if answer.error_code != ErrorCode.NONE or not answer.responses:
            raise PeerGone(f"metadata: {ErrorCode(answer.error_code).name}")
        (part,) = answer.responses[0].partitions
        if part.error_code != ErrorCode.NONE:
            raise PeerGone(f"metadata: {ErrorCode(part.error_code).name}")
        return part

    def _take(self, part: FetchResponse.PartitionData) -> None:
        try:
            for end, records in self._reading.records(part.records or b""):
                self._fold.take(records)
                apply_records(self._node.state, records, now_ms())
                self._read_up_to(end)
        except UNREADABLE as error:
            raise PeerGone(f"metadata that cannot be read: {error}") from error
        state = self._node.state
        if self._offset >= part.high_watermark:
            if not state.cluster.host.has_begun:
                begin_replicas(state, now_ms())
            self._caught_up()
        self._node.carry_out([])

    async def _take_snapshot(self, wanted: FetchResponse.SnapshotId) -> None:
        """The log does not begin where it is to be read from; what is below its start is here."""
        data = await fetch_snapshot(self._controller, self._member, wanted)
        try:
            told = [one for _, some in MetadataReading().records(data) for one in some]
        except UNREADABLE as error:
            raise PeerGone(f"a snapshot that cannot be read: {error}") from error
        snapshot = MetadataFold()
        snapshot.take(told)
        removed, self._fold = removals(self._fold, snapshot), snapshot
        apply_records(self._node.state, [*removed, *told], now_ms())
        self._read_up_to(Offset(wanted.end_offset))
        self._node.carry_out([])

    def _read_up_to(self, end: Offset) -> None:
        self._offset = end
        self._member.metadata_offset = end - 1
        self._node.state.cluster.host.broker_epoch = self._member.epoch
