"""PROD: which batches a partition takes, and what Produce says about it."""

from __future__ import annotations

import itertools
import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteTopicsRequest, ProduceRequest, ProduceResponse
from harness.codec.records import CONTROL, Record, RecordBatch, decode_batches, encode_batch
from harness.codec.records.compression import CODEC_IDS
from harness.conformance.checks import requirement
from harness.marks import at_versions, judges
from suites.protocol.appended import append, batch_of, now_ms
from suites.protocol.expect import expect_error

Answer = ProduceResponse.PartitionProduceResponse
DAY_MS = 24 * 60 * 60 * 1000
ZSTD_SINCE = 7  # KIP-110
PIPELINED = 50
THREE = [Record(b"one", b"k"), Record(b"two", b"k"), Record(b"three", b"k")]


def _three(**header: int) -> RecordBatch:
    """A valid batch of three records; ``header`` sets fields of it, as wrong as may be."""
    return replace(RecordBatch(THREE, base_timestamp=now_ms()), **header)  # type: ignore[arg-type]


def _expect_refused(
    broker: BrokerUnderTest, topic: Topic, answer: Answer, expected: ErrorCode, where: str = ""
) -> None:
    """The error came, and the partition of ``topic``, empty before, is still empty."""
    expect_error(answer.error_code, expected, where)
    _expect_nothing_appended(broker, topic, where)


def _expect_nothing_appended(
    broker: BrokerUnderTest, topic: Topic, where: str = "", partition: int = 0
) -> None:
    end = broker.end_offset(topic, partition)
    told = f"{where}: refused, yet the log of partition {partition} ends at {end}"
    assert end == 0, told.removeprefix(": ")


def _stored(broker: BrokerUnderTest, topic: Topic, partition: int = 0) -> list[RecordBatch]:
    """All batches of a partition, read up to its end."""
    found: list[RecordBatch] = []
    offset, end = 0, broker.end_offset(topic, partition)
    while offset < end:
        answer = broker.fetch(topic, offset, partition=partition)
        expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
        batches = decode_batches(answer.records or b"")
        assert batches, f"nothing comes from offset {offset}, the log ends at {end}"
        for batch in batches:
            first, last = batch.base_offset, batch.base_offset + (batch.last_offset_delta or 0)
            assert last >= offset, f"offset {offset} was fetched, a batch {first} to {last} came"
            found.append(batch)
            offset = last + 1
    return found


