"""Defects of records that a log keeps or loses: areas TIME, RECF and IDEM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from harness.client.requests import EARLIEST
from harness.codec.messages import FetchResponse, ListOffsetsRequest, ListOffsetsResponse
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    BatchHeader,
    decode_batches,
    encode_batch,
    split_batches,
)
from labs.defects.asked_times import told_of
from labs.defects.defect import rule
from labs.defects.edited_answer import answers
from labs.defects.idem import Batch, StoresSomeAgain

MAGIC_AT = 16
LAST_COMPACTED = 1  # the sequence of the last batch that IDEM-016 sends before compaction


@answers("TIME-008", r"were written just now: the log of \d begins at 0", range(1, 99))
def the_age_of_a_file_counts(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> None:
    """Retention keeps old records as long as the file is new to which they were written."""
    for one in told_of(request, answer, EARLIEST):
        one.offset = 0


def _change_batches(message: FetchResponse, change: Callable[[BatchHeader, bytes], bytes]) -> None:
    """Edit the whole batches of magic 2 in an answer to Fetch."""
    for topic in message.responses:
        for partition in topic.partitions:
            data = bytes(partition.records or b"")
            if len(data) < BATCH_HEADER_BYTES or data[MAGIC_AT] != 2:
                continue
            partition.records = b"".join(
                change(header, data[start : start + header.size_bytes])
                for header, start in split_batches(data)
            )


def _has_lost_some(header: BatchHeader) -> bool:
    """True if compaction has removed some records of the batch, and not all."""
    return 0 < header.record_count <= header.last_offset_delta


@answers("RECF-016", r"codec \w+, first and last offset of each batch: .* not \[\(0, 2\)")
def a_compacted_batch_ends_with_its_last_record(answer: FetchResponse) -> None:
    """The last offset of a compacted batch is that of the last record that is left."""

    def change(header: BatchHeader, data: bytes) -> bytes:
        if not _has_lost_some(header):
            return data
        (batch,) = decode_batches(data)
        last = batch.records[-1].offset_delta
        return encode_batch(replace(batch, last_offset_delta=last, crc=None))

    _change_batches(answer, change)


@answers("RECF-016", r"codec \w+, first and last offset of each batch: .* not \[\(0, 2\)")
def a_compacted_batch_begins_with_its_first_record(answer: FetchResponse) -> None:
    """The base offset of a compacted batch is that of the first record that is left."""

    def change(header: BatchHeader, data: bytes) -> bytes:
        if not _has_lost_some(header):
            return data
        (batch,) = decode_batches(data)
        first = batch.records[0].offset_delta or 0
        records = [replace(r, offset_delta=(r.offset_delta or 0) - first) for r in batch.records]
        return encode_batch(
            replace(
                batch,
                records=records,
                base_offset=batch.base_offset + first,
                last_offset_delta=header.last_offset_delta - first,
                crc=None,
                batch_length=None,
            )
        )

    _change_batches(answer, change)


@answers("IDEM-016", r"last offset delta of the producer's batches are \[\], of")
def nothing_is_left_of_an_empty_batch(answer: FetchResponse) -> None:
    """Compaction removes every batch without records, including the last one of a producer."""
    _change_batches(answer, lambda header, data: data if header.record_count else b"")


@answers("RECF-033", r"epochs by base offset are \{0: 0, 2: 0, .*written were")
def a_compacted_batch_has_the_first_epoch(answer: FetchResponse) -> None:
    """Compaction sets the leader epoch of a batch that it changes to 0."""

    def change(header: BatchHeader, data: bytes) -> bytes:
        if not _has_lost_some(header):
            return data
        (batch,) = decode_batches(data)
        return encode_batch(replace(batch, partition_leader_epoch=0, crc=None))

    _change_batches(answer, change)


class CompactedBatchesAreForgotten(StoresSomeAgain):
    """The broker forgets the batches of a producer that have no records any more."""

    def __init__(self) -> None:
        self.sent: Counter[Batch] = Counter()

    def forgets(self, batch: Batch) -> bool:
        _, sequence = batch
        self.sent[batch] += 1
        return sequence == LAST_COMPACTED and self.sent[batch] > 1


class RemovedBatchesAreForgotten(StoresSomeAgain):
    """The broker forgets a producer when retention has removed all of its records."""

    def __init__(self) -> None:
        self.sent: Counter[Batch] = Counter()

    def forgets(self, batch: Batch) -> bool:
        self.sent[batch] += 1
        return self.sent[batch] > 1


DEFECTS = [
    replace(defect, private=True)
    for defect in (
        the_age_of_a_file_counts,
        a_compacted_batch_ends_with_its_last_record,
        a_compacted_batch_begins_with_its_first_record,
        nothing_is_left_of_an_empty_batch,
        a_compacted_batch_has_the_first_epoch,
        rule(
            "IDEM-016", r"is stored once more: the log of 5 ends at 7", CompactedBatchesAreForgotten
        ),
        rule("IDEM-028", r"the log of 3 ends at \d+", RemovedBatchesAreForgotten),
    )
]
