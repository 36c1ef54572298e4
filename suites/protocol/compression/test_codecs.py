"""COMP: compressed batches and messages: acceptance, storage and the responses of Fetch."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.records.compression import CODEC_IDS
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.codecs import FIRST_FETCH_OF_ZSTD, FIRST_PRODUCE_OF_ZSTD, codecs_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.log_entries import attributes_of, fetched_entries, whole_entries
from suites.protocol.support.partition_log import keys_and_values, stored_batches
from suites.protocol.support.record_formats import (
    encoded_for,
    records_in,
)

BASE_MS = now_ms()
CODEC_BITS = 7
COUNT = 10
FIRST_FETCH_OF_BATCHES = 4


def _values(word: bytes) -> list[bytes]:
    """Return ten values that are worth compressing; the word names the test."""
    return [b"%b %d " % (word, number) * 30 for number in range(COUNT)]


def _batch(*values: bytes) -> RecordBatch:
    return RecordBatch([Record(value, b"key") for value in values], base_timestamp=BASE_MS)


def _ten(word: bytes) -> RecordBatch:
    return _batch(*_values(word))


def _codec_of(entry: bytes) -> int:
    """The id in the attributes of a batch or message."""
    return attributes_of(entry) & CODEC_BITS


def _name(codec_id: int) -> str:
    return {number: name for name, number in CODEC_IDS.items()}.get(codec_id, str(codec_id))


# -- what is taken, and comes back -----------------------------------------------------------------


@judges("COMP-001")
@at_versions("Produce", "0-2", "3+")
def test_records_in_each_codec_are_stored_and_fetched_unchanged(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Ten records in each codec that the version may bring; keys and values are as sent."""
    codecs = codecs_of(broker, api_version)
    topic = broker.create_topic(partitions=len(codecs))
    for partition, codec in enumerate(codecs):
        sent = encoded_for(api_version, _ten(b"readable"), codec)
        with requirement("COMP-001"):
            answer = broker.produce(topic, sent, api_version, partition=partition)
            expect_error(answer.error_code, ErrorCode.NONE, codec)
            came = keys_and_values(stored_batches(broker, topic, partition))
            expected = [(b"key", value) for value in _values(b"readable")]
            assert came == expected, f"{codec}: came back as {came}"


