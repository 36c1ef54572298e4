"""Reads of the partitions of a fetch plan, in order, within its limits. No record is decoded.

Source: class ReplicaManager (readFromLog, fetchMessages); KIP-74, KIP-320, KIP-595.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from harness.base.ids import BrokerId, Offset
from harness.codec.borrowed_buffer import BorrowedBuffer
from harness.codec.error_code import ErrorCode
from harness.reference_broker.effects import Effect
from harness.reference_broker.state.fetch.fetch_plan import (
    LOG_END,
    NO_PROBLEM,
    TXN_COMMITTED,
    FetchIsolation,
    FetchLimits,
    FetchPlan,
    PartitionPlan,
)
from harness.reference_broker.state.fetch.fetch_sessions import FetchKey, WantedPartition
from harness.reference_broker.state.fetch.read_replica import preferred_replica
from harness.reference_broker.state.log.batch_bytes import (
    CorruptBatch,
    InvalidMessage,
    UnforeseenBytes,
    claimed_size,
)
from harness.reference_broker.state.log.leader_epochs import EpochEnd
from harness.reference_broker.state.log.log_store import Log
from harness.reference_broker.state.partition.last_stable_offset import (
    first_unstable,
    last_stable_offset,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction


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


_UNREADABLE = {
    CorruptBatch: ErrorCode.CORRUPT_MESSAGE,
    InvalidMessage: ErrorCode.INVALID_RECORD,
    UnforeseenBytes: ErrorCode.UNKNOWN_SERVER_ERROR,
    OSError: ErrorCode.KAFKA_STORAGE_ERROR,
}
"""Errors for damaged logs: after a clean shutdown only a read notices the damage."""


def read_partitions(plan: FetchPlan, *, zero_copy: bool = False) -> list[PartitionReading]:
    """Read partitions in order until max_bytes are used up; the first batch always fits.

    With `zero_copy` records may be a BorrowedBuffer: the caller must send it before it does
    anything else.

    Partitions that do not exist come last, those of unknown ids before the others (class KafkaApis,
    handleFetchRequest).
    """
    readings: list[PartitionReading] = []
    unknown: list[PartitionReading] = []
    missing: list[PartitionReading] = []
    left_bytes, may_exceed = plan.limits.max_bytes, True
    for key, planned in plan.partitions.items():
        if planned.partition is None:
            place = unknown if planned.problem is ErrorCode.UNKNOWN_TOPIC_ID else missing
            if plan.limits.misses_topics_only and not planned.is_missing:
                place, left_bytes = readings, max(0, left_bytes)
            place.append(PartitionReading(key, planned.problem, is_missing=planned.is_missing))
            continue
        try:
            reading = _sent_elsewhere(planned, planned.partition, plan) or _read(
                planned, planned.partition, plan, left_bytes, may_exceed, zero_copy
            )
        except tuple(_UNREADABLE) as problem:
            error = next(one for kind, one in _UNREADABLE.items() if isinstance(problem, kind))
            reading = PartitionReading(key, error)
        may_exceed = may_exceed and not reading.records
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
    planned: PartitionPlan, partition: Partition, plan: FetchPlan
) -> PartitionReading | None:
    """Return a reading that only names a replica nearer to the consumer; None without one."""
    limits, want = plan.limits, planned.want
    if not limits.rack or limits.from_replica:
        return None
    preferred = preferred_replica(partition, limits.rack, want.fetch_offset, plan.now)
    if preferred is None or _problem_with(planned, partition) is not ErrorCode.NONE:
        return None
    return replace(_without_records(partition, want.key), preferred=preferred)


def _without_records(partition: Partition, key: FetchKey) -> PartitionReading:
    return PartitionReading(
        key,
        high_watermark=partition.high_watermark,
        last_stable_offset=last_stable_offset(partition),
        log_start_offset=partition.log.start_offset,
    )


def _problem_with(planned: PartitionPlan, partition: Partition) -> ErrorCode:
    """Return the error of the plan.

    The read of another partition may have taken the log directory offline since the plan was made.
    """
    if partition.log.is_offline and partition.is_here:
        return ErrorCode.KAFKA_STORAGE_ERROR
    return planned.problem


def _read(
    planned: PartitionPlan,
    partition: Partition,
    plan: FetchPlan,
    left_bytes: int,
    may_exceed: bool,
    zero_copy: bool,
) -> PartitionReading:
    error, want, limits = _problem_with(planned, partition), planned.want, plan.limits
    if error is not NO_PROBLEM:
        return PartitionReading(want.key, error)
    log, high_watermark = partition.log, partition.high_watermark
    refusal = _refusal(partition, want) if want.last_fetched_epoch >= 0 else None
    if refusal is not None:
        return refusal
    if not log.start_offset <= want.fetch_offset <= log.end_offset:
        return PartitionReading(want.key, ErrorCode.OFFSET_OUT_OF_RANGE)
    if limits.is_held is not None and limits.is_held(partition):
        return _without_records(partition, want.key)
    offset, limit_bytes = Offset(want.fetch_offset), min(want.max_bytes, left_bytes)
    stable, committed = last_stable_offset(partition), limits.read_committed
    upto = _end_for(plan.isolation, partition, stable)
    reach = log.end_offset if limits.reads_to_end else upto
    if limit_bytes < 0 and offset < reach:
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
        aborted=_aborted(log, offset, len(records), limits) if committed else (),
        log_start_offset=log.start_offset,
        records=records,
        is_old=is_old,
    )


def _refusal(partition: Partition, want: WantedPartition) -> PartitionReading | None:
    """Return the answer to a reader with another log, by the epoch of its last record, else None.

    Source: KIP-595. The answer has the last common epoch.
    """
    end_of_last = partition.end_of_epoch(want.last_fetched_epoch)
    if end_of_last is None or want.fetch_offset < partition.log.start_offset:
        return PartitionReading(want.key, ErrorCode.OFFSET_OUT_OF_RANGE)
    is_shorter = end_of_last.end_offset < want.fetch_offset
    if end_of_last.epoch < want.last_fetched_epoch or is_shorter:
        return replace(_without_records(partition, want.key), diverging=end_of_last)
    return None


def _aborted(
    log: Log, offset: Offset, size_bytes: int, limits: FetchLimits
) -> Sequence[AbortedTransaction]:
    """Return the aborted transactions of a read."""
    if size_bytes:
        return log.aborted_in(offset, size_bytes)
    return log.aborted_between(offset, log.end_offset) if limits.reads_to_end else ()


def _end_for(isolation: FetchIsolation, partition: Partition, stable: Offset) -> Offset:
    """Return the end of the records that a reader of this isolation may read."""
    if isolation is LOG_END:
        return partition.log.end_offset
    return stable if isolation is TXN_COMMITTED else partition.high_watermark


def note_follower(plan: FetchPlan, readings: Iterable[PartitionReading]) -> list[Effect]:
    """Note how far a follower has replicated, by the offsets that it fetches from.

    The records that this fetch returns are not included: the follower does not have them yet.
    """
    limits, effects = plan.limits, list[Effect]()
    read = {one.key for one in readings if one.error is ErrorCode.NONE and one.diverging is None}
    for key, planned in plan.partitions.items():
        if planned.partition is not None and key in read:
            effects += planned.partition.fetched_by(
                BrokerId(limits.replica_id),
                Offset(planned.want.fetch_offset),
                Offset(planned.want.log_start_offset),
                limits.broker_epoch,
                plan.now,
            )
    return effects
