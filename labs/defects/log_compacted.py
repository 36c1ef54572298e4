"""Defects of area STOR: wrong compaction, and wrong times of records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    CreateTopicsRequest,
    FetchRequest,
    FetchResponse,
    ListOffsetsResponse,
    ProduceRequest,
)
from harness.codec.records import (
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    Record,
    RecordBatch,
    decode_batches,
    encode_batch,
)
from harness.proxies import SeenRequest
from labs.defects.edited_answer import answers
from labs.defects.edited_request import takes
from suites.durability.support.segments import DAY_MS, HOUR_MS

MAGIC_AT = 16


def change_runs(
    message: FetchResponse, key: bytes, change: Callable[[list[RecordBatch]], list[RecordBatch]]
) -> None:
    """Edit together all batches of a Fetch answer if one of them has a record of this key."""
    for topic in message.responses:
        for partition in topic.partitions:
            data = bytes(partition.records or b"")
            if len(data) <= MAGIC_AT or data[MAGIC_AT] != 2 or key not in data:
                continue
            batches = decode_batches(data)
            if any(record.key == key for batch in batches for record in batch.records):
                partition.records = b"".join(map(_encoded, change(batches)))


def _lost_records(batch: RecordBatch) -> bool:
    """Return whether compaction has left fewer records than the batch has offsets."""
    return len(batch.records) <= (batch.last_offset_delta or 0)


def _encoded(batch: RecordBatch) -> bytes:
    return encode_batch(replace(batch, crc=None, batch_length=None, record_count=None))


def asked_offset(seen: SeenRequest) -> int:
    """The fetch offset of the request's first partition; 0 without one."""
    assert isinstance(seen.message, FetchRequest)
    return seen.message.topics[0].partitions[0].fetch_offset if seen.message.topics else 0


@answers("STOR-012", r"which was never written")
def compaction_numbers_anew(seen: SeenRequest, answer: FetchResponse) -> None:
    """Compaction gives the remaining records offsets without holes."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        offset, made = asked_offset(seen), []
        if batches[0].base_offset <= offset:
            return batches
        for batch in batches:
            made.append(_renumbered(batch, offset))
            offset += len(batch.records)
        return made

    change_runs(answer, b"three", change)


def _renumbered(batch: RecordBatch, begin: int) -> RecordBatch:
    records = [replace(record, offset_delta=at) for at, record in enumerate(batch.records)]
    return replace(batch, records=records, base_offset=begin, last_offset_delta=len(records) - 1)


@answers("STOR-012", r"the newest of their keys are gone")
def the_newest_value_goes_with_the_rest(answer: FetchResponse) -> None:
    """Compaction removes the newest value too of a key that is written often."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        if batches[0].base_offset == 0:
            return batches
        return [without(batch, lambda record: record.key == b"one") for batch in batches]

    change_runs(answer, b"three", change)


def without(batch: RecordBatch, is_gone: Callable[[Record], bool]) -> RecordBatch:
    """The batch as compaction leaves it: its first and last offset stay."""
    return replace(batch, records=[one for one in batch.records if not is_gone(one)])


@answers("STOR-034", r"left is .*Kept\(offset=8, .*written was")
def every_log_is_compacted(answer: FetchResponse) -> None:
    """Compaction removes records of logs with cleanup.policy delete too."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        return [without(batch, lambda one: one.value in (b"0", b"1")) for batch in batches]

    change_runs(answer, b"never compacted", change)


@answers("STOR-023", r"left of the empty key and value: \[\(b'', b'2'\)\], not")
def an_empty_value_is_a_tombstone(answer: FetchResponse) -> None:
    """Compaction removes a record with an empty value as it removes a tombstone."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        return [
            without(batch, lambda one: one.key == b"emptied" and one.value == b"")
            for batch in batches
        ]

    change_runs(answer, b"emptied", change)


@answers("RECF-030", r"left is Left\(offset=1, .*headers=\(\)")
def compacted_records_lose_headers(answer: FetchResponse) -> None:
    """A batch that lost records to compaction has no headers any more."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        return [
            replace(batch, records=[replace(one, headers=[]) for one in batch.records])
            if _lost_records(batch)
            else batch
            for batch in batches
        ]

    change_runs(answer, b"first gone", change)


@answers("RECF-034", r"max timestamps are")
def the_time_of_a_removed_record_stays(answer: FetchResponse) -> None:
    """A batch that lost records to compaction has a max timestamp that none of them has."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        return [
            replace(batch, max_timestamp=(batch.max_timestamp or 0) + 1)
            if _lost_records(batch)
            else batch
            for batch in batches
        ]

    change_runs(answer, b"c", change)


