"""A check of a data folder without a broker: its problems, and their places."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from harness.codec.data_framing import (
    EpochStart,
    read_leader_epoch_checkpoint,
    read_offset_checkpoint,
)
from harness.codec.data_framing.control_records import read_control_type
from harness.codec.data_framing.log_folder import (
    CLEAN_SHUTDOWN,
    INDEX,
    LEADER_EPOCHS,
    METADATA_TOPIC,
    OFFSET_CHECKPOINTS,
    RECOVERY_POINTS,
    TIME_INDEX,
    LogDirectoryFiles,
    PartitionFolder,
    SegmentFiles,
)
from harness.codec.errors import DecodeError
from harness.codec.records.log_batch import LogBatch
from harness.log_tools.findings import REBUILT, REMOVED, Finding, Recovery
from harness.log_tools.notes_check import (
    check_leader_epochs,
    check_note,
    check_offset_checkpoint,
    check_producer_snapshot,
)
from harness.log_tools.producer_check import LastBatches
from harness.log_tools.release_limits import ReleaseLimits
from harness.log_tools.segment_check import EpochStarts, SegmentCheck
from harness.log_tools.segment_reader import SegmentDamage, SegmentReader

_SNAPSHOT_FOOTER = 4
_ANOTHER_SNAPSHOT = "an older snapshot is read, or the leader's is fetched"


def check_log(
    found: LogDirectoryFiles | PartitionFolder, limits: ReleaseLimits | None = None
) -> Iterator[Finding]:
    """Yield all problems, in the order of reading. Raises OSError.

    ``limits``: of the release that has to read the batches; None for any.
    """
    if isinstance(found, PartitionFolder):
        yield from PartitionCheck(found, limits).findings()
        return
    log_ends = {}
    for folder in found.partitions:
        check = PartitionCheck(folder, limits)
        yield from check.findings()
        if check.log_end is not None and folder.topic is not None and folder.partition is not None:
            log_ends[folder.topic, folder.partition] = check.log_end
    for path in found.metadata_snapshots:
        yield from check_metadata_snapshot(path)
    for path in found.notes:
        if path.name in OFFSET_CHECKPOINTS:
            yield from check_offset_checkpoint(path, log_ends)
        else:
            yield from check_note(path)


class PartitionCheck:
    """The check of one log: its segments in order, then the files beside them."""

    def __init__(self, folder: PartitionFolder, limits: ReleaseLimits | None = None) -> None:
        self._folder, self._limits = folder, limits
        self.log_end: int | None = None
        """The log end offset after the check; None where damage or a missing file hides it."""

    def findings(self) -> Iterator[Finding]:
        """Yield the problems of the log. Raises OSError."""
        starts = _epoch_starts(self._folder)
        producers = LastBatches(self._folder.producer_snapshots)
        yield from self._segments(EpochStarts(starts), producers)
        if self._folder.is_whole:
            yield from self._missing()
        for offset, path in self._folder.producer_snapshots:
            yield from check_producer_snapshot(path, offset, self.log_end)
        yield from producers.findings()
        for path in self._folder.metadata_snapshots:
            yield from check_metadata_snapshot(path)
        for path in self._folder.notes:
            yield from check_note(path)
            if path.name == LEADER_EPOCHS:
                yield from check_leader_epochs(path, starts, self.log_end)

    def _segments(self, epochs: EpochStarts, producers: LastBatches) -> Iterator[Finding]:
        recovery, segments = recovery_of(self._folder), self._folder.segments
        bases = [segment.base_offset for segment in segments[1:]]
        before: SegmentCheck | None = None
        for place, segment in enumerate(segments):
            check = SegmentCheck(
                segment,
                recovery,
                next_base_offset=bases[place] if place < len(bases) else None,
                later_segments=len(segments) - place - 1,
                epochs=epochs,
                producers=producers,
                limits=self._limits,
            )
            yield from check.findings()
            before = check
        if self._folder.is_whole and before and not before.is_damaged and segments[-1].log:
            self.log_end = before.next_offset

    def _missing(self) -> Iterator[Finding]:
        """Yield missing files. A release without time index has none."""
        has_times = any(TIME_INDEX in segment.indexes for segment in self._folder.segments)
        for segment in self._folder.segments:
            if segment.log is None:
                for path in segment.indexes.values():
                    problem = "there is no segment of this name"
                    yield Finding(path, "index-orphan", problem, REMOVED)
                continue
            if segment.log.stat().st_size:
                yield from _missing_beside(segment, segment.log, has_times=has_times)


def _missing_beside(segment: SegmentFiles, log: Path, *, has_times: bool) -> Iterator[Finding]:
    for suffix in (INDEX, TIME_INDEX) if has_times else (INDEX,):
        if suffix not in segment.indexes:
            path = log.with_suffix(suffix)
            yield Finding(path, f"{suffix[1:]}-missing", "it is not there", REBUILT)


def _epoch_starts(folder: PartitionFolder) -> list[EpochStart]:
    """Return the entries of the leader epoch checkpoint; its check is elsewhere."""
    for path in folder.notes:
        if path.name == LEADER_EPOCHS:
            try:
                return read_leader_epoch_checkpoint(path.read_bytes())
            except DecodeError:
                return []
    return []


def recovery_of(folder: PartitionFolder) -> Recovery:
    """Return the extent of a recovery, by the log directory's files. Raises OSError.

    The metadata log is recovered at every start. Source: class KafkaMetadataLog.
    """
    around = folder.path.absolute().parent
    points = around / RECOVERY_POINTS
    if folder.topic is None or folder.partition is None or folder.topic == METADATA_TOPIC:
        return Recovery()
    if (around / CLEAN_SHUTDOWN).exists():
        return Recovery(is_clean=True)
    try:
        entries = read_offset_checkpoint(points.read_bytes()) if points.exists() else []
    except DecodeError:
        return Recovery()
    noted = {(entry.topic, entry.partition): entry.offset for entry in entries}
    return Recovery(recovery_point=noted.get((folder.topic, folder.partition)))


def check_metadata_snapshot(path: Path) -> Iterator[Finding]:
    """Check a snapshot of the metadata log (KIP-630).

    Its batches must be sound, and its last record must be the footer. Raises OSError.
    """
    last, next_offset = None, 0
    with SegmentReader(path) as reader:
        for found in reader.batches():
            if isinstance(found, SegmentDamage):
                kind = f"metadata-snapshot-{found.kind.value}"
                yield Finding(
                    path, kind, found.problem, _ANOTHER_SNAPSHOT, found.position, found.base_offset
                )
                return
            if found.base_offset < next_offset:
                problem = f"offset {found.base_offset} behind {next_offset - 1}"
                yield Finding(
                    path,
                    "metadata-snapshot-offsets",
                    problem,
                    _ANOTHER_SNAPSHOT,
                    found.position,
                    found.base_offset,
                )
            last, next_offset = found, found.last_offset + 1
    if last is None or not _ends_with_footer(last):
        problem, size = "its last record is no footer", path.stat().st_size
        yield Finding(path, "metadata-snapshot-footer", problem, _ANOTHER_SNAPSHOT, size)


def _ends_with_footer(batch: LogBatch) -> bool:
    if not batch.is_control or not len(batch.records):
        return False
    try:
        return read_control_type(batch.records[-1].key or b"") == _SNAPSHOT_FOOTER
    except DecodeError:
        return False
