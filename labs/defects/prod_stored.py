"""Defects of area PROD, in the log offsets of the answer and in the stored records."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.messages import FetchResponse, ProduceResponse
from harness.codec.records import RecordBatch
from labs.defects.edited_answer import answers
from labs.defects.prod import change_stored

CHANGE_PLACES = {b"one 3": b"one 4", b"one 4": b"one 3"}


@answers("PROD-024", r"log start and earliest are \(0, 2\)", range(5, 99))
def a_log_always_starts_at_0(answer: ProduceResponse) -> None:
    """Produce returns log start offset 0, even if the beginning of the log was deleted."""
    for topic in answer.responses:
        for one in topic.partition_responses:
            one.log_start_offset = min(one.log_start_offset, 0)


@answers("PROD-027", r"acknowledged as .*, stored as ")
def a_later_record_overtakes(answer: FetchResponse) -> None:
    """The broker swaps two of the records that one producer sent without waiting."""

    def change(batch: RecordBatch) -> RecordBatch:
        values = [record.value or b"" for record in batch.records]
        if not CHANGE_PLACES.keys() & set(values):
            return batch
        pairs = zip(batch.records, values, strict=True)
        records = [replace(r, value=CHANGE_PLACES.get(value, value)) for r, value in pairs]
        return replace(batch, records=records)

    change_stored(answer, change)


DEFECTS = [a_log_always_starts_at_0, a_later_record_overtakes]
