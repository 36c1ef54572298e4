"""RECF: the fields of a batch of magic 2 that a broker changes before storage, and all others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Header, Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import batch_of, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.leader_epoch import told_leader_epoch
from suites.protocol.support.log_entries import fetched_entries
from suites.protocol.support.partition_log import stored_batches
from suites.protocol.support.record_formats import encoded_for

BASE_MS = now_ms()
FIRST_METADATA_WITH_EPOCH, FIRST_FETCH_OF_BATCHES = 7, 4
EPOCH_AT = 12

# -- what the broker writes into the header --------------------------------------------------------


@judges("RECF-015")
@at_versions("Produce", "3+")
def test_broker_sets_partition_leader_epoch_of_stored_batch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Batches sent with -1, 0 and 77 are stored with one leader epoch, the one in Metadata."""
    topic = broker.create_topic()
    claimed = (-1, 0, 77)
    with requirement("RECF-015"):
        for epoch in claimed:
            record = Record(b"leader epoch %d" % epoch)
            batch = RecordBatch([record], base_timestamp=BASE_MS, partition_leader_epoch=epoch)
            answer = broker.produce(topic, encode_batch(batch), api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"leader epoch {epoch}")
        stored = [batch.partition_leader_epoch for batch in stored_batches(broker, topic)]
        leader = _leader_epoch(broker, topic, stored[0])
        told = f"sent with {claimed}, stored with {stored}, the leader's is {leader}"
        assert stored == [leader] * len(claimed), told


