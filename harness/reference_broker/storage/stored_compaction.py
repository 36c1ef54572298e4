"""The segments that compaction writes; they replace the log's old ones, whole or not at all.

Source: classes Cleaner, LocalLog (replaceSegments): names end in `.cleaned` while the files are
written, in `.swap` when all of them are there; a start after a crash removes the former and
finishes the latter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.base.ids import Offset
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.storage.guarded import guarded
from harness.reference_broker.storage.open_files import OpenFiles, flush_folder
from harness.reference_broker.storage.stored_segment import CLEANED, SWAP, StoredSegment

if TYPE_CHECKING:
    from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction
    from harness.reference_broker.storage.stored_log import StoredLog

_INDEX_INTERVAL_BYTES = 4_096


class StoredCompaction:
    """See :class:`Compaction`."""

    def __init__(self, log: StoredLog, files: OpenFiles, index_bytes: int) -> None:
        self._log, self._files, self._index_bytes = log, files, index_bytes
        self._old: list[StoredSegment] = []
        self._new: list[StoredSegment] = []

    @property
    def is_offline(self) -> bool:
        """True if the log is offline."""
        return self._log.is_offline

    def fail(self, error: OSError) -> None:
        """Take the log's folder offline."""
        self._log.fail(error)

    @guarded
    def begin_segment(self, group: Sequence[StoredSegment]) -> None:
        """Begin a segment with the modification time of the group's last one. Raises OSError."""
        self._old += group
        self._begin(group[0].base_offset, group[-1]).begun_at = group[0].begun_at

    def _begin(self, base: Offset, like: StoredSegment) -> StoredSegment:
        folder = self._log.folder
        made = StoredSegment(self._files, folder, base, self._index_bytes, CLEANED)
        made.begun_at, made.modified_at = like.begun_at, like.modified_at
        self._new.append(made)
        return made

    @guarded
    def add(self, batch: StoredBatch) -> None:
        """Append a batch; if it is too far from the segment's base, begin a segment.

        The old segment had to be split then (KAFKA-6264). Raises OSError.
        """
        made = self._new[-1]
        if not made.offset_index.can_hold(batch.last_offset):
            made = self._begin(batch.base_offset, made)
        made.append(batch, _INDEX_INTERVAL_BYTES, made.modified_at)

    @guarded
    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """Raises OSError."""
        self._new[-1].note_aborted(aborted)

    @guarded
    def put_in_place(self, end: Offset) -> bool:  # noqa: ARG002 - the old ones say it
        """Replace the old segments; False if one was removed meanwhile: it must not come back."""
        if list(self._log.segments.all()[: len(self._old)]) != self._old:
            return False
        self._log.note_epochs()  # compaction may have removed batches with these epochs
        for segment in self._new:
            segment.seal()
            segment.flush()
        for segment in reversed(self._new):
            segment.rename(SWAP)
        new, self._new = self._new, []
        self._log.replace(self._old, new)
        for segment in new:
            segment.rename("")
        flush_folder(self._log.folder)
        return True

    def abandon(self) -> None:
        """Remove new segments that are not in place; in a failed folder they stay."""
        for segment in () if self.is_offline else self._new:
            segment.remove()
        self._new = []
