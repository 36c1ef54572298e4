"""Records as a log holds them, whatever the format: with their own offsets and times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, starmap
from typing import overload

from harness.codec.records.columns import Columns
from harness.codec.records.header_bytes import headers_of
from harness.codec.records.record import Header

Row = tuple[int, int, bytes | None, bytes | None]


@dataclass(slots=True)  # not frozen: that would triple the time to make one
class LogRecord:
    """One record with its absolute ``offset`` and ``timestamp`` (milliseconds, -1 for none).

    ``timestamp_type``: Kafka's name for the clock that set the timestamp. ``attributes``: those of
    the record alone, unused so far.
    """

    offset: int
    timestamp: int
    timestamp_type: str
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    attributes: int = 0


class LogRecords(Sequence[LogRecord]):
    """The records of a batch; each object is made when it is asked for.

    :meth:`rows` is the quickest way through all of them.
    """

    __slots__ = ("_columns", "_timestamp_type")

    def __init__(self, columns: Columns, timestamp_type: str) -> None:
        self._columns, self._timestamp_type = columns, timestamp_type

    def rows(self) -> Iterator[Row]:
        """(offset, timestamp, key, value) of each record."""
        own = self._columns
        return zip(own.offsets, own.timestamps, own.keys, own.values, strict=True)

    def __len__(self) -> int:
        return len(self._columns.values)

    def __iter__(self) -> Iterator[LogRecord]:
        own = self._columns
        return starmap(
            LogRecord,
            zip(
                own.offsets,
                own.timestamps,
                [self._timestamp_type] * len(self),
                own.keys,
                own.values,
                own.headers_of_all(),
                own.attributes_of_all(),
                strict=False,  # the last two may have no end
            ),
        )

    @overload
    def __getitem__(self, index: int) -> LogRecord: ...
    @overload
    def __getitem__(self, index: slice) -> list[LogRecord]: ...
    def __getitem__(self, index: int | slice) -> LogRecord | list[LogRecord]:
        if isinstance(index, slice):
            return [self._at(place) for place in range(len(self))[index]]
        return self._at(range(len(self))[index])

    def _at(self, place: int) -> LogRecord:
        own = self._columns
        return LogRecord(
            own.offsets[place],
            own.timestamps[place],
            self._timestamp_type,
            own.keys[place],
            own.values[place],
            headers_of(own.headers.get(place, b"\0")),
            own.attributes.get(place, 0),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LogRecords):
            return NotImplemented
        return len(self) == len(other) and all(map(LogRecord.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]  # the lists behind it can change

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, islice(self, 3)))
        return f"<{len(self)} records: {shown}{', ...' if len(self) > 3 else ''}>"
