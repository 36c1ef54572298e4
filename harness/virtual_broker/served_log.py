"""The log of a virtual leader, as its followers learn it: records with epochs, no disk."""

from __future__ import annotations

import struct
import time
from dataclasses import dataclass, field

from harness.codec.records import CONTROL, TRANSACTIONAL, Record, RecordBatch, encode_batch

NO_EPOCH = (-1, -1)
NO_PRODUCER = -1


@dataclass(frozen=True, slots=True)
class ServedRecord:
    """One record, in a batch of its own; its offset is its place in the log.

    With `producer_id` it is in a transaction, or a marker if `key` is not None.
    """

    epoch: int
    value: bytes
    at_ms: int = 0
    producer_id: int = NO_PRODUCER
    key: bytes | None = None

    def as_batch(self, offset: int) -> bytes:
        """Return the batch at this offset, in magic 2."""
        is_in_transaction = self.producer_id != NO_PRODUCER
        is_marker = self.key is not None
        return encode_batch(
            RecordBatch(
                [Record(self.value, self.key)],
                base_offset=offset,
                base_timestamp=self.at_ms,
                partition_leader_epoch=self.epoch,
                attributes=TRANSACTIONAL * is_in_transaction | CONTROL * is_marker,
                producer_id=self.producer_id,
                producer_epoch=0 if is_in_transaction else NO_PRODUCER,
                base_sequence=0 if is_in_transaction and not is_marker else NO_PRODUCER,
            )
        )


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

    def begin_transaction(self, epoch: int, producer_id: int, value: bytes) -> None:
        """Append a record of a transaction, the first of its producer; it is committed as above."""
        now_ms = time.time_ns() // 1_000_000
        self.entries.append(ServedRecord(epoch, value, now_ms, producer_id))
        self.high_watermark = self.end

    def end_transaction(self, epoch: int, producer_id: int, *, commit: bool) -> None:
        """Append the marker that ends the transaction of a producer."""
        now_ms = time.time_ns() // 1_000_000
        key = struct.pack(">hh", 0, commit)
        marker = ServedRecord(epoch, struct.pack(">hi", 0, 0), now_ms, producer_id, key)
        self.entries.append(marker)
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
            one.as_batch(place) for place, one in enumerate(self.entries) if place >= offset
        )
