"""One walk over the records of a batch, as a broker's validation needs it: no objects, no copies.

Facts of class LogValidator and DefaultRecord in Apache Kafka: which lengths must hold, what is
looked at. Unused attribute bits and the header keys' text are not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class RecordsSummary:
    """What the walk saw. ``null_keys`` and timestamps are per record position."""

    count: int
    sequential: bool  # offset deltas are 0, 1, 2, ...
    max_timestamp_delta: int
    max_timestamp_position: int
    timestamp_deltas: list[int] | None  # only when asked for
    null_keys: list[int]


class BadRecord(ValueError):
    """A record that does not follow the format; ``position`` is its index in the batch."""

    def __init__(self, position: int, problem: str) -> None:
        self.position, self.problem = position, problem
        super().__init__(f"record {position}: {problem}")


def walk_records(payload: bytes, count: int, keep_timestamps: bool = False) -> RecordsSummary:
    """Walk exactly ``count`` records that fill ``payload``; raises BadRecord otherwise.

    Lengths are read with the usual one-byte case inline, which is most of them.
    """
    summary = RecordsSummary(count, True, -(2**63), -1, [] if keep_timestamps else None, [])
    offset, end = 0, len(payload)
    position = 0
    try:
        for position in range(count):
            if offset >= end:
                raise BadRecord(position, f"missing: only {position} of {count} are there")
            offset = _walk_one(payload, offset, end, position, summary)
    except IndexError:
        raise BadRecord(position, "the data ends inside the record") from None
    if offset != end:
        raise BadRecord(count, f"{end - offset} bytes after the last record")
    return summary


def _walk_one(payload: bytes, offset: int, end: int, position: int, summary: RecordsSummary) -> int:
    length, offset = _zigzag(payload, offset)
    stop = offset + length
    if length < 0 or stop > end:
        raise BadRecord(position, f"length {length} with {end - offset} bytes left")
    timestamp_delta, offset = _zigzag(payload, offset + 1)
    offset_delta, offset = _zigzag(payload, offset)
    key_length, offset = _zigzag(payload, offset)
    if key_length > 0:
        offset += key_length
    elif key_length < 0:
        summary.null_keys.append(position)
    value_length, offset = _zigzag(payload, offset)
    if value_length > 0:
        offset += value_length
    header_count, offset = _zigzag(payload, offset)
    if header_count:
        offset = _walk_headers(payload, offset, header_count, stop, position)
    if offset != stop:
        raise BadRecord(position, f"{stop - offset} bytes beside its fields")
    if offset_delta != position:
        summary.sequential = False
    if timestamp_delta > summary.max_timestamp_delta:
        summary.max_timestamp_delta = timestamp_delta
        summary.max_timestamp_position = position
    if summary.timestamp_deltas is not None:
        summary.timestamp_deltas.append(timestamp_delta)
    return stop


def _walk_headers(payload: bytes, offset: int, count: int, stop: int, position: int) -> int:
    if count < 0 or count > stop - offset:
        raise BadRecord(position, f"{count} headers with {stop - offset} bytes left")
    for _ in range(count):
        length, offset = _zigzag(payload, offset)
        if length < 0:
            raise BadRecord(position, "a header without key")
        length, offset = _zigzag(payload, offset + length)
        offset += max(length, 0)
    return offset


def _zigzag(payload: bytes, offset: int) -> tuple[int, int]:
    raw = payload[offset]
    offset += 1
    if raw > 0x7F:
        raw &= 0x7F
        shift = 7
        while True:
            byte = payload[offset]
            offset += 1
            raw |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise BadRecord(-1, "a varint longer than 10 bytes")
    return raw >> 1 ^ -(raw & 1), offset