@judges("COMP-012")
@at_versions("Produce", "0-2", "3+")
def test_compressed_batch_of_one_record_is_accepted(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A batch of one, in each codec."""
    topic = broker.create_topic()
    codecs = codecs_of(broker, api_version, with_none=False)
    with requirement("COMP-012") as check:
        for codec in codecs:
            with check.subtest(codec):
                sent = encoded_for(api_version, _batch(codec.encode()), codec)
                expect_error(
                    broker.produce(topic, sent, api_version).error_code, ErrorCode.NONE, codec
                )
        came = [value for _, value in keys_and_values(stored_batches(broker, topic))]
        assert came == [codec.encode() for codec in codecs], f"one record each, stored are {came}"


@judges("COMP-006")
@at_versions("Produce", "0-2", "3+")
def test_records_in_compressed_batch_get_consecutive_offsets(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Ten records behind five, and one behind those."""
    codecs = codecs_of(broker, api_version, with_none=False)
    topic = broker.create_topic(partitions=len(codecs))
    for partition, codec in enumerate(codecs):
        append(broker, topic, batch_of(*[b"plain"] * 5), partition=partition)
        sent = encoded_for(api_version, _ten(b"numbered"), codec)
        with requirement("COMP-006"):
            answer = broker.produce(topic, sent, api_version, partition=partition)
            expect_error(answer.error_code, ErrorCode.NONE, codec)
            behind = broker.end_offset(topic, partition)
            found = (answer.base_offset, behind)
            assert found == (5, 15), f"{codec}: ten records behind five go from, to {found}"
            offsets = _offsets(broker, topic, partition)
            assert offsets == list(range(5, 15)), f"{codec}: ten records behind five at {offsets}"


def _offsets(broker: BrokerUnderTest, topic: Topic, partition: int) -> list[int]:
    """Return the offsets of the records from offset 5 on."""
    records = records_in(record_bytes(broker.fetch(topic, 5, partition=partition)))
    return [record.offset for record in records if record.offset >= 5]


# -- how it is stored ------------------------------------------------------------------------------


@judges("COMP-002")
@at_versions("Produce", "3+")
def test_compression_type_producer_keeps_codec_and_compressed_bytes(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """With compression.type=producer: the same codec, and the same compressed bytes."""
    topic = broker.create_topic(configs={"compression.type": "producer"})
    codecs = codecs_of(broker, api_version)
    sent = [encode_batch(_ten(b"unchanged"), codec) for codec in codecs]
    with requirement("COMP-002"):
        for codec, batch in zip(codecs, sent, strict=True):
            answer = broker.produce(topic, batch, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, codec)
        stored = fetched_entries(broker, topic)
        found = [_name(_codec_of(entry)) for entry in stored]
        assert found == codecs, f"sent in {codecs}, stored in {found}"
        for codec, one, other in zip(codecs, sent, stored, strict=True):
            assert one[61:] == other[61:], f"{codec}: the compressed bytes are others"


TOPIC_CODECS = {
    "uncompressed": "none",
    "gzip": "gzip",
    "snappy": "snappy",
    "lz4": "lz4",
    "zstd": "zstd",
}


@judges("COMP-003")
@at_versions("Produce", "0-2", "3+")
def test_topic_compression_type_determines_stored_codec(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The broker stores batches of other codecs, or of none, in the topic's codec.

    A topic takes zstd from clients of all versions (KIP-110).
    """
    topics, known = {}, codecs_of(broker, broker.version("Produce"))
    for name in (name for name, codec in TOPIC_CODECS.items() if codec in known):
        topics[name] = broker.create_topic(configs={"compression.type": name})
    with requirement("COMP-003") as check:
        for name, topic in topics.items():
            with check.subtest(name):
                for codec in codecs_of(broker, api_version):
                    sent = encoded_for(api_version, _ten(b"recoded"), codec)
                    answer = broker.produce(topic, sent, api_version)
                    expect_error(answer.error_code, ErrorCode.NONE, f"{codec} to {name}")
                found = {_name(_codec_of(entry)) for entry in fetched_entries(broker, topic)}
                assert found == {TOPIC_CODECS[name]}, f"a topic of {name} holds {sorted(found)}"
                values = {value for _, value in keys_and_values(stored_batches(broker, topic))}
                assert values == set(_values(b"recoded")), (
                    f"a topic of {name} holds {sorted(map(str, values))}"
                )


@judges("COMP-010")
@at_versions("Produce", "3+")
def test_max_message_bytes_applies_to_batch_size_as_stored(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """100 KB that gzip makes small are taken; not where the topic stores them uncompressed."""
    limit = {"max.message.bytes": "2000"}
    kept_small = broker.create_topic(configs=limit)
    grown = broker.create_topic(configs=limit | {"compression.type": "uncompressed"})
    large = _batch(b"large" * 10_000, b"large" * 10_000)
    packed = encode_batch(large, "gzip")
    assert len(packed) < 2000 < len(encode_batch(large)), "the test's batch is small when packed"
    with requirement("COMP-010") as check:
        for topic, compression, expected in (
            (kept_small, "gzip", ErrorCode.NONE),
            (kept_small, "none", ErrorCode.MESSAGE_TOO_LARGE),
            (grown, "gzip", ErrorCode.MESSAGE_TOO_LARGE),
        ):
            with check.subtest(
                f"sent in {compression}, {'kept' if topic is kept_small else 'grown'}"
            ):
                how = "stored as sent" if topic is kept_small else "stored uncompressed"
                code = broker.produce(
                    topic, encode_batch(large, compression), api_version
                ).error_code
                expect_error(code, expected, f"sent in {compression}, {how}")
        ends = [broker.end_offset(topic) for topic in (kept_small, grown)]
        assert ends == [2, 0], f"the two logs end at {ends}"


@judges("COMP-010")
@at_versions("Produce", "3+")
def test_compressed_batch_above_max_message_bytes_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """In each codec, with a limit of the size of the batch and of one byte less.

    An uncompressed batch above the limit is refused, too, where gzip would make it small.
    """
    value, too_large = broker.random.randbytes(3000), ErrorCode.MESSAGE_TOO_LARGE
    with requirement("COMP-010") as check:
        for codec in codecs_of(broker, api_version, with_none=False):
            with check.subtest(codec):
                data = encode_batch(_batch(value, b"short"), codec)
                for limit, expected in ((len(data), ErrorCode.NONE), (len(data) - 1, too_large)):
                    topic = broker.create_topic(configs={"max.message.bytes": str(limit)})
                    code = broker.produce(topic, data, api_version).error_code
                    where = f"{codec}, {len(data)} bytes, limit {limit}"
                    expect_error(code, expected, where)
                    _expect_end(broker, topic, 2 if expected is ErrorCode.NONE else 0, where)
        with check.subtest("stored in gzip"):
            configs = {"max.message.bytes": "2000", "compression.type": "gzip"}
            topic = broker.create_topic(configs=configs)
            data = encode_batch(_batch(b"small in gzip" * 1000))
            code = broker.produce(topic, data, api_version).error_code
            expect_error(code, too_large, "above the limit as sent, below it in gzip")
            _expect_end(broker, topic, 0, "above the limit as sent")


def _expect_end(broker: BrokerUnderTest, topic: Topic, expected: int, where: str) -> None:
    end = broker.end_offset(topic)
    assert end == expected, f"{where}: the log ends at {end}, expected {expected}"


# -- zstd ------------------------------------------------------------------------------------------


@judges("COMP-004")
@at_versions("Produce", "3-6", "7+")
def test_produce_in_zstd_is_accepted_from_v7_and_refused_below(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """UNSUPPORTED_COMPRESSION_TYPE before, and nothing is stored."""
    topic = broker.create_topic()
    known = api_version >= FIRST_PRODUCE_OF_ZSTD
    with requirement("COMP-004"):
        answer = broker.produce(topic, encode_batch(_ten(b"asked"), "zstd"), api_version)
        expected = ErrorCode.NONE if known else ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        expect_error(answer.error_code, expected, "zstd")
        end, stored = broker.end_offset(topic), COUNT if known else 0
        assert end == stored, f"the log ends at {end}, {stored} records may be stored"


def _in_zstd(broker: BrokerUnderTest, compression_type: str) -> Topic:
    """One batch in zstd."""
    version = broker.version("Produce", f"{FIRST_PRODUCE_OF_ZSTD}+")
    topic = broker.create_topic(configs={"compression.type": compression_type})
    answer = broker.produce(topic, encode_batch(_ten(b"read"), "zstd"), version)
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")
    return topic


def _zstd_batch(broker: BrokerUnderTest) -> Topic:
    return _in_zstd(broker, "producer")


def _zstd_topic(broker: BrokerUnderTest) -> Topic:
    return _in_zstd(broker, "zstd")


@judges("COMP-005")
@at_versions("Fetch", "0-1", "2-3", "4-9", "10+")
def test_fetch_returns_zstd_from_v10_and_refuses_it_below_v4(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """From Fetch 10 on the broker returns batches in zstd.

    Before version 4 it returns an error, as no message set holds zstd. At versions 4 to 9 it
    returns the error too, or the batch as it is stored: this was never the same for every topic,
    nor in every release.
    """
    topics = {"batch": kept.topic(broker, _zstd_batch), "topic": kept.topic(broker, _zstd_topic)}
    refusal = ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    with requirement("COMP-005") as check:
        for name, topic in topics.items():
            with check.subtest(name):
                answer = broker.fetch(topic, 0, api_version)
                if api_version < FIRST_FETCH_OF_BATCHES:
                    expect_error(answer.error_code, refusal, f"{name} in zstd")
                elif api_version >= FIRST_FETCH_OF_ZSTD or answer.error_code != refusal:
                    expect_error(answer.error_code, ErrorCode.NONE, f"{name} in zstd")
                if answer.error_code == ErrorCode.NONE:
                    found = [
                        _name(_codec_of(entry)) for entry in whole_entries(record_bytes(answer))[0]
                    ]
                    assert found == ["zstd"], f"{name} in zstd: a batch in {found} came"
                else:
                    assert not answer.records, f"{name} in zstd: an error with records"
