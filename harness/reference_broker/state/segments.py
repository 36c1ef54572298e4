"""Where a partition's log would begin a new file, and what is known of each.

The batches are not stored by segment, but old ones go by whole segments, compaction leaves the
last one alone, and ListOffsets version 0 asks where they begin. Source: classes UnifiedLog
(maybeRoll) and LogSegment of Apache Kafka 3.9; KIP-33, KIP-354.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from harness.ids import Offset, TimeMs
from harness.reference_broker.state.partition_log import StoredBatch
from harness.reference_broker.state.topic_configs import TopicConfig

_NO_TIMESTAMP = -1


@dataclass(slots=True)
class Segment:
    """`first_timestamp` is that of its first batch, `max_timestamp` the largest of all records."""

    base_offset: Offset
    begun_at: TimeMs
    modified_at: TimeMs
    size_bytes: int = 0
    first_timestamp: int = _NO_TIMESTAMP
    max_timestamp: int = _NO_TIMESTAMP

    @property
    def largest_timestamp(self) -> int:
        """How new the segment is: when it was written, where no record says (KIP-33)."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_at

    def is_full(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> bool:
        """Whether a batch has to go to a new segment: size first, then time."""
        if self.size_bytes == 0:
            return False
        if self.size_bytes > config.segment_bytes - len(batch.data):
            return True
        if self.first_timestamp >= 0:
            waited_ms = batch.max_timestamp - self.first_timestamp
        else:
            waited_ms = now - self.begun_at
        return waited_ms > config.segment_ms


class Segments:
    """The segments of one log, oldest first. An empty log has one, which counts as written long
    ago."""

    __slots__ = ("_segments",)

    def __init__(self) -> None:
        self._segments = [Segment(Offset(0), TimeMs(0), TimeMs(0))]

    def note(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> None:
        """Take note of an appended batch."""
        last = self._segments[-1]
        if last.is_full(batch, config, now):
            last = Segment(batch.base_offset, now, now)
            self._segments.append(last)
        if last.size_bytes == 0:
            last.begun_at, last.first_timestamp = now, batch.max_timestamp
        last.size_bytes += len(batch.data)
        last.modified_at = now
        last.max_timestamp = max(last.max_timestamp, batch.max_timestamp)

    def begins(self) -> list[tuple[Offset, TimeMs]]:
        """The base offset of each segment and when it was last written, oldest first."""
        return [(segment.base_offset, segment.modified_at) for segment in self._segments]

    def all(self) -> Sequence[Segment]:
        """The last one is active: appended to."""
        return self._segments

    @property
    def active(self) -> Segment:
        """The one that is appended to."""
        return self._segments[-1]

    def end_of(self, offset: Offset) -> Offset | None:
        """Where the segment of that offset ends; None for the active one."""
        following = bisect_right(self._segments, offset, key=lambda segment: segment.base_offset)
        return self._segments[following].base_offset if following < len(self._segments) else None

    def base_of(self, offset: Offset) -> Offset:
        """Where the segment begins in which that offset is, or would be written."""
        following = bisect_right(self._segments, offset, key=lambda segment: segment.base_offset)
        return self._segments[max(following - 1, 0)].base_offset

    @property
    def size_bytes(self) -> int:
        """That of the log as it is told: records below its start count until their segment goes."""
        return sum(segment.size_bytes for segment in self._segments)

    def drop_oldest(self, count: int, end_offset: Offset, now: TimeMs) -> Offset:
        """Forget the first `count`; where the others begin. There is always one to append to."""
        if count == len(self._segments):
            self._segments.append(Segment(end_offset, now, now))
        del self._segments[:count]
        return self._segments[0].base_offset

    def truncate_from(self, end: Offset, batches: Sequence[StoredBatch]) -> None:
        """The log ends at `end`; `batches` are what is left from the beginning of the segment in
        which that is."""
        kept = [one for one in self._segments if one.base_offset < end] or self._segments[:1]
        last = kept[-1]
        last.size_bytes = sum(len(batch.data) for batch in batches)
        last.max_timestamp = max((batch.max_timestamp for batch in batches), default=_NO_TIMESTAMP)
        self._segments = kept

    def restart_at(self, offset: Offset, now: TimeMs) -> None:
        """The log is empty and goes on at `offset`."""
        self._segments = [Segment(offset, now, now)]

    def replace_below(self, end: Offset, segments: Sequence[Segment]) -> None:
        """Put others in place of those that begin before `end`."""
        kept = [one for one in self._segments if one.base_offset >= end]
        self._segments = [*segments, *kept]
