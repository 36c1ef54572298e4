"""A broker's fetches from one leader: one connection, one fetch after the other.

Source: classes AbstractFetcherThread, ReplicaFetcherThread and FetchSessionHandler; KIP-227.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from harness.base.ids import BrokerId, Offset, PartitionIndex
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
)
from harness.reference_broker.cluster.membership import NodeMembership
from harness.reference_broker.cluster.peer import Peer, PeerGone
from harness.reference_broker.node import Node
from harness.reference_broker.state.partition.following import (
    FetchPosition,
    append_fetched,
    needs_truncation,
    position_of,
    restart_at,
    truncate,
    truncate_to_leader,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.wall_clock import now_ms

_LOG = logging.getLogger(__name__)
_FETCH_VERSION, _LIST_OFFSETS_VERSION = 17, 9
_LATEST, _EARLIEST = -1, -2
_FIRST_EPOCH, _FINAL_EPOCH = 0, -1
_MOST_EPOCHS = 2**31 - 1
_Key = tuple[UUID, PartitionIndex]


@dataclass(frozen=True, slots=True)
class FetchSettings:
    """The settings `replica.fetch.*`."""

    wait_max_ms: int
    min_bytes: int
    partition_bytes: int
    response_bytes: int
    backoff_ms: int


class ReplicaFetcher:
    """Follows the partitions passed to ``follow``, each from its log's end on."""

    def __init__(
        self, node: Node, member: NodeMembership, leader: Peer, settings: FetchSettings
    ) -> None:
        self._node, self._member, self._leader = node, member, leader
        self._settings = settings
        self._followed: dict[_Key, Partition] = {}
        self._delayed_until: dict[_Key, float] = {}
        self._told: dict[_Key, FetchPosition] = {}
        self._in_sync: set[_Key] = set()
        self._session_id, self._session_epoch = 0, _FIRST_EPOCH
        self._has_work = asyncio.Event()

    @property
    def is_idle(self) -> bool:
        """True if this fetcher follows no partition any more."""
        return not self._followed

    def follow(self, partition: Partition) -> None:
        """Begin to follow a partition, or go on in a new leader epoch."""
        key = (partition.topic_id, partition.index)
        self._followed[key] = partition
        self._delayed_until.pop(key, None)
        self._in_sync.discard(key)
        self._has_work.set()

    def leave(self, key: _Key) -> None:
        """Stop following a partition that has another leader or is gone."""
        self._followed.pop(key, None)
        self._delayed_until.pop(key, None)
        self._in_sync.discard(key)
        if not self._followed:
            self._has_work.clear()

    async def run(self) -> None:
        """Fetch until cancelled."""
        while True:
            await self._has_work.wait()
            try:
                await self._fetch()
            except PeerGone as gone:
                _LOG.info("nothing replicated: %s", gone)
                self._session_id, self._session_epoch = 0, _FIRST_EPOCH
                await asyncio.sleep(self._settings.backoff_ms / 1000)

    async def _fetch(self) -> None:
        positions = self._positions()
        if not positions and self._session_epoch == _FIRST_EPOCH:
            await asyncio.sleep(self._settings.backoff_ms / 1000)
            return
        request = self._request(positions)
        answer = await self._leader.ask(request, _FETCH_VERSION, self._settings.wait_max_ms)
        if answer.error_code != ErrorCode.NONE:
            raise PeerGone(ErrorCode(answer.error_code).name)
        self._note_session(answer, positions)
        for topic in answer.responses:
            for part in topic.partitions:
                key = (topic.topic_id, PartitionIndex(part.partition_index))
                partition, asked = self._followed.get(key), positions.get(key)
                if partition is None or asked is None:
                    continue
                if asked.goes_on_at(position_of(partition)):
                    with suppress(OSError):  # its folder is offline from then on
                        await self._take(key, partition, part)
        self._node.carry_out([])

    def _positions(self) -> dict[_Key, FetchPosition]:
        now = asyncio.get_running_loop().time()
        is_exceeded = self._node.state.follower_quota.is_exceeded(now_ms())
        return {
            key: position_of(partition)
            for key, partition in self._followed.items()
            if self._delayed_until.get(key, 0.0) <= now
            and not partition.log.is_offline
            and not (is_exceeded and key not in self._in_sync and self._is_listed(partition))
        }

    def _is_listed(self, partition: Partition) -> bool:
        """True if the traffic of the replica here counts for the quota of followers."""
        quota, own = self._node.state.follower_quota, BrokerId(self._member.broker_id)
        return quota.is_listed(partition.config, partition.index, own)

    def _request(self, positions: dict[_Key, FetchPosition]) -> FetchRequest:
        """Return the next request: all partitions at first, then the changes within the session."""
        settings = self._settings
        if self._session_epoch == _FIRST_EPOCH:
            self._told = {}
        news = {key: at for key, at in positions.items() if self._told.get(key) != at}
        topics: dict[UUID, list[FetchRequest.FetchPartition]] = {}
        for (topic_id, index), at in news.items():
            wanted = FetchRequest.FetchPartition(
                partition=index,
                current_leader_epoch=at.current_leader_epoch,
                fetch_offset=at.offset,
                last_fetched_epoch=at.last_fetched_epoch,
                log_start_offset=at.log_start_offset,
                partition_max_bytes=settings.partition_bytes,
            )
            topics.setdefault(topic_id, []).append(wanted)
        forgotten: dict[UUID, list[int]] = {}
        for topic_id, index in self._told:
            if (topic_id, index) not in positions:
                forgotten.setdefault(topic_id, []).append(index)
        return FetchRequest(
            replica_state=FetchRequest.ReplicaState(
                replica_id=self._member.broker_id, replica_epoch=self._member.epoch
            ),
            max_wait_ms=settings.wait_max_ms,
            min_bytes=settings.min_bytes,
            max_bytes=settings.response_bytes,
            session_id=self._session_id,
            session_epoch=self._session_epoch,
            topics=[
                FetchRequest.FetchTopic(topic_id=topic_id, partitions=parts)
                for topic_id, parts in topics.items()
            ],
            forgotten_topics_data=[
                FetchRequest.ForgottenTopic(topic_id=topic_id, partitions=parts)
                for topic_id, parts in forgotten.items()
            ],
        )

    def _note_session(self, answer: FetchResponse, positions: dict[_Key, FetchPosition]) -> None:
        self._told = positions
        if not answer.session_id:
            self._session_id, self._session_epoch = 0, _FIRST_EPOCH
        elif self._session_epoch == _FIRST_EPOCH:
            self._session_id, self._session_epoch = answer.session_id, 1
        else:
            self._session_epoch = self._session_epoch % _MOST_EPOCHS + 1

    async def _take(
        self, key: _Key, partition: Partition, part: FetchResponse.PartitionData
    ) -> None:
        error = ErrorCode(part.error_code)
        if error is ErrorCode.OFFSET_OUT_OF_RANGE:
            await self._find_again(partition)
        elif error is not ErrorCode.NONE:
            _LOG.info("%s-%s is not replicated: %s", *key, error.name)
            backoff_s = self._settings.backoff_ms / 1000
            self._delayed_until[key] = asyncio.get_running_loop().time() + backoff_s
        elif part.diverging_epoch.epoch >= 0:
            diverging = part.diverging_epoch
            truncate_to_leader(partition, diverging.epoch, diverging.end_offset)
        elif not needs_truncation(partition):
            self._append(key, partition, part)

    def _append(self, key: _Key, partition: Partition, part: FetchResponse.PartitionData) -> None:
        records, state = part.records or b"", self._node.state
        state.effects += append_fetched(
            partition, records, part.high_watermark, part.log_start_offset, now_ms()
        )
        if self._is_listed(partition):
            state.follower_quota.record(len(records), now_ms())
        if partition.log.end_offset >= part.high_watermark:
            self._in_sync.add(key)
        else:
            self._in_sync.discard(key)

    async def _find_again(self, partition: Partition) -> None:
        """Truncate or restart a log when the leader does not have the fetch offset.

        The leader's log ends earlier, or starts later. Source: fetchOffsetAndTruncate.
        """
        epoch = partition.leader_epoch
        end = await self._leader_offset(partition, _LATEST)
        start = await self._leader_offset(partition, _EARLIEST)
        if partition.leading is not None or partition.leader_epoch != epoch:
            return  # decided anew meanwhile
        if end < partition.log.end_offset:
            truncate(partition, Offset(end))
        elif start > partition.log.end_offset:
            restart_at(partition, Offset(start), now_ms())

    async def _leader_offset(self, partition: Partition, timestamp: int) -> int:
        topic = self._node.state.cluster.with_id(partition.topic_id)
        if topic is None:
            raise PeerGone("the topic is gone")
        asked = ListOffsetsRequest.ListOffsetsPartition(
            partition_index=partition.index,
            current_leader_epoch=partition.leader_epoch,
            timestamp=timestamp,
        )
        request = ListOffsetsRequest(
            replica_id=self._member.broker_id,
            topics=[ListOffsetsRequest.ListOffsetsTopic(name=topic.name, partitions=[asked])],
        )
        answer = await self._leader.ask(request, _LIST_OFFSETS_VERSION)
        (found,) = answer.topics[0].partitions
        if found.error_code != ErrorCode.NONE:
            raise PeerGone(ErrorCode(found.error_code).name)
        return found.offset
