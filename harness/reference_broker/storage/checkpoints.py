"""The offsets that a folder of logs notes of each of them.

A file that cannot be read counts as empty: more is looked at then. Source: LogManager (loadLogs).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.codec.data_framing import (
    CheckpointedOffset,
    offset_checkpoint_bytes,
    read_offset_checkpoint,
)
from harness.codec.errors import DecodeError
from harness.ids import Offset
from harness.reference_broker.storage.log_folder import (
    CLEANER_OFFSETS,
    HIGH_WATERMARKS,
    LOG_STARTS,
    RECOVERY_POINTS,
)
from harness.reference_broker.storage.open_files import replace_file
from harness.reference_broker.storage.stored_log import StoredLog

_LOG = logging.getLogger(__name__)
_Place = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Noted:
    """Of one log; None where nothing was noted."""

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
    """The four files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found = {name: _read(folder / name) for name in _FILES}
        self._written: dict[str, bytes] = {}

    def of(self, topic: str, index: int, *, is_metadata: bool) -> Noted:
        """What was found at the start; of the log of metadata nothing is noted (KRaft)."""
        if is_metadata:
            return Noted()
        return Noted(
            **{field: self._found[name].get((topic, index)) for name, (field, _) in _FILES.items()}
        )

    def knows(self, place: _Place) -> bool:
        """Whether anything is noted of it."""
        return any(place in found for found in self._found.values())

    def write(self, logs: Mapping[_Place, StoredLog], names: Iterable[str] = tuple(_FILES)) -> None:
        """Of these files what has changed since the last time, or is gone: so it is noticed that
        the whole folder is. Raises OSError."""
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
