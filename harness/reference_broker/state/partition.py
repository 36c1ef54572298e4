"""Leader's side of one partition, on a cluster of one.

Only this file appends to the log and moves the high watermark, which equals the log end offset
as long as there is one replica. Nothing here waits, reads a clock or sends.
"""

from dataclasses import dataclass, field
from uuid import UUID

from harness.codec.error_code import ErrorCode
from harness.codec.records import BatchHeader
from harness.ids import LeaderEpoch, Offset, PartitionIndex, ProducerEpoch, ProducerId, TimeMs
from harness.reference_broker.effects import Effect, PartitionGrew
from harness.reference_broker.state.append_error import AppendRefused
from harness.reference_broker.state.batch_bytes import magic_of
from harness.reference_broker.state.message_set_validation import validate_message_set
from harness.reference_broker.state.partition_log import PartitionLog, StoredBatch
from harness.reference_broker.state.producer_states import (
    AppendedBatch,
    ProducerBatch,
    ProducerStates,
    last_sequence_of,
)
from harness.reference_broker.state.record_validation import Placement, validate_batch
from harness.reference_broker.state.segments import Segments
from harness.reference_broker.state.topic_configs import TopicConfig

_NO_TIMESTAMP = -1
_UP_TO_HIGH_WATERMARK = -1
ONLY_LEADER_EPOCH = LeaderEpoch(0)


@dataclass(frozen=True, slots=True)
class Appended:
    """Where a batch is now. `append_time` is -1 unless the topic uses the broker's clock."""

    base_offset: Offset
    append_time: int
    effects: tuple[Effect, ...]


@dataclass(slots=True)
class Partition:
    """`config` is the topic's; `leader_epoch` stays 0 as no other node can take over."""

    topic_id: UUID
    index: PartitionIndex
    config: TopicConfig
    log: PartitionLog
    producers: ProducerStates
    leader_epoch: LeaderEpoch
    segments: Segments = field(default_factory=Segments)

    @classmethod
    def empty(
        cls, topic_id: UUID, index: PartitionIndex, config: TopicConfig, expiration_ms: int
    ) -> "Partition":
        """A new partition. `expiration_ms` is how long an idle producer is remembered."""
        producers = ProducerStates(expiration_ms)
        return cls(topic_id, index, config, PartitionLog(), producers, ONLY_LEADER_EPOCH)

    @property
    def high_watermark(self) -> Offset:
        """Readers see every record below it."""
        return self.log.end_offset

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
        last_offset = Offset(header.last_offset)
        kept = StoredBatch(
            place.base_offset, last_offset, self.leader_epoch, header.max_timestamp, stored
        )
        self.log.append(kept)
        self.segments.note(kept, self.config, now)
        if header.producer_id >= 0:
            self.producers.remember(
                _producer_batch(header), _appended_batch(header, place.base_offset), now
            )
        append_time = now if self.config.uses_log_append_time else _NO_TIMESTAMP
        grew = PartitionGrew(self.topic_id, self.index)
        return Appended(place.base_offset, append_time, (grew,))

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
        return self.log.start_offset

    def epoch_problem(self, current_leader_epoch: int) -> ErrorCode:
        """What is wrong with the leader epoch that a client believes in; -1 skips the check."""
        if current_leader_epoch < 0 or current_leader_epoch == self.leader_epoch:
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