@judges("PROD-001")
@at_versions("Produce", "3+")
def test_a_batch_is_acknowledged_with_its_base_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The base offset is where the log ended before; with acks 1 as with acks -1."""
    topic = broker.create_topic()
    batch = batch_of(*[b"value"] * 7)
    for acks in (1, -1):
        before = broker.end_offset(topic)
        with requirement("PROD-001"):
            answer = broker.produce(topic, batch, api_version, acks=acks)
            expect_error(answer.error_code, ErrorCode.NONE)
            assert answer.base_offset == before, (
                f"base offset {answer.base_offset}, the log ended at {before} before"
            )


@judges("PROD-002")
def test_consecutive_appends_leave_no_gap(broker: BrokerUnderTest) -> None:
    """A thousand batches of random size: each begins where the one before ended."""
    topic = broker.create_topic()
    version = broker.version("Produce", "3+")
    connection = broker.connect()
    sizes = [broker.random.randint(1, 5) for _ in range(1000)]
    with requirement("PROD-002"):
        expected = 0
        for start in range(0, len(sizes), PIPELINED):
            some = sizes[start : start + PIPELINED]
            for size in some:
                connection.send(produce_request(topic, batch_of(*[b"v"] * size), version), version)
            for number, size in enumerate(some, start):
                answer = _partition_answer(connection.receive())
                expect_error(answer.error_code, ErrorCode.NONE, f"batch {number}")
                assert answer.base_offset == expected, (
                    f"batch {number} begins at {answer.base_offset}, "
                    f"the one before ended at {expected}"
                )
                expected += size
        assert broker.end_offset(topic) == sum(sizes)


def _partition_answer(answer: object) -> Answer:
    assert isinstance(answer, ProduceResponse)
    return answer.responses[0].partition_responses[0]


@judges("PROD-003")
@at_versions("Produce", "3+")
def test_stored_offsets_are_the_brokers(broker: BrokerUnderTest, api_version: int) -> None:
    """Batches all numbered from 0 by their producer are stored one behind the other."""
    topic = broker.create_topic()
    records = [Record(b"x", b"numbered from 0")] * 3
    batch = RecordBatch(records, base_timestamp=now_ms())
    with requirement("PROD-003"):
        for compression in ("none", "gzip", "none"):
            answer = broker.produce(topic, encode_batch(batch, compression), api_version)
            expect_error(answer.error_code, ErrorCode.NONE, compression)
        offsets = [
            stored.base_offset + (record.offset_delta or 0)
            for stored in _stored(broker, topic)
            for record in stored.records
        ]
        assert offsets == list(range(9)), f"three batches of three are stored at {offsets}"


@judges("PROD-005")
@at_versions("Produce", "3+")
def test_an_unknown_partition_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """Partition 999 of a topic with one partition."""
    topic = broker.create_topic()
    with requirement("PROD-005"):
        _expect_unknown(broker.produce(topic, batch_of(b"x"), api_version, partition=999))


@judges("PROD-005")
@at_versions("Produce", "3-12")
def test_an_unknown_topic_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """A name that no topic has; from v13 a topic has no name here."""
    unknown = Topic(broker.unique_topic())
    with requirement("PROD-005"):
        _expect_unknown(broker.produce(unknown, batch_of(b"x"), api_version))


def _expect_unknown(answer: Answer) -> None:
    expect_error(answer.error_code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert answer.base_offset == -1, f"base offset {answer.base_offset}, expected -1"


@judges("PROD-008")
@at_versions("Produce", "3+")
def test_other_acks_are_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """Each of two partitions gets the error, and neither gets the batch."""
    topic = broker.create_topic(partitions=2)
    request = produce_request(topic, None, api_version)
    request.topic_data[0].partition_data = [
        ProduceRequest.PartitionProduceData(index=index, records=batch_of(b"x"))
        for index in range(2)
    ]
    with requirement("PROD-008"):
        for request.acks in (2, -2):
            answers = broker.ask(request, api_version).responses[0].partition_responses
            assert {answer.index for answer in answers} == {0, 1}, f"answers: {answers}"
            for answer in answers:
                where = f"acks {request.acks}, partition {answer.index}"
                expect_error(answer.error_code, ErrorCode.INVALID_REQUIRED_ACKS, where)
                _expect_nothing_appended(broker, topic, where, answer.index)


@judges("PROD-009")
@at_versions("Produce", "3+")
def test_a_batch_above_the_limit_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """A batch one byte above max.message.bytes is refused, one of just that size is taken."""
    fitting, too_large = batch_of(b"x" * 300), batch_of(b"x" * 301)
    assert len(too_large) == len(fitting) + 1, "the test's two batches differ by one byte"
    topic = broker.create_topic(configs={"max.message.bytes": str(len(fitting))})
    with requirement("PROD-009"):
        answer = broker.produce(topic, too_large, api_version)
        _expect_refused(broker, topic, answer, ErrorCode.MESSAGE_TOO_LARGE, "limit + 1")
        answer = broker.produce(topic, fitting, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "limit")


@judges("PROD-011")
@at_versions("Produce", "3+")
def test_a_batch_with_a_flipped_bit_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """One bit of a value differs from what the checksum was made of."""
    topic = broker.create_topic()
    for compression in ("none", "gzip"):
        batch = bytearray(encode_batch(_three(), compression))
        batch[-5] ^= 1
        with requirement("PROD-011"):
            answer = broker.produce(topic, bytes(batch), api_version)
            _expect_refused(broker, topic, answer, ErrorCode.CORRUPT_MESSAGE, compression)


@judges("PROD-013")
@at_versions("Produce", "3+")
def test_one_batch_a_partition(broker: BrokerUnderTest, api_version: int) -> None:
    """No batch is refused as are two valid ones."""
    topic = broker.create_topic()
    with requirement("PROD-013"):
        for batches in (0, 2):
            answer = broker.produce(topic, encode_batch(_three()) * batches, api_version)
            where = f"{batches} batches"
            _expect_refused(broker, topic, answer, ErrorCode.INVALID_RECORD, where)


def _old_message(magic: int) -> bytes:
    """A valid message of the formats before record batches, its offset and size in front.

    Checksum, magic, attributes, from magic 1 on a timestamp (KIP-32), then key and value.
    """
    timestamp = struct.pack(">q", now_ms()) if magic == 1 else b""
    covered = struct.pack(">bb", magic, 0) + timestamp
    covered += struct.pack(">i1s", 1, b"k") + struct.pack(">i5s", 5, b"value")
    message = struct.pack(">I", zlib.crc32(covered)) + covered
    return struct.pack(">qi", 0, len(message)) + message


@judges("PROD-014")
@at_versions("Produce", "3+")
def test_old_formats_are_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """A message that is right in its own old format."""
    topic = broker.create_topic()
    with requirement("PROD-014"):
        for magic in (0, 1):
            answer = broker.produce(topic, _old_message(magic), api_version)
            _expect_refused(broker, topic, answer, ErrorCode.INVALID_RECORD, f"magic {magic}")


@judges("PROD-015")
@at_versions("Produce", "3+")
def test_a_base_offset_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """The producer numbers from 0; also the right next offset is not its to give."""
    topic = broker.create_topic()
    with requirement("PROD-015"):
        for base_offset in (5, -1):
            batch = encode_batch(_three(base_offset=base_offset))
            answer = broker.produce(topic, batch, api_version)
            where = f"base offset {base_offset}"
            _expect_refused(broker, topic, answer, ErrorCode.INVALID_RECORD, where)


WRONG_COUNTS: dict[str, dict[str, int]] = {
    "count 0": {"record_count": 0},
    "count -1": {"record_count": -1},
    "count 0 for no offset": {"record_count": 0, "last_offset_delta": -1},
    "count one less": {"record_count": 2},
    "count one more": {"record_count": 4},
    "last offset delta beyond the count": {"last_offset_delta": 5},
    "last offset delta below the count": {"last_offset_delta": 1},
    "one record more than both say": {"record_count": 2, "last_offset_delta": 1},
    "one record less than both say": {"record_count": 4, "last_offset_delta": 3},
}


@judges("PROD-016")
@at_versions("Produce", "3+")
def test_a_wrong_record_count_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """Record count, last offset delta and the records have to agree, compressed or not."""
    topic = broker.create_topic()
    codecs = [name for name in CODEC_IDS if name != "zstd" or api_version >= ZSTD_SINCE]
    with requirement("PROD-016"):
        for compression, mismatch in itertools.product(codecs, WRONG_COUNTS):
            where = f"{mismatch}, compression {compression}"
            batch = encode_batch(_three(**WRONG_COUNTS[mismatch]), compression)
            answer = broker.produce(topic, batch, api_version)
            expect_error(answer.error_code, ErrorCode.INVALID_RECORD, where)
        _expect_nothing_appended(broker, topic)


@judges("PROD-017")
@at_versions("Produce", "3+")
def test_control_batches_are_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """A well-formed end-of-transaction marker, from a client."""
    topic = broker.create_topic()
    marker = Record(key=struct.pack(">hh", 0, 1), value=struct.pack(">hi", 0, 0))
    batch = RecordBatch([marker], attributes=CONTROL, base_timestamp=now_ms())
    with requirement("PROD-017"):
        answer = broker.produce(topic, encode_batch(batch), api_version)
        _expect_refused(broker, topic, answer, ErrorCode.INVALID_RECORD)


@judges("PROD-018")
@at_versions("Produce", "8+")
def test_each_bad_record_is_listed(broker: BrokerUnderTest, api_version: int) -> None:
    """Of five records for a compacted topic three have no key: each is named, and why."""
    topic = broker.create_topic(configs={"cleanup.policy": "compact"})
    keys = [b"k", None, None, b"k", None]
    batch = RecordBatch([Record(b"value", key) for key in keys], base_timestamp=now_ms())
    with requirement("PROD-018"):
        answer = broker.produce(topic, encode_batch(batch), api_version)
        listed = sorted(error.batch_index for error in answer.record_errors)
        assert listed == [1, 2, 4], f"records 1, 2, 4 are bad, record_errors lists {listed}"
        for error in answer.record_errors:
            assert error.batch_index_error_message, f"no message for record {error.batch_index}"


@judges("PROD-019")
@at_versions("Produce", "3+")
def test_a_compacted_topic_wants_keys(broker: BrokerUnderTest, api_version: int) -> None:
    """A record without key is refused; one with an empty key is taken."""
    topic = broker.create_topic(configs={"cleanup.policy": "compact"})
    with requirement("PROD-019"):
        for compression in ("none", "gzip"):
            batch = RecordBatch([Record(b"value", None)], base_timestamp=now_ms())
            answer = broker.produce(topic, encode_batch(batch, compression), api_version)
            _expect_refused(broker, topic, answer, ErrorCode.INVALID_RECORD, compression)
        batch = RecordBatch([Record(b"value", b"")], base_timestamp=now_ms())
        answer = broker.produce(topic, encode_batch(batch), api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "empty key")


@judges("PROD-020")
@at_versions("Produce", "3+")
def test_null_and_empty_are_distinct(broker: BrokerUnderTest, api_version: int) -> None:
    """Every pair of null, empty and something as key and value comes back as it was sent."""
    topic = broker.create_topic()
    sent = list(itertools.product((None, b"", b"x"), repeat=2))
    batch = RecordBatch([Record(value, key) for key, value in sent], base_timestamp=now_ms())
    append(broker, topic, encode_batch(_three()))
    with requirement("PROD-020"):
        answer = broker.produce(topic, encode_batch(batch), api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        came = _pairs(_stored(broker, topic)[1:])
        assert came == sent, f"keys and values sent: {sent}, stored: {came}"


def _pairs(batches: Sequence[RecordBatch]) -> list[tuple[bytes | None, bytes | None]]:
    return [(record.key, record.value) for batch in batches for record in batch.records]


@judges("PROD-021")
@pytest.mark.parametrize("compression", list(CODEC_IDS))
def test_any_bytes_come_back_unchanged(broker: BrokerUnderTest, compression: str) -> None:
    """Every byte there is, and random ones; in two batches."""
    version = broker.version("Produce", f"{ZSTD_SINCE}+" if compression == "zstd" else "3+")
    topic = broker.create_topic()
    every_byte = bytes(range(256))
    sent: list[tuple[bytes | None, bytes | None]] = [(every_byte, every_byte[::-1])]
    for _ in range(40):
        key, value = (broker.random.randbytes(broker.random.randint(1, 300)) for _ in range(2))
        sent.append((key, value))
    with requirement("PROD-021"):
        for some in (sent[:20], sent[20:]):
            records = [Record(value, key) for key, value in some]
            batch = encode_batch(RecordBatch(records, base_timestamp=now_ms()), compression)
            expect_error(broker.produce(topic, batch, version).error_code, ErrorCode.NONE)
        came = _pairs(_stored(broker, topic))
        assert len(came) == len(sent), f"{len(sent)} records sent, {len(came)} came back"
        for number, (one, other) in enumerate(zip(sent, came, strict=True)):
            assert one == other, f"record {number}: sent {one}, came back as {other}"


@judges("PROD-022")
@at_versions("Produce", "3+")
def test_no_quota_no_throttling(broker: BrokerUnderTest, api_version: int) -> None:
    """Without a quota the answer tells of no throttling."""
    topic = broker.create_topic()
    request = produce_request(topic, batch_of(b"x"), api_version)
    with requirement("PROD-022"):
        throttled_ms = broker.ask(request, api_version).throttle_time_ms
        assert throttled_ms == 0, f"throttled for {throttled_ms} ms without a quota"


@judges("PROD-023")
@at_versions("Produce", "3+")
def test_create_time_has_no_append_time(broker: BrokerUnderTest, api_version: int) -> None:
    """The producer's times stand: the answer's log_append_time is -1."""
    topic = broker.create_topic(configs={"message.timestamp.type": "CreateTime"})
    with requirement("PROD-023"):
        answer = broker.produce(topic, batch_of(b"x"), api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        found_ms = answer.log_append_time_ms
        assert found_ms == -1, f"log_append_time of a CreateTime topic is {found_ms}, expected -1"


@judges("PROD-023")
@at_versions("Produce", "3+")
def test_log_append_time_is_the_brokers(broker: BrokerUnderTest, api_version: int) -> None:
    """The broker's time (clocks agree within a day), whatever the producer says."""
    topic = broker.create_topic(configs={"message.timestamp.type": "LogAppendTime"})
    batch = encode_batch(_three(base_timestamp=now_ms() - 3 * DAY_MS))
    with requirement("PROD-023"):
        answer = broker.produce(topic, batch, api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        apart_ms = answer.log_append_time_ms - now_ms()
        assert abs(apart_ms) < DAY_MS, (
            f"log_append_time of a LogAppendTime topic is {answer.log_append_time_ms}, "
            f"{apart_ms} ms from now"
        )


@judges("PROD-025")
@at_versions("Produce", "13+")
def test_a_topic_is_addressed_by_its_id(broker: BrokerUnderTest, api_version: int) -> None:
    """The id finds the topic; one that no topic has, or has any more, is unknown."""
    topic, deleted = broker.create_topic(), broker.create_topic()
    _recreate(broker, deleted)
    unknown = Topic("", UUID(int=broker.random.getrandbits(128), version=4))
    with requirement("PROD-025"):
        for where, asked, expected in (
            ("known id", topic, ErrorCode.NONE),
            ("unknown id", unknown, ErrorCode.UNKNOWN_TOPIC_ID),
            ("stale id", deleted, ErrorCode.UNKNOWN_TOPIC_ID),
        ):
            answer = broker.produce(asked, batch_of(b"x"), api_version)
            expect_error(answer.error_code, expected, where)


def _recreate(broker: BrokerUnderTest, topic: Topic) -> None:
    """Delete, wait until the name is unknown, create again."""
    state = DeleteTopicsRequest.DeleteTopicState(name=topic.name)
    request = DeleteTopicsRequest(topics=[state], timeout_ms=10_000)
    broker.ask(request, broker.version("DeleteTopics", "6+"))
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    broker.eventually(
        lambda: broker.metadata([topic.name]).topics[0].error_code == unknown,
        f"{topic.name} is gone",
    )
    broker.create_topic(name=topic.name)


@judges("PROD-026")
@at_versions("Produce", "3+")
def test_any_key_may_go_to_any_partition(broker: BrokerUnderTest, api_version: int) -> None:
    """The same key in both partitions of a topic."""
    topic = broker.create_topic(partitions=2)
    batch = encode_batch(RecordBatch([Record(b"value", b"same")], base_timestamp=now_ms()))
    with requirement("PROD-026"):
        for partition in range(2):
            answer = broker.produce(topic, batch, api_version, partition=partition)
            expect_error(answer.error_code, ErrorCode.NONE, f"partition {partition}")
            assert _pairs(_stored(broker, topic, partition)) == [(b"same", b"value")]


@judges("PROD-028")
@at_versions("Produce", "3+")
def test_an_impossible_length_is_refused(broker: BrokerUnderTest, api_version: int) -> None:
    """Negative, too short for the header, or more than the bytes that came."""
    topic = broker.create_topic()
    right = len(encode_batch(_three())) - 12
    with requirement("PROD-028"):
        for length in (-1, -(2**31), 0, 10, 48, right + 1, right + 1000):
            answer = broker.produce(topic, encode_batch(_three(batch_length=length)), api_version)
            where = f"length {length} instead of {right}"
            refusals = (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD)
            assert answer.error_code in refusals, (
                f"{where}: error is {ErrorCode.describe(answer.error_code)}, "
                "expected CORRUPT_MESSAGE or INVALID_RECORD"
            )
            _expect_nothing_appended(broker, topic, where)
