"""Leader's side of one partition, on a cluster of one.

Only this file appends to the log and moves the high watermark, which equals the log end offset
as long as there is one replica. Nothing here waits, reads a clock or sends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.records import BatchHeader
from harness.ids import LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, TimeMs
from harness.reference_broker.effects import Effect, PartitionGrew
from harness.reference_broker.state.append_error import AppendRefused
from harness.reference_broker.state.batch_bytes import magic_of
from harness.reference_broker.state.message_set_validation import validate_message_set
from harness.reference_broker.state.old_formats import as_messages
from harness.reference_broker.state.partition_log import PartitionLog, StoredBatch
from harness.reference_broker.state.producer_states import (
    ActiveProducer,
    AppendedBatch,
    ProducerBatch,
    ProducerStates,
    last_sequence_of,
)
from harness.reference_broker.state.record_validation import Placement, validate_batch
from harness.reference_broker.state.segments import Segment, Segments
from harness.reference_broker.state.topic_configs import TopicConfig

_NO_TIMESTAMP = -1
_NO_EPOCH = -1
_UP_TO_HIGH_WATERMARK = -1
_NO_LEADER_EPOCH = -1
_BEGIN = Offset(0)
ONLY_LEADER_EPOCH = LeaderEpoch(0)


class Appended(NamedTuple):
    """Where a batch is now. `append_time` is -1 unless the topic uses the broker's clock."""

    base_offset: Offset
    append_time: int
    effects: tuple[Effect, ...]


