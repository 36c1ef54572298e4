"""PROD: the batches that a partition refuses."""

from __future__ import annotations

import itertools
import struct
import zlib
from dataclasses import replace
from functools import cache

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest, ProduceResponse
from harness.codec.records import CONTROL, Record, RecordBatch, encode_batch
from harness.codec.records.compression import CODEC_IDS
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.internal_topics import KEY_TYPES, internal_topic
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.partition_log import UntouchedLog
from suites.protocol.support.record_formats import encoded_for

Answer = ProduceResponse.PartitionProduceResponse
ZSTD_SINCE = 7  # KIP-110
LATER_MS = 2 * 24 * 60 * 60 * 1000  # an hour is the default limit (KIP-937)
THREE = [Record(b"one", b"k"), Record(b"two", b"k"), Record(b"three", b"k")]


def _three(**header: int) -> RecordBatch:
    """A valid batch of three records; ``header`` sets fields of it, as wrong as may be."""
    return replace(RecordBatch(THREE, base_timestamp=now_ms()), **header)  # type: ignore[arg-type]


def _plain(broker: BrokerUnderTest) -> Topic:
    """Two partitions, which stay empty at a broker that refuses what it should."""
    return broker.create_topic(partitions=2)


def _compacted(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(configs={"cleanup.policy": "compact"})


@judges("PROD-005")
@at_versions("Produce", "0-2", "3+")
def test_produce_to_unknown_partition_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Partitions 999, 2 and -1 of a topic with two partitions."""
    topic = kept.topic(broker, _plain)
    batch = batch_of(b"x", version=api_version)
    with requirement("PROD-005") as check:
        for partition in (999, 2, -1):
            with check.subtest(f"partition {partition}"):
                _expect_unknown(broker.produce(topic, batch, api_version, partition=partition))


@judges("PROD-005")
@at_versions("Produce", "0-2", "3-12")
def test_produce_to_unknown_topic_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A name that no topic has; from v13 a topic has no name here."""
    unknown = Topic(broker.unique_topic())
    with requirement("PROD-005"):
        batch = batch_of(b"x", version=api_version)
        _expect_unknown(broker.produce(unknown, batch, api_version))


def _expect_unknown(answer: Answer) -> None:
    expect_error(answer.error_code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert answer.base_offset == -1, f"base offset {answer.base_offset}, expected -1"


@judges("PROD-008")
@at_versions("Produce", "0-2", "3+")
def test_produce_with_invalid_acks_returns_invalid_required_acks(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Each of two partitions gets the error, and neither gets the batch."""
    topic = kept.topic(broker, _plain)
    logs = [UntouchedLog(broker, topic, partition) for partition in range(2)]
    request = produce_request(topic, None, api_version)
    batch = batch_of(b"x", version=api_version)
    request.topic_data[0].partition_data = [
        ProduceRequest.PartitionProduceData(index=index, records=batch) for index in range(2)
    ]
    with requirement("PROD-008") as check:
        for request.acks in (2, 7, -2):
            with check.subtest(f"acks {request.acks}"):
                for log in logs:
                    log.renew()
                answers = only(
                    broker.ask(request, api_version).responses, "topic"
                ).partition_responses
                assert {answer.index for answer in answers} == {0, 1}, f"answers: {answers}"
                for answer in answers:
                    where = f"acks {request.acks}, partition {answer.index}"
                    expect_error(answer.error_code, ErrorCode.INVALID_REQUIRED_ACKS, where)
                    logs[answer.index].expect_untouched(where)


@judges("PROD-009")
@at_versions("Produce", "3+")
def test_produce_above_max_message_bytes_returns_message_too_large(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A batch one byte above max.message.bytes is refused, one of just that size is taken."""
    fitting, too_large = batch_of(b"x" * 300), batch_of(b"x" * 301)
    assert len(too_large) == len(fitting) + 1, "the test's two batches differ by one byte"
    topic = broker.create_topic(configs={"max.message.bytes": str(len(fitting))})
    log = UntouchedLog(broker, topic)
    with requirement("PROD-009"):
        log.expect_refusal(too_large, api_version, ErrorCode.MESSAGE_TOO_LARGE, "limit + 1")
        answer = broker.produce(topic, fitting, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "limit")


SEGMENT_BYTES = 1 << 20  # the least that Apache Kafka 4.x takes (KIP-1030)


@cache
def _batches_around_the_segment_size() -> tuple[bytes, bytes]:
    """One of just SEGMENT_BYTES, one a byte larger."""
    overhead_bytes = len(batch_of(b"x" * 1_000_000)) - 1_000_000
    values = [b"x" * (SEGMENT_BYTES - overhead_bytes + more) for more in (0, 1)]
    fitting, too_large = (batch_of(value) for value in values)
    assert (len(fitting), len(too_large)) == (SEGMENT_BYTES, SEGMENT_BYTES + 1)
    return fitting, too_large


@judges("PROD-010")
@at_versions("Produce", "3+")
def test_produce_above_segment_bytes_returns_record_list_too_large(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A batch one byte above segment.bytes is refused, one of just that size is taken."""
    fitting, too_large = _batches_around_the_segment_size()
    configs = {"segment.bytes": str(SEGMENT_BYTES), "max.message.bytes": str(2 * SEGMENT_BYTES)}
    topic = broker.create_topic(configs=configs)
    log = UntouchedLog(broker, topic)
    with requirement("PROD-010"):
        log.expect_refusal(too_large, api_version, ErrorCode.RECORD_LIST_TOO_LARGE, "segment + 1")
        answer = broker.produce(topic, fitting, api_version)
        expect_error(answer.error_code, ErrorCode.NONE, "segment")


@judges("PROD-011")
@at_versions("Produce", "0-2", "3+")
def test_produce_with_flipped_bit_returns_corrupt_message(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """One bit behind the header differs from what the checksum was made of."""
    log = UntouchedLog(broker, kept.topic(broker, _plain))
    for compression in ("none", "gzip"):
        batch = bytearray(encoded_for(api_version, _three(), compression))
        batch[-5] ^= 1
        with requirement("PROD-011"):
            log.expect_refusal(bytes(batch), api_version, ErrorCode.CORRUPT_MESSAGE, compression)


@judges("PROD-012")
@pytest.mark.parametrize("name", KEY_TYPES)
@at_versions("Produce", "3+")
def test_produce_to_internal_topic_returns_invalid_topic_exception(
    broker: BrokerUnderTest, name: str, api_version: int
) -> None:
    """A batch without key: internal topics are compacted, so nothing can come to stand in one."""
    topic = internal_topic(broker, name)
    with requirement("PROD-012"):
        answer = broker.produce(topic, batch_of(b"x"), api_version)
        expect_error(answer.error_code, ErrorCode.INVALID_TOPIC_EXCEPTION, name)


@judges("PROD-013")
@at_versions("Produce", "3+")
def test_produce_with_zero_or_two_batches_returns_invalid_record(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """No batch is refused as are two valid ones."""
    log = UntouchedLog(broker, kept.topic(broker, _plain))
    with requirement("PROD-013") as check:
        for batches in (0, 2):
            with check.subtest(f"{batches} batches"):
                where = f"{batches} batches"
                log.expect_refusal(
                    encode_batch(_three()) * batches, api_version, ErrorCode.INVALID_RECORD, where
                )


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
def test_produce_of_magic_0_or_1_returns_invalid_record(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A message that is right in its own old format."""
    log = UntouchedLog(broker, kept.topic(broker, _plain))
    with requirement("PROD-014") as check:
        for magic in (0, 1):
            with check.subtest(f"magic {magic}"):
                log.expect_refusal(
                    _old_message(magic), api_version, ErrorCode.INVALID_RECORD, f"magic {magic}"
                )


@judges("PROD-014")
@at_versions("Produce", "3+")
def test_produce_of_unknown_magic_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A batch that is right but for a magic that no format has: INVALID_RECORD, or not readable."""
    topic = kept.topic(broker, _plain)
    log = UntouchedLog(broker, topic)
    refusals = (ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE)
    with requirement("PROD-014") as check:
        for magic in (3, 127, -1):
            with check.subtest(f"magic {magic}"):
                log.renew()
                answer = broker.produce(topic, encode_batch(_three(magic=magic)), api_version)
                assert answer.error_code in refusals, (
                    f"magic {magic}: error is {ErrorCode.describe(answer.error_code)}, "
                    "expected INVALID_RECORD or CORRUPT_MESSAGE"
                )
                log.expect_untouched(f"magic {magic}")


@judges("PROD-015")
@at_versions("Produce", "3+")
def test_produce_with_nonzero_base_offset_returns_invalid_record(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The producer numbers from 0: neither above nor below, compressed or not."""
    log = UntouchedLog(broker, kept.topic(broker, _plain))
    with requirement("PROD-015") as check:
        for base_offset, compression in itertools.product((5, -1), ("none", "gzip")):
            where = f"base offset {base_offset}, {compression}"
            with check.subtest(where):
                batch = encode_batch(_three(base_offset=base_offset), compression)
                log.expect_refusal(batch, api_version, ErrorCode.INVALID_RECORD, where)


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
def test_produce_with_wrong_record_count_returns_invalid_record(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Record count, last offset delta and the records have to agree, compressed or not."""
    topic = kept.topic(broker, _plain)
    log = UntouchedLog(broker, topic)
    codecs = [name for name in CODEC_IDS if name != "zstd" or api_version >= ZSTD_SINCE]
    with requirement("PROD-016") as check:
        for compression, mismatch in itertools.product(codecs, WRONG_COUNTS):
            with check.subtest(f"{mismatch}, compression {compression}"):
                where = f"{mismatch}, compression {compression}"
                batch = encode_batch(_three(**WRONG_COUNTS[mismatch]), compression)
                answer = broker.produce(topic, batch, api_version)
                expect_error(answer.error_code, ErrorCode.INVALID_RECORD, where)
        log.expect_untouched()


@judges("PROD-017")
@at_versions("Produce", "3+")
def test_produce_of_control_batch_returns_invalid_record(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A well-formed end-of-transaction marker, from a client without and with a producer id."""
    log = UntouchedLog(broker, kept.topic(broker, _plain))
    marker = Record(key=struct.pack(">hh", 0, 1), value=struct.pack(">hi", 0, 0))
    plain = RecordBatch([marker], attributes=CONTROL, base_timestamp=now_ms())
    producer = new_producer(broker)
    of_producer = replace(
        plain, producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=0
    )
    with requirement("PROD-017") as check:
        for where, batch in (("no producer id", plain), ("a producer id", of_producer)):
            with check.subtest(where):
                data = encode_batch(batch)
                log.expect_refusal(data, api_version, ErrorCode.INVALID_RECORD, where)


@judges("PROD-018")
@at_versions("Produce", "8+")
def test_produce_lists_each_invalid_record_in_record_errors(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of five records three have no key in a compacted topic, or times to come: each is named.

    Not applicable where they are taken (PROD-019, TIME-004): then no record has failed.
    """
    keys, later_ms = [b"k", None, None, b"k", None], [0, LATER_MS, LATER_MS, 0, LATER_MS]
    keyless = [Record(b"value", key) for key in keys]
    too_new = [Record(b"value", b"k", timestamp_delta=after) for after in later_ms]
    with requirement("PROD-018") as check:
        for make, records in ((_compacted, keyless), (_plain, too_new)):
            batch = RecordBatch(records, base_timestamp=now_ms())
            for codec in ("none", "gzip"):
                where = f"{make.__name__.strip('_')}, {codec}"
                with check.subtest(where):
                    data, topic = encode_batch(batch, codec), kept.topic(broker, make)
                    _expect_listed(broker.produce(topic, data, api_version), where)


def _expect_listed(answer: Answer, where: str) -> None:
    """Records 1, 2 and 4 are named, and why."""
    if answer.error_code == ErrorCode.NONE and not answer.record_errors:
        raise NotApplicable("refused_records", f"{where}: such records are taken")
    listed = sorted(error.batch_index for error in answer.record_errors)
    assert listed == [1, 2, 4], f"{where}: 1, 2, 4 are bad, record_errors lists {listed}"
    for error in answer.record_errors:
        assert error.batch_index_error_message, f"no message for record {error.batch_index}"


@judges("PROD-019")
@at_versions("Produce", "0-2", "3+")
def test_produce_without_key_to_compacted_topic_returns_invalid_record(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A record without key is refused; one with an empty key is taken.

    Compaction beside deletion needs keys, too.
    """
    logs = {
        policy: UntouchedLog(broker, broker.create_topic(configs={"cleanup.policy": policy}))
        for policy in ("compact", "compact,delete")
    }
    with requirement("PROD-019") as check:
        for policy, compression in itertools.product(logs, ("none", "gzip")):
            with check.subtest(f"{policy}, {compression}"):
                batch = RecordBatch([Record(b"value", None)], base_timestamp=now_ms())
                logs[policy].expect_refusal(
                    encoded_for(api_version, batch, compression),
                    api_version,
                    ErrorCode.INVALID_RECORD,
                    f"{policy}, {compression}",
                )
        for policy, log in logs.items():
            with check.subtest(f"{policy}, empty key"):
                batch = RecordBatch([Record(b"value", b"")], base_timestamp=now_ms())
                answer = broker.produce(log.topic, encoded_for(api_version, batch), api_version)
                expect_error(answer.error_code, ErrorCode.NONE, f"{policy}, empty key")


@judges("PROD-028")
@at_versions("Produce", "3+")
def test_produce_with_invalid_batch_length_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Negative, too short for the header, or more than the bytes that came."""
    topic = kept.topic(broker, _plain)
    log = UntouchedLog(broker, topic)
    right = len(encode_batch(_three())) - 12
    with requirement("PROD-028") as check:
        for length in (-1, -(2**31), 0, 10, 48, right + 1, right + 1000):
            with check.subtest(f"length {length}"):
                log.renew()
                answer = broker.produce(
                    topic, encode_batch(_three(batch_length=length)), api_version
                )
                where = f"length {length} instead of {right}"
                refusals = (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD)
                assert answer.error_code in refusals, (
                    f"{where}: error is {ErrorCode.describe(answer.error_code)}, "
                    "expected CORRUPT_MESSAGE or INVALID_RECORD"
                )
                log.expect_untouched(where)
