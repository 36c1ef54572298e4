"""The part of a log that may be compacted, and the decision to compact it.

Source: classes LogCleanerManager (cleanableOffsets, maxCompactionDelay, grabFilthiestCompactedLog)
and LogToClean of Apache Kafka 3.9; KIP-58, KIP-354.
"""

from dataclasses import dataclass
from itertools import pairwise

from harness.base.ids import Offset, TimeMs
from harness.reference_broker.state.log.segments import Segment
from harness.reference_broker.state.partition.partition import Partition


@dataclass(frozen=True, slots=True)
class CleanableLog:
    """A log to compact: the part from `first_dirty` to `end` was never compacted.

    A segment begins at `end`. `dirty_ratio` is the share of that part in all bytes to be read.
    """

    partition: Partition
    first_dirty: Offset
    end: Offset
    dirty_ratio: float


def cleanable(partition: Partition, now: TimeMs) -> CleanableLog | None:
    """Return the part to compact; None if the log is not compacted, or not worth it now."""
    if partition.is_uncleanable or partition.log.is_offline or not partition.config.is_compacted:
        return None
    if partition.future is not None:
        return None
    first_dirty = Offset(max(partition.first_dirty, partition.log.start_offset))
    segments = partition.segments.all()
    *closed, active = segments
    # The segment that contains the first dirty offset must be read again as a whole.
    dirty = [
        segment for segment, following in pairwise(segments) if following.base_offset > first_dirty
    ]
    end = _end_of_cleanable(partition, dirty, active, now)
    dirty_bytes = sum(one.size_bytes for one in dirty if one.base_offset < end)
    clean_bytes = sum(one.size_bytes for one in closed if one.base_offset < first_dirty)
    if end <= first_dirty or dirty_bytes == 0:
        return None
    ratio = dirty_bytes / (clean_bytes + dirty_bytes)
    if not _is_late(partition, dirty, now) and ratio <= partition.config.least_dirty_ratio:
        return None
    return CleanableLog(partition, first_dirty, end, ratio)


def _end_of_cleanable(
    partition: Partition, dirty: list[Segment], active: Segment, now: TimeMs
) -> Offset:
    """Return the offset up to which the log may be compacted.

    This excludes the active segment, segments younger than min.compaction.lag.ms, and the segment
    that contains the last stable offset.
    """
    lag_ms = partition.config.number("min.compaction.lag.ms")
    young = (s.base_offset for s in dirty if lag_ms > 0 and s.largest_timestamp > now - lag_ms)
    committed = partition.high_watermark
    unstable = partition.producers.first_unstable(committed)
    stable = committed if unstable is None else min(unstable, committed)
    decided = [s.base_offset for s in (*dirty, active) if s.base_offset <= stable]
    begin = Offset(0) if not decided else decided[-1]
    return min(begin, next(young, active.base_offset))


def _is_late(partition: Partition, dirty: list[Segment], now: TimeMs) -> bool:
    """True if a segment has waited longer than max.compaction.lag.ms."""
    begun = [one.first_timestamp for one in dirty if one.first_timestamp > 0]
    lag_ms = partition.config.number("max.compaction.lag.ms")
    return bool(begun) and min(begun) < now - lag_ms
