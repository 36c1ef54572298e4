"""The records of a batch of magic 2, read into one list a field: no object per record.

``read_columns`` is quick on good bytes. On bad ones it raises what the plain reading of
``record.decode_record`` raises, which then goes over the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import repeat

from harness.codec.records.header_bytes import end_of_headers, headers_of
from harness.codec.records.record import Header, decode_record, encode_headers
from harness.codec.records.uniform_run import (
    NO_RUN,
    WORTH_A_RUN,
    RunPace,
    UniformRun,
    shape_of,
    uniform_run,
)
from harness.codec.varint import decode_varint, decode_varlong

# Summand for the second byte of a two-byte varint; the high bit of the first is still set.
_SECOND = tuple((byte << 7) - 128 for byte in range(128))
_WIDE = 1 << 55


class Columns:
    """The contents of the records by position; headers and attributes only where there are any."""

    __slots__ = (
        "attributes",
        "has_wide_deltas",
        "headers",
        "keys",
        "offsets",
        "timestamps",
        "values",
    )

    def __init__(self) -> None:
        self.offsets: list[int] = []
        self.timestamps: list[int] = []
        self.keys: list[bytes | None] = []
        self.values: list[bytes | None] = []
        self.headers: dict[int, bytes] = {}  # as they stand there, with their count
        self.attributes: dict[int, int] = {}
        self.has_wide_deltas = False  # a time that might lead beyond 64 bits

    def headers_of_all(self) -> Iterable[tuple[Header, ...]]:
        """Those of each record, without end."""
        if not self.headers:
            return repeat(())
        raw = map(self.headers.get, range(len(self.values)), repeat(b"\0"))
        return map(headers_of, raw)

    def attributes_of_all(self) -> Iterable[int]:
        """Those of each record, without end."""
        if not self.attributes:
            return repeat(0)
        return map(self.attributes.get, range(len(self.values)), repeat(0))

    def add_run(self, run: UniformRun) -> None:
        """Add a run of records; their headers and attributes are those of the last record."""
        before = len(self.values)
        self.offsets += run.offsets
        self.timestamps += run.timestamps
        self.keys += run.keys
        self.values += run.values
        after = range(before, len(self.values))
        if before - 1 in self.headers:
            self.headers.update(dict.fromkeys(after, self.headers[before - 1]))
        if before - 1 in self.attributes:
            self.attributes.update(dict.fromkeys(after, self.attributes[before - 1]))


class BadColumnRecord(ValueError):
    """The record at ``position``, ``offset`` bytes into the records, is none: ``problem``."""

    def __init__(self, position: int, offset: int, problem: str) -> None:
        self.position, self.offset, self.problem = position, offset, problem
        super().__init__(f"record {position} (byte {offset} of the records): {problem}")


def read_columns(
    payload: bytes,
    *,
    base_offset: int = 0,
    base_timestamp: int = 0,
    bad_utf8: str = "strict",
) -> Columns:
    """All records that fill ``payload``; the bases are added to the deltas.

    Raises BadRecord. ``bad_utf8`` as in :func:`decode_record`.
    """
    columns = Columns()
    try:
        _read(payload, columns, base_offset, base_timestamp)
    except (IndexError, ValueError):
        return _read_plainly(payload, base_offset, base_timestamp, bad_utf8)
    return columns


def _read_plainly(payload: bytes, base_offset: int, base_timestamp: int, bad_utf8: str) -> Columns:
    columns, offset, position = Columns(), 0, 0
    while offset < len(payload):
        try:
            record, stop = decode_record(payload, offset, bad_utf8=bad_utf8)
        except (IndexError, ValueError) as error:
            raise BadColumnRecord(position, offset, str(error)) from error
        columns.offsets.append(base_offset + (record.offset_delta or 0))
        columns.timestamps.append(base_timestamp + record.timestamp_delta)
        columns.has_wide_deltas |= not -_WIDE < record.timestamp_delta < _WIDE
        columns.keys.append(record.key)
        columns.values.append(record.value)
        if record.headers:
            columns.headers[position] = encode_headers(record.headers)
        if record.attributes:
            columns.attributes[position] = record.attributes
        offset, position = stop, position + 1
    return columns


def _read(payload: bytes, columns: Columns, base_offset: int, base_timestamp: int) -> None:
    """Raises anything on bad bytes."""
    end, stop, pace = len(payload), 0, RunPace()
    while stop < end:
        next_try = len(columns.values) + pace.pause
        start, stop = _read_until_alike(
            payload, stop, next_try, columns, base_offset, base_timestamp
        )
        if end - stop < WORTH_A_RUN * (stop - start):
            pace.pause = end  # not worth it any more
            continue
        shape = shape_of(payload, start, stop, columns.offsets[-1] - base_offset)
        run = NO_RUN
        if shape:
            run = uniform_run(payload, shape, pace.most, base_offset, base_timestamp)
        if run.length < WORTH_A_RUN:
            pace.miss()
            continue
        columns.add_run(run)
        stop += run.length * (stop - start)
        pace.hit()


# One loop with short varints in it: calls would double its time.
def _read_until_alike(  # noqa: C901, PLR0912, PLR0915
    payload: bytes, offset: int, next_try: int, columns: Columns, base: int, base_timestamp: int
) -> tuple[int, int]:
    """(start, stop) of the last one: there are ``next_try``, and two of one size, or no more."""
    second, end, position, start, stop = _SECOND, len(payload), len(columns.values), 0, offset
    add_offset, add_timestamp = columns.offsets.append, columns.timestamps.append
    add_key_and_value = columns.keys.append, columns.values.append
    previous_size = 0
    while stop < end and (position < next_try or stop - start != previous_size):
        previous_size, start = stop - start, stop
        if (raw := payload[offset]) < 128:
            offset += 1
        elif (more := payload[offset + 1]) < 128:
            raw, offset = raw + second[more], offset + 2
        else:
            raw, offset = _long(payload, offset)
        stop = offset + (raw >> 1)
        if raw & 1 or stop > end:
            raise ValueError
        if attributes := payload[offset]:
            columns.attributes[position] = (attributes ^ 128) - 128
        offset += 1
        if (raw := payload[offset]) < 128:
            offset += 1
        elif (more := payload[offset + 1]) < 128:
            raw, offset = raw + second[more], offset + 2
        else:
            raw, offset = _long_time(payload, offset, columns)
        add_timestamp(base_timestamp + (raw >> 1 ^ -(raw & 1)))
        if (raw := payload[offset]) < 128:
            offset += 1
        elif (more := payload[offset + 1]) < 128:
            raw, offset = raw + second[more], offset + 2
        else:
            raw, offset = _long(payload, offset)
        add_offset(base + (raw >> 1 ^ -(raw & 1)))
        for add in add_key_and_value:
            begin, raw = offset + 1, payload[offset]
            if raw == 1:
                offset += 1
                add(None)
                continue
            if raw > 127:
                more = payload[begin]
                raw, begin = (
                    (raw + second[more], begin + 1) if more < 128 else _long(payload, offset)
                )
            if raw & 1:
                raise ValueError
            offset = begin + (raw >> 1)
            add(payload[begin:offset])
        if payload[offset]:
            begin, offset = offset, end_of_headers(payload, offset, stop)
            columns.headers[position] = payload[begin:stop]
        else:
            offset += 1
        if offset != stop:
            raise ValueError
        position += 1
    return start, stop


def _long(payload: bytes, offset: int) -> tuple[int, int]:
    """(raw, next offset) of a varint of any length; strict."""
    value, offset = decode_varint(payload, offset)
    return (value << 1 if value >= 0 else ~(value << 1)), offset


def _long_time(payload: bytes, offset: int, columns: Columns) -> tuple[int, int]:
    """(raw, next offset) of a varlong of any length."""
    delta, offset = decode_varlong(payload, offset)
    columns.has_wide_deltas |= not -_WIDE < delta < _WIDE
    return (delta << 1 if delta >= 0 else ~(delta << 1)), offset
