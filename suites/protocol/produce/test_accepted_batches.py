"""PROD: the responses of Produce to batches that a partition accepts, and the stored batches."""

from __future__ import annotations

import itertools

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import EARLIEST, Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ProduceRequest, ProduceResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.records.compression import CODEC_IDS
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.codecs import codecs_of
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.partition_log import keys_and_values, stored_batches
from suites.protocol.support.record_formats import encoded_for, records_in

Answer = ProduceResponse.PartitionProduceResponse
DAY_MS = 24 * 60 * 60 * 1000
ZSTD_SINCE = 7  # KIP-110
PIPELINED = 50
PARTITIONS, REQUESTS = 3, 12


# Cases append to these; where in the log their batches come to stand is no matter.


def _plain(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


def _with_create_time(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(configs={"message.timestamp.type": "CreateTime"})


def _with_log_append_time(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(configs={"message.timestamp.type": "LogAppendTime"})


@judges("PROD-001")
@at_versions("Produce", "0-2", "3+")
def test_produce_returns_previous_log_end_as_base_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The base offset is where the log ended before; with acks 1 as with acks -1."""
    topic = broker.create_topic()
    values = [b"value"] * 7
    batch = batch_of(*values, version=api_version)
    end = broker.end_offset(topic)
    for acks in (1, -1):
        with requirement("PROD-001"):
            answer = broker.produce(topic, batch, api_version, acks=acks)
            expect_error(answer.error_code, ErrorCode.NONE)
            assert answer.base_offset == end, (
                f"base offset {answer.base_offset}, the log ended at {end} before"
            )
        end += len(values)


@judges("PROD-002")
def test_consecutive_batches_get_offsets_without_gaps(broker: BrokerUnderTest) -> None:
    """A thousand batches of random size: each begins where the one before ended."""
    topic = broker.create_topic()
    version = broker.version("Produce")
    connection = broker.connect()
    sizes = [broker.random.randint(1, 5) for _ in range(1000)]
    with requirement("PROD-002"):
        expected = 0
        for start in range(0, len(sizes), PIPELINED):
            some = sizes[start : start + PIPELINED]
            for size in some:
                batch = batch_of(*[b"v"] * size, version=version)
                connection.send(produce_request(topic, batch, version), version)
            for number, size in enumerate(some, start):
                answer = _partition_answer(connection.receive())
                expect_error(answer.error_code, ErrorCode.NONE, f"batch {number}")
                assert answer.base_offset == expected, (
                    f"batch {number} begins at {answer.base_offset}, "
                    f"the one before ended at {expected}"
                )
                expected += size
        assert broker.end_offset(topic) == sum(sizes)


@judges("PROD-002")
@at_versions("Produce", "0-2", "3+")
def test_partitions_of_one_request_are_numbered_apart_without_gaps(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Requests for three partitions, with batches of random size in each codec."""
    topic, codecs = broker.create_topic(partitions=PARTITIONS), codecs_of(broker, api_version)
    ends = [0] * PARTITIONS
    with requirement("PROD-002"):
        for number in range(REQUESTS):
            request = produce_request(topic, b"", api_version)
            sizes = [broker.random.randint(1, 5) for _ in ends]
            codec = codecs[number % len(codecs)]
            request.topic_data[0].partition_data = [
                ProduceRequest.PartitionProduceData(
                    index=index, records=_numbered(api_version, ends[index], size, codec)
                )
                for index, size in enumerate(sizes)
            ]
            answers = only(broker.ask(request, api_version).responses, "topic").partition_responses
            for answer in answers:
                where = f"request {number} in {codec}, partition {answer.index}"
                expect_error(answer.error_code, ErrorCode.NONE, where)
                expected = ends[answer.index]
                assert answer.base_offset == expected, (
                    f"{where} begins at {answer.base_offset}, not at {expected}"
                )
            ends = [end + size for end, size in zip(ends, sizes, strict=True)]
        for index, end in enumerate(ends):
            found = [
                (batch.base_offset + (record.offset_delta or 0), record.value)
                for batch in stored_batches(broker, topic, index)
                for record in batch.records
            ]
            expected_log = [(offset, b"%d" % offset) for offset in range(end)]
            assert found == expected_log, f"partition {index} holds {found}, its end is {end}"


def _numbered(version: int, first: int, size: int, codec: str) -> bytes:
    """The value of each record is the offset that it is to get."""
    records = [Record(b"%d" % offset) for offset in range(first, first + size)]
    return encoded_for(version, RecordBatch(records, base_timestamp=now_ms()), codec)


def _partition_answer(answer: object) -> Answer:
    assert isinstance(answer, ProduceResponse)
    return only(only(answer.responses, "topic").partition_responses, "partition")


@judges("PROD-003")
@at_versions("Produce", "0-2", "3+")
def test_broker_assigns_consecutive_offsets_to_batches_numbered_from_0(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Batches all numbered from 0 by their producer are stored one behind the other."""
    topic = broker.create_topic()
    records = [Record(b"x", b"numbered from 0")] * 3
    batch = RecordBatch(records, base_timestamp=now_ms())
    with requirement("PROD-003"):
        for compression in ("none", "gzip", "none"):
            answer = broker.produce(
                topic, encoded_for(api_version, batch, compression), api_version
            )
            expect_error(answer.error_code, ErrorCode.NONE, compression)
        offsets = [
            stored.base_offset + (record.offset_delta or 0)
            for stored in stored_batches(broker, topic)
            for record in stored.records
        ]
        assert offsets == list(range(9)), f"three batches of three are stored at {offsets}"


@judges("PROD-003")
@at_versions("Produce", "0-2")
def test_produce_v0_to_v2_replaces_message_offsets_of_producer(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two messages that their producer numbers from 1000, with a gap, plain and compressed."""
    topic = broker.create_topic()
    records = [Record(b"first"), Record(b"second", offset_delta=3)]
    batch = RecordBatch(records, base_offset=1000, base_timestamp=now_ms())
    with requirement("PROD-003"):
        for before, compression in ((0, "none"), (2, "gzip")):
            message_set = encoded_for(api_version, batch, compression)
            answer = broker.produce(topic, message_set, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, compression)
            assert answer.base_offset == before, f"{compression}: base offset {answer.base_offset}"
        offsets = [record.offset for record in records_in(record_bytes(broker.fetch(topic, 0)))]
        assert offsets == [0, 1, 2, 3], f"twice two messages are stored at {offsets}"


@judges("PROD-003")
@at_versions("Produce", "3+")
def test_wrong_offset_deltas_in_compressed_batch_are_refused_or_corrected(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Its records are numbered 0, 2, 1: refused, or stored with the right numbers."""
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"before"))
    records = [Record(b"x", b"k", offset_delta=delta) for delta in (0, 2, 1)]
    batch = encode_batch(RecordBatch(records, base_timestamp=now_ms()), "gzip")
    with requirement("PROD-003"):
        answer = broker.produce(topic, batch, api_version)
        stored = stored_batches(broker, topic)
        deltas = [record.offset_delta for one in stored[1:] for record in one.records]
        expected = [0, 1, 2] if answer.error_code == ErrorCode.NONE else []
        code = ErrorCode.describe(answer.error_code)
        told = f"records numbered 0, 2, 1: error is {code}, stored with {deltas}"
        assert deltas == expected, told


@judges("PROD-020")
@at_versions("Produce", "0-2", "3+")
def test_null_and_empty_keys_and_values_are_stored_as_sent(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Every pair of null, empty and something as key and value comes back as it was sent.

    In each codec, and in another codec of the topic.
    """
    topics = [broker.create_topic(), broker.create_topic(configs={"compression.type": "gzip"})]
    sent = list(itertools.product((None, b"", b"x"), repeat=2))
    batch = RecordBatch([Record(value, key) for key, value in sent], base_timestamp=now_ms())
    with requirement("PROD-020") as check:
        for codec, topic in itertools.product(codecs_of(broker, api_version), topics):
            where = f"in {codec}{', of a topic in gzip' if topic is topics[1] else ''}"
            with check.subtest(where):
                answer = broker.produce(topic, encoded_for(api_version, batch, codec), api_version)
                expect_error(answer.error_code, ErrorCode.NONE, where)
                came = keys_and_values(stored_batches(broker, topic))[-len(sent) :]
                assert came == sent, f"{where}, keys and values sent: {sent}, stored: {came}"


@judges("PROD-021")
@pytest.mark.parametrize("compression", list(CODEC_IDS))
def test_arbitrary_key_and_value_bytes_are_returned_unchanged(
    broker: BrokerUnderTest, compression: str
) -> None:
    """Every byte there is, and random ones; in two batches."""
    version = broker.version("Produce", f"{ZSTD_SINCE}+" if compression == "zstd" else "0+")
    if compression == "lz4" and version == 0:
        broker.version("FindCoordinator")  # both came with 0.8.2 (KAFKA-1456)
    topic = broker.create_topic()
    every_byte = bytes(range(256))
    sent: list[tuple[bytes | None, bytes | None]] = [(every_byte, every_byte[::-1])]
    for _ in range(40):
        key, value = (broker.random.randbytes(broker.random.randint(1, 300)) for _ in range(2))
        sent.append((key, value))
    with requirement("PROD-021"):
        for some in (sent[:20], sent[20:]):
            records = [Record(value, key) for key, value in some]
            plain = RecordBatch(records, base_timestamp=now_ms())
            batch = encoded_for(version, plain, compression)
            expect_error(broker.produce(topic, batch, version).error_code, ErrorCode.NONE)
        came = keys_and_values(stored_batches(broker, topic))
        assert len(came) == len(sent), f"{len(sent)} records sent, {len(came)} came back"
        for number, (one, other) in enumerate(zip(sent, came, strict=True)):
            assert one == other, f"record {number}: sent {one}, came back as {other}"


@judges("PROD-022")
@at_versions("Produce", "1-2", "3+")
def test_produce_without_quota_returns_throttle_time_0(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Without a quota the response has a throttle time of 0."""
    topic = kept.topic(broker, _plain)
    request = produce_request(topic, batch_of(b"x", version=api_version), api_version)
    with requirement("PROD-022"):
        answer = broker.ask(request, api_version)
        told = only(only(answer.responses, "topic").partition_responses, "partition")
        expect_error(told.error_code, ErrorCode.NONE, "Produce without a quota")
        throttled_ms = answer.throttle_time_ms
        assert throttled_ms == 0, f"throttled for {throttled_ms} ms without a quota"


@judges("PROD-023")
@at_versions("Produce", "2", "3+")
def test_produce_to_create_time_topic_returns_log_append_time_minus_1(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The producer's times stand: the answer's log_append_time is -1."""
    topic = kept.topic(broker, _with_create_time)
    with requirement("PROD-023"):
        answer = broker.produce(topic, batch_of(b"x", version=api_version), api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        found_ms = answer.log_append_time_ms
        assert found_ms == -1, f"log_append_time of a CreateTime topic is {found_ms}, expected -1"


@judges("PROD-023")
@at_versions("Produce", "2", "3+")
def test_produce_to_log_append_time_topic_returns_broker_time(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The broker's time (clocks agree within a day), whatever the producer says."""
    topic = kept.topic(broker, _with_log_append_time)
    old = RecordBatch([Record(b"x")], base_timestamp=now_ms() - 3 * DAY_MS)
    batch = encoded_for(api_version, old)
    with requirement("PROD-023"):
        answer = broker.produce(topic, batch, api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        apart_ms = answer.log_append_time_ms - now_ms()
        assert abs(apart_ms) < DAY_MS, (
            f"log_append_time of a LogAppendTime topic is {answer.log_append_time_ms}, "
            f"{apart_ms} ms from now"
        )


@judges("PROD-026")
@at_versions("Produce", "0-2", "3+")
def test_same_key_is_accepted_in_each_partition(broker: BrokerUnderTest, api_version: int) -> None:
    """The same key in both partitions of a topic."""
    topic = broker.create_topic(partitions=2)
    same = RecordBatch([Record(b"value", b"same")], base_timestamp=now_ms())
    batch = encoded_for(api_version, same)
    with requirement("PROD-026") as check:
        for partition in range(2):
            with check.subtest(f"partition {partition}"):
                answer = broker.produce(topic, batch, api_version, partition=partition)
                expect_error(answer.error_code, ErrorCode.NONE, f"partition {partition}")
                assert keys_and_values(stored_batches(broker, topic, partition)) == [
                    (b"same", b"value")
                ]


@judges("PROD-024")
@at_versions("Produce", "5+")
def test_produce_log_start_offset_equals_earliest_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The log start offset of a whole log, of one without its beginning, and of an emptied one."""
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"0", b"1", b"2"), batch_of(b"3"))
    for deleted_below in (0, 2, 5):
        delete_records(broker, topic, deleted_below)
        with requirement("PROD-024"):
            answer = broker.produce(topic, batch_of(b"x"), api_version)
            expect_error(answer.error_code, ErrorCode.NONE)
            earliest = broker.list_offset(topic, EARLIEST).offset
            found = (answer.log_start_offset, earliest)
            told = f"records below {deleted_below} deleted: log start and earliest are {found}"
            assert found == (deleted_below, deleted_below), told


@judges("PROD-024")
@at_versions("Produce", "5-12", "13+")
def test_produce_log_start_offset_is_that_of_each_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One request for two partitions; of the second the first two records are deleted."""
    topic, batch = broker.create_topic(partitions=2), batch_of(b"x")
    append(broker, topic, batch_of(b"0", b"1", b"2"), partition=1)
    delete_records(broker, topic, 2, partition=1)
    request = produce_request(topic, batch, api_version)
    second = ProduceRequest.PartitionProduceData(index=1, records=batch)
    request.topic_data[0].partition_data.append(second)
    with requirement("PROD-024"):
        told = only(broker.ask(request, api_version).responses, "topic").partition_responses
        found = {one.index: (one.base_offset, one.log_start_offset) for one in told}
        assert found == {0: (0, 0), 1: (3, 2)}, f"base offset and log start are {found}"


@judges("PROD-027")
@at_versions("Produce", "3+")
def test_pipelined_records_of_two_producers_are_stored_in_arrival_order(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two producers send by turns, without waiting: the log keeps the order of their records."""
    topic = broker.create_topic()
    producers = {name: broker.connect(name) for name in ("one", "two")}
    sent = {name: [b"%s %d" % (name.encode(), i) for i in range(10)] for name in producers}
    for values in zip(*sent.values(), strict=True):
        for producer, value in zip(producers.values(), values, strict=True):
            request = produce_request(topic, batch_of(value), api_version)
            producer.send(request, api_version)
    with requirement("PROD-027"):
        acknowledged = {}
        for name, producer in producers.items():
            for value in sent[name]:
                answer = _partition_answer(producer.receive())
                expect_error(answer.error_code, ErrorCode.NONE, str(value))
                acknowledged[answer.base_offset] = value
        stored = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        in_order = [acknowledged[offset] for offset in sorted(acknowledged)]
        assert stored == in_order, f"acknowledged as {in_order}, stored as {stored}"
        for name in producers:
            own = [value for value in stored if value in sent[name]]
            assert own == sent[name], f"producer {name}: {sent[name]} sent, stored as {own}"
