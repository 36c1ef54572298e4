"""The check of a segment and its indexes in one pass."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.codec.data_framing import EpochStart
from harness.codec.data_framing.log_folder import (
    INDEX,
    TIME_INDEX,
    TXN_INDEX,
    SegmentFiles,
)
from harness.codec.records.log_batch import LogBatch
from harness.log_tools.findings import Finding, Gathered, Recovery
from harness.log_tools.index_check import (
    OffsetIndexCheck,
    TimeIndexCheck,
    check_transaction_index,
)
from harness.log_tools.producer_check import LastBatches
from harness.log_tools.release_batches import check_batch
from harness.log_tools.release_limits import ReleaseLimits
from harness.log_tools.segment_reader import DamageKind, SegmentDamage, SegmentReader


class EpochStarts:
    """The leader epoch that each batch must have, by the checkpoint beside the log."""

    def __init__(self, starts: Sequence[EpochStart] = ()) -> None:
        self._starts = starts
        self._offsets = [start.start_offset for start in starts]

    def problem_of(self, batch: LogBatch) -> str | None:
        """Return the problem of a batch's epoch, or None.

        Batches of old formats, and those before the first start, have none.
        """
        place = bisect_right(self._offsets, batch.base_offset) - 1
        epoch = batch.partition_leader_epoch
        if place < 0 or epoch < 0 or epoch == self._starts[place].epoch:
            return None
        known = self._starts[place]
        return (
            f"leader epoch {epoch}, where the checkpoint has epoch {known.epoch}"
            f" from offset {known.start_offset} on"
        )


class SegmentCheck:
    """The check of one segment.

    ``next_base_offset``: of the next segment; None for the last one. ``epochs``, ``producers``:
    of the log; each batch is compared with them. ``limits``: of the release that has to read it.
    """

    def __init__(
        self,
        segment: SegmentFiles,
        recovery: Recovery,
        *,
        next_base_offset: int | None = None,
        later_segments: int = 0,
        epochs: EpochStarts | None = None,
        producers: LastBatches | None = None,
        limits: ReleaseLimits | None = None,
    ) -> None:
        self._segment, self._recovery, self._later = segment, recovery, later_segments
        self._next_base_offset = next_base_offset
        self._epochs = epochs or EpochStarts()
        self._producers = producers or LastBatches()
        self._limits = limits
        self._found = Gathered()
        self.next_offset = segment.base_offset
        """The offset behind the last record, after the segment was read."""
        self.is_damaged = False
        """True if damage makes ``next_offset`` doubtful."""

    def findings(self) -> Iterator[Finding]:
        """Yield the problems of the segment. Raises OSError."""
        own, base_offset = self._segment.indexes, self._segment.base_offset
        indexes: list[OffsetIndexCheck | TimeIndexCheck] = []
        if INDEX in own:
            indexes.append(OffsetIndexCheck(own[INDEX], base_offset))
        if TIME_INDEX in own:
            indexes.append(TimeIndexCheck(own[TIME_INDEX], base_offset))
        if self._segment.log is None:
            for index in indexes:
                index.alone()
        else:
            yield from self._read(self._segment.log, indexes)
        for index in indexes:
            yield from index.found
        if TXN_INDEX in own:
            unknown = self.is_damaged or self._segment.log is None
            behind = None if unknown else self.next_offset
            yield from check_transaction_index(own[TXN_INDEX], base_offset, behind)

    def _read(
        self, log: Path, indexes: list[OffsetIndexCheck | TimeIndexCheck]
    ) -> Iterator[Finding]:
        with SegmentReader(log) as reader:
            for found in reader.batches():
                if isinstance(found, SegmentDamage):
                    self.is_damaged = True
                    yield self._of_damage(log, found)
                    for index in indexes:
                        index.see_damage()
                    continue
                is_in_place = self._see(log, found)
                for index in indexes:
                    if is_in_place:
                        index.see(found)
                    else:
                        index.see_damage()
            for index in indexes:
                index.end(reader.size_bytes)
        yield from self._found

    def _of_damage(self, log: Path, damage: SegmentDamage) -> Finding:
        if damage.kind is DamageKind.RECORDS:
            recovery = self._recovery.kept(self._next_base_offset)
        else:
            recovery = self._recovery.cut(
                self._next_base_offset,
                log.stat().st_size - damage.position,
                self._later,
            )
        kind = f"log-{damage.kind.value}"
        return Finding(log, kind, damage.problem, recovery, damage.position, damage.base_offset)

    def _see(self, log: Path, batch: LogBatch) -> bool:
        """True if the batch's offsets can be right; otherwise its index entries are not checked."""
        misplaced = list(self._misplaced(batch))
        for what, problem in misplaced or self._problems(batch):
            recovery = self._recovery.kept(self._next_base_offset)
            self._found.add(
                Finding(log, f"log-{what}", problem, recovery, batch.position, batch.base_offset)
            )
        if misplaced:
            self.is_damaged = True
        else:
            self.next_offset = batch.last_offset + 1
            self._producers.see(batch)
        for finding in check_batch(log, batch, self._limits) if self._limits else ():
            self._found.add(finding)
        return not misplaced

    def _misplaced(self, batch: LogBatch) -> Iterator[tuple[str, str]]:
        first, last, base_offset = batch.base_offset, batch.last_offset, self._segment.base_offset
        if first < base_offset:
            yield "base", f"offset {first} is below the segment's base {base_offset}"
        elif first < self.next_offset:
            yield "offsets", f"offset {first} behind {self.next_offset - 1}"
        elif last < first:
            yield "offsets", f"offsets {first} to {last}"
        elif self._next_base_offset is not None and last >= self._next_base_offset:
            yield (
                "overlap",
                f"offset {last}, where the next segment has {self._next_base_offset} on",
            )

    def _problems(self, batch: LogBatch) -> Iterator[tuple[str, str]]:
        before = batch.base_offset - 1
        for offset, *_ in batch.records.rows():
            if not before < offset <= batch.last_offset:
                ends = f"in a batch that ends at {batch.last_offset}"
                yield "record-offsets", f"record with offset {offset} behind {before} {ends}"
                break
            before = offset
        epoch = self._epochs.problem_of(batch)
        if epoch:
            yield "epoch", epoch
