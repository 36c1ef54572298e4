"""Record batches in a part of the bytes, as a tree and as values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.codec.data_framing.own_topics import WrittenTo
from harness.codec.errors import CodecError
from harness.codec.records.any_format import read_records
from harness.codec.records.value_form import LIMIT_BYTES, LIMIT_RECORDS, records_value
from harness.codec.records_text import records_lines


class RecordsForm:
    """The batches between ``start`` and ``stop``.

    ``has_batches``: at least one can be read. ``is_whole``: no other bytes are there. ``problem``:
    the error of the first batch that is damaged.
    """

    def __init__(self, data: bytes, start: int, stop: int) -> None:
        self._data, self._start, self._stop = data, start, stop
        part = data[start:stop]
        reading = read_records(part, limit_bytes=LIMIT_BYTES, limit_records=LIMIT_RECORDS)
        self.has_batches = bool(reading.batches)
        self.problem: CodecError | None = reading.problems[0].error if reading.problems else None
        self.is_whole = self.has_batches and not (reading.problems or reading.partial_bytes)

    def tree(self, written_to: WrittenTo) -> Iterator[str]:
        """Yield a line a batch and a record, also a line for what is damaged or cut."""
        yield from records_lines(self._data, self._start, self._stop, 0, written_to)

    def value(self, written_to: WrittenTo) -> list[dict[str, Any]]:
        """Return the batches as plain values. Raises the CodecError of a damaged one."""
        batches = records_value(self._data[self._start : self._stop])
        _add_decoded(batches, written_to)
        return batches


def _add_decoded(batches: list[dict[str, Any]], written_to: WrittenTo) -> None:
    """Put key and value by schema beside the bytes; codec encode passes over them."""
    for batch in batches:
        if batch.get("attributes", {}).get("control"):
            continue
        for record in batch.get("records", []):
            own = written_to.decoded(_bytes(record["key"]), _bytes(record["value"]))
            if own is not None:
                record["decoded"] = own.as_dict()


def _bytes(digits: str | None) -> bytes | None:
    return None if digits is None else bytes.fromhex(digits)
