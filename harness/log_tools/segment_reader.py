"""A reader of a segment's file, batch by batch, in bounded memory; it reports and skips damage.

The file is only read, and may be written meanwhile. Source: classes FileRecords,
FileLogInputStream.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Self

import google_crc32c

from harness.codec.records.any_format import read_records
from harness.codec.records.log_batch import LogBatch

_START = struct.Struct(">qiiB")  # offset, length, (epoch or checksum), magic: alike in all formats
_LEGACY_CRC, _BATCH_CRC = (12, 16), (17, 21)  # (its position, the first byte that it covers)
_OVERHEAD_BYTES, _SMALLEST_BATCH_BYTES = 12, 61
_SMALLEST_BYTES = {0: 26, 1: 34, 2: _SMALLEST_BATCH_BYTES}
_WINDOW_BYTES = 1 << 20
LIMIT_BYTES = 256 << 20  # of one batch, decompressed


class DamageKind(Enum):
    """Kinds of damage to a piece of a segment."""

    TORN = "torn"  # a batch that the file ends in
    ZEROS = "zeros"  # nothing but zeros up to the end
    LENGTH = "length"  # an impossible length
    MAGIC = "magic"  # an unknown format
    CHECKSUM = "checksum"
    RECORDS = "records"  # the checksum is right, the bytes that it covers cannot be read


@dataclass(frozen=True, slots=True)
class SegmentDamage:
    """A piece that is no batch.

    ``base_offset``, ``magic``: the numbers at their places, None where the file ends before.
    ``size_bytes``: the number of skipped bytes; ``ends``: no batch can be found behind them.
    """

    position: int
    size_bytes: int
    kind: DamageKind
    problem: str
    base_offset: int | None
    magic: int | None
    ends: bool


class SegmentReader:
    """An open segment, or a snapshot of the metadata log, which holds batches too."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises OSError."""
        self._file = path.open("rb")
        self.size_bytes = os.fstat(self._file.fileno()).st_size
        self._window, self._window_at = b"", 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def batches(self) -> Iterator[LogBatch | SegmentDamage]:
        """Yield all batches and damage in order; a position is that in the file."""
        position = 0
        while position < self.size_bytes:
            found = self._next(position)
            yield found
            if isinstance(found, SegmentDamage) and found.ends:
                return
            position += found.size_bytes

    def _next(self, position: int) -> LogBatch | SegmentDamage:
        head = self._bytes(position, _START.size)
        left = self.size_bytes - position
        if len(head) < _START.size:
            return self._last(position, DamageKind.TORN, f"{left} bytes, too few for a batch")
        base_offset, length, _, magic = _START.unpack(head)
        size = _OVERHEAD_BYTES + length
        smallest = _SMALLEST_BYTES.get(magic)
        if length < _SMALLEST_BYTES[0] - _OVERHEAD_BYTES or size < (smallest or 0):
            return self._zeros(position) or self._last(
                position, DamageKind.LENGTH, f"impossible length {length}", base_offset, magic
            )
        if size > left:
            problem = f"a batch of {size} bytes of which {left} are there"
            return self._last(position, DamageKind.TORN, problem, base_offset, magic)
        ends = not self._goes_on_at(position + size)
        if smallest is None:
            problem = f"magic {magic}; there are 0, 1 and 2"
            return SegmentDamage(
                position, size, DamageKind.MAGIC, problem, base_offset, magic, ends
            )
        stored, computed = self._checksums(position, size, magic)
        if stored != computed:
            problem = f"checksum 0x{stored:08x}, that of its bytes 0x{computed:08x}"
            return SegmentDamage(
                position, size, DamageKind.CHECKSUM, problem, base_offset, magic, ends
            )
        return self._read(position, size, base_offset, magic)

    def _read(
        self, position: int, size: int, base_offset: int, magic: int
    ) -> LogBatch | SegmentDamage:
        """Return the batch; its checksum is right, so its size is the one in its header."""
        reading = read_records(self._bytes(position, size), limit_bytes=LIMIT_BYTES)
        if not reading.problems:
            (batch,) = reading.batches
            batch.position = position
            return batch
        problem = str(reading.problems[0].error)
        for prefix in ("batch at byte 0: ", "message at byte 0: "):
            problem = problem.removeprefix(prefix)
        return SegmentDamage(
            position, size, DamageKind.RECORDS, problem, base_offset, magic, ends=False
        )

    def _last(
        self,
        position: int,
        kind: DamageKind,
        problem: str,
        base_offset: int | None = None,
        magic: int | None = None,
    ) -> SegmentDamage:
        left = self.size_bytes - position
        return SegmentDamage(position, left, kind, problem, base_offset, magic, ends=True)

    def _zeros(self, position: int) -> SegmentDamage | None:
        """Return the zeros at the end of a preallocated file (``log.preallocate``), or None."""
        for start in range(position, self.size_bytes, _WINDOW_BYTES):
            if self._bytes(start, _WINDOW_BYTES).strip(b"\0"):
                return None
        left = self.size_bytes - position
        return self._last(position, DamageKind.ZEROS, f"{left} bytes of zeros up to the end")

    def _goes_on_at(self, position: int) -> bool:
        """True if another batch seems to begin there, or the file ends."""
        head = self._bytes(position, _START.size)
        if len(head) < _START.size:
            return not head
        base_offset, length, _, magic = _START.unpack(head)
        size = _OVERHEAD_BYTES + length
        smallest = _SMALLEST_BYTES.get(magic)
        fits = smallest is not None and smallest <= size <= self.size_bytes - position
        return fits and bool(base_offset >= 0)

    def _checksums(self, position: int, size: int, magic: int) -> tuple[int, int]:
        """Return (the stored checksum, that of the bytes)."""
        at, begin = _BATCH_CRC if magic > 1 else _LEGACY_CRC
        stored = int.from_bytes(self._bytes(position + at, 4), "big")
        extend = google_crc32c.extend if magic > 1 else _crc32
        computed, stop = 0, position + size
        for start in range(position + begin, stop, _WINDOW_BYTES):
            computed = extend(computed, self._bytes(start, min(_WINDOW_BYTES, stop - start)))
        return stored, computed

    def _bytes(self, position: int, size: int) -> bytes:
        """Return so many bytes, or fewer at the end of the file."""
        begin = position - self._window_at
        if not 0 <= begin <= begin + size <= len(self._window):
            self._file.seek(position)
            self._window, self._window_at, begin = (
                self._file.read(max(size, _WINDOW_BYTES)),
                position,
                0,
            )
        return self._window[begin : begin + size]


def _crc32(before: int, data: bytes) -> int:
    return zlib.crc32(data, before)