@dataclass(slots=True)
class Partition:
    """`config` is the topic's; `leader_epoch` stays 0 as no other node can take over.

    The log is compacted below `first_dirty`; not any more when it `is_uncleanable`.
    """

    topic_id: UUID
    index: PartitionIndex
    config: TopicConfig
    log: PartitionLog
    producers: ProducerStates
    leader_epoch: LeaderEpoch
    segments: Segments = field(default_factory=Segments)
    first_dirty: Offset = _BEGIN
    is_uncleanable: bool = False

    @classmethod
    def empty(
        cls,
        topic_id: UUID,
        index: PartitionIndex,
        config: TopicConfig,
        producers: ProducerStates,
    ) -> "Partition":
        """A new partition; `producers` are none yet."""
        return cls(topic_id, index, config, PartitionLog(), producers, ONLY_LEADER_EPOCH)

    @property
    def high_watermark(self) -> Offset:
        """Readers see every record below it."""
        return self.log.end_offset

    def segment_end(self, offset: Offset) -> Offset | None:
        """Where the segment ends from which `offset` is read; None in the last one."""
        return self.segments.end_of(self.log.first_base(offset))

    def append(self, batch: bytes, now: TimeMs) -> Appended:
        """Validate and append a client's batch, or its message set. Raises AppendRefused.

        A batch that repeats one of the producer's last five is not appended again: the answer
        tells where the first copy is (KIP-98).
        """
        place = Placement(self.log.end_offset, self.leader_epoch, now)
        validate = validate_batch if magic_of(batch) == 2 else validate_message_set
        stored = validate(batch, self.config, place)
        header = BatchHeader.read(stored)
        self.producers.expire(now)
        duplicate = self._check_producer(header)
        if duplicate is not None:
            return Appended(duplicate.base_offset, duplicate.max_timestamp, ())
        for kept in self._as_kept(stored, header):
            self.log.append(kept)
            self.segments.note(kept, self.config, now)
        if header.producer_id >= 0:
            self.producers.remember(
                _producer_batch(header), _appended_batch(header, place.base_offset)
            )
        append_time = now if self.config.uses_log_append_time else _NO_TIMESTAMP
        grew = PartitionGrew(self.topic_id, self.index)
        return Appended(place.base_offset, append_time, (grew,))

    def _as_kept(self, stored: bytes, header: BatchHeader) -> list[StoredBatch]:
        """In the format of the topic. Raises AppendRefused."""
        magic, epoch = self.config.message_magic, self.leader_epoch
        if magic < header.magic:
            return as_messages(stored, magic, epoch)
        first, last = Offset(header.base_offset), Offset(header.last_offset)
        return [StoredBatch(first, last, epoch, header.max_timestamp, stored)]

    def _check_producer(self, header: BatchHeader) -> AppendedBatch | None:
        if header.producer_id < 0:
            return None
        batch = _producer_batch(header)
        duplicate = self.producers.duplicate_of(batch)
        if duplicate is not None:
            return duplicate
        problem = self.producers.problem_with(batch)
        if problem is not ErrorCode.NONE:
            raise AppendRefused(
                problem,
                tells_log_start=True,
                reason=f"producer {header.producer_id} with epoch {header.producer_epoch} may not "
                f"go on with sequence {header.base_sequence}",
            )
        return None

    def active_producers(self, now: TimeMs) -> list[ActiveProducer]:
        """Whose batches are remembered, so that they would be known again."""
        self.producers.expire(now)
        return self.producers.active()

    def delete_records(self, below: int) -> Offset | ErrorCode:
        """Move the log start up to `below`, -1 for the high watermark; tells where it is then.

        Source: KIP-107, class Partition (deleteRecordsOnLeader).
        """
        if self.config.is_only_compacted:
            return ErrorCode.POLICY_VIOLATION
        offset = self.high_watermark if below == _UP_TO_HIGH_WATERMARK else below
        if not 0 <= offset <= self.high_watermark:
            return ErrorCode.OFFSET_OUT_OF_RANGE
        if offset > self.log.start_offset:
            self.log.delete_below(Offset(offset))
            self.producers.forget_below(self.log.start_offset)
        return self.log.start_offset

    def drop_segments(self, count: int, now: TimeMs) -> None:
        """Forget the oldest segments with their records; the log starts behind them."""
        begin = self.segments.drop_oldest(count, self.log.end_offset, now)
        if begin > self.log.start_offset:
            self.log.delete_below(begin)
            self.producers.forget_below(begin)

    def take_compacted(
        self,
        first_dirty: Offset,
        end: Offset,
        batches: Sequence[StoredBatch],
        segments: Sequence[Segment],
    ) -> None:
        """Put what is left of all below `end` in place, as far as it was not deleted meanwhile."""
        start = self.log.start_offset
        left = [batch for batch in batches if batch.last_offset >= start]
        self.log.replace_below(end, left)
        self.segments.replace_below(end, segments)
        self.first_dirty = first_dirty

    def end_of_epoch(self, leader_epoch: int) -> tuple[int, int] | None:
        """Where an epoch ends, and which one that is; None for one that is not known.

        Source: KIP-101, class LeaderEpochFileCache (endOffsetFor).
        """
        if leader_epoch == self.leader_epoch:
            return leader_epoch, self.log.end_offset
        if leader_epoch > self.leader_epoch or leader_epoch == _NO_EPOCH:
            return None
        return leader_epoch, self.log.start_offset  # from before the first that is known

    def epoch_problem(self, current_leader_epoch: int) -> ErrorCode:
        """What is wrong with the leader epoch that a client believes in; -1 skips the check."""
        if current_leader_epoch in (_NO_LEADER_EPOCH, self.leader_epoch):
            return ErrorCode.NONE
        if current_leader_epoch < self.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        return ErrorCode.UNKNOWN_LEADER_EPOCH


def _producer_batch(header: BatchHeader) -> ProducerBatch:
    return ProducerBatch(
        ProducerId(header.producer_id),
        ProducerEpoch(header.producer_epoch),
        header.base_sequence,
        last_sequence_of(header.base_sequence, header.last_offset_delta),
    )


def _appended_batch(header: BatchHeader, base_offset: Offset) -> AppendedBatch:
    batch = _producer_batch(header)
    return AppendedBatch(
        batch.first_sequence, batch.last_sequence, base_offset, header.max_timestamp
    )
