"""A lazy reader of the records of a batch that may be damaged."""

from __future__ import annotations

from collections.abc import Iterator

from harness.codec.records import Record
from harness.codec.records.record import decode_record
from harness.codec.records.walk import BadRecord


def records_in_turn(payload: bytes, count: int) -> Iterator[Record]:
    """Yield `count` records, which must fill ``payload``: bytes left over fail at the last record.

    Source: class DefaultRecordBatch (RecordIterator). Raises BadRecord.
    """
    if count < 0:
        raise BadRecord(0, f"{count} records")
    at = 0
    for place in range(count):
        try:
            record, at = decode_record(payload, at, bad_utf8="surrogateescape")
        except (IndexError, ValueError) as problem:
            raise BadRecord(place, str(problem)) from problem
        if place == count - 1 and at != len(payload):
            raise BadRecord(place, f"{len(payload) - at} bytes after the last record")
        yield record
