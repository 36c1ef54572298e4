"""The leader and epoch of the metadata log, noted beside it for the next start.

Source: class FileQuorumStateStore (KIP-595; version 1 of the file is that of KIP-853).
"""

from __future__ import annotations

from pathlib import Path

from harness.base.ids import BrokerId, LeaderEpoch
from harness.codec.data_framing import QuorumState, quorum_state_text, read_quorum_state
from harness.codec.errors import DecodeError
from harness.codec.messages import QuorumStateData
from harness.reference_broker.storage.open_files import replace_file

_NAME = "quorum-state"
_FIXED_VOTERS = 0


class QuorumFile:
    """The file ``quorum-state`` beside the metadata log; this node is the log's only voter."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME

    @property
    def epoch(self) -> LeaderEpoch:
        """The last noted epoch; 0 for none. Raises OSError, also for a file that cannot be read."""
        found = self._read()
        return LeaderEpoch(0 if found is None else max(found.message.leader_epoch, 0))

    def note(self, leader: BrokerId, epoch: LeaderEpoch) -> None:
        """Note the new leader and epoch; this survives a loss of power. Raises OSError."""
        found = self._read()
        version = _FIXED_VOTERS if found is None else found.version
        state = QuorumStateData(leader_id=leader, leader_epoch=epoch)
        if version == _FIXED_VOTERS:
            state.current_voters = [QuorumStateData.Voter(voter_id=leader)]
        replace_file(self._path, quorum_state_text(state, version).encode())

    def _read(self) -> QuorumState | None:
        try:
            return read_quorum_state(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except DecodeError as error:
            raise OSError(f"{self._path}: {error}") from error
