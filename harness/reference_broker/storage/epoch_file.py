"""Where the leader epochs of a log are noted, so that they need not be read out of its batches.

An epoch is on the disk before its first batch is in the log, so none of them is ever missing; one
in which nothing was written costs nothing, as the next start takes it back anyway. What a
truncation has made untrue is told when the recovery point moves or a batch comes; a start does not
believe it before. Kafka writes the file at each election (class LeaderEpochFileCache, assign) and,
since KAFKA-15046, some time after each truncation.
"""

from __future__ import annotations

from pathlib import Path

from harness.codec.data_framing import (
    EpochStart,
    leader_epoch_checkpoint_bytes,
    read_leader_epoch_checkpoint,
)
from harness.ids import LeaderEpoch, Offset
from harness.reference_broker.state.leader_epochs import LeaderEpochs
from harness.reference_broker.storage.log_folder import LEADER_EPOCHS
from harness.reference_broker.storage.open_files import replace_file


class EpochFile:
    """One log's; ``epochs`` are what it tells, and may change."""

    def __init__(self, folder: Path) -> None:
        """Raises DecodeError, and OSError: it can be read, or it is not there."""
        self._path = folder / LEADER_EPOCHS
        try:
            found = read_leader_epoch_checkpoint(self._path.read_bytes())
        except FileNotFoundError:
            found = []
        self._noted = found
        self.epochs = LeaderEpochs()
        for epoch, begin in found:  # an entry removes those before it that it makes untrue
            self.epochs.assign(LeaderEpoch(epoch), Offset(begin))

    @property
    def has_last(self) -> bool:
        """Whether the last epoch is noted, with where it begins."""
        return tuple(self.epochs.last or ()) == tuple(self._noted[-1] if self._noted else ())

    def moved_to(self, folder: Path) -> None:
        """The log's folder has this name now."""
        self._path = folder / LEADER_EPOCHS

    def write(self, end: Offset) -> None:
        """Note those of a log that ends there, unless they are. Raises OSError."""
        entries = [EpochStart(*entry) for entry in self.epochs.entries if entry.start_offset < end]
        if entries != self._noted:
            replace_file(self._path, leader_epoch_checkpoint_bytes(entries))
            self._noted = entries
