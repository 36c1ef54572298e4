"""The file with a log's leader epochs, which need not be read out of its batches then.

An epoch is on the disk before its first batch is in the log, so none of them is ever missing; an
epoch without a batch does no harm, as the next start removes it anyway. A truncation makes entries
untrue; they are rewritten when the recovery point moves or a batch comes, and a start ignores them
before. Kafka writes the file at each election (class LeaderEpochFileCache, assign) and, since
KAFKA-15046, some time after each truncation.
"""

from __future__ import annotations

from pathlib import Path

from harness.base.ids import LeaderEpoch, Offset
from harness.codec.data_framing import (
    EpochStart,
    leader_epoch_checkpoint_bytes,
    read_leader_epoch_checkpoint,
)
from harness.codec.data_framing.log_folder import LEADER_EPOCHS
from harness.reference_broker.state.log.leader_epochs import LeaderEpochs
from harness.reference_broker.storage.open_files import replace_file


class EpochFile:
    """The file of one log; ``epochs`` has its entries, and may change."""

    def __init__(self, folder: Path) -> None:
        """Raises DecodeError, OSError: the file cannot be read. A missing file counts as empty."""
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
        """True if the file has the last epoch with its start offset."""
        return tuple(self.epochs.last or ()) == tuple(self._noted[-1] if self._noted else ())

    def moved_to(self, folder: Path) -> None:
        """Use the log's new folder."""
        self._path = folder / LEADER_EPOCHS

    def write(self, end: Offset) -> None:
        """Write the epochs of a log that ends there, unless the file has them. Raises OSError."""
        entries = [EpochStart(*entry) for entry in self.epochs.entries if entry.start_offset < end]
        if entries != self._noted:
            replace_file(self._path, leader_epoch_checkpoint_bytes(entries))
            self._noted = entries
