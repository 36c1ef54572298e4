"""Where a partition's log would begin a new file, and when each was last written.

Nothing is stored by segment here; ListOffsets version 0 asks for them. Source: classes UnifiedLog
(maybeRoll) and LogSegment of Apache Kafka 3.9.
"""

from dataclasses import dataclass

from harness.ids import Offset, TimeMs
from harness.reference_broker.state.partition_log import StoredBatch
from harness.reference_broker.state.topic_configs import TopicConfig


@dataclass(slots=True)
class _Segment:
    base_offset: Offset
    begun_at: TimeMs
    modified_at: TimeMs
    size_bytes: int = 0
    first_timestamp: int = -1

    def is_full(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> bool:
        """Whether a batch has to go to a new segment: size first, then segment.ms."""
        if self.size_bytes == 0:
            return False
        if self.size_bytes > config.segment_bytes - len(batch.data):
            return True
        if self.first_timestamp >= 0:
            waited_ms = batch.max_timestamp - self.first_timestamp
        else:
            waited_ms = now - self.begun_at
        return waited_ms > config.number("segment.ms")


class Segments:
    """The segments of one log. An empty log has one, which counts as written long ago."""

    __slots__ = ("_segments",)

    def __init__(self) -> None:
        self._segments = [_Segment(Offset(0), TimeMs(0), TimeMs(0))]

    def note(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> None:
        """Take note of an appended batch."""
        if self._segments[-1].is_full(batch, config, now):
            self._segments.append(_Segment(batch.base_offset, now, now))
        last = self._segments[-1]
        if last.size_bytes == 0:
            last.begun_at, last.first_timestamp = now, batch.max_timestamp
        last.size_bytes += len(batch.data)
        last.modified_at = now

    def begins(self) -> list[tuple[Offset, TimeMs]]:
        """The base offset of each segment and when it was last written, oldest first."""
        return [(segment.base_offset, segment.modified_at) for segment in self._segments]