@answers("TIME-012", r"two batches: left are the offsets \[0, 2\]")
def compaction_goes_by_times(answer: FetchResponse) -> None:
    """Compaction keeps of a key the record with the latest timestamp."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        return [
            replace(batch, base_offset=0, last_offset_delta=1) if batch.base_offset == 1 else batch
            for batch in batches
        ]

    change_runs(answer, b"sent with times that fall", change)


@answers("RECF-035", r"a fetch at [01] brings the offsets \[\], not first 2", range(4))
def the_first_batch_alone_is_converted(request: FetchRequest, answer: FetchResponse) -> None:
    """Where the first batch has no records, Fetch below v4 brings none of those behind it."""
    begins = {one.fetch_offset for topic in request.topics for one in topic.partitions}
    for topic in answer.responses:
        for partition in topic.partitions:
            if b"two have lost it" in bytes(partition.records or b"") and begins <= {0, 1}:
                partition.records = b""


@answers("STOR-031", r"of the batches at their first offsets are \{0: \(1, 8")
def times_of_producers_come_back(answer: FetchResponse) -> None:
    """A batch with the broker's time that lost records to compaction is an hour older."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        return [
            replace(batch, max_timestamp=(batch.max_timestamp or 0) - HOUR_MS)
            if batch.attributes & LOG_APPEND_TIME and _lost_records(batch)
            else batch
            for batch in batches
        ]

    change_runs(answer, b"b", change)


@answers("STOR-031", r"ListOffsets .* are \[\(2, ")
def times_of_producers_are_searched(answer: ListOffsetsResponse) -> None:
    """ListOffsets finds no record of a batch with the broker's time that lost its first one."""
    for topic in answer.topics:
        for found in topic.partitions:
            if found.offset == 1 and found.timestamp > 0:
                found.offset = 2


@takes("STOR-032", r"written just now: the log begins at 2")
def no_timestamp_is_1970(request: ProduceRequest) -> None:
    """The broker stores records without a timestamp as records of 1970."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            batches = decode_batches(bytes(partition.records or b""))
            if any(batch.max_timestamp == -1 for batch in batches):
                changed = [replace(one, base_timestamp=0, max_timestamp=0) for one in batches]
                partition.records = b"".join(map(_encoded, changed))


@takes("STOR-027", r"records without a key and an old value: left is")
def an_absent_key_is_a_key(request: ProduceRequest) -> None:
    """The broker stores a record without a key with an empty key."""
    for topic in request.topic_data:
        for partition in topic.partition_data:
            batches = decode_batches(bytes(partition.records or b""))
            if any(record.key is None for batch in batches for record in batch.records):
                partition.records = b"".join(_encoded(_keyed(batch)) for batch in batches)


def _keyed(batch: RecordBatch) -> RecordBatch:
    return replace(
        batch,
        records=[
            replace(record, key=b"" if record.key is None else record.key)
            for record in batch.records
        ],
        last_offset_delta=None,
    )


@answers("RECF-032", r"compacted [23] times: the horizon is \d+, at first it was")
def a_horizon_moves_with_each_record_that_goes(answer: FetchResponse) -> None:
    """A compaction that removes a record of a batch begins the batch's delete.retention.ms anew."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        first, lost = batches[0], 3 - len(batches[0].records)
        if first.base_offset > 0 or not first.attributes & DELETE_HORIZON:
            return batches
        return [replace(first, base_timestamp=(first.base_timestamp or 0) + lost), *batches[1:]]

    change_runs(answer, b"horizon", change)


@answers("STOR-013", r"Fetch at \d+: error is OFFSET_OUT_OF_RANGE", range(13))
def a_hole_is_out_of_range(seen: SeenRequest, answer: FetchResponse) -> None:
    """Fetch refuses the offset of a compacted record as out of range."""
    for topic in answer.responses:
        for one in topic.partitions:
            data = bytes(one.records or b"")
            if len(data) > MAGIC_AT and b"blue" in data and asked_offset(seen) < _first(data):
                one.error_code, one.records = ErrorCode.OFFSET_OUT_OF_RANGE, b""


