"""FETCH: a request about partitions that differ in offset, records and error."""

from __future__ import annotations

from itertools import product

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import (
    FETCH_BY_ID,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.fetching import NO_PARTITION, entry_of, values_of
from suites.protocol.support.kept_topics import KeptTopics

COUNT = 3  # records of each partition, but for the last one of a topic
MISSING, OUTSIDE = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OFFSET_OUT_OF_RANGE
Found = dict[tuple[str, int], tuple[str, list[bytes | None]]]


def _filled(broker: BrokerUnderTest, name: bytes) -> Topic:
    """Each value names topic, partition and offset; the last partition is empty."""
    topic = broker.create_topic(partitions=3)
    for partition in range(2):
        values = [b"%s-%d at %d" % (name, partition, offset) for offset in range(COUNT)]
        append(broker, topic, *(batch_of(value) for value in values), partition=partition)
    return topic


def _topic_a(broker: BrokerUnderTest) -> Topic:
    return _filled(broker, b"a")


def _topic_b(broker: BrokerUnderTest) -> Topic:
    return _filled(broker, b"b")


def _told(code: int, values: list[bytes | None]) -> tuple[str, list[bytes | None]]:
    return ErrorCode.describe(code), values


def _results(response: FetchResponse, topics: dict[str, Topic], version: int) -> Found:
    """Error and values of each partition, by the topic's letter and the index."""
    letters = {(one.id if version >= FETCH_BY_ID else one.name): a for a, one in topics.items()}
    found: Found = {}
    for answered in response.responses:
        named = answered.topic_id if version >= FETCH_BY_ID else answered.topic
        for data in answered.partitions:
            key = (letters[named], data.partition_index)
            assert key not in found, f"partition {key} is answered twice"
            found[key] = _told(data.error_code, values_of(data))
    return found


@judges("FETCH-042")
@at_versions("Fetch", "0-3", "4-12", "13+")
def test_each_partition_of_fetch_has_own_offset_and_error(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Two topics: records from three offsets, an empty log, an offset outside, no partition."""
    topics = {"a": kept.topic(broker, _topic_a), "b": kept.topic(broker, _topic_b)}
    wanted = [
        entry_of(topics["a"], api_version, {1: 2, NO_PARTITION: 0, 0: 1, 2: 0}),
        entry_of(topics["b"], api_version, {0: COUNT + 1, 1: 0}),
    ]
    expected: Found = {
        ("a", 1): _told(ErrorCode.NONE, [b"a-1 at 2"]),
        ("a", NO_PARTITION): _told(MISSING, []),
        ("a", 0): _told(ErrorCode.NONE, [b"a-0 at 1", b"a-0 at 2"]),
        ("a", 2): _told(ErrorCode.NONE, []),
        ("b", 0): _told(OUTSIDE, []),
        ("b", 1): _told(ErrorCode.NONE, [b"b-1 at 0", b"b-1 at 1", b"b-1 at 2"]),
    }
    with requirement("FETCH-042") as check:
        found = _results(broker.ask(fetch_request(wanted), api_version), topics, api_version)
        for partition, result in expected.items():
            with check.subtest(f"partition {partition}"):
                assert found.get(partition) == result, (
                    f"partition {partition}: error and values are {found.get(partition)}, "
                    f"expected {result}"
                )
        assert found.keys() == expected.keys(), f"answered are the partitions {[*found]}"


@judges("FETCH-042")
@at_versions("Fetch", "0-3", "4+")
def test_topic_in_two_entries_returns_partitions_of_both(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One entry has partition 1, the other one 0, with another topic between them."""
    topic, between = broker.create_topic(partitions=2), broker.create_topic()
    for index in range(2):
        append(broker, topic, batch_of(b"record %d" % index), partition=index)
    wanted = [
        entry_of(topic, api_version, {1: 0}),
        entry_of(between, api_version, {0: 0}),
        entry_of(topic, api_version, {0: 0}),
    ]
    name = str(topic.id) if api_version >= FETCH_BY_ID else topic.name
    with requirement("FETCH-042"):
        answer = broker.ask(fetch_request(wanted), api_version)
        found = {
            data.partition_index: values_of(data)
            for one in answer.responses
            if name == (one.topic or str(one.topic_id))
            for data in one.partitions
        }
        expected = {0: [b"record 0"], 1: [b"record 1"]}
        assert found == expected, f"partitions of both entries and values are {found}"


@judges("FETCH-042")
@at_versions("Fetch", "0-1", "2-3")
def test_partition_that_no_old_reader_can_read_leaves_others_their_records(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The batch of partition 1 is in zstd, which no message set holds; 0 and 2 are plain."""
    produce_version = broker.version("Produce", "7+")
    topic, codecs = broker.create_topic(partitions=3), ("none", "zstd", "none")
    for index, codec in enumerate(codecs):
        batch = encode_batch(RecordBatch([Record(b"record %d" % index)]), codec)
        code = broker.produce(topic, batch, produce_version, partition=index).error_code
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"Produce in {codec}: {ErrorCode.describe(code)}")
    wanted = [entry_of(topic, api_version, dict.fromkeys(range(3), 0))]
    with requirement("FETCH-042"):
        found = _results(broker.ask(fetch_request(wanted), api_version), {"a": topic}, api_version)
        expected: Found = {
            ("a", 0): _told(ErrorCode.NONE, [b"record 0"]),
            ("a", 1): _told(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, []),
            ("a", 2): _told(ErrorCode.NONE, [b"record 2"]),
        }
        assert found == expected, f"partition 1 is in zstd: errors and values are {found}"


@judges("FETCH-012")
@at_versions("Fetch", "4-12", "13+")
def test_max_bytes_limits_records_of_all_topics_together(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Two topics with two full partitions each: filled as asked, also behind the first topic.

    A broker may count more than the records against max_bytes, and so stop before it.
    """
    topics = {"a": kept.topic(broker, _topic_a), "b": kept.topic(broker, _topic_b)}
    one = len(batch_of(b"a-0 at 0"))
    with requirement("FETCH-012") as check:
        for (letters, indexes), batches in product((("ab", (0, 1)), ("ba", (1, 0))), range(4)):
            wanted = [
                fetch_topic(topics[letter], api_version, [
                    fetch_partition(0, partition=index, partition_max_bytes=one)
                    for index in indexes
                ])
                for letter in letters
            ]  # fmt: skip
            where = f"topics {letters}, partitions {indexes}, max_bytes for {batches} batches"
            with check.subtest(where):
                request = fetch_request(wanted, max_bytes=batches * one)
                found = _results(broker.ask(request, api_version), topics, api_version)
                filled = [key for key, (_, values) in found.items() if values]
                order = [(letter, index) for letter in letters for index in indexes]
                told = f"{where}: records came of {filled}"
                assert 1 <= len(filled) <= max(batches, 1), told
                assert filled == order[: len(filled)], told
