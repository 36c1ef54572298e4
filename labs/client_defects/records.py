"""Defects in what producers store and consumers read."""

from __future__ import annotations

from dataclasses import replace

from harness.codec.messages import FetchResponse, ListOffsetsResponse, ProduceRequest
from harness.codec.records import CODEC_MASK, Record, RecordBatch, decode_batches
from harness.proxies import FrameRule, SeenRequest
from labs.client_defects.fetched import each_batch, each_record
from labs.defects.defect import Defect, rule
from labs.defects.edited_answer import answers
from labs.defects.edited_request import with_body
from labs.defects.prod import encoded_again

LONG_BYTES = 100_000


@each_record("CLIENT-007", r"record 1: .*'value': 'THREE'.* was read")
def values_change_their_case(record: Record) -> Record:
    """A value comes back in capital letters."""
    return replace(record, value=b"THREE") if record.value == b"three" else record


def _decompressed(number: int, codec: str) -> Defect:
    def change(batch: RecordBatch) -> RecordBatch:
        is_it = batch.compression == codec
        return replace(batch, attributes=batch.attributes & ~CODEC_MASK) if is_it else batch

    change.__name__ = f"{codec}_is_stored_plain"
    change.__doc__ = f"The broker stores {codec} batches without compression."
    reason = rf"stored with \['none'\], sent with {codec}"
    return each_batch(f"CLIENT-{number:03}", reason)(change)


@each_record("CLIENT-012", r"record 0: \{'headers': \[\['b', ''\], \['a', '2'\]")
def headers_come_in_reverse(record: Record) -> Record:
    """The headers of a record come back in the reverse order."""
    return replace(record, headers=tuple(reversed(record.headers)))


@each_record("CLIENT-013", r"record 1: \{'key': None\} was read")
def an_empty_key_is_null(record: Record) -> Record:
    """An empty key comes back as null."""
    return replace(record, key=None) if record.key == b"" else record


@each_record("CLIENT-014", r"record 0: \{'value': ''\} was read")
def a_null_value_is_empty(record: Record) -> Record:
    """A null value comes back as an empty one."""
    return replace(record, value=b"") if record.value is None else record


@each_record("CLIENT-015", r"values have \[5, 899999, 6\] bytes")
def a_long_value_loses_its_end(record: Record) -> Record:
    """A long value comes back without its last byte."""
    is_long = len(record.value or b"") > LONG_BYTES
    return replace(record, value=(record.value or b"")[:-1]) if is_long else record


@each_batch("CLIENT-016", r"batches have the producer id -1")
def producer_ids_are_not_stored(batch: RecordBatch) -> RecordBatch:
    """The broker stores batches of idempotent producers without their producer id."""
    return replace(batch, producer_id=-1)


class EveryBatchIsNew(FrameRule):
    """The broker takes a batch that it has got before for a new one, and numbers it anew."""

    def __init__(self) -> None:
        self._next = 0

    def on_request(self, seen: SeenRequest) -> bytes | None:
        if not isinstance(seen.message, ProduceRequest):
            return seen.payload
        for topic in seen.message.topic_data:
            for one in topic.partition_data:
                batches = decode_batches(bytes(one.records or b""))
                one.records = b"".join(self._numbered(batch) for batch in batches)
        return with_body(seen, seen.message)

    def _numbered(self, batch: RecordBatch) -> bytes:
        first, self._next = self._next, self._next + len(batch.records)
        return encoded_again(replace(batch, base_sequence=first))


@each_record("CLIENT-018", r"behind the lost connection, record 7: .*'value': '0-x'")
def a_value_is_lost(record: Record) -> Record:
    """A consumer that comes again gets another value."""
    return replace(record, value=b"0-x") if record.value == b"0-7" else record


@answers("CLIENT-019", r"offsets are \{0: \d\}, expected \d")
def the_offset_behind_the_time(answer: ListOffsetsResponse) -> None:
    """ListOffsets returns the offset behind the first record from a time."""
    _moved(answer, 1)


@answers("CLIENT-020", r"record 0: .*'offset': [12].* was read")
def the_offset_before_the_time(answer: ListOffsetsResponse) -> None:
    """ListOffsets returns the offset before the first record from a time."""
    _moved(answer, -1)


def _moved(answer: ListOffsetsResponse, by: int) -> None:
    for topic in answer.topics:
        for one in topic.partitions:
            if one.offset >= 0 and one.timestamp >= 0:
                one.offset += by


@each_record("CLIENT-021", r"a read_committed consumer: \['c3', 'c2', 'c3'\] came")
def a_committed_record_changes(record: Record) -> Record:
    """The first record of a committed transaction comes back as its last one."""
    return replace(record, value=b"c3") if record.value == b"c1" else record


@answers("CLIENT-022", r"a read_committed consumer: \['a1', 'a2', 'a3'\] came")
def aborted_transactions_are_not_named(answer: FetchResponse) -> None:
    """Fetch does not name the aborted transactions."""
    for topic in answer.responses:
        for one in topic.partitions:
            one.aborted_transactions = []


@each_record("CLIENT-031", r"record 0: \{'headers': \[\['a', ''\]")
def a_null_header_is_empty(record: Record) -> Record:
    """A header with a null value comes back with an empty one."""
    headers = [replace(one, value=one.value or b"") for one in record.headers]
    return replace(record, headers=headers)


DEFECTS = [
    values_change_their_case,
    _decompressed(8, "gzip"),
    _decompressed(9, "snappy"),
    _decompressed(10, "lz4"),
    _decompressed(11, "zstd"),
    headers_come_in_reverse,
    an_empty_key_is_null,
    a_null_value_is_empty,
    a_long_value_loses_its_end,
    producer_ids_are_not_stored,
    rule("CLIENT-017", r"the records have the sequences", EveryBatchIsNew),
    a_value_is_lost,
    the_offset_behind_the_time,
    the_offset_before_the_time,
    a_committed_record_changes,
    aborted_transactions_are_not_named,
    a_null_header_is_empty,
]