def _first(data: bytes) -> int:
    return int.from_bytes(data[:8], "big")


@answers("STOR-014", r"cleaned 1 times, left of the key is \[\]")
def tombstones_go_at_once(answer: FetchResponse) -> None:
    """Compaction removes a tombstone together with the records that it deletes."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        of_key = [one for batch in batches for one in batch.records if one.key == b"buried"]
        if len(of_key) > 1:
            return batches
        return [without(batch, lambda record: record.key == b"buried") for batch in batches]

    change_runs(answer, b"buried", change)


@answers("STOR-015", r"the active segment: left is")
def the_active_segment_is_compacted_too(answer: FetchResponse) -> None:
    """Compaction leaves only the newest record of a key in the active segment."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        if batches[0].base_offset == 0 or len(batches[-1].records) < 3:
            return batches
        *before, last = batches
        return [*before, replace(last, records=last.records[-1:])]

    change_runs(answer, b"a", change)


@answers("STOR-017", r"the last committed values \[b'a committed 1'\] are gone")
def what_was_aborted_counts_as_newest(answer: FetchResponse) -> None:
    """Compaction removes a committed value because of a later aborted one of its key."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        values = [one.value for batch in batches for one in batch.records]
        if b"a aborted 1" in values:
            return batches
        return [without(batch, lambda one: one.value == b"a committed 1") for batch in batches]

    change_runs(answer, b"a", change)


@answers("STOR-018", r"at the head are .*, what came is \[Kept\(offset=1,")
def the_head_is_compacted(answer: FetchResponse) -> None:
    """Compaction removes older records of a key as soon as they are written."""

    def change(batches: list[RecordBatch]) -> list[RecordBatch]:
        return [replace(batch, records=batch.records[-1:]) for batch in batches]

    change_runs(answer, b"head", change)


def _with(request: CreateTopicsRequest, name: str, value: str, instead: str) -> None:
    for topic in request.topics:
        for config in topic.configs:
            if (config.name, config.value) == (name, value):
                config.value = instead


def _with_ratio(request: CreateTopicsRequest, value: str, instead: str) -> None:
    _with(request, "min.cleanable.dirty.ratio", value, instead)


@takes("STOR-015", r"is over for one segment: left is")
def all_segments_must_have_waited(request: AlterConfigsRequest) -> None:
    """A log is not compacted before max.compaction.lag.ms is over for its newest segment too."""
    for resource in request.resources:
        for config in resource.configs:
            if (config.name, config.value) == ("max.compaction.lag.ms", str(HOUR_MS)):
                config.value = str(30 * DAY_MS)


@takes("STOR-015", r"max\.compaction\.lag\.ms is not over: left is")
def a_largest_lag_forces_immediately(request: CreateTopicsRequest) -> None:
    """A log with a max.compaction.lag.ms is compacted before it is over."""
    _with(request, "max.compaction.lag.ms", str(DAY_MS), "1")


@takes("STOR-024", r"small batches are dirty: left are")
def any_dirty_log_is_compacted(request: CreateTopicsRequest) -> None:
    """Compaction ignores min.cleanable.dirty.ratio below 1."""
    _with_ratio(request, "0.5", "0")


@takes("STOR-024", r"the minimum is 1: left are")
def a_minimum_is_reached_when_equal(request: CreateTopicsRequest) -> None:
    """Compaction begins when the dirty share equals min.cleanable.dirty.ratio."""
    _with_ratio(request, "1", "0.999")


DEFECTS = [
    replace(made, private=True)
    for made in (
        compaction_numbers_anew,
        every_log_is_compacted,
        times_of_producers_are_searched,
        an_empty_value_is_a_tombstone,
        compacted_records_lose_headers,
        a_horizon_moves_with_each_record_that_goes,
        the_time_of_a_removed_record_stays,
        the_first_batch_alone_is_converted,
        compaction_goes_by_times,
        times_of_producers_come_back,
        no_timestamp_is_1970,
        an_absent_key_is_a_key,
        the_newest_value_goes_with_the_rest,
        a_hole_is_out_of_range,
        tombstones_go_at_once,
        the_active_segment_is_compacted_too,
        all_segments_must_have_waited,
        a_largest_lag_forces_immediately,
        what_was_aborted_counts_as_newest,
        the_head_is_compacted,
        any_dirty_log_is_compacted,
        a_minimum_is_reached_when_equal,
    )
]
