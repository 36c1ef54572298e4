"""RECF: the record format of each version of Fetch, and the fields that a conversion keeps."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.errors import ConnectionClosed
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic, fetch_partition, fetch_request, fetch_topic
from harness.client.requests import produce_request as produce
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, ProduceRequest
from harness.codec.records import (
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    Header,
    Record,
    RecordBatch,
    decode_message_set,
    encode_batch,
)
from harness.codec.records.message_set import LegacyMessage
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.healthy import expect_healthy
from suites.protocol.support.idempotent import code_of, new_producer
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.log_entries import MAGIC_AT, fetched_entries
from suites.protocol.support.old_messages import message_bytes, read_message
from suites.protocol.support.partition_log import UntouchedLog
from suites.protocol.support.topic_setting import topic_with

BASE_MS = now_ms()
OLD_FORMAT = "0.10.2"  # the last one without batches
LAST_OLD_FETCH, LAST_OLD_PRODUCE = 3, 2
FIRST_FETCH_OF_MAGIC_1 = 2


def _of_every_format(broker: BrokerUnderTest) -> Topic:
    """Create a topic with magic 0, magic 1 and a batch, as far as the broker accepts them."""
    topic = broker.create_topic()
    for version, records in (
        (0, message_bytes(0, b"magic 0")),
        (2, message_bytes(1, b"magic 1", timestamp=BASE_MS)),
        (3, batch_of(b"magic 2")),
    ):
        if version in broker.advertised("Produce"):
            with suppress(ConnectionClosed):  # whether they are taken, RECF-001 and 002 say
                broker.produce(topic, records, version)
    return topic


@judges("RECF-023")
@at_versions("Fetch", "0-1", "2-3")
def test_fetch_v0_to_v3_returns_no_newer_message_format(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Fetch 0 and 1 magic 0, Fetch 2 and 3 up to magic 1; later ones may get any."""
    topic = kept.topic(broker, _of_every_format)
    newest = 1 if api_version >= FIRST_FETCH_OF_MAGIC_1 else 0
    with requirement("RECF-023") as check:
        end = broker.end_offset(topic)
        assert end > 0, "no format is taken"
        for offset in range(end):
            with check.subtest(f"offset {offset}"):
                found = {
                    entry[MAGIC_AT]
                    for entry in fetched_entries(broker, topic, api_version, offset=offset)
                }
                assert max(found) <= newest, f"magics {sorted(found)}, at most {newest} can be read"


# -- down-conversion -------------------------------------------------------------------------------

HEADERS = [Header("h", b"goes")]
SENT = [
    Record(b"value", b"converted", HEADERS),
    Record(None, b"converted", HEADERS, timestamp_delta=7),
    Record(b"", None, HEADERS, timestamp_delta=3),
]
CODECS = ["none", "gzip", "snappy", "lz4"]
NO_TIME = -1


def _with_headers(broker: BrokerUnderTest) -> Topic:
    """Two batches of SENT, in each of CODECS in a partition of its own."""
    topic = broker.create_topic(len(CODECS))
    version = broker.version("Produce", "3+")
    for partition, codec in enumerate(CODECS):
        batch = encode_batch(RecordBatch(SENT, base_timestamp=BASE_MS), codec)
        for _ in range(2):
            answer = broker.produce(topic, batch, version, partition=partition)
            if answer.error_code != ErrorCode.NONE:
                raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")
    return topic


