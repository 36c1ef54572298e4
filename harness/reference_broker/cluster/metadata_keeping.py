"""Storage of the controller's log: its snapshots, and the note of leader and epoch.

Source: classes KafkaRaftClient, SnapshotGenerator and QuorumController (completion of activation).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from harness.base.ids import BrokerId, LeaderEpoch, Offset, TimeMs
from harness.reference_broker.effects import Effect
from harness.reference_broker.state.log.log_store import SnapshotId, UnreadableLog
from harness.reference_broker.state.metadata.metadata_batches import (
    UNREADABLE,
    MetadataReading,
    snapshot_batches,
)
from harness.reference_broker.state.metadata.metadata_log import MetadataLog
from harness.reference_broker.storage.metadata_snapshots import MetadataSnapshots
from harness.reference_broker.storage.quorum_file import QuorumFile

if TYPE_CHECKING:
    from harness.codec.structs import Message

_WHATEVER, _BEGIN = 2**63 - 1, Offset(0)
_LOG = logging.getLogger(__name__)


class KeepingLimits(NamedTuple):
    """The bytes between two snapshots, and the kept bytes of a log that snapshots cover."""

    between_snapshots: int
    retention_bytes: int = _WHATEVER


class MetadataKeeping:
    """The log in its `folder`, or in memory."""

    def __init__(self, log: MetadataLog, folder: Path | None, limits: KeepingLimits) -> None:
        self._log, self._limits, self._written = log, limits, 0
        self._folder = folder
        self._snapshots = None if folder is None else MetadataSnapshots(folder)
        self._quorum = None if folder is None else QuorumFile(folder)

    @property
    def snapshots(self) -> MetadataSnapshots | None:
        """None for a log in memory."""
        return self._snapshots

    def records(self, now: TimeMs) -> Iterator[tuple[Offset, list[Message]]]:
        """Yield all records: those of the newest snapshot, then those of the log behind it.

        Raises UnreadableLog, OSError.
        """
        told = self._told()
        begin, start = (told[-1].end_offset if told else _BEGIN), self._log.start_offset
        if begin < start:
            raise UnreadableLog(
                f"the log of metadata begins at {start}, and no snapshot in {self._folder} tells "
                "what was before: put what is missing, or the whole folder, back from a copy"
            )
        if self._snapshots is not None and told:
            yield from self._of_snapshot(self._snapshots, told[-1], now)
        try:
            yield from self._log.records(begin)
        except UNREADABLE as error:
            raise UnreadableLog(f"the log of metadata in {self._folder}: {error}") from error

    def _of_snapshot(
        self, snapshots: MetadataSnapshots, newest: SnapshotId, now: TimeMs
    ) -> Iterator[tuple[Offset, list[Message]]]:
        """Yield the records of the newest snapshot; a damaged one ends the start.

        Older ones may be whole, but Kafka does not use them either (class
        KRaftControlRecordStateMachine). Kafka, unlike this broker, reads a snapshot that is cut
        between two batches, with what is left of it.
        """
        try:
            told = list(self._log.snapshot_records(snapshots.read(newest)))
        except UNREADABLE as error:
            raise self._damaged(snapshots.path(newest), str(error)) from error
        if not self._log.reading.saw_footer:
            raise self._damaged(snapshots.path(newest), "it has no end")
        if newest.end_offset > self._log.end_offset:
            self._log.restart_at(newest.end_offset, now)
        for records in told:
            yield newest.end_offset, records

    def _damaged(self, path: Path, why: str) -> UnreadableLog:
        *older, newest = (_BEGIN, *(one.end_offset for one in self._told()))
        is_told = older[-1] >= self._log.start_offset and newest <= self._log.end_offset
        what_to_do = (
            "the other files hold the same records: move this file out of the folder"
            if is_told
            else "no other file holds its records: put it, or the whole folder, back from a copy"
        )
        return UnreadableLog(f"{path}: the metadata's snapshot is damaged: {why}; {what_to_do}")

    def _told(self) -> list[SnapshotId]:
        """Return all snapshots but that of offset 0: the log itself begins with its records."""
        found = [] if self._snapshots is None else self._snapshots.ids()
        return [one for one in found if one.end_offset > 0]

    def lead(self, own: BrokerId, now: TimeMs) -> None:
        """Begin a new epoch, as at each start. Raises OSError."""
        epoch = self._log.last_epoch
        if self._quorum is not None:
            epoch = max(epoch, self._quorum.epoch, *self._epochs_of_snapshots())
            self._quorum.note(own, LeaderEpoch(epoch + 1))
        self._log.begin_epoch(LeaderEpoch(epoch + 1), own, now)

    def _epochs_of_snapshots(self) -> list[LeaderEpoch]:
        return [] if self._snapshots is None else [one.epoch for one in self._snapshots.ids()]

    def begin(self) -> list[Message]:
        """Return the first records for the log of a folder that Kafka has formatted.

        Raises UnreadableLog, OSError.
        """
        data = b"" if self._snapshots is None else self._snapshots.begin()
        try:
            return [one for _, records in MetadataReading().records(data) for one in records]
        except UNREADABLE as error:
            told = f"what the metadata in {self._folder} begins with"
            raise UnreadableLog(f"{told}: {error}") from error

    def append(self, records: Sequence[Message], now: TimeMs) -> list[Effect]:
        """Write one batch, and a snapshot when it is time for one. Raises OSError."""
        before = self._log.size_bytes
        effects = self._log.append(records, now)
        self._written += self._log.size_bytes - before
        if self._snapshots is not None and self._written >= self._limits.between_snapshots:
            self._take_snapshot(self._snapshots, now)
        return effects

    def _take_snapshot(self, snapshots: MetadataSnapshots, now: TimeMs) -> None:
        self._written, log = 0, self._log
        if not (log.fold.is_whole and log.reading.is_whole):
            _LOG.warning("no snapshot: there are records in the log that are not known")
            return
        epoch = log.last_epoch
        data = snapshot_batches(log.fold.records(), epoch, now)
        snapshots.write(SnapshotId(log.end_offset, epoch), data)
        if log.size_bytes > self._limits.retention_bytes:
            log.delete_below(snapshots.ids()[0].end_offset, now)
