"""One replica of a partition, as a leader or as a follower.

Only this file and `following.py` append to the log and move the high watermark; the batches of
`coordinator_append.py` pass through here. Nothing here waits, reads a clock or sends. Source: class
Partition.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from harness.base.ids import (
    BrokerId,
    LeaderEpoch,
    Offset,
    PartitionIndex,
    TimeMs,
)
from harness.codec.error_code import ErrorCode
from harness.codec.records import BatchHeader
from harness.reference_broker.effects import Effect, IsrProposed, PartitionGrew, ReplicaMoved
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.log.batch_bytes import magic_of
from harness.reference_broker.state.log.leader_epochs import EpochEnd, LeaderEpochs
from harness.reference_broker.state.log.log_store import Log, LogName, OpenedLog
from harness.reference_broker.state.log.partition_log import PartitionLog
from harness.reference_broker.state.log.segments import Segments
from harness.reference_broker.state.log.stored_batch import StoredBatch, remember_producer
from harness.reference_broker.state.partition.leading import ANY_EPOCH, Leading
from harness.reference_broker.state.partition.replica_host import ReplicaHost
from harness.reference_broker.state.producers.partition_transactions import ActiveProducer
from harness.reference_broker.state.producers.producer_states import ProducerStates
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.validation.message_set_validation import validate_message_set
from harness.reference_broker.state.validation.old_formats import as_messages
from harness.reference_broker.state.validation.producer_check import known_duplicate
from harness.reference_broker.state.validation.record_validation import Placement, validate_batch

_NO_TIMESTAMP = -1
_UP_TO_HIGH_WATERMARK = -1
_NO_LEADER_EPOCH = -1
_BEGIN, _LONG_AGO = Offset(0), TimeMs(0)
_ALONE = BrokerId(0)
_BEFORE_ANY = LeaderEpoch(_NO_LEADER_EPOCH)


class Appended(NamedTuple):
    """The place of an appended batch, from `base_offset` to before `end_offset`.

    `append_time` is -1 unless the topic uses the broker's clock.
    """

    base_offset: Offset
    end_offset: Offset
    append_time: int
    effects: tuple[Effect, ...]


@dataclass(slots=True)
class Partition:
    """A replica; `config` is the topic's, `registration` the cluster's decisions.

    The broker leads if there is a `leading`; else it follows, or has no replica. The log is
    compacted below `first_dirty`, and no further if it `is_uncleanable`. While it moves to another
    folder it has a `future` there, which `is_future` and neither leads nor follows (KIP-113).
    """

    topic_id: UUID
    index: PartitionIndex
    config: TopicConfig
    log: Log
    producers: ProducerStates
    host: ReplicaHost
    registration: PartitionRegistration
    leader_epoch: LeaderEpoch = _BEFORE_ANY
    joined_epoch: LeaderEpoch = _BEFORE_ANY
    """The epoch of the last leader that answered a log without epochs, see needs_truncation."""
    high_watermark: Offset = _BEGIN
    leading: Leading | None = None
    epochs: LeaderEpochs = field(default_factory=LeaderEpochs)
    first_dirty: Offset = _BEGIN
    is_uncleanable: bool = False
    topic_name: str = ""
    future: "Partition | None" = None
    is_future: bool = False

    @classmethod
    def empty(
        cls,
        topic_id: UUID,
        index: PartitionIndex,
        config: TopicConfig,
        producers: ProducerStates,
        host: ReplicaHost | None = None,
        registration: PartitionRegistration | None = None,
        now: TimeMs = _LONG_AGO,
        topic_name: str = "",
    ) -> "Partition":
        """Return a new partition without producers. Its host is the only leader by default."""
        host = host or ReplicaHost(_ALONE)
        registration = registration or PartitionRegistration.new([host.own], [host.own])
        log = PartitionLog(now)
        made = cls(topic_id, index, config, log, producers, host, registration)
        made.topic_name = topic_name
        made.register(registration, now)
        return made

    @property
    def name(self) -> LogName:
        """The name of its log."""
        return LogName(self.topic_name, self.topic_id, self.index, self.is_future)

    @property
    def segments(self) -> Segments[Any]:
        """The segments of its log."""
        return self.log.segments

    # -- roles -----------------------------------------------------------------------------------

    @property
    def is_here(self) -> bool:
        """True if the broker has a replica of the partition."""
        return self.host.own in self.registration.replicas

    def register(self, registration: PartitionRegistration, now: TimeMs) -> list[Effect]:
        """Become leader, follower, or no replica at all, as the cluster has decided.

        Source: makeLeader, makeFollower.
        """
        self.registration = registration
        if not self.host.has_begun:
            return []
        self._keep_log(now)
        is_new_epoch = registration.leader_epoch > self.leader_epoch
        self.leader_epoch = registration.leader_epoch
        if registration.leader == self.host.own:
            self._lead(registration, now, is_new_epoch=is_new_epoch)
        else:
            self.leading = None
        return [ReplicaMoved(self.topic_id, self.index)]

    def _keep_log(self, now: TimeMs) -> None:
        """Open the log in the storage if this is a replica, else delete it there."""
        storage = self.host.storage
        if storage is None or self.is_here == self.log.is_kept:
            return
        if self.is_here:
            believed_in = self.registration.directory_of(self.host.own)
            self.take(storage.open(self.name, self.config, self.producers, now, believed_in))
        else:
            self.leave_storage()

    def leave_storage(self) -> None:
        """Delete the stored log. A task that works on the old log finds another one in `log`."""
        if self.host.storage is not None:
            self.log, self.future = PartitionLog(), None
            self.host.moving.pop((self.topic_id, self.index), None)
            self.host.storage.delete(self.name)

    def take(self, opened: OpenedLog) -> None:
        """Use the log that was opened. The stored high watermark may be behind, never ahead."""
        log = self.log = opened.log
        self.epochs, self.first_dirty = opened.epochs, opened.first_dirty
        committed = log.start_offset if opened.high_watermark is None else opened.high_watermark
        self.high_watermark = Offset(max(log.start_offset, min(committed, log.end_offset)))

    def note_offsets(self) -> None:
        """Note the offsets for the next checkpoint, so that they are known after a restart."""
        self.log.note_offsets(self.high_watermark, self.first_dirty)
        if self.future is not None:
            self.future.note_offsets()

    def _lead(
        self, registration: PartitionRegistration, now: TimeMs, *, is_new_epoch: bool
    ) -> None:
        end, is_new_leader = self.log.end_offset, self.leading is None
        leading = self.leading or Leading(self.host.own, registration.leader_epoch, end)
        if registration.partition_epoch < leading.partition_epoch:
            return  # the answer to a proposal came first
        if is_new_epoch:
            leading.epoch, leading.epoch_start = registration.leader_epoch, end
            self.epochs.assign(registration.leader_epoch, end)
        self.leading = leading
        leading.registered(
            registration, end, now, is_new_leader=is_new_leader, is_new_epoch=is_new_epoch
        )
        self.advance(now)

    def advance(self, now: TimeMs) -> bool:
        """Move the leader's high watermark as far as possible; return True if it moved."""
        leading = self.leading
        if leading is None:
            return False
        host, end = self.host, self.log.end_offset
        to = leading.high_watermark(end, self.min_isr, host.rules, host.brokers, now)
        if to is None or to <= self.high_watermark:
            return False
        self.high_watermark = to
        return True

    @property
    def min_isr(self) -> int:
        """The replicas that acks=all needs in sync; since KAFKA-15583 at most all replicas."""
        wanted = self.config.min_insync_replicas
        is_capped = self.host.rules.holds_below_minimum
        return min(wanted, len(self.registration.replicas)) if is_capped else wanted

    def fetched_by(
        self, follower: BrokerId, offset: Offset, start: Offset, broker_epoch: int, now: TimeMs
    ) -> list[Effect]:
        """Note that a follower has everything below `offset` (updateFollowerFetchState)."""
        leading = self.leading
        assert leading is not None
        end, progress = self.log.end_offset, leading.followers[follower]
        had, began = progress.end_offset, progress.start_offset
        progress.fetched(offset, start, end, broker_epoch, now)
        effects: list[Effect] = []
        if began < start and self.log.start_offset > 0:  # a deletion may have waited for it
            effects.append(PartitionGrew(self.topic_id, self.index))
        wider = leading.expansion(follower, self.high_watermark, self.host.brokers)
        if wider is not None:
            leading.proposed = wider
            effects.append(IsrProposed(self.topic_id, self.index))
        if offset != had and self.advance(now):
            effects.append(PartitionGrew(self.topic_id, self.index))
        return effects

    def follower_problem(
        self, follower: BrokerId, broker_epoch: int, *, knows_epoch: bool
    ) -> ErrorCode:
        """Return the error for a broker that is no replica or an older incarnation (KIP-903)."""
        if self.leading is None or follower not in self.leading.followers:
            # A follower that sends the leader epoch gets an error on which it retries.
            unknown = ErrorCode.UNKNOWN_LEADER_EPOCH
            return unknown if knows_epoch else ErrorCode.NOT_LEADER_OR_FOLLOWER
        known = self.host.brokers.get(follower)
        is_alive = known is not None and not known.is_fenced
        if (
            broker_epoch != ANY_EPOCH
            and known is not None
            and is_alive
            and known.epoch > broker_epoch
        ):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    def shrink_isr(self, now: TimeMs) -> list[Effect]:
        """Propose an ISR without the followers that have been behind for too long."""
        leading = self.leading
        if leading is None:
            return []
        smaller = leading.shrinkage(self.log.end_offset, self.host.rules.lag_ms, now)
        if smaller is None:
            return []
        leading.proposed = smaller
        return [IsrProposed(self.topic_id, self.index)]

    def replicated(self, required: Offset) -> ErrorCode | None:
        """Return the error code of an acks=all produce below `required`; None while it waits.

        Source: checkEnoughReplicasReachOffset.
        """
        if self.log.is_offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        if self.leading is None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if self.high_watermark < required:
            return None
        enough = self.min_isr <= len(self.leading.maximal_isr)
        return ErrorCode.NONE if enough else ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND

    # -- the log ---------------------------------------------------------------------------------

    def segment_end(self, offset: Offset) -> Offset | None:
        """Return the end of the segment from which `offset` is read; None for the last segment."""
        return self.log.segment_end(offset)

    def append(self, batch: bytes, now: TimeMs) -> Appended:
        """Validate and append a client's batch or message set. Raises AppendRefused.

        A batch that repeats one of the producer's last five is not appended again: the result is
        the place of the first copy (KIP-98).
        """
        if self.log.is_offline:
            raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR)
        place = Placement(self.log.end_offset, self.leader_epoch, now)
        validate = validate_batch if magic_of(batch) == 2 else validate_message_set
        stored = validate(batch, self.config, place)
        header = BatchHeader.read(stored)
        self.producers.expire(now)
        duplicate = known_duplicate(self.producers, header)
        if duplicate is not None:
            end = Offset(duplicate.last_offset + 1)
            return Appended(duplicate.base_offset, end, duplicate.max_timestamp, ())
        return self.store(stored, header, now)

    def store(self, stored: bytes, header: BatchHeader, now: TimeMs) -> Appended:
        """Append a batch that is complete and checked. Raises AppendRefused."""
        base = self.log.end_offset
        try:
            for kept in self._as_kept(stored, header):
                self.epochs.appended(kept.leader_epoch, kept.base_offset)
                self.log.append(kept, self.config, now)
            self.remember_producer(stored)
        except OSError as error:
            raise AppendRefused(ErrorCode.KAFKA_STORAGE_ERROR) from error
        self.advance(now)
        append_time = now if self.config.uses_log_append_time else _NO_TIMESTAMP
        grew = PartitionGrew(self.topic_id, self.index)
        return Appended(base, self.log.end_offset, append_time, (grew,))

    def remember_producer(self, batch: bytes) -> None:
        """Remember the producer of an appended batch, and the transaction that the batch aborts."""
        aborted = remember_producer(self.producers, batch)
        if aborted is not None:
            self.log.note_aborted(aborted)

    def _as_kept(self, stored: bytes, header: BatchHeader) -> list[StoredBatch]:
        """Return the batch in the topic's format. Raises AppendRefused."""
        magic = self.config.message_magic
        if magic < header.magic:
            return as_messages(stored, magic)
        first, last = Offset(header.base_offset), Offset(header.last_offset)
        return [StoredBatch(first, last, self.leader_epoch, header.max_timestamp, stored)]

    def active_producers(self, now: TimeMs) -> list[ActiveProducer]:
        """Return the producers with remembered batches, which would be recognised as duplicates."""
        self.producers.expire(now)
        return self.producers.active()

    def delete_records(self, below: int) -> Offset | ErrorCode:
        """Move the log start up to `below` (-1: the high watermark); return the log start or an
        error.

        Source: KIP-107, class Partition (deleteRecordsOnLeader).
        """
        if self.config.is_only_compacted:
            return ErrorCode.POLICY_VIOLATION
        offset = self.high_watermark if below == _UP_TO_HIGH_WATERMARK else below
        if not 0 <= offset <= self.high_watermark:
            return ErrorCode.OFFSET_OUT_OF_RANGE
        if offset > self.log.start_offset:
            self.start_at(Offset(offset))
        return ErrorCode.KAFKA_STORAGE_ERROR if self.log.is_offline else self.log.start_offset

    @property
    def low_watermark(self) -> Offset:
        """The lowest log start offset of this log, the followers on unfenced brokers and the future
        log (lowWatermarkIfLeader)."""
        followers = {} if self.leading is None else self.leading.followers
        alive = [
            follower.start_offset
            for broker_id, follower in followers.items()
            if (broker := self.host.brokers.get(broker_id)) is not None and not broker.is_fenced
        ]
        future = [] if self.future is None else [self.future.log.start_offset]
        return min([self.log.start_offset, *alive, *future])

    def start_at(self, offset: Offset) -> None:
        """Move the log start to `offset`, which lies in the log."""
        self.log.delete_below(offset)
        self.epochs.truncate_below(offset)
        self.producers.forget_below(offset)

    def drop_segments(self, count: int, now: TimeMs) -> None:
        """Delete the oldest segments with their records; the log starts behind them."""
        begin = self.log.drop_oldest(count, now)
        if begin > self.log.start_offset:
            self.start_at(begin)

    def end_of_epoch(self, leader_epoch: int) -> EpochEnd | None:
        """Return the end of an epoch, with that epoch; None if the epoch is unknown."""
        return self.epochs.end_of(leader_epoch, self.log.end_offset)

    def leader_problem(self, current_leader_epoch: int = _NO_LEADER_EPOCH) -> ErrorCode:
        """Return the error if the broker does not lead in this epoch, else NONE (getLocalLog)."""
        if not self.is_here:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if self.log.is_offline:
            return ErrorCode.KAFKA_STORAGE_ERROR
        problem = self.epoch_problem(current_leader_epoch)
        if problem is ErrorCode.NONE and self.leading is None:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return problem

    def epoch_problem(self, current_leader_epoch: int) -> ErrorCode:
        """Return the error for a client's leader epoch, NONE for the current one and for -1."""
        if current_leader_epoch in (_NO_LEADER_EPOCH, self.leader_epoch):
            return ErrorCode.NONE
        is_old = current_leader_epoch < self.leader_epoch
        return ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH
