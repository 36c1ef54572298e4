"""Reads of many partitions for one fetch, in order, within its limits. No record is decoded.

Source: class ReplicaManager (readFromLog, fetchMessages); KIP-74, KIP-320, KIP-595.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.base.ids import BrokerId, Offset, TimeMs
from harness.codec.borrowed_buffer import BorrowedBuffer
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import Effect
from harness.reference_broker.state.fetch.fetch_sessions import FetchKey, WantedPartition
from harness.reference_broker.state.fetch.read_replica import preferred_replica
from harness.reference_broker.state.log.batch_bytes import (
    CorruptBatch,
    InvalidMessage,
    UnforeseenBytes,
    claimed_size,
)
from harness.reference_broker.state.log.leader_epochs import EpochEnd
from harness.reference_broker.state.partition.last_stable_offset import (
    first_unstable,
    last_stable_offset,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_states import AbortedTransaction
from harness.reference_broker.state.topics.cluster import ClusterState

_NO_LEADER_EPOCH = -1  # and every lower value, other than in ListOffsets


_FUTURE_REPLICA = -3  # of a broker that moves a log to another directory


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Fields of a fetch request that apply to all its partitions.

    `replica_id` is the follower's, negative for consumers; `broker_epoch` is its incarnation, -1 if
    not sent. `is_hard`: even the first batch is cut (before KIP-74). `may_follow`: a follower may
    answer a consumer too (KIP-392).
    """

    min_bytes: int
    max_bytes: int
    replica_id: int = -1
    broker_epoch: int = -1
    is_hard: bool = False
    may_follow: bool = True
    rack: str = ""
    read_committed: bool = False

    @property
    def from_replica(self) -> bool:
        """True if a follower fetches; the leader learns from it how far records are replicated."""
        return self.replica_id >= 0

    @property
    def reads_log_end(self) -> bool:
        """True if the fetch reads records that are not committed too."""
        return self.from_replica or self.replica_id == _FUTURE_REPLICA

    @property
    def leader_only(self) -> bool:
        """True if only the leader may answer."""
        return self.from_replica or (not self.may_follow and self.replica_id != _FUTURE_REPLICA)


@dataclass(frozen=True, slots=True)
class PartitionReading:
    """Result of a read of one partition; -1 for fields that an error leaves unknown.

    `diverging`: the log differs from the reader's; the last common epoch and its end in this log
    (KIP-595). `preferred`: the replica from which the consumer must read instead. `is_old`: the
    records come from a segment that is not appended to any more.
    """

    key: FetchKey
    error: ErrorCode = ErrorCode.NONE
    high_watermark: int = -1
    log_start_offset: int = -1
    last_stable_offset: int = -1
    aborted: Sequence[AbortedTransaction] = ()
    records: bytes | BorrowedBuffer = b""
    diverging: EpochEnd | None = None
    preferred: BrokerId | None = None
    is_missing: bool = False
    is_old: bool = False


def find_partition(
    cluster: ClusterState, key: FetchKey, known_name: str | None = None
) -> Partition | ErrorCode:
    """Return the partition that a fetch names by topic name or by id, or an error.

    `known_name` is the topic name that the id stood for earlier.
    """
    named, index = key
    if isinstance(named, str):
        topic, unknown = cluster.named(named), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        topic, unknown = cluster.with_id(named), ErrorCode.UNKNOWN_TOPIC_ID
        if topic is None and known_name is not None:
            is_another = cluster.named(known_name) is not None
            return (
                ErrorCode.INCONSISTENT_TOPIC_ID
                if is_another
                else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
    if topic is None:
        return unknown
    return topic.partition(index) or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


_UNREADABLE = {
    CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    InvalidMessage: ErrorCode.INVALID_RECORD,
    UnforeseenBytes: ErrorCode.UNKNOWN_SERVER_ERROR,
    OSError: ErrorCode.KAFKA_STORAGE_ERROR,
}
"""Errors for damaged logs: after a clean shutdown only a read notices the damage."""


def read_partitions(
    cluster: ClusterState,
    wanted: Iterable[WantedPartition],
    limits: FetchLimits,
    now: TimeMs,
    *,
    zero_copy: bool = False,
) -> list[PartitionReading]:
    """Read partitions in order until max_bytes are used up; the first batch always fits.

    With `zero_copy` records may be a BorrowedBuffer: the caller must send it before it does
    anything else.

    Partitions that do not exist come last, those of unknown ids before the others (class KafkaApis,
    handleFetchRequest).
    """
    readings: list[PartitionReading] = []
    unknown: list[PartitionReading] = []
    missing: list[PartitionReading] = []
    left_bytes, may_exceed = limits.max_bytes, True
    for want in wanted:
        found = find_partition(cluster, want.key, want.known_name)
        if isinstance(found, ErrorCode):
            is_missing = found is not ErrorCode.INCONSISTENT_TOPIC_ID
            place = unknown if found is ErrorCode.UNKNOWN_TOPIC_ID else missing
            place.append(PartitionReading(want.key, found, is_missing=is_missing))
            continue
        try:
            reading = _sent_elsewhere(found, want, limits, now) or _read(
                found, want, limits, left_bytes, may_exceed, zero_copy
            )
        except tuple(_UNREADABLE) as problem:
            error = next(one for kind, one in _UNREADABLE.items() if isinstance(problem, kind))
            reading = PartitionReading(want.key, error)
        if reading.records:
            may_exceed = False
            left_bytes = max(0, left_bytes - len(reading.records))
        readings.append(reading)
    return readings + unknown + missing


def is_complete(
    readings: list[PartitionReading], limits: FetchLimits, missing_at_start: frozenset[FetchKey]
) -> bool:
    """True if the broker may answer a fetch before its deadline.

    A partition that was missing when the fetch arrived does not end the wait for the others (class
    KafkaApis excludes it before it reads); one that goes missing later does, like every other
    error. So does a segment that is not appended to any more, since it cannot grow (class
    DelayedFetch).
    """
    if any(
        r.is_old
        or r.preferred is not None
        or r.diverging is not None
        or (r.error is not ErrorCode.NONE and r.key not in missing_at_start)
        for r in readings
    ):
        return True
    return sum(len(r.records) for r in readings) >= limits.min_bytes


def _sent_elsewhere(
    partition: Partition, want: WantedPartition, limits: FetchLimits, now: TimeMs
) -> PartitionReading | None:
    """Return a reading that only names a replica nearer to the consumer; None without one."""
    if not limits.rack or limits.from_replica:
        return None
    preferred = preferred_replica(partition, limits.rack, want.fetch_offset, now)
    if preferred is None or _problem_with(partition, want, limits) is not ErrorCode.NONE:
        return None
    start = partition.log.start_offset
    return PartitionReading(
        want.key,
        high_watermark=partition.high_watermark,
        last_stable_offset=last_stable_offset(partition),
        log_start_offset=start,
        preferred=preferred,
    )


def _read(
    partition: Partition,
    want: WantedPartition,
    limits: FetchLimits,
    left_bytes: int,
    may_exceed: bool,
    zero_copy: bool,
) -> PartitionReading:
    error = _problem_with(partition, want, limits)
    if error is not ErrorCode.NONE:
        return PartitionReading(want.key, error)
    log, high_watermark = partition.log, partition.high_watermark
    if want.last_fetched_epoch >= 0:
        end_of_last = partition.end_of_epoch(want.last_fetched_epoch)
        if end_of_last is None or want.fetch_offset < log.start_offset:
            return PartitionReading(want.key, ErrorCode.OFFSET_OUT_OF_RANGE)
        if end_of_last.epoch < want.last_fetched_epoch or (
            end_of_last.end_offset < want.fetch_offset
        ):
            return PartitionReading(
                want.key,
                high_watermark=high_watermark,
                last_stable_offset=last_stable_offset(partition),
                log_start_offset=log.start_offset,
                diverging=end_of_last,
            )
    if not log.start_offset <= want.fetch_offset <= log.end_offset:
        return PartitionReading(want.key, ErrorCode.OFFSET_OUT_OF_RANGE)
    offset, limit_bytes = Offset(want.fetch_offset), min(want.max_bytes, left_bytes)
    stable, committed = last_stable_offset(partition), limits.read_committed
    upto = log.end_offset if limits.reads_log_end else stable if committed else high_watermark
    if limit_bytes < 0 and offset < upto:
        # Kafka does not handle it (class LogSegment, read).
        return PartitionReading(want.key, ErrorCode.UNKNOWN_SERVER_ERROR)
    segment_end = partition.segment_end(offset)
    unstable = first_unstable(partition) if upto < high_watermark else None
    stop = None if upto == log.end_offset else upto if unstable is None else unstable
    is_old = segment_end is not None and segment_end <= upto
    records: bytes | BorrowedBuffer = b""
    if offset < upto:
        end, read = segment_end if is_old else stop, log.borrow if zero_copy else log.read
        records = read(offset, limit_bytes, may_exceed and not limits.is_hard, end)
    is_cut = isinstance(records, bytes) and claimed_size(records) > limit_bytes
    if is_cut and not (limits.is_hard or may_exceed):
        records = b""  # no batch fits in, and an earlier partition has records
    return PartitionReading(
        want.key,
        high_watermark=high_watermark,
        last_stable_offset=stable,
        aborted=log.aborted_in(offset, len(records)) if committed and records else (),
        log_start_offset=log.start_offset,
        records=records,
        is_old=is_old,
    )


def _problem_with(partition: Partition, want: WantedPartition, limits: FetchLimits) -> ErrorCode:
    if not partition.is_here:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if partition.log.is_offline:
        return ErrorCode.KAFKA_STORAGE_ERROR
    error = partition.epoch_problem(max(want.current_leader_epoch, _NO_LEADER_EPOCH))
    if error is not ErrorCode.NONE:
        return error
    if partition.leading is None and limits.leader_only:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if limits.from_replica:
        knows_epoch = want.current_leader_epoch >= 0
        follower = BrokerId(limits.replica_id)
        return partition.follower_problem(follower, limits.broker_epoch, knows_epoch=knows_epoch)
    return ErrorCode.NONE


def note_follower(
    cluster: ClusterState,
    wanted: Iterable[WantedPartition],
    readings: Iterable[PartitionReading],
    limits: FetchLimits,
    now: TimeMs,
) -> list[Effect]:
    """Note how far a follower has replicated, by the offsets that it fetches from.

    The records that this fetch returns are not included: the follower does not have them yet.
    """
    read = {one.key for one in readings if one.error is ErrorCode.NONE and one.diverging is None}
    effects: list[Effect] = []
    for want in wanted:
        partition = find_partition(cluster, want.key) if want.key in read else None
        if isinstance(partition, Partition):
            effects += partition.fetched_by(
                BrokerId(limits.replica_id),
                Offset(want.fetch_offset),
                Offset(want.log_start_offset),
                limits.broker_epoch,
                now,
            )
    return effects
