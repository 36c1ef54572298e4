"""STOR: where segments begin, and reading across them."""

from __future__ import annotations

from collections.abc import Iterator

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.segments import (
    HOUR_MS,
    OFTEN,
    SEGMENT_MS,
    Witness,
    aged,
    append_segments,
    begin_of,
    begin_once,
    expect_removed,
    size_of,
    timed,
    topic_of_segments,
)
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import partition_of, records_of

SEGMENT_BYTES = 1024 * 1024  # the least that every release takes
LARGE_BYTES, LARGE_BATCHES = 500_000, 12
ALL_BYTES = 16 << 20
UNREAD = 3
SEGMENTS, A_SEGMENT = 60, 3


@judges("STOR-006")
@needs_broker(Use.TUNED, OFTEN)
def test_fetch_in_progress_is_complete_while_its_records_are_deleted(
    broker: BrokerUnderTest,
) -> None:
    """A response larger than the socket buffers arrives whole after its records are deleted.

    The responses to the pipelined fetches after it are the same, or have the error
    OFFSET_OUT_OF_RANGE.
    """
    topic = topic_of_segments(broker, retention__bytes="1")
    batch = aged(HOUR_MS, bytes(LARGE_BYTES))
    append(broker, topic, *[batch] * LARGE_BATCHES)
    expected = size_of(broker, batch) * LARGE_BATCHES
    reader = broker.connect()
    _ask_for_all(reader, topic, broker.reading_version(topic))
    with requirement("STOR-006"):
        first = _next_answer(reader)
        assert len(record_bytes(first)) == expected, f"{len(record_bytes(first))} bytes came"
        append(broker, topic, aged(0, b"the next segment"))
        begin = begin_once(broker, topic, LARGE_BATCHES)
        assert begin == LARGE_BATCHES, f"one byte is wanted, the log begins at {begin}"
        for place in range(1, UNREAD):
            _expect_whole_or_gone(_next_answer(reader), first, place)
        for offset in (0, LARGE_BATCHES - 1):
            expect_removed(broker, topic, offset)


def _ask_for_all(connection: Connection, topic: Topic, version: int) -> None:
    """Several times at once, from offset 0."""
    wanted = fetch_partition(0, partition_max_bytes=ALL_BYTES)
    request = fetch_request([fetch_topic(topic, version, [wanted])], max_bytes=ALL_BYTES)
    for _ in range(UNREAD):
        connection.send(request, version)


def _next_answer(connection: Connection) -> FetchResponse.PartitionData:
    answer = connection.receive()
    assert isinstance(answer, FetchResponse)
    return partition_of(answer)


def _expect_whole_or_gone(
    found: FetchResponse.PartitionData, first: FetchResponse.PartitionData, place: int
) -> None:
    told = f"answer {place}, whose records are removed"
    if found.error_code != ErrorCode.OFFSET_OUT_OF_RANGE:
        expect_error(found.error_code, ErrorCode.NONE, told)
        same = record_bytes(found) == record_bytes(first)
        assert same, f"{told}: {len(record_bytes(found))} bytes, not those of the one before"


@judges("STOR-008")
@needs_broker(Use.TUNED, OFTEN)
def test_segment_full_to_segment_bytes_is_followed_by_new_segment(broker: BrokerUnderTest) -> None:
    """Two batches fill a segment to the last byte; the third begins the next one.

    One byte is wanted of the log, so that it soon begins with the segment that is written to.
    """
    witness = Witness(broker)
    topic = broker.create_topic(
        configs={"segment.bytes": str(SEGMENT_BYTES), "retention.bytes": "1"}
    )
    half = _of_size(broker, SEGMENT_BYTES // 2)
    with requirement("STOR-008"):
        append(broker, topic, half, half)
        _expect_begin(broker, topic, witness, 0, "two halves of segment.bytes")
        append(broker, topic, aged(0, b"r"))
        _expect_begin(broker, topic, witness, 2, "two halves of segment.bytes, and one record")


def _of_size(broker: BrokerUnderTest, size_bytes: int) -> bytes:
    """A batch of a record that has just so many bytes in the log."""
    length = size_bytes - 200
    for _ in range(2):  # the second time with what the first lacked
        batch = aged(0, bytes(length))
        length += size_bytes - size_of(broker, batch)
    assert size_of(broker, batch) == size_bytes
    return batch


@judges("STOR-008")
@needs_broker(Use.TUNED, OFTEN)
def test_record_later_than_segment_ms_begins_new_segment(broker: BrokerUnderTest) -> None:
    """A record that is segment.ms younger than the segment's first is in it; one that is younger by
    a millisecond more begins the next."""
    witness = Witness(broker)
    topic = topic_of_segments(broker, retention__bytes="1")
    first_ms = now_ms() - HOUR_MS
    with requirement("STOR-008"):
        append(broker, topic, timed(first_ms, b"r"), timed(first_ms + SEGMENT_MS, b"r"))
        _expect_begin(broker, topic, witness, 0, "a record that is segment.ms younger")
        append(broker, topic, timed(first_ms + SEGMENT_MS + 1, b"r"))
        _expect_begin(broker, topic, witness, 2, "a record that is a millisecond younger still")


def _expect_begin(
    broker: BrokerUnderTest, topic: Topic, witness: Witness, expected: int, what: str
) -> None:
    """The segment that is written to begins there, as the log does when the rest has gone."""
    begin_once(broker, topic, expected)
    witness.look()
    begin = begin_of(broker, topic)
    assert begin == expected, f"{what}: the segment begins at {begin}, expected {expected}"


@judges("STOR-021")
def test_fetch_at_segment_boundary_returns_record_at_offset(broker: BrokerUnderTest) -> None:
    """Fetched at the last offset of a segment, the first of the next and the one behind; the index
    of a segment has nearly each of its batches."""
    topic = topic_of_segments(broker, index__interval__bytes="1")
    values = [b"r%d" % number for number in range(SEGMENTS * A_SEGMENT)]
    pairs = list(_batched(values))
    append_segments(broker, topic, pairs, oldest_ms=3 * HOUR_MS)
    with requirement("STOR-021") as check:
        for begin in range(A_SEGMENT, len(values), A_SEGMENT):
            for offset in (begin - 1, begin, begin + 1):
                with check.subtest(f"segment at {begin}, offset {offset}"):
                    answer = broker.fetch(topic, offset)
                    expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
                    found = records_of(answer)[:1]
                    assert found == [(offset, values[offset])], (
                        f"a fetch at {offset} brings {found}"
                    )


def _batched(values: list[bytes]) -> Iterator[list[bytes]]:
    """Return the values in groups that each fill a segment."""
    return (values[at : at + A_SEGMENT] for at in range(0, len(values), A_SEGMENT))
