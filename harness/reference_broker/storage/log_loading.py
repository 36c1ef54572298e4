"""The loading of a log from a partition's folder, with its recovery after a crash.

Source: classes LogLoader, LogSegment (recover), UnifiedLog (rebuildProducerState).
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

from harness.base.ids import Offset, TimeMs
from harness.codec.data_framing.log_folder import (
    INDEX,
    INDEXES,
    LOG,
    SNAPSHOT,
    TIME_INDEX,
    TXN_INDEX,
)
from harness.reference_broker.state.log.leader_epochs import LeaderEpochs
from harness.reference_broker.state.log.stored_batch import replay
from harness.reference_broker.state.producers.producer_states import ProducerStates
from harness.reference_broker.storage.aborted_files import keep_aborted_below, read_aborted
from harness.reference_broker.storage.index_file import EntriesOutOfOrder
from harness.reference_broker.storage.open_files import OpenFiles
from harness.reference_broker.storage.overflowed_segment import (
    SegmentOverflow,
    split,
)
from harness.reference_broker.storage.producer_files import ProducerFiles
from harness.reference_broker.storage.segment_recovery import RecoveredSegment, recover
from harness.reference_broker.storage.stored_segment import (
    CLEANED,
    DELETED,
    SWAP,
    StoredSegment,
    file_name,
)

_LOG = logging.getLogger(__name__)
_NAME = re.compile(r"(-?[0-9]{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)(\.\w+)?")
_OTHER_LOG = re.compile(r"([+-]?[0-9]{1,19})\.log", re.ASCII)
_OFFSET = re.compile(r"[+-]?[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class LoadingSettings:
    """The parameters of a loading; after a clean end the log's bytes are trusted.

    `recovery_point`: everything below it was on the disk. `start`: the noted start of the log.
    `interval_bytes`, `index_bytes`: the settings of rebuilt indexes.
    """

    is_clean: bool
    recovery_point: Offset
    start: Offset
    interval_bytes: int
    index_bytes: int
    now: TimeMs


class LogLoading:
    """The loading of one log; ``segments`` are those left of it when ``run`` returns."""

    def __init__(
        self,
        folder: Path,
        files: OpenFiles,
        finding: LoadingSettings,
        epochs: LeaderEpochs,
        producers: ProducerStates,
    ) -> None:
        """``producers``: only their rules count; they do not change."""
        self._producers, self._snapshots = producers, ProducerFiles(folder)
        self._folder, self._files, self._finding = folder, files, finding
        self._epochs = epochs
        self.segments: list[StoredSegment] = []

    def run(self) -> Offset:
        """Load the log and return its end. Raises OSError."""
        self._finish_swaps()
        while (overflowed := self._load_all()) is not None:
            split(overflowed)
        end = self.segments[-1].next_offset() if self.segments else self._finding.start
        if end < self._finding.start:
            _LOG.warning("%s: it ends at %d, before its start", self._folder, end)
            self._remove(self.segments)
            end = self._finding.start
            self._epochs.truncate_from(Offset(0))
        if not self.segments:
            first = self._segment(end)
            first.begun_at = first.modified_at = self._finding.now  # its file comes with a batch
            self.segments = [first]
        self._epochs.truncate_from(end)
        self._epochs.truncate_below(self._finding.start)
        return end

    def _segment(self, base: Offset) -> StoredSegment:
        return StoredSegment(self._files, self._folder, base, self._finding.index_bytes)

    # -- the remains of a crash ------------------------------------------------------------------

    def _finish_swaps(self) -> None:
        """Finish interrupted replacements by compacted segments; remove unfinished segments."""
        self._refuse_nameless()
        named = [(path, _NAME.fullmatch(path.name)) for path in sorted(self._folder.iterdir())]
        suffixed = [(path, int(m[1]), m[2], m[3]) for path, m in named if m is not None and m[3]]
        first_cleaned = min((at for _, at, _, s in suffixed if s == CLEANED), default=None)
        swaps = []
        for path, at, kind, suffix in suffixed:
            is_late = first_cleaned is not None and at >= first_cleaned
            if suffix in (DELETED, CLEANED) or (suffix == SWAP and is_late):
                path.unlink()
            elif suffix == SWAP:
                swaps.append((at, kind))
        logs = [Offset(at) for at, kind in swaps if kind == LOG]
        if logs:
            self._remove_replaced(logs)
        for path in list(self._folder.iterdir()):
            if path.name.endswith(SWAP):
                path.rename(path.with_name(path.name.removesuffix(SWAP)))

    def _refuse_nameless(self) -> None:
        """Refuse files of segments without an offset as their name. Raises ValueError.

        The name of a file of an interrupted compaction or split ends at the first dot
        (LogFileUtils, offsetFromFileName).
        """
        for path in self._folder.iterdir():
            is_left = path.name.endswith((CLEANED, SWAP))
            if not is_left and path.suffix not in (LOG, *INDEXES, SNAPSHOT):
                continue
            named = path.name.partition(".")[0] if is_left else path.stem
            if not _OFFSET.fullmatch(named):
                raise ValueError(f"{path.name} is not named by an offset")

    def _remove_replaced(self, logs: list[Offset]) -> None:
        """Remove the segments that were compacted into these, as far as they still exist."""
        ends = []
        for base in logs:
            times = self._folder / (file_name(base, TIME_INDEX) + SWAP)
            had_times = times.exists()
            swap = StoredSegment(self._files, self._folder, base, self._finding.index_bytes, SWAP)
            ends.append(swap.next_offset())
            for kind in (LOG, *INDEXES):
                self._files.close(swap.path(kind))
            if not had_times:
                times.unlink()  # Kafka looks for the end by the index of offsets alone
        for path in list(self._folder.iterdir()):
            match = _NAME.fullmatch(path.name)
            if match is not None and not match[3] and min(logs) <= int(match[1]) < max(ends):
                path.unlink()

    # -- segments --------------------------------------------------------------------------------

    def _load_all(self) -> StoredSegment | None:
        """Load all segments; return one to split before a new attempt, or None if all is fine.

        After a clean end segments are not recovered, as in Kafka.
        """
        self.segments = []
        try:
            self._load()
            if not self._finding.is_clean:
                self._recover_unflushed()
        except SegmentOverflow as found:
            return found.segment
        return None

    def _load(self) -> None:
        self._make_named_otherwise()
        names = {path.name for path in self._folder.iterdir()}
        for name in sorted(names, key=_by_offset):
            match = _NAME.fullmatch(name)
            if match is None or match[3]:
                continue
            base = Offset(int(match[1]))
            if match[2] in INDEXES and file_name(base, LOG) not in names:
                (self._folder / name).unlink()
            elif match[2] == LOG:
                has_index = file_name(base, INDEX) in names
                segment = self._segment(base)
                if not has_index or not _transactions_are_sane(segment):
                    self._recover(segment)
                self.segments.append(segment)

    def _make_named_otherwise(self) -> None:
        """Create an empty segment at the offset of a name like ``-5.log``, if there is none."""
        for path in list(self._folder.iterdir()):
            match = _OTHER_LOG.fullmatch(path.name)
            if match is not None:
                (self._folder / file_name(int(match[1]), LOG)).touch()

    def _recover_unflushed(self) -> None:
        """Recover segments from the recovery point on, up to the first that must be cut."""
        point = self._finding.recovery_point
        flushed = [one for one in self.segments[1:] if one.base_offset <= point]
        for place in range(len(flushed), len(self.segments)):
            if self._recover(self.segments[place]).cut_bytes:
                rest = self.segments[place + 1 :]
                if rest:
                    _LOG.warning("%s: %d segments behind it go", self._folder, len(rest))
                self._remove(rest)
                return

    def _recover(self, segment: StoredSegment) -> RecoveredSegment:
        producers = self._producers_before(segment)
        try:
            found = recover(segment, producers, self._epochs, self._finding.interval_bytes)
        except EntriesOutOfOrder:
            _LOG.warning("%s: its offsets do not rise, it is emptied", segment.path(LOG))
            size = segment.size_bytes
            segment.offset_index.reset()
            segment.time_index.reset()
            keep_aborted_below(segment.path(TXN_INDEX), segment.base_offset)
            segment.note_found(0, None)
            return RecoveredSegment(size)
        self._snapshots.write(segment.next_offset(), producers)
        if found.cut_bytes:
            end = segment.next_offset()
            _LOG.warning("%s: %d bytes behind %d go", segment.path(LOG), found.cut_bytes, end)
        return found

    def _producers_before(self, segment: StoredSegment) -> ProducerStates:
        """Return the producers known at a segment's base, by the newest snapshot and the log.

        The segment before it is read to its end, wherever that is, only where all are loaded.
        Source: UnifiedLog (rebuildProducerState).
        """
        start, base = self._finding.start, segment.base_offset
        self._snapshots.remove_outside(start, base)
        producers = self._producers.alike()
        known = self._snapshots.load(producers, start, self._finding.now)
        before = [one for one in self.segments if one.base_offset < base]
        begun = [one for one in before if one.base_offset <= known]
        for one in before[max(len(begun) - 1, 0) :]:
            stop = base if one is before[-1] and segment not in self.segments else None
            replay(producers, one.bytes_of_batches(max(known, one.base_offset), stop))
        self._snapshots.write(base, producers)
        return producers

    def _remove(self, segments: list[StoredSegment]) -> None:
        gone = list(segments)
        self.segments = [one for one in self.segments if one not in gone]
        for segment in gone:
            segment.remove()


def _by_offset(name: str) -> tuple[int, str]:
    match = _NAME.fullmatch(name)
    return (0 if match is None else int(match[1]), name)


def _transactions_are_sane(segment: StoredSegment) -> bool:
    """True if all transactions end in the segment or behind it.

    Raises DecodeError: an unknown version.
    """
    found = read_aborted(segment.path(TXN_INDEX))
    return all(aborted.last_offset >= segment.base_offset for aborted in found)