@judges("RECF-015")
@at_versions("Produce", "0-2", "3+")
def test_broker_sets_partition_leader_epoch_of_batch_that_it_builds_anew(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Message sets, plain and compressed; and what the topic stores in another codec."""
    broker.version("Fetch", f"{FIRST_FETCH_OF_BATCHES}+")
    topics = {
        setting: broker.create_topic(configs={"compression.type": setting})
        for setting in ("producer", "gzip", "uncompressed")
    }
    batch = RecordBatch([Record(b"built anew")], base_timestamp=BASE_MS, partition_leader_epoch=77)
    with requirement("RECF-015") as check:
        for setting, topic in topics.items():
            with check.subtest(setting):
                for codec in ("none", "gzip"):
                    data = encoded_for(api_version, batch, codec)
                    answer = broker.produce(topic, data, api_version)
                    expect_error(answer.error_code, ErrorCode.NONE, f"{codec} to {setting}")
                stored = [one.partition_leader_epoch for one in stored_batches(broker, topic)]
                leader = _leader_epoch(broker, topic, 0)
                told = f"compression.type {setting}: leader epochs are {stored}, expected {leader}"
                assert stored == [leader] * 2, told


def _leader_epoch(broker: BrokerUnderTest, topic: Topic, otherwise: int) -> int:
    """The leader epoch in Metadata; ``otherwise`` if no version has it."""
    if FIRST_METADATA_WITH_EPOCH in broker.advertised("Metadata"):
        return told_leader_epoch(broker, topic)
    return otherwise


@judges("RECF-017")
@pytest.mark.parametrize("compression", ["none", "gzip"])
@at_versions("Produce", "3+")
def test_broker_sets_max_timestamp_to_largest_record_timestamp(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """The producer's max timestamp is too small, too large, or none at all.

    The topic stores batches in the producer's codec, or in one for which they are built anew.
    """
    claimed = (BASE_MS, BASE_MS + 9000, -1)
    with requirement("RECF-017") as check:
        for setting in ("producer", "lz4"):
            configs = {"message.timestamp.type": "CreateTime", "compression.type": setting}
            topic = broker.create_topic(configs=configs)
            for max_timestamp in claimed:
                value = b"max timestamp %d" % max_timestamp
                records = [Record(value, timestamp_delta=after) for after in (0, 700, 300)]
                batch = RecordBatch(records, base_timestamp=BASE_MS, max_timestamp=max_timestamp)
                answer = broker.produce(topic, encode_batch(batch, compression), api_version)
                expect_error(answer.error_code, ErrorCode.NONE, f"max timestamp {max_timestamp}")
            for sent, stored in zip(claimed, stored_batches(broker, topic), strict=True):
                with check.subtest(f"compression.type {setting}, max timestamp {sent}"):
                    after_ms = (stored.max_timestamp or 0) - BASE_MS
                    told = f"{sent} sent, stored is base timestamp + {after_ms}, not + 700"
                    assert after_ms == 700, told


@judges("RECF-017")
@at_versions("Produce", "2")
def test_max_timestamp_of_batch_made_of_messages_is_largest(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three messages, plain and in one wrapper; the second is the youngest."""
    broker.version("Fetch", f"{FIRST_FETCH_OF_BATCHES}+")
    records = [Record(b"of messages", timestamp_delta=after) for after in (0, 700, 300)]
    batch = RecordBatch(records, base_timestamp=BASE_MS)
    with requirement("RECF-017") as check:
        for codec in ("none", "gzip"):
            with check.subtest(codec):
                topic = broker.create_topic(configs={"message.timestamp.type": "CreateTime"})
                answer = broker.produce(topic, encoded_for(api_version, batch, codec), api_version)
                expect_error(answer.error_code, ErrorCode.NONE, f"{codec}: three messages")
                times = [
                    (one.max_timestamp or 0) - BASE_MS for one in stored_batches(broker, topic)
                ]
                told = f"of three messages: max timestamp is base timestamp + {times}, not + 700"
                assert times == [700], told


@judges("RECF-020")
@at_versions("Produce", "3+")
def test_non_idempotent_batch_is_accepted_and_not_deduplicated(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Producer id, epoch and sequence are -1, and stay so; twice the same is no duplicate."""
    topic = broker.create_topic()
    batch = batch_of(b"of no producer")
    with requirement("RECF-020"):
        for _ in range(2):
            expect_error(broker.produce(topic, batch, api_version).error_code, ErrorCode.NONE)
        for stored in stored_batches(broker, topic):
            found = (stored.producer_id, stored.producer_epoch, stored.base_sequence)
            assert found == (-1, -1, -1), f"producer id, epoch and sequence are {found}"
        assert broker.end_offset(topic) == 2, "the same batch again is taken for a duplicate"


# -- what the broker leaves alone ------------------------------------------------------------------

ONE_HEADER = [Header("name", b"value")]
HEADERS = [Header("twice", b"1"), Header("a", None), Header("", b"no name"), Header("twice", b"")]


@judges("RECF-014")
@pytest.mark.parametrize("compression", ["none", "gzip"])
@at_versions("Produce", "3+")
def test_record_headers_are_stored_unchanged(
    broker: BrokerUnderTest, api_version: int, compression: str
) -> None:
    """Names twice, no value, an empty one, and their order."""
    topic = broker.create_topic()
    records = [Record(b"x", headers=HEADERS), Record(b"y"), Record(None, headers=HEADERS[::-1])]
    batch = encode_batch(RecordBatch(records, base_timestamp=BASE_MS), compression)
    with requirement("RECF-014"):
        expect_error(broker.produce(topic, batch, api_version).error_code, ErrorCode.NONE)
        (stored,) = stored_batches(broker, topic)
        for sent, came in zip(records, stored.records, strict=True):
            assert list(came.headers) == list(sent.headers), (
                f"headers sent: {_told(sent)}, came: {_told(came)}"
            )


def _told(record: Record) -> list[tuple[str, bytes | None]]:
    return [(header.key, header.value) for header in record.headers]


@judges("RECF-021")
@pytest.mark.parametrize("attributes", [1, 0x08, 0x7F, -128])
@at_versions("Produce", "3+")
def test_nonzero_record_attributes_are_refused_or_ignored(
    broker: BrokerUnderTest, api_version: int, attributes: int
) -> None:
    """Refused, or taken and the record is what it is without them."""
    topic = broker.create_topic()
    record = Record(b"value", b"key", ONE_HEADER, attributes=attributes)
    others = [Record(b"before"), Record(b"behind", timestamp_delta=5)]
    sent = [others[0], record, others[1]]
    batch = encode_batch(RecordBatch(sent, base_timestamp=BASE_MS))
    with requirement("RECF-021"):
        taken = broker.produce(topic, batch, api_version).error_code == ErrorCode.NONE
        _expect_all_or_nothing(broker, topic, sent, taken)


@judges("RECF-029")
@pytest.mark.parametrize("reserved", [0x0080, 0x0100, 0x4000, -0x8000])
@at_versions("Produce", "3+")
def test_reserved_batch_attributes_are_refused_or_leave_records_unchanged(
    broker: BrokerUnderTest, api_version: int, reserved: int
) -> None:
    """Bits beyond the defined ones: refused, or the batch is taken and all else is right."""
    topic = broker.create_topic()
    records = [Record(b"first", b"key", ONE_HEADER), Record(b"second", timestamp_delta=5)]
    batch = RecordBatch(records, base_timestamp=BASE_MS, attributes=reserved)
    with requirement("RECF-029"):
        taken = broker.produce(topic, encode_batch(batch), api_version).error_code == ErrorCode.NONE
        _expect_all_or_nothing(broker, topic, records, taken)


def _expect_all_or_nothing(
    broker: BrokerUnderTest, topic: Topic, sent: list[Record], taken: bool
) -> None:
    """All records but their attributes, from the first on; none where they were refused."""
    expected = [replace(one, offset_delta=at) for at, one in enumerate(sent)] if taken else []
    came = [
        replace(one, attributes=0, headers=list(one.headers))
        for batch in stored_batches(broker, topic)
        for one in batch.records
    ]
    wanted = [replace(one, attributes=0, headers=list(one.headers)) for one in expected]
    assert came == wanted, f"stored is {came}, sent was {wanted}"


@judges("RECF-022")
@at_versions("Produce", "3+")
def test_batch_is_stored_byte_identical_except_offset_and_leader_epoch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Base offset and leader epoch are the broker's; all else stands as it was sent.

    The first record is later than the batch's base timestamp, which nothing but the bytes shows.
    """
    topic = broker.create_topic()
    records = [Record(b"x", b"late", ONE_HEADER, timestamp_delta=3), Record(None, b"", ())]
    batch = encode_batch(RecordBatch(records, base_timestamp=BASE_MS))
    with requirement("RECF-022"):
        for _ in range(2):
            expect_error(broker.produce(topic, batch, api_version).error_code, ErrorCode.NONE)
        for stored in fetched_entries(broker, topic):
            sent, came = (one[8:EPOCH_AT] + one[EPOCH_AT + 4 :] for one in (batch, stored))
            assert came == sent, f"sent {sent.hex()}, stored {came.hex()}"
