"""The check of the newest snapshot of producers against the batches of its log.

A snapshot may lack producers, which expire; but where the log still has the last batch of a
producer, both agree: compaction keeps the header of that batch. Source: class ProducerStateManager.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.codec.data_framing import read_producer_snapshot
from harness.codec.errors import DecodeError
from harness.codec.messages import ProducerSnapshot
from harness.codec.records.log_batch import LogBatch
from harness.log_tools.at_start import found
from harness.log_tools.findings import Finding, Gathered

Entry = ProducerSnapshot.ProducerEntry
_SEQUENCES = 2**31  # a sequence is an int32 that is never negative; 0 follows the highest


class LastBatches:
    """The last batch of each producer by the newest readable snapshot of a log."""

    def __init__(self, snapshots: Sequence[tuple[int, Path]] = ()) -> None:
        """Read the snapshots from the newest on, up to a readable one. Raises OSError."""
        self._path, entries = _newest(snapshots)
        self._entries = sorted(entries, key=lambda entry: entry.last_offset)
        self._offsets = [entry.last_offset for entry in self._entries]
        self._found = Gathered()

    def see(self, batch: LogBatch) -> None:
        """Compare a batch with the entries that have a last offset in it."""
        place = bisect_left(self._offsets, batch.base_offset)
        while place < len(self._offsets) and self._offsets[place] <= batch.last_offset:
            entry = self._entries[place]
            problem = _problem(entry, batch)
            if problem and self._path:
                text = f"producer {entry.producer_id}, offset {entry.last_offset}: {problem}"
                self._found.add(found(self._path, "producer-snapshot-batch", text))
            place += 1

    def findings(self) -> Iterator[Finding]:
        """Yield the first difference, with the number of others."""
        yield from self._found


def _newest(snapshots: Sequence[tuple[int, Path]]) -> tuple[Path | None, Sequence[Entry]]:
    for offset, path in sorted(snapshots, reverse=True):
        try:
            entries = read_producer_snapshot(path.read_bytes()).producer_entries
        except DecodeError:
            continue  # its own check reports it, and a broker reads the one before
        return path, [entry for entry in entries if entry.last_offset < offset]
    return None, ()


def _problem(entry: Entry, batch: LogBatch) -> str:
    if batch.producer_id != entry.producer_id:
        return f"the batch there is of producer {batch.producer_id}"
    if batch.is_control:
        return ""
    if batch.last_offset != entry.last_offset:
        return f"the batch there ends at offset {batch.last_offset}"
    last_sequence = (batch.base_sequence + batch.last_offset_delta) % _SEQUENCES
    if last_sequence != entry.last_sequence:
        return f"sequence {entry.last_sequence}, in the batch there it is {last_sequence}"
    if batch.producer_epoch > entry.epoch:
        return f"epoch {entry.epoch}, in the batch there it is {batch.producer_epoch}"
    return ""
