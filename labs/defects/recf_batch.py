"""Defects of area RECF, in batches of magic 2."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse, ProduceRequest, ProduceResponse
from harness.codec.records import LOG_APPEND_TIME, BatchHeader, Record, RecordBatch
from harness.codec.records.compression import CODEC_IDS
from labs.defects.edited_answer import answers
from labs.defects.prod import change_stored
from labs.defects.stored_entries import change_entries, is_batch, put, with_checksum
from suites.protocol.support.log_entries import attributes_of, whole_entries

ATTRIBUTES_AT, BASE_TIMESTAMP_AT, CRC_AT = 21, 27, 17
NULLS, EMPTY_KEY = bytes.fromhex("0c 00 00 00 01 01 00"), bytes.fromhex("0c 00 00 00 00 01 00")
UNUSED_BIT, UNKNOWN_BITS = 0x80, ~0x7F
LATE_MS = 3


def _values(batch: RecordBatch) -> list[bytes]:
    return [record.value or b"" for record in batch.records]


def _each(batch: RecordBatch, change: Callable[[Record], Record]) -> RecordBatch:
    return replace(batch, records=[change(record) for record in batch.records])


# -- the layout ------------------------------------------------------------------------------------


@answers("RECF-005", r"lz4, magic \d: attributes are \S+, expected ")
def an_unused_bit_is_used(answer: FetchResponse) -> None:
    """The broker sets bit 7 of the attributes in batches of lz4."""

    def change(entry: bytes) -> bytes:
        attributes = attributes_of(entry)
        if attributes & 7 != CODEC_IDS["lz4"]:
            return entry
        if is_batch(entry):
            return put(entry, ">h", ATTRIBUTES_AT, attributes | UNUSED_BIT)
        return put(entry, ">B", ATTRIBUTES_AT - 4, attributes | UNUSED_BIT)

    change_entries(answer, change)


@answers("RECF-010", r"base timestamp is \d+, not \d+, max timestamp is \d+, not ")
def the_two_times_change_places(answer: FetchResponse) -> None:
    """The broker writes the max timestamp before the base timestamp."""

    def change(entry: bytes) -> bytes:
        if not is_batch(entry) or NULLS not in entry:
            return entry
        base, largest = struct.unpack_from(">qq", entry, BASE_TIMESTAMP_AT)
        entry = put(entry, ">q", BASE_TIMESTAMP_AT, largest)
        return put(entry, ">q", BASE_TIMESTAMP_AT + 8, base)

    change_entries(answer, change)


@answers("RECF-011", r"checksum 0x\w+, computed 0x")
def the_checksum_is_the_producers(answer: FetchResponse) -> None:
    """The broker writes its time into a batch and keeps the old checksum."""

    def change(entry: bytes) -> bytes:
        if not is_batch(entry) or not attributes_of(entry) & LOG_APPEND_TIME:
            return entry
        sent = put(entry, ">h", ATTRIBUTES_AT, attributes_of(entry) & ~LOG_APPEND_TIME)
        return entry[:CRC_AT] + sent[CRC_AT : CRC_AT + 4] + entry[CRC_AT + 4 :]

    change_entries(answer, change)


@answers("RECF-012", r"\(offset, time\) of the record is \(4, 0\), ListOffsets says")
def offset_deltas_count_from_1(answer: FetchResponse) -> None:
    """The first record of a batch has the offset delta 1."""

    def later(record: Record) -> Record:
        return replace(record, offset_delta=(record.offset_delta or 0) + 1)

    change_stored(answer, lambda b: _each(b, later) if b"timed" in _values(b) else b)


@answers("RECF-013", r"records sent: 0c000000010100\w*, came: 0c000000000100")
def a_null_key_is_an_empty_one(answer: FetchResponse) -> None:
    """The broker stores a null key as an empty one."""

    def change(entry: bytes) -> bytes:
        return with_checksum(entry.replace(NULLS, EMPTY_KEY)) if NULLS in entry else entry

    change_entries(answer, change)


@answers("RECF-028", r"a fetch at 1 brings \[2, 3\]|Fetch at 3 brings nothing")
def a_batch_that_began_before_is_skipped(request: FetchRequest, answer: FetchResponse) -> None:
    """Fetch of an offset inside a batch begins with the next one."""
    offsets = [one.fetch_offset for topic in request.topics for one in topic.partitions]
    for topic in answer.responses:
        for one in topic.partitions:
            entries, rest = whole_entries(bytes(one.records or b""))
            if any(b"pair 3" in entry for entry in entries):
                kept = [entry for entry in entries if _base_offset(entry) >= offsets[0]]
                one.records = b"".join([*kept, rest])


def _base_offset(entry: bytes) -> int:
    found: int = struct.unpack_from(">q", entry)[0]
    return found


# -- what is stored --------------------------------------------------------------------------------


@answers("RECF-014", r"headers sent: \[\('twice', ")
def headers_are_a_dictionary(answer: FetchResponse) -> None:
    """The broker keeps only the later of two headers of one name."""

    def change(record: Record) -> Record:
        return replace(record, headers=list({h.key: h for h in record.headers}.values()))

    def once(batch: RecordBatch) -> RecordBatch:
        doubled = any(
            len({header.key for header in record.headers}) < len(record.headers)
            for record in batch.records
        )
        return _each(batch, change) if doubled else batch

    change_stored(answer, once)


@answers("RECF-015", r"sent with .*, stored with \[-1, 0, 77\]")
def the_leader_epoch_is_the_producers(answer: FetchResponse) -> None:
    """The broker stores the leader epoch of a batch as its producer wrote it."""

    def change(batch: RecordBatch) -> RecordBatch:
        first = _values(batch)[0]
        if not first.startswith(b"leader epoch "):
            return batch
        return replace(batch, partition_leader_epoch=int(first.split()[-1]))

    change_stored(answer, change)


@answers("RECF-015", r"compression.type \w+: leader epochs are .*-1.*, expected \d")
def a_batch_built_anew_has_no_leader_epoch(answer: FetchResponse) -> None:
    """The broker sets no leader epoch in a batch that it stores in gzip."""

    def change(batch: RecordBatch) -> RecordBatch:
        is_anew = _values(batch)[0] == b"built anew" and batch.compression == "gzip"
        return replace(batch, partition_leader_epoch=-1) if is_anew else batch

    change_stored(answer, change)


@answers("RECF-017", r"of three messages: max timestamp is base timestamp \+ \[300\]")
def the_last_message_is_the_youngest(answer: FetchResponse) -> None:
    """The max timestamp of a batch that the broker makes of messages is the time of the last."""

    def change(batch: RecordBatch) -> RecordBatch:
        if _values(batch)[0] != b"of messages":
            return batch
        last_ms = batch.base_timestamp + batch.records[-1].timestamp_delta
        return replace(batch, max_timestamp=last_ms)

    change_stored(answer, change)


@answers("RECF-017", r"sent, stored is base timestamp \+ -?\d+, not \+ 700")
def the_max_timestamp_is_the_producers(answer: FetchResponse) -> None:
    """The broker stores the max timestamp of a batch as its producer wrote it."""

    def change(batch: RecordBatch) -> RecordBatch:
        first = _values(batch)[0]
        if not first.startswith(b"max timestamp "):
            return batch
        return replace(batch, max_timestamp=int(first.split()[-1]))

    change_stored(answer, change)


@answers("RECF-020", r"error is INVALID_PRODUCER_EPOCH \(47\), expected NONE")
def every_batch_has_a_producer(request: ProduceRequest, answer: ProduceResponse) -> None:
    """The broker refuses a batch without a producer id."""
    data = bytes(request.topic_data[0].partition_data[0].records or b"")
    if b"of no producer" in data and BatchHeader.read(data).producer_id < 0:
        for topic in answer.responses:
            for one in topic.partition_responses:
                one.error_code, one.base_offset = ErrorCode.INVALID_PRODUCER_EPOCH, -1


@answers("RECF-021", r"stored is .*, sent was ")
def a_record_attribute_marks_a_tombstone(answer: FetchResponse) -> None:
    """The broker removes the value of a record with any attribute."""

    def change(record: Record) -> Record:
        return replace(record, value=None) if record.attributes else record

    def all_of(batch: RecordBatch) -> RecordBatch:
        return _each(batch, change) if any(r.attributes for r in batch.records) else batch

    change_stored(answer, all_of)


@answers("RECF-022", r"sent \w+, stored \w+")
def a_batch_is_built_anew(answer: FetchResponse) -> None:
    """The base timestamp of a stored batch is the time of the first record."""

    def earlier(record: Record) -> Record:
        return replace(record, timestamp_delta=record.timestamp_delta - LATE_MS)

    def change(batch: RecordBatch) -> RecordBatch:
        if batch.records[0].key != b"late":
            return batch
        return replace(_each(batch, earlier), base_timestamp=batch.base_timestamp + LATE_MS)

    change_stored(answer, change)


@answers("RECF-029", r"stored is .*, sent was ")
def unknown_attributes_hide_headers(answer: FetchResponse) -> None:
    """The broker misreads the headers in a batch with an unknown attribute."""

    def change(batch: RecordBatch) -> RecordBatch:
        if not batch.attributes & UNKNOWN_BITS:
            return batch
        return _each(batch, lambda record: replace(record, headers=()))

    change_stored(answer, change)


DEFECTS = [
    an_unused_bit_is_used,
    the_two_times_change_places,
    the_checksum_is_the_producers,
    offset_deltas_count_from_1,
    a_null_key_is_an_empty_one,
    a_batch_that_began_before_is_skipped,
    headers_are_a_dictionary,
    the_leader_epoch_is_the_producers,
    a_batch_built_anew_has_no_leader_epoch,
    the_max_timestamp_is_the_producers,
    the_last_message_is_the_youngest,
    every_batch_has_a_producer,
    a_record_attribute_marks_a_tombstone,
    a_batch_is_built_anew,
    unknown_attributes_hide_headers,
]
