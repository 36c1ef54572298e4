"""Old records go, by whole segments from the oldest on; what is not committed stays.

Source: classes UnifiedLog (deleteOldSegments), LogManager (cleanupLogs); KIP-33, KIP-107.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

from harness.ids import TimeMs

if TYPE_CHECKING:
    from harness.reference_broker.state.cluster import Cluster
    from harness.reference_broker.state.partition import Partition
    from harness.reference_broker.state.segments import Segment

_Breached: TypeAlias = "Callable[[Segment, Segment | None], bool]"
"""Whether a segment may go, by what it and the one behind it are."""


def retention_round(cluster: Cluster, now: TimeMs) -> Iterator[None]:
    """Look at every log that is not compacted, and at those to come in their place; others go when
    those are looked at. One a step."""
    for partition in list(cluster.partitions()):
        for one in (partition, partition.future):
            if one is not None and not one.config.is_compacted:
                delete_what_is_too_much(one, now)
        yield


def delete_what_is_too_much(partition: Partition, now: TimeMs) -> None:
    """As `delete_old_segments`, unless its folder is offline or goes there now."""
    if not partition.log.is_offline:
        with suppress(OSError):
            delete_old_segments(partition, now)


def delete_old_segments(partition: Partition, now: TimeMs) -> int:
    """Delete what the topic's cleanup.policy lets go; how many segments that are.

    Without "delete" in it only what is wholly below the log start goes.
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
    """What is left has retention.bytes at least: a segment goes when it is too much as a whole."""
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
    """By the largest time of its records, whenever they were written."""
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
