"""The log of a virtual leader, as its followers learn it: records with epochs, no disk."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from harness.codec.records import Record, RecordBatch, encode_batch

NO_EPOCH = (-1, -1)


@dataclass(frozen=True, slots=True)
class ServedRecord:
    """One record, in a batch of its own; its offset is its place in the log."""

    epoch: int
    value: bytes
    at_ms: int = 0


@dataclass(slots=True)
class ServedLog:
    """The leader's records, from offset 0 on, and the high watermark that it reports."""

    entries: list[ServedRecord] = field(default_factory=list)
    high_watermark: int = 0

    @property
    def end(self) -> int:
        """The log end offset."""
        return len(self.entries)

    def append(self, epoch: int, *values: bytes) -> None:
        """Append records of this epoch; they are committed immediately."""
        now_ms = time.time_ns() // 1_000_000
        self.entries += [ServedRecord(epoch, value, now_ms) for value in values]
        self.high_watermark = self.end

    def end_of(self, epoch: int) -> tuple[int, int]:
        """Return the largest epoch that is not larger, and its end offset; -1 and -1 without one.

        As ``LeaderEpochFileCache.endOffsetFor`` (KIP-101, KIP-279).
        """
        known = [(one.epoch, offset + 1) for offset, one in enumerate(self.entries)]
        return max((pair for pair in known if pair[0] <= epoch), default=NO_EPOCH)

    def diverges(self, offset: int, last_epoch: int) -> tuple[int, int] | None:
        """Return the diverging epoch and end offset for a fetch from ``offset`` after this epoch.

        None if the follower's log matches, or if it reports no epoch.
        """
        if last_epoch < 0:
            return None
        epoch, end = self.end_of(last_epoch)
        return (epoch, end) if epoch < last_epoch or end < offset else None

    def batches(self, offset: int) -> bytes:
        """Return all batches from there on, in magic 2."""
        return b"".join(
            encode_batch(
                RecordBatch(
                    [Record(one.value)],
                    base_offset=place,
                    base_timestamp=one.at_ms,
                    partition_leader_epoch=one.epoch,
                )
            )
            for place, one in enumerate(self.entries)
            if place >= offset
        )
