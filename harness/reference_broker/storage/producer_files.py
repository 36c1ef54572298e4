"""Snapshots of the producers' states of a log, a file for an offset.

Source: class ProducerStateManager (takeSnapshot, truncateAndReload, removeStraySnapshots).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from harness.base.ids import Offset, ProducerEpoch, ProducerId, TimeMs
from harness.codec.data_framing import producer_snapshot_bytes, read_producer_snapshot
from harness.codec.data_framing.log_folder import SNAPSHOT
from harness.codec.errors import DecodeError
from harness.codec.messages import ProducerSnapshot
from harness.reference_broker.state.producers.producer_states import (
    AppendedBatch,
    KeptProducer,
    ProducerStates,
)
from harness.reference_broker.storage.open_files import replace_file
from harness.reference_broker.storage.stored_segment import file_name

_NAME = re.compile(r"([0-9]{20})\.snapshot")
_NONE = -1
_SEQUENCES = 2**31


class ProducerFiles:
    """The snapshots in one log's folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def offsets(self) -> list[Offset]:
        """Return the offsets of all snapshots, rising."""
        found = (_NAME.fullmatch(path.name) for path in self._folder.iterdir())
        return sorted(Offset(int(match[1])) for match in found if match is not None)

    def write(self, offset: Offset, producers: ProducerStates, *, durably: bool = False) -> None:
        """Write the states of the producers of a log that ends at `offset`. Raises OSError.

        With `durably` the file is on the disk when the call returns (takeSnapshot with sync).
        """
        entries = [_entry(one) for one in producers.kept()]
        data = producer_snapshot_bytes(ProducerSnapshot(producer_entries=entries))
        replace_file(self._at(offset), data, durably=durably)

    def remove(self, offsets: Iterable[Offset]) -> None:
        """Remove these snapshots, if they exist."""
        for offset in offsets:
            self._at(offset).unlink(missing_ok=True)

    def remove_outside(self, start: Offset, end: Offset) -> None:
        """Remove the snapshots that do not fit a log between these offsets."""
        self.remove(offset for offset in self.offsets() if not start < offset <= end)

    def remove_strays(self, bases: Collection[Offset]) -> None:
        """Remove the snapshots without a segment at their offset, except that of a clean end."""
        *strays, last = [o for o in self.offsets() if o not in bases] or [Offset(_NONE)]
        if bases and last < max(bases):
            strays.append(last)
        self.remove(stray for stray in strays if stray >= 0)

    def load(self, producers: ProducerStates, start: Offset, now: TimeMs) -> Offset:
        """Restore the newest readable snapshot; return the offset from which to read the log."""
        for offset in reversed(self.offsets()):
            try:
                found = read_producer_snapshot(self._at(offset).read_bytes())
            except DecodeError:
                self.remove([offset])
                continue
            producers.restore((_kept(one) for one in found.producer_entries), now)
            return offset
        producers.forget_all()
        return start

    def _at(self, offset: Offset) -> Path:
        return self._folder / file_name(offset, SNAPSHOT)


def _entry(kept: KeptProducer) -> ProducerSnapshot.ProducerEntry:
    last = kept.last_batch
    return ProducerSnapshot.ProducerEntry(
        producer_id=kept.producer_id,
        epoch=kept.producer_epoch,
        last_sequence=_NONE if last is None else last.last_sequence,
        last_offset=_NONE if last is None else last.last_offset,
        offset_delta=0 if last is None else last.last_offset - last.base_offset,
        timestamp=kept.last_timestamp,
        coordinator_epoch=kept.coordinator_epoch,
        current_txn_first_offset=_NONE
        if kept.transaction_start is None
        else kept.transaction_start,
    )


def _kept(entry: ProducerSnapshot.ProducerEntry) -> KeptProducer:
    last = None
    if entry.last_sequence >= 0:
        first_sequence = (entry.last_sequence - entry.offset_delta) % _SEQUENCES
        base_offset = Offset(entry.last_offset - entry.offset_delta)
        last = AppendedBatch(first_sequence, entry.last_sequence, base_offset, entry.timestamp)
    producer_id, epoch = ProducerId(entry.producer_id), ProducerEpoch(entry.epoch)
    first = entry.current_txn_first_offset
    begun = Offset(first) if first >= 0 else None
    return KeptProducer(producer_id, epoch, last, entry.timestamp, entry.coordinator_epoch, begun)
