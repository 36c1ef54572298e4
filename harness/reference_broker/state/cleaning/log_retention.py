"""Deletion of old records, in whole segments from the oldest on; uncommitted records stay.

Source: classes UnifiedLog (deleteOldSegments), LogManager (cleanupLogs); KIP-33, KIP-107.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from harness.base.ids import TimeMs

if TYPE_CHECKING:
    from harness.reference_broker.state.log.segments import Segment
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.topics.cluster import ClusterState

_Breached: TypeAlias = "Callable[[Segment, Segment | None], bool]"
"""A check that returns True if the first segment may be deleted; the second one follows it."""


def retention_round(cluster: ClusterState, now: TimeMs) -> Iterator[None]:
    """Apply retention to every log that is not compacted, one partition in each step.

    The future logs of moving replicas are included. Compacted logs have their turn in
    `compaction_round`.
    """
    for partition in list(cluster.partitions()):
        for one in (partition, partition.future):
            if one is not None and not one.config.is_compacted:
                delete_what_is_too_much(one, now)
        yield


def delete_what_is_too_much(partition: Partition, now: TimeMs) -> None:
    """Call `delete_old_segments`, unless the log's folder is offline or fails at that."""
    if not partition.log.is_offline:
        with suppress(OSError):
            delete_old_segments(partition, now)


def delete_old_segments(partition: Partition, now: TimeMs) -> int:
    """Delete segments according to the topic's cleanup.policy; return their number.

    A policy without "delete" only deletes segments that are wholly below the log start.
    """
    deleted = _delete(partition, _below_log_start(partition), now)
    if "delete" not in partition.config.policies:
        return deleted
    deleted += _delete(partition, _beyond_size(partition), now)
    return deleted + _delete(partition, _too_old(partition, now), now)


def _below_log_start(partition: Partition) -> _Breached:
    def breached(_: Segment, following: Segment | None) -> bool:
        return following is not None and following.base_offset <= partition.log.start_offset

    return breached


def _beyond_size(partition: Partition) -> _Breached:
    """Return a check for retention.bytes: the segments that remain have at least that size."""
    limit_bytes = partition.config.number("retention.bytes")
    too_much = partition.segments.size_bytes - limit_bytes

    def breached(segment: Segment, _: Segment | None) -> bool:
        nonlocal too_much
        if limit_bytes < 0 or too_much < segment.size_bytes:
            return False
        too_much -= segment.size_bytes
        return True

    return breached


def _too_old(partition: Partition, now: TimeMs) -> _Breached:
    """Return a check for retention.ms: the largest timestamp of a segment's records counts.

    The time at which they were written does not.
    """
    retention_ms = partition.config.number("retention.ms")

    def breached(segment: Segment, _: Segment | None) -> bool:
        return retention_ms >= 0 and now - segment.largest_timestamp > retention_ms

    return breached


def _delete(partition: Partition, breached: _Breached, now: TimeMs) -> int:
    segments = partition.segments.all()
    count = 0
    for position, segment in enumerate(segments):
        following = segments[position + 1] if position + 1 < len(segments) else None
        end = partition.log.end_offset if following is None else following.base_offset
        is_empty_and_last = following is None and segment.size_bytes == 0
        if is_empty_and_last or partition.high_watermark < end or not breached(segment, following):
            break
        count += 1
    if count:
        partition.drop_segments(count, now)
    return count
