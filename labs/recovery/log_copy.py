"""A copy of a partition's folder, to be damaged, and what its log directory notes of it."""

from __future__ import annotations

import shutil
import struct
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from harness.codec.data_framing.log_folder import LEADER_EPOCHS, LOG, SNAPSHOT

_FRAME = struct.Struct(">qi")  # offset, and how many bytes come behind it: all formats
_LAST_OFFSET_DELTA = struct.Struct(">i")
_MAGIC_AT, _DELTA_AT, _LEAST_BYTES, MAGIC_2 = 16, 23, 14, 2


class BatchPosition(NamedTuple):
    """Where a batch (before magic 2: a message) stands in its segment."""

    start: int
    end: int
    base_offset: int
    last_offset: int
    magic: int


@dataclass(frozen=True, slots=True)
class CopyNotes:
    """A partition's lines in the checkpoint files of its log directory; None: there is no line."""

    recovery_point: int | None = None
    log_start: int | None = None
    high_watermark: int | None = None


@dataclass(slots=True)
class LogCopy:
    """``directory``: files of the log directory itself that are to be like this; None: not there.

    ``newest``: the segment that is written, ``base_offsets`` all of them, as they were copied.
    """

    folder: Path
    notes: CopyNotes
    directory: dict[str, bytes | None] = field(default_factory=dict)

    # -- files ---------------------------------------------------------------------------------

    def path(self, base_offset: int, suffix: str = LOG) -> Path:
        return self.folder / f"{base_offset:020}{suffix}"

    def read(self, base_offset: int, suffix: str = LOG) -> bytes:
        return self.path(base_offset, suffix).read_bytes()

    def write(self, data: bytes, base_offset: int, suffix: str = LOG) -> None:
        self.path(base_offset, suffix).write_bytes(data)

    def remove(self, base_offset: int, suffix: str = LOG) -> None:
        self.path(base_offset, suffix).unlink()

    def note(self, **offsets: int | None) -> None:
        """Another line of a checkpoint file, by the names of :class:`CopyNotes`."""
        self.notes = replace(self.notes, **offsets)

    # -- what is in it -------------------------------------------------------------------------

    def offsets_of(self, suffix: str) -> list[int]:
        """The offsets that files with this suffix are named by."""
        found = (path.stem for path in self.folder.glob(f"*{suffix}"))
        return sorted(int(stem) for stem in found if stem.isdigit())

    @property
    def base_offsets(self) -> list[int]:
        return self.offsets_of(LOG)

    @property
    def newest(self) -> int:
        return self.base_offsets[-1]

    @property
    def snapshots(self) -> list[int]:
        return self.offsets_of(SNAPSHOT)

    @property
    def epochs(self) -> Path:
        return self.folder / LEADER_EPOCHS

    def batches(self, base_offset: int | None = None) -> list[BatchPosition]:
        """Those of a segment, by default of the newest."""
        return batches_in(self.read(self.newest if base_offset is None else base_offset))

    @property
    def magic(self) -> int:
        """Of the newest batch."""
        return self.batches()[-1].magic

    @property
    def end_offset(self) -> int:
        return self.batches()[-1].last_offset + 1


def batches_in(data: bytes) -> list[BatchPosition]:
    """Whole batches from the beginning on, by their lengths alone."""
    found, start = [], 0
    while start + _MAGIC_AT < len(data):
        offset, size = _FRAME.unpack_from(data, start)
        end = start + _FRAME.size + size
        if size < _LEAST_BYTES or end > len(data):
            break
        magic = data[start + _MAGIC_AT]
        delta = _LAST_OFFSET_DELTA.unpack_from(data, start + _DELTA_AT)[0] if magic >= 2 else 0
        found.append(BatchPosition(start, end, offset, offset + delta, magic))
        start = end
    return found


def copy_of(folder: Path, notes: CopyNotes, to: Path) -> LogCopy:
    """A copy at ``to``, which is not there yet."""
    shutil.copytree(folder, to)
    return LogCopy(to, notes)
