"""Defects of area PROD: mostly batches that the broker should refuse and acknowledges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import UUID

from harness.codec import CodecError
from harness.codec.apis import APIS
from harness.codec.error_code import ErrorCode
from harness.codec.header import decode_response, encode_response
from harness.codec.messages import FetchResponse, ProduceRequest, ProduceResponse
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    CODEC_MASK,
    CONTROL,
    LOG_OVERHEAD_BYTES,
    BatchHeader,
    RecordBatch,
    decode_batches,
    encode_batch,
    split_batches,
)
from harness.codec.structs import Message
from harness.proxies import FrameRule, SeenRequest
from harness.proxies.seen import PRODUCE_KEY
from labs.defects.changed_field import ANY, changed_field
from labs.defects.defect import Defect, rule
from labs.defects.edited_answer import answers

Answer = ProduceResponse.PartitionProduceResponse
MAGIC_AT = 16
FIRST_OF_BATCHES = 3
TAKEN = r"error is NONE \(0\), expected "


def _asked(seen: SeenRequest) -> ProduceRequest.PartitionProduceData | None:
    """The request's entry for its first partition; None without one."""
    assert isinstance(seen.message, ProduceRequest)
    for topic in seen.message.topic_data:
        for one in topic.partition_data:
            return one
    return None


def _records(seen: SeenRequest) -> bytes:
    """The records for the request's first partition."""
    asked = _asked(seen)
    return (asked.records if asked else None) or b""


def _header(seen: SeenRequest) -> BatchHeader | None:
    """The header of the batch; None unless there is a whole one of magic 2."""
    data = _records(seen)
    if len(data) < BATCH_HEADER_BYTES or data[MAGIC_AT] != 2:
        return None
    return BatchHeader.read(data)


def first_batch(seen: SeenRequest) -> RecordBatch | None:
    """The batch; None unless there is a single sound one."""
    try:
        batches = decode_batches(_records(seen))
    except CodecError:
        return None
    return batches[0] if len(batches) == 1 else None


def _answers(message: Message) -> list[Answer]:
    assert isinstance(message, ProduceResponse)
    return [one for topic in message.responses for one in topic.partition_responses]


def _has_one_partition(seen: SeenRequest) -> bool:
    """True unless the request is for several partitions."""
    assert isinstance(seen.message, ProduceRequest)
    return sum(len(topic.partition_data) for topic in seen.message.topic_data) == 1


def _acknowledges(
    requirement: str,
    refused_with: ErrorCode,
    situation: Callable[[SeenRequest], bool] = lambda _: True,
) -> Callable[[Callable[[], None]], Defect]:
    """Make a defect that acknowledges a request refused with this error, in this situation."""

    def make(described: Callable[[], None]) -> Defect:
        def edit(seen: SeenRequest, answer: ProduceResponse) -> None:
            for one in _answers(answer):
                if one.error_code == refused_with and situation(seen):
                    one.error_code, one.base_offset = ErrorCode.NONE, 0

        edit.__name__, edit.__doc__ = described.__name__, described.__doc__
        return answers(requirement, TAKEN + refused_with.name)(edit)

    return make


