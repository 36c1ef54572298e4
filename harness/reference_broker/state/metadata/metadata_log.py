"""The controller's log, ``__cluster_metadata``: records as Kafka writes them, read by fetching.

Source: KIP-500, KIP-595, KIP-631; class MetadataVersion (which version each record has).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import UUID

from harness.base.ids import BrokerId, LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.reference_broker.effects import Effect, PartitionGrew
from harness.reference_broker.state.log.stored_batch import stored_batches
from harness.reference_broker.state.metadata.metadata_batches import (
    MetadataReading,
    control_batch,
    leader_change,
    record_batch,
)
from harness.reference_broker.state.metadata.metadata_fold import MetadataFold
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.topic import TopicState
from harness.reference_broker.state.topics.topic_names import CLUSTER_METADATA_TOPIC

if TYPE_CHECKING:
    from harness.codec.structs import Message
    from harness.reference_broker.state.broker import BrokerState
    from harness.reference_broker.state.partition.partition import Partition

METADATA_TOPIC_ID = UUID(int=1)
_SEGMENT_BYTES = 2**30
_CONFIG = {"flush.messages": "1"}
"""The log is flushed to the disk before a decision is published (KafkaRaftLog, flush)."""
_NONE = LeaderEpoch(0)


class MetadataLog:
    """The controller's decisions, in order. As the only replica it commits every record."""

    def __init__(
        self, state: BrokerState, now: TimeMs, segment_bytes: int = _SEGMENT_BYTES
    ) -> None:
        """The log is fetched from the state's cluster, in which it is not listed."""
        config = state.topic_config({**_CONFIG, "segment.bytes": str(segment_bytes)})
        topic = TopicState(CLUSTER_METADATA_TOPIC, METADATA_TOPIC_ID, config, partitions=[])
        own = state.cluster.host.own  # a controller that is no broker leads its own log too
        self._registration = PartitionRegistration.new([own], [own])
        self._partition: Partition = state.cluster.add_partition(
            topic, PartitionIndex(0), self._registration, now
        )
        state.cluster.unlisted = topic
        self.reading, self.fold = MetadataReading(), MetadataFold()

    @property
    def size_bytes(self) -> int:
        """The size of the whole log."""
        return self._partition.log.size_bytes

    @property
    def last_epoch(self) -> LeaderEpoch:
        """The epoch of the last batch; 0 for an empty log, as no leader has that epoch."""
        latest = self._partition.epochs.latest
        return _NONE if latest is None else latest

    def begin_epoch(self, epoch: LeaderEpoch, leader: BrokerId, now: TimeMs) -> list[Effect]:
        """Begin the only voter's leadership with a LeaderChange record."""
        partition = self._partition
        partition.register(replace(self._registration, leader_epoch=epoch), now)
        said = control_batch(leader_change(leader), self.end_offset, epoch, now)
        (kept,) = stored_batches(said)
        partition.epochs.appended(kept.leader_epoch, kept.base_offset)
        partition.log.append(kept, partition.config, now)
        partition.advance(now)
        return [PartitionGrew(partition.topic_id, partition.index)]

    def records(self, begin: Offset | None = None) -> Iterator[tuple[Offset, list[Message]]]:
        """Yield all records, or those from `begin` on, by batch with the offset behind each batch.

        Raises DecodeError, RecordsError.
        """
        log = self._partition.log
        begin = log.start_offset if begin is None else begin
        for batch in log.between(begin, log.end_offset):
            for end, records in self.reading.records(batch.data):
                self.fold.take(records)
                yield end, records

    def snapshot_records(self, data: bytes) -> Iterator[list[Message]]:
        """Yield a snapshot's records; the log follows on them. Raises as `records` does."""
        for _, records in self.reading.records(data):
            self.fold.take(records)
            yield records

    def delete_below(self, offset: Offset, now: TimeMs) -> None:
        """Move the log start to `offset`; a snapshot contains the records below. Raises OSError."""
        segments = self._partition.segments
        ends = [segments.end_of(one.base_offset) for one in segments.all()]
        self._partition.drop_segments(sum(end is not None and end <= offset for end in ends), now)
        self._partition.start_at(offset)

    def restart_at(self, offset: Offset, now: TimeMs) -> None:
        """Empty the log and go on at `offset`, the end of a snapshot that reaches beyond the log
        (KafkaRaftLog, truncateToLatestSnapshot)."""
        self._partition.log.restart_at(offset, now)

    @property
    def start_offset(self) -> Offset:
        """The log start offset; a snapshot contains the records below it."""
        return self._partition.log.start_offset

    @property
    def end_offset(self) -> Offset:
        """The offset of the next record."""
        return self._partition.log.end_offset

    def append(self, records: Sequence[Message], now: TimeMs) -> list[Effect]:
        """Write one batch."""
        if not records:
            return []
        self.fold.take(records)
        return list(self._partition.append(record_batch(records, now), now).effects)
