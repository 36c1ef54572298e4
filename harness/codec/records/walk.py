"""One walk over the records of a batch, as a broker's validation needs it: no objects.

Runs of records of one shape are taken at once, the others one by one.

Facts of classes LogValidator, DefaultRecord and ByteUtils in Apache Kafka: which lengths must
hold, what is looked at. Unused attribute bits and the header keys' text are not looked at, and
every negative length of a key or value means null.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.codec.records.uniform_run import (
    NO_DELTAS,
    WORTH_A_RUN,
    Deltas,
    RunPace,
    Shape,
    shape_of,
    uniform_deltas,
)

_INT, _LONG = 5, 10  # the most bytes of a varint and of a varlong
_BELOW_ALL_DELTAS = -(2**63)
# Summand for the second byte of a two-byte varint; the high bit of the first is still set.
_SECOND = tuple((byte << 7) - 128 for byte in range(128))


@dataclass(slots=True)
class RecordsSummary:
    """Findings of the walk; ``null_keys`` and ``timestamp_deltas`` are per record position."""

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


def walk_records(
    payload: bytes, count: int, keep_timestamps: bool = False, *, begin: int = 0
) -> RecordsSummary:
    """Walk exactly ``count`` records that fill ``payload`` from ``begin`` on.

    Raises BadRecord otherwise.
    """
    summary = RecordsSummary(
        count, True, _BELOW_ALL_DELTAS, -1, [] if keep_timestamps else None, []
    )
    offset = _walk(payload, begin, count, summary)
    if offset != len(payload):
        raise BadRecord(count, f"{len(payload) - offset} bytes after the last record")
    return summary


def _walk(payload: bytes, offset: int, count: int, summary: RecordsSummary) -> int:
    """The offset behind the last record."""
    position, pace = 0, RunPace()
    while position < count:
        start, offset, position = _walk_until_alike(
            payload, offset, position, position + pace.pause, count, summary
        )
        size = offset - start
        if min(count - position, (len(payload) - offset) // size) < WORTH_A_RUN:
            pace.pause = count  # not worth it any more
            continue
        shape = _shape_of(payload, start, offset, position - 1)
        run = NO_DELTAS
        if shape:
            run = uniform_deltas(payload, shape, min(pace.most, count - position))
        if shape is None or run.length < WORTH_A_RUN:
            pace.miss()
            continue
        _take(run, position, summary, has_keys=shape.key is not None)
        position, offset = position + run.length, offset + run.length * size
        pace.hit()
    return offset


def _shape_of(payload: bytes, start: int, stop: int, offset_delta: int) -> Shape | None:
    try:
        return shape_of(payload, start, stop, offset_delta)
    except ValueError:
        return None  # a negative length, which means null here whatever it is


def _take(run: Deltas, position: int, summary: RecordsSummary, *, has_keys: bool) -> None:
    """The records from ``position`` on are a run."""
    largest = max(run.timestamps)
    if largest > summary.max_timestamp_delta:
        summary.max_timestamp_delta = largest
        summary.max_timestamp_position = position + run.timestamps.index(largest)
    if summary.timestamp_deltas is not None:
        summary.timestamp_deltas += run.timestamps
    if not has_keys:
        summary.null_keys += range(position, position + run.length)
    expected = range(position, position + run.length)
    if run.offsets != expected and list(run.offsets) != list(expected):
        summary.sequential = False


def _walk_until_alike(  # noqa: C901, PLR0912, PLR0915  # one loop: calls would double its time
    payload: bytes, offset: int, first: int, next_try: int, count: int, summary: RecordsSummary
) -> tuple[int, int, int]:
    """(start of the last, offset behind it, how many): ``next_try``, two of one size, or all."""
    second, timestamps, add_null_key = _SECOND, summary.timestamp_deltas, summary.null_keys.append
    stop, end, start, size, previous, delta = offset, len(payload), offset, 0, -1, 0
    try:
        for position in range(first, count):
            if position >= next_try and stop - start == size:
                return start, offset, position
            size, start = stop - start, offset
            if (raw := payload[offset]) < 128:
                offset += 1
            elif (more := payload[offset + 1]) < 128:
                raw, offset = raw + second[more], offset + 2
            else:
                raw, offset = _varint(payload, offset, _INT, position)
            stop, offset = offset + (raw >> 1), offset + 1  # behind the attributes
            if raw & 1 or stop > end:
                raise BadRecord(position, f"a length that does not fit {end - offset + 1} bytes")
            if (raw := payload[offset]) < 128:
                offset += 1
            elif (more := payload[offset + 1]) < 128:
                raw, offset = raw + second[more], offset + 2
            else:
                raw, offset = _varint(payload, offset, _LONG, position)
            if raw != previous:
                previous, delta = raw, raw >> 1 ^ -(raw & 1)
                if delta > summary.max_timestamp_delta:
                    summary.max_timestamp_delta, summary.max_timestamp_position = delta, position
            if timestamps is not None:
                timestamps.append(delta)
            if (raw := payload[offset]) < 128:
                offset += 1
            elif (more := payload[offset + 1]) < 128:
                raw, offset = raw + second[more], offset + 2
            else:
                raw, offset = _varint(payload, offset, _INT, position)
            summary.sequential &= raw == position << 1
            if (raw := payload[offset]) < 128:
                offset += 1
            else:
                raw, offset = _varint(payload, offset, _INT, position)
            if raw & 1:
                add_null_key(position)
            else:
                offset += raw >> 1
            if (raw := payload[offset]) < 128:
                offset += 1
            elif (more := payload[offset + 1]) < 128:
                raw, offset = raw + second[more], offset + 2
            else:
                raw, offset = _varint(payload, offset, _INT, position)
            offset += 0 if raw & 1 else raw >> 1
            offset = _headers(payload, offset, stop, position) if payload[offset] else offset + 1
            if offset != stop:
                raise BadRecord(position, f"{stop - offset} bytes beside its fields")
    except IndexError:
        raise _cut(position, count, before=offset == stop == end) from None
    return start, offset, count


def _cut(position: int, count: int, *, before: bool) -> BadRecord:
    """The data ends ``before`` the record, or within it."""
    if before:
        return BadRecord(position, f"missing: there are {position} of {count}")
    return BadRecord(position, "the data ends inside it")


def _headers(payload: bytes, offset: int, stop: int, position: int) -> int:
    """``offset`` is where their count stands; the offset behind the last one is returned."""
    raw, offset = _varint(payload, offset, _INT, position)
    count = raw >> 1 ^ -(raw & 1)
    if not 0 <= count <= stop - offset:
        raise BadRecord(position, f"{count} headers with {stop - offset} bytes left")
    for _ in range(count):
        if (raw := payload[offset]) < 128:
            offset += 1
        else:
            raw, offset = _varint(payload, offset, _INT, position)
        if raw & 1:
            raise BadRecord(position, "a header without key")
        offset += raw >> 1
        if (raw := payload[offset]) < 128:
            offset += 1
        else:
            raw, offset = _varint(payload, offset, _INT, position)
        offset += 0 if raw & 1 else raw >> 1
    return offset


def _varint(payload: bytes, offset: int, most_bytes: int, position: int) -> tuple[int, int]:
    """(value before zig-zag, next offset) of any length; bits beyond the type are dropped."""
    raw = 0
    for shift in range(0, 7 * most_bytes, 7):
        byte = payload[offset]
        offset += 1
        raw |= (byte & 0x7F) << shift
        if byte < 0x80:
            return raw & (0xFFFFFFFF if most_bytes == _INT else 0xFFFFFFFFFFFFFFFF), offset
    raise BadRecord(position, f"a varint longer than {most_bytes} bytes")