@judges("RECF-024")
@at_versions("Fetch", "0-1", "2-3")
def test_down_conversion_keeps_offset_key_value_and_magic_1_timestamp(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Offset, key and value; the time in magic 1 alone. Read from inside a batch, too; compressed
    batches become compressed message sets."""
    topic = kept.topic(broker, _with_headers)
    with requirement("RECF-024") as check:
        for (partition, codec), start in product(enumerate(CODECS), (0, 1, 4)):
            with check.subtest(f"{codec}, from offset {start}"):
                where = f"{codec}, a fetch at {start}"
                messages = _converted(broker, topic, api_version, partition, start)
                offsets = [message.offset for message in messages]
                assert offsets == list(range(start, 6)), f"{where} brings {offsets}"
                for message in messages:
                    _expect_converted(message, f"{where}, offset {message.offset}")


def _converted(
    broker: BrokerUnderTest, topic: Topic, version: int, partition: int, start: int
) -> list[LegacyMessage]:
    """All messages from ``start`` on; one answer need not have room for more than a batch."""
    found: list[LegacyMessage] = []
    at = start
    while at < 2 * len(SENT):
        answer = broker.fetch(topic, at, version, partition=partition)
        expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {at}")
        came = decode_message_set(record_bytes(answer))
        found += [one for one in came if one.offset >= at]
        behind = came[-1].offset + 1 if came else at
        assert behind > at, f"a fetch at {at} brings {came}"
        at = behind
    return found


def _expect_converted(message: LegacyMessage, where: str) -> None:
    sent = SENT[message.offset % len(SENT)]
    time = BASE_MS + sent.timestamp_delta if message.magic else NO_TIME
    found = (message.key, message.value, message.timestamp)
    expected = (sent.key, sent.value, time)
    assert found == expected, f"{where}: key, value, time are {found}, not {expected}"


@judges("RECF-025")
@at_versions("Fetch", "0-1", "2-3")
def test_fetch_with_down_conversion_disabled_returns_unsupported_version(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """UNSUPPORTED_VERSION for the topic's partition alone, also where a request has others;
    newer versions read it."""
    topic = topic_with(broker, "message.downconversion.enable", "false")
    other = broker.create_topic()
    for one in (topic, other):
        append(broker, one, batch_of(b"never converted"))
    with requirement("RECF-025"):
        code = broker.fetch(topic, 0, api_version).error_code
        expect_error(code, ErrorCode.UNSUPPORTED_VERSION, "down-conversion is forbidden")
        both = [fetch_topic(one, api_version, [fetch_partition(0)]) for one in (topic, other)]
        answer = broker.ask(fetch_request(both), api_version)
        codes = {
            topic.topic: part.error_code for topic in answer.responses for part in topic.partitions
        }
        expected = {topic.name: int(ErrorCode.UNSUPPORTED_VERSION), other.name: 0}
        assert codes == expected, f"both in one request: the errors are {codes}, not {expected}"
        assert fetched_entries(broker, other, api_version), "the other topic is not read"
        assert fetched_entries(broker, topic), "newer versions do not read it"


@judges("RECF-026")
@at_versions("Produce", "3+")
def test_idempotent_produce_to_old_format_topic_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """On a topic of an older format they are refused, and transactional ones with whichever error;
    others are converted."""
    topic = topic_with(broker, "message.format.version", OLD_FORMAT)
    producer = new_producer(broker)
    answer = broker.produce(topic, batch_of(b"others"), api_version)
    (stored,) = fetched_entries(broker, topic)
    if answer.error_code == ErrorCode.NONE and stored[MAGIC_AT] == 2:
        raise NotApplicable("message.format.version", "the setting is known and changes nothing")
    log = UntouchedLog(broker, topic)
    plain = RecordBatch([Record(b"idempotent")], base_timestamp=BASE_MS, producer_id=producer.id,
                        producer_epoch=producer.epoch, base_sequence=0)  # fmt: skip
    refusal = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
    with requirement("RECF-026") as check:
        expect_error(answer.error_code, ErrorCode.NONE, "a batch of no producer")
        with check.subtest("idempotent"):
            log.expect_refusal(encode_batch(plain), api_version, refusal, "an idempotent batch")
        with check.subtest("transactional"):
            log.renew()
            batch = encode_batch(replace(plain, attributes=TRANSACTIONAL))
            request = produce(topic, batch, api_version)
            request.transactional_id = broker.unique_group()
            code = code_of(broker.ask(request, api_version))
            assert code != ErrorCode.NONE, "a transactional batch is taken"
            log.expect_untouched("a transactional batch")


# -- without conversion ----------------------------------------------------------------------------


@judges("RECF-027")
@pytest.mark.parametrize("api", ["Produce", "Fetch"])
def test_legacy_produce_or_fetch_without_conversion_closes_connection(
    broker: BrokerUnderTest, api: str
) -> None:
    """Fetch 3 and Produce 2, and all before, close the connection; nothing is stored."""
    if LAST_OLD_FETCH in broker.advertised("Fetch"):
        raise NotApplicable("no_conversion", "the broker serves Fetch 3 by conversion")
    topic = broker.create_topic()
    log = UntouchedLog(broker, topic)
    last = LAST_OLD_PRODUCE if api == "Produce" else LAST_OLD_FETCH
    with requirement("RECF-027") as check:
        for version in range(last + 1):
            with check.subtest(f"{api} v{version}"):
                log.renew()
                connection = broker.connect()
                connection.send(_old_request(api, topic, version), version)
                connection.expect_closed()
                log.expect_untouched(f"{api} {version}")
        expect_healthy(broker.connect(), broker)


def _old_request(api: str, topic: Topic, version: int) -> ProduceRequest | FetchRequest:
    if api == "Produce":
        magic = 1 if version == LAST_OLD_PRODUCE else 0
        return produce(topic, message_bytes(magic, b"old"), version)
    return fetch_request([fetch_topic(topic, version, [fetch_partition(0)])])


@judges("RECF-031")
@at_versions("Fetch", "2-3")
def test_down_conversion_of_log_append_time_batch_keeps_broker_time(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Magic 1: each message has the time of the batch, and bit 3."""
    topic = broker.create_topic(configs={"message.timestamp.type": "LogAppendTime"})
    records = [Record(b"stamped"), Record(b"stamped too", timestamp_delta=7)]
    batch = encode_batch(RecordBatch(records, base_timestamp=BASE_MS))
    answer = broker.produce(topic, batch, broker.version("Produce", "3+"))
    with requirement("RECF-031"):
        expect_error(answer.error_code, ErrorCode.NONE, "Produce")
        messages = [read_message(one) for one in fetched_entries(broker, topic, api_version)]
        found = [(one.timestamp, bool(one.attributes & LOG_APPEND_TIME)) for one in messages]
        expected = [(answer.log_append_time_ms, True)] * len(records)
        assert found == expected, f"(time, bit 3) are {found}, not {expected}"
