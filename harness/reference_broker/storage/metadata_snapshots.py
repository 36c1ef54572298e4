"""Snapshots of the metadata log: files beside it with its state up to an offset.

Source: KIP-630, classes Snapshots and FileRawSnapshotWriter; the first one, of offset 0, has the
records with which a formatted folder begins (up to 3.9 a file beside the partitions).
"""

from __future__ import annotations

import re
from pathlib import Path

from harness.base.ids import LeaderEpoch, Offset
from harness.reference_broker.state.log.log_store import SnapshotId
from harness.reference_broker.storage.open_files import replace_file

_NAME = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint")
_BEGIN = "bootstrap.checkpoint"
_KEPT = 2


class MetadataSnapshots:
    """The snapshots in the folder of the metadata log; see :class:`Snapshots`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def ids(self) -> list[SnapshotId]:
        """Return the ids from the oldest to the newest."""
        found = (_NAME.fullmatch(path.name) for path in self._folder.iterdir())
        return sorted(
            SnapshotId(Offset(int(match[1])), LeaderEpoch(int(match[2])))
            for match in found
            if match is not None
        )

    def read(self, snapshot: SnapshotId) -> bytes:
        """Return the whole file. Raises OSError."""
        return self.path(snapshot).read_bytes()

    def write(self, snapshot: SnapshotId, data: bytes) -> None:
        """Write a snapshot to the disk, and remove old ones. Raises OSError."""
        replace_file(self.path(snapshot), data)
        for old in self.ids()[:-_KEPT]:
            self.path(old).unlink(missing_ok=True)

    def begin(self) -> bytes:
        """Return the first snapshot of a formatted folder, else nothing. Raises OSError."""
        first = self.path(SnapshotId(Offset(0), LeaderEpoch(0)))
        beside = self._folder.parent / _BEGIN
        return next((path.read_bytes() for path in (first, beside) if path.exists()), b"")

    def path(self, snapshot: SnapshotId) -> Path:
        """Return the path of a snapshot's file."""
        return self._folder / f"{snapshot.end_offset:020d}-{snapshot.epoch:010d}.checkpoint"