@answers("PROD-001", r"base offset 6, the log ended at 0 before")
def last_offset_for_base_offset(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The broker acknowledges a batch of seven with the offset of its last record."""
    header = _header(seen)
    if header is not None and header.record_count == 7:
        for one in _answers(answer):
            if one.error_code == ErrorCode.NONE:
                one.base_offset += header.last_offset_delta


class GapAfterManyBatches(FrameRule):
    """The broker leaves out one offset after the hundredth batch of a partition."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, UUID]] = Counter()

    def on_response(self, seen: SeenRequest, payload: bytes) -> Sequence[bytes]:
        asked = seen.message
        if not isinstance(asked, ProduceRequest) or not asked.topic_data:
            return [payload]
        topic = (asked.topic_data[0].name, asked.topic_data[0].topic_id)
        self.counts[topic] += 1
        correlation_id, message = decode_response(APIS[PRODUCE_KEY], seen.version, payload)
        for one in _answers(message):
            if one.error_code == ErrorCode.NONE and self.counts[topic] > 100:
                one.base_offset += 1
        return [encode_response(message, seen.version, correlation_id)]


def _fetched(message: Message) -> list[FetchResponse.PartitionData]:
    assert isinstance(message, FetchResponse)
    return [one for topic in message.responses for one in topic.partitions]


def change_stored(message: Message, change: Callable[[RecordBatch], RecordBatch]) -> None:
    """Edit the batches of a Fetch answer one by one; unchanged batches keep their bytes.

    Message sets, which older versions get, are not changed.
    """
    for one in _fetched(message):
        data = one.records or b""
        if len(data) <= MAGIC_AT or data[MAGIC_AT] < 2:
            continue
        made = bytearray()
        end = 0
        for header, start in split_batches(data):
            end = start + header.size_bytes
            raw = data[start:end]
            (before,) = decode_batches(raw)
            after = change(before)
            made += raw if after is before else encoded_again(after)
        if data:
            one.records = bytes(made + data[end:])


def encoded_again(batch: RecordBatch) -> bytes:
    """Return the bytes of a changed batch, with its new checksum and length."""
    return encode_batch(replace(batch, crc=None, batch_length=None))


@answers("PROD-003", r"offset \d was fetched, a batch 0 to 2 came")
def producers_offsets_are_stored(answer: FetchResponse) -> None:
    """The broker stores batches with the base offset of their producer."""

    def change(batch: RecordBatch) -> RecordBatch:
        theirs = any(record.key == b"numbered from 0" for record in batch.records)
        return replace(batch, base_offset=0) if theirs and batch.base_offset else batch

    change_stored(answer, change)


@_acknowledges("PROD-008", ErrorCode.INVALID_REQUIRED_ACKS)
def any_acks_are_taken() -> None:
    """The broker acknowledges a batch sent with acks 2 or -2."""


@_acknowledges("PROD-009", ErrorCode.MESSAGE_TOO_LARGE, _has_one_partition)
def no_limit_of_size() -> None:
    """The broker acknowledges a batch larger than max.message.bytes."""


@_acknowledges("PROD-010", ErrorCode.RECORD_LIST_TOO_LARGE)
def segments_grow_as_needed() -> None:
    """The broker acknowledges a batch larger than segment.bytes."""


def _is_whole(seen: SeenRequest) -> bool:
    """True if the lengths of the batch or messages fit the bytes, in a known format."""
    data, at = _records(seen), 0
    if (len(data) > MAGIC_AT and data[MAGIC_AT] > 2) or not _has_one_partition(seen):
        return False
    while at + LOG_OVERHEAD_BYTES <= len(data):
        at += LOG_OVERHEAD_BYTES + int.from_bytes(data[at + 8 : at + 12], "big")
    return at == len(data)


@_acknowledges("PROD-011", ErrorCode.CORRUPT_MESSAGE, _is_whole)
def checksum_is_not_verified() -> None:
    """The broker acknowledges a batch or message with a wrong checksum."""


def _holds_two(seen: SeenRequest) -> bool:
    header = _header(seen)
    return header is not None and 2 * header.size_bytes == len(_records(seen))


@_acknowledges("PROD-012", ErrorCode.INVALID_TOPIC_EXCEPTION)
def internal_topics_are_like_others() -> None:
    """The broker acknowledges a client's batch for an internal topic."""


@_acknowledges("PROD-013", ErrorCode.INVALID_RECORD, _holds_two)
def two_batches_are_taken() -> None:
    """The broker acknowledges two batches for one partition."""


def _is_old(seen: SeenRequest) -> bool:
    data = _records(seen)
    return seen.version >= FIRST_OF_BATCHES and len(data) > MAGIC_AT and data[MAGIC_AT] < 2


@_acknowledges("PROD-014", ErrorCode.INVALID_RECORD, _is_old)
def old_formats_are_taken() -> None:
    """The broker acknowledges a message of magic 0 or 1 at versions that carry batches."""


def _has_base_offset(seen: SeenRequest) -> bool:
    header = _header(seen)
    return header is not None and header.base_offset != 0


@_acknowledges("PROD-015", ErrorCode.INVALID_RECORD, _has_base_offset)
def any_base_offset_is_taken() -> None:
    """The broker acknowledges a batch with a base offset other than 0."""


def _is_short_by_one(seen: SeenRequest) -> bool:
    header = _header(seen)
    if header is None or header.codec_id == 0:
        return False
    return header.record_count == 4 and header.last_offset_delta == 3


@_acknowledges("PROD-016", ErrorCode.INVALID_RECORD, _is_short_by_one)
def compressed_records_are_not_counted() -> None:
    """The broker acknowledges a compressed batch with one record less than its header says."""


def _is_control(seen: SeenRequest) -> bool:
    header = _header(seen)
    return header is not None and bool(header.attributes & CONTROL)


@_acknowledges("PROD-017", ErrorCode.INVALID_RECORD, _is_control)
def control_batches_are_taken() -> None:
    """The broker acknowledges a control batch from a client."""


@answers("PROD-004", r"partition \d: error is CORRUPT_MESSAGE \(2\), expected NONE")
def one_damaged_batch_fails_all_behind_it(answer: ProduceResponse) -> None:
    """The broker refuses all batches of a request that follow a damaged one."""
    is_damaged = False
    for one in _answers(answer):
        is_damaged |= one.error_code == ErrorCode.CORRUPT_MESSAGE
        if is_damaged and one.error_code == ErrorCode.NONE:
            one.error_code, one.base_offset = int(ErrorCode.CORRUPT_MESSAGE), -1


@answers("PROD-018", r"gzip: 1, 2, 4 are bad, record_errors lists \[\]", range(8, 99))
def compressed_records_are_not_listed(seen: SeenRequest, answer: ProduceResponse) -> None:
    """record_errors is empty for a compressed batch."""
    header = _header(seen)
    if header is not None and header.codec_id:
        for one in _answers(answer):
            one.record_errors = []


@answers("PROD-018", r"record_errors lists \[1\]", range(8, 99))
def only_one_bad_record_is_listed(answer: ProduceResponse) -> None:
    """record_errors lists only the first of several bad records."""
    for one in _answers(answer):
        one.record_errors = one.record_errors[:1]


@answers("PROD-029", r"too new, .*keyless.*: error is INVALID_RECORD", range(8, 99))
def the_last_bad_record_gives_the_error(seen: SeenRequest, answer: ProduceResponse) -> None:
    """Of different errors in a batch that of the last record at fault is returned."""
    batch = first_batch(seen)
    if batch is None or all(record.key for record in batch.records):
        return
    for one in _answers(answer):
        if one.error_code == ErrorCode.INVALID_TIMESTAMP:
            last = batch.records[max(error.batch_index for error in one.record_errors)]
            one.error_code = int(
                ErrorCode.INVALID_TIMESTAMP if last.key else ErrorCode.INVALID_RECORD
            )


def _is_one_keyless_record(seen: SeenRequest) -> bool:
    batch = first_batch(seen)
    return batch is not None and [record.key for record in batch.records] == [None]


@_acknowledges("PROD-019", ErrorCode.INVALID_RECORD, _is_one_keyless_record)
def compacted_topic_takes_no_key() -> None:
    """The broker acknowledges a record without a key in a compacted topic."""


@answers("PROD-020", r"keys and values sent: ")
def empty_value_becomes_null(answer: FetchResponse) -> None:
    """Fetch returns null for empty values beside null ones."""

    def change(batch: RecordBatch) -> RecordBatch:
        values = {record.value for record in batch.records}
        if batch.attributes & CODEC_MASK or not {b"", None} <= values:
            return batch
        return replace(batch, records=[replace(r, value=r.value or None) for r in batch.records])

    change_stored(answer, change)


@answers("PROD-021", r"record 0: sent .*, came back as ")
def keys_are_text(answer: FetchResponse) -> None:
    """The broker reads keys as UTF-8 and replaces bytes that are not."""

    def change(batch: RecordBatch) -> RecordBatch:
        keys = [(record.key or b"").decode(errors="replace").encode() for record in batch.records]
        if all(key == (r.key or b"") for key, r in zip(keys, batch.records, strict=True)):
            return batch
        pairs = zip(keys, batch.records, strict=True)
        return replace(batch, records=[replace(record, key=key) for key, record in pairs])

    change_stored(answer, change)


def _key_belongs_elsewhere(seen: SeenRequest) -> bool:
    asked, batch = _asked(seen), first_batch(seen)
    if asked is None or batch is None or not batch.records:
        return False
    return asked.index > 0 and batch.records[0].key == b"same"


@answers("PROD-026", r"partition 1: error is INVALID_PARTITIONS")
def keys_have_their_partition(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The broker refuses a key in a partition that its hash does not choose."""
    if _key_belongs_elsewhere(seen):
        for one in _answers(answer):
            one.error_code, one.base_offset = ErrorCode.INVALID_PARTITIONS, -1


@answers("PROD-028", r"length 10\d\d instead of \d+: error is NONE \(0\)")
def length_beyond_the_bytes_is_taken(seen: SeenRequest, answer: ProduceResponse) -> None:
    """The broker acknowledges a batch with a length far beyond the bytes of the request."""
    header = _header(seen)
    if header is not None and header.size_bytes >= len(_records(seen)) + 1000:
        for one in _answers(answer):
            one.error_code, one.base_offset = ErrorCode.NONE, 0


DEFECTS = [
    last_offset_for_base_offset,
    rule("PROD-002", r"batch 100 begins at \d+, the one before ended at ", GapAfterManyBatches),
    producers_offsets_are_stored,
    changed_field("PROD-005", "unknown_is_led_elsewhere", r"error is NOT_LEADER_OR_FOLLOWER",
        "The broker reports an unknown topic or partition as led by another broker.",
        ProduceResponse, "responses.partition_responses.error_code",
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    any_acks_are_taken,
    no_limit_of_size,
    segments_grow_as_needed,
    checksum_is_not_verified,
    internal_topics_are_like_others,
    two_batches_are_taken,
    old_formats_are_taken,
    any_base_offset_is_taken,
    compressed_records_are_not_counted,
    control_batches_are_taken,
    one_damaged_batch_fails_all_behind_it,
    compressed_records_are_not_listed,
    only_one_bad_record_is_listed,
    the_last_bad_record_gives_the_error,
    compacted_topic_takes_no_key,
    empty_value_becomes_null,
    keys_are_text,
    changed_field("PROD-022", "always_throttled", r"throttled for 7 ms without a quota",
        "Every Produce answer contains a throttle time.",
        ProduceResponse, "throttle_time_ms", ANY, 7),
    changed_field("PROD-023", "no_log_append_time",
        r"log_append_time of a LogAppendTime topic is -1",
        "The Produce answer never contains the broker's time.",
        ProduceResponse, "responses.partition_responses.log_append_time_ms", ANY, -1),
    changed_field("PROD-025", "unknown_id_is_called_an_unknown_partition",
        r"(unknown|stale) id: error is UNKNOWN_TOPIC_OR_PARTITION",
        "Produce answers an unknown topic id with UNKNOWN_TOPIC_OR_PARTITION.",
        ProduceResponse, "responses.partition_responses.error_code",
        ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, range(13, 99)),
    keys_have_their_partition,
    length_beyond_the_bytes_is_taken,
]  # fmt: skip
