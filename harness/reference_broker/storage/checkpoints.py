"""The checkpoint files of a log directory, with offsets of each log.

A file that cannot be read counts as empty: recovery checks more then. Source: LogManager
(loadLogs).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.base.ids import Offset
from harness.codec.data_framing import (
    CheckpointedOffset,
    offset_checkpoint_bytes,
    read_offset_checkpoint,
)
from harness.codec.data_framing.log_folder import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
)
from harness.codec.errors import DecodeError
from harness.reference_broker.storage.open_files import replace_file
from harness.reference_broker.storage.stored_log import StoredLog

_LOG = logging.getLogger(__name__)
_Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Noted:
    """The checkpointed offsets of one log; None if a file has none."""

    recovery_point: Offset | None = None
    high_watermark: Offset | None = None
    start: Offset | None = None
    first_dirty: Offset | None = None


_FILES: dict[str, tuple[str, Callable[[StoredLog], Offset | None]]] = {
    RECOVERY_POINTS: ("recovery_point", lambda log: log.recovery_point),
    HIGH_WATERMARKS: ("high_watermark", lambda log: log.high_watermark),
    LOG_STARTS: ("start", lambda log: log.noted_start),
    CLEANER_OFFSETS: ("first_dirty", lambda log: log.first_dirty or None),
}


class Checkpoints:
    """The four checkpoint files of one log directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found = {name: _read(folder / name) for name in _FILES}
        self._written: dict[str, bytes] = {}

    def of(self, topic: str, index: int, *, is_metadata: bool) -> Noted:
        """Return the offsets found at the start; the metadata log has no checkpoints (KRaft)."""
        if is_metadata:
            return Noted()
        return Noted(
            **{field: self._found[name].get((topic, index)) for name, (field, _) in _FILES.items()}
        )

    def knows(self, place: _Place) -> bool:
        """True if any file has an offset of the log."""
        return any(place in found for found in self._found.values())

    def write(self, logs: Mapping[_Place, StoredLog], names: Iterable[str] = tuple(_FILES)) -> None:
        """Write those of these files that have changed since the last time, or are gone.

        So the broker notices when the whole folder is gone. Raises OSError.
        """
        for name in names:
            path, (_, offset_of) = self._folder / name, _FILES[name]
            offsets = ((place, offset_of(log)) for place, log in logs.items())
            entries = [CheckpointedOffset(*place, at) for place, at in offsets if at is not None]
            data = offset_checkpoint_bytes(entries)
            if self._written.get(name) != data or not path.exists():
                replace_file(path, data)
                self._written[name] = data


def _read(path: Path) -> dict[_Place, Offset]:
    try:
        entries = read_offset_checkpoint(path.read_bytes())
    except FileNotFoundError:
        return {}
    except DecodeError as error:
        _LOG.warning("%s: it counts as empty: %s", path, error)
        return {}
    return {(entry.topic, entry.partition): Offset(entry.offset) for entry in entries}
