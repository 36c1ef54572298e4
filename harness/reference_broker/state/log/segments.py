"""The segments of a log, in files or in memory, with their begins, sizes and times.

Old batches are deleted by whole segments, compaction leaves the last segment alone, and ListOffsets
version 0 returns the begins. Source: classes UnifiedLog (maybeRoll) and LogSegment of Apache Kafka
3.9; KIP-33, KIP-354.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from harness.base.ids import Offset, TimeMs
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.stored_batch import StoredBatch

_NO_TIMESTAMP = -1
_LONG_AGO = TimeMs(0)


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
        """The largest timestamp of its records; the last write if no record has one (KIP-33)."""
        return self.max_timestamp if self.max_timestamp >= 0 else self.modified_at

    def is_full(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> bool:
        """True if a batch has to go to a new segment: by size first, then by time."""
        if self.size_bytes == 0:
            return False
        if self.size_bytes > config.segment_bytes - len(batch.data):
            return True
        if self.first_timestamp >= 0:
            waited_ms = batch.max_timestamp - self.first_timestamp
        else:
            waited_ms = now - self.begun_at
        return waited_ms > config.segment_ms

    def take(self, batch: StoredBatch) -> None:
        """Count a batch that was appended."""
        if self.size_bytes == 0:
            self.first_timestamp = batch.max_timestamp
        self.size_bytes += len(batch.data)
        self.max_timestamp = max(self.max_timestamp, batch.max_timestamp)


S = TypeVar("S", bound=Segment)


class Segments(Generic[S]):
    """The segments of one log, oldest first. An empty log has one, written when it was made."""

    __slots__ = ("_segments",)

    def __init__(self, segments: "Iterable[S]" = (), made_at: TimeMs = _LONG_AGO) -> None:
        begin = Segment(Offset(0), made_at, made_at)
        self._segments: list[S] = list(segments) or [begin]  # type: ignore[list-item]

    def note(
        self: "Segments[Segment]", batch: StoredBatch, config: TopicConfig, now: TimeMs
    ) -> None:
        """Take note of an appended batch."""
        last = self._segments[-1]
        if last.is_full(batch, config, now):
            last = Segment(batch.base_offset, now, now)
            self._segments.append(last)
        if last.size_bytes == 0:
            last.begun_at = now
        last.modified_at = now
        last.take(batch)

    def add(self, segment: S) -> None:
        """Add the next segment, which becomes the active one."""
        self._segments.append(segment)

    def put(self, segments: Iterable[S]) -> None:
        """Replace all segments."""
        self._segments = list(segments)

    def begins(self) -> list[tuple[Offset, TimeMs]]:
        """Return the base offset and the time of the last write of each segment, oldest first."""
        return [(segment.base_offset, segment.modified_at) for segment in self._segments]

    def all(self) -> Sequence[S]:
        """Return all segments; the last one is active."""
        return self._segments

    @property
    def active(self) -> S:
        """The segment that batches are appended to."""
        return self._segments[-1]

    def end_of(self, offset: Offset) -> Offset | None:
        """Return the end of the segment of that offset; None for the active one."""
        following = self._following(offset)
        return self._segments[following].base_offset if following < len(self._segments) else None

    def base_of(self, offset: Offset) -> Offset:
        """Return the begin of the segment in which that offset is, or would be written."""
        return self.since(offset)[0].base_offset

    def since(self, offset: Offset) -> Sequence[S]:
        """Return the segment of that offset, or the first, and all behind it."""
        return self._segments[max(self._following(offset) - 1, 0) :]

    def _following(self, offset: Offset) -> int:
        return bisect_right(self._segments, offset, key=lambda segment: segment.base_offset)

    @property
    def size_bytes(self) -> int:
        """The reported size of the log. Deleted records count until their segment goes."""
        return sum(segment.size_bytes for segment in self._segments)

    def drop_oldest(
        self: "Segments[Segment]", count: int, end_offset: Offset, now: TimeMs
    ) -> Offset:
        """Delete the first `count` segments; return the begin of the others. One is always left."""
        if count == len(self._segments):
            self._segments.append(Segment(end_offset, now, now))
        del self._segments[:count]
        return self._segments[0].base_offset

    def truncate_from(self, end: Offset, batches: Sequence[StoredBatch]) -> None:
        """End the log at `end`; `batches` are the remains of the segment that contains `end`."""
        kept = [one for one in self._segments if one.base_offset < end] or self._segments[:1]
        last = kept[-1]
        last.size_bytes = sum(len(batch.data) for batch in batches)
        last.max_timestamp = max((batch.max_timestamp for batch in batches), default=_NO_TIMESTAMP)
        self._segments = kept

    def restart_at(self: "Segments[Segment]", offset: Offset, now: TimeMs) -> None:
        """Empty the log; it goes on at `offset`."""
        self._segments = [Segment(offset, now, now)]

    def replace_below(self, end: Offset, segments: Sequence[S]) -> None:
        """Replace the segments that begin before `end`."""
        kept = [one for one in self._segments if one.base_offset >= end]
        self._segments = [*segments, *kept]
