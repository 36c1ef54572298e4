"""A reader for all formats: a run of bytes from a fetch response, a request or a segment.

Message sets of magic 0 and 1 and batches of magic 2 may follow one another. The run may end inside
a batch, and batches behind a damaged one are still read.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from harness.codec.records.batch import BATCH_HEADER_BYTES, LOG_OVERHEAD_BYTES
from harness.codec.records.compression import CompressionError, LimitError
from harness.codec.records.errors import CorruptMessageError, RecordsError
from harness.codec.records.log_batch import LogBatch, read_batch, read_legacy
from harness.codec.records.message_set import MESSAGE_OVERHEAD_BYTES

_START = struct.Struct(">qi4xb")  # offset, length, (epoch or checksum), magic: alike in all
_NO_MAGIC = b"\xff"  # where the bytes end behind the length, which may be impossible all the same
_SMALLEST_LENGTH = MESSAGE_OVERHEAD_BYTES[0]
_COUNT_AT = 57  # of the records in a batch of magic 2
NO_LIMIT = 2**63
_READERS = {0: read_legacy, 1: read_legacy, 2: read_batch}


@dataclass(frozen=True, slots=True)
class BatchProblem:
    """A batch, or a message of a message set, that could not be read.

    ``position``: the byte where it begins; ``base_offset``: the offset that stands there;
    ``size_bytes``: how many bytes were passed over for it.
    """

    position: int
    base_offset: int
    magic: int
    size_bytes: int
    error: RecordsError | CompressionError

    def __str__(self) -> str:
        return f"offset {self.base_offset}, byte {self.position}: {self.error}"


@dataclass(slots=True)
class RecordsReading:
    """The batches and problems that were found, in order.

    ``partial_bytes``: size of a cut batch at the end, which a fetch response may have.
    ``unread_bytes``: size of the bytes that were not read because a length is impossible or the
    limit was reached; the last of ``problems`` is the reason.
    """

    batches: list[LogBatch] = field(default_factory=list)
    problems: list[BatchProblem] = field(default_factory=list)
    partial_bytes: int = 0
    unread_bytes: int = 0


def read_records(data: bytes, *, limit_bytes: int, limit_records: int = NO_LIMIT) -> RecordsReading:
    """Return every batch in ``data``; problems are part of the result and raise nothing.

    ``limit_bytes``: the most bytes of decompressed records that all batches may have together; a
    batch that would exceed it ends the reading. So does a batch with more records than are left of
    ``limit_records``, a limit for callers with costly work per record. A message of an uncompressed
    message set is a batch of its own, as in Kafka's reader.
    """
    reading = RecordsReading()
    position, left_bytes, left_records = 0, limit_bytes, limit_records
    while position < len(data):
        try:
            found = _read_next(data, position, left_bytes, left_records)
        except _Damage as damage:
            reading.problems.append(damage.problem)
            if not damage.problem.size_bytes:
                reading.unread_bytes = len(data) - position
                break
            position += damage.problem.size_bytes
            continue
        if found is None:
            reading.partial_bytes = len(data) - position
            break
        batch, used_bytes = found
        reading.batches.append(batch)
        position, left_bytes = position + batch.size_bytes, left_bytes - used_bytes
        left_records -= len(batch.records)
    return reading


class _Damage(Exception):
    """A problem at this place; a size of 0 bytes ends the reading."""

    def __init__(self, problem: BatchProblem) -> None:
        super().__init__()
        self.problem = problem


def _read_next(
    data: bytes, position: int, limit_bytes: int, limit_records: int
) -> tuple[LogBatch, int] | None:
    """(batch, bytes of its records), None for one that is cut. Raises _Damage."""
    start = data[position : position + _START.size]
    if len(start) < LOG_OVERHEAD_BYTES:
        return None
    base_offset, length, magic = _START.unpack(start.ljust(_START.size, _NO_MAGIC))
    size_bytes = LOG_OVERHEAD_BYTES + length
    reader = _READERS.get(magic)
    try:
        if length < _SMALLEST_LENGTH:
            size_bytes = 0
            raise _corrupt(position, f"impossible length {length}")
        if position + size_bytes > len(data):
            return None
        if reader is None:
            raise _corrupt(position, f"magic {magic}; there are 0, 1 and 2")
        if magic == 2 and size_bytes >= BATCH_HEADER_BYTES:
            (count,) = struct.unpack_from(">i", data, position + _COUNT_AT)
            _require_few(count, limit_records)
        batch, used_bytes = reader(data, position, limit_bytes)
        _require_few(len(batch.records), limit_records)
        return batch, used_bytes
    except LimitError as error:
        raise _Damage(BatchProblem(position, base_offset, magic, 0, error)) from error
    except (RecordsError, CompressionError) as error:
        raise _Damage(BatchProblem(position, base_offset, magic, size_bytes, error)) from error


def _require_few(count: int, limit_records: int) -> None:
    if count > limit_records:
        raise LimitError(f"{count} records where {limit_records} more may be read")


def _corrupt(position: int, problem: str) -> CorruptMessageError:
    return CorruptMessageError(f"batch at byte {position}: {problem}", offset=position)
