"""CLIENT: records come back as they were sent."""

from __future__ import annotations

import pytest

from harness.clients.records import BEGAN_MS, FOR_EVER, STEP_MS, in_partition, numbered, sent
from harness.clients.vocabulary import Json
from harness.codec.records import LOG_APPEND_TIME
from harness.conformance.checks import requirement
from harness.runner.asked_clients import ClientUnderTest
from harness.runner.marks import client_needs, judges
from suites.clients.read_records import expect_read, expect_same, stored_batches

LARGE = 900_000
RECORDS = [
    sent(0, 0, key="first", value="one"),
    sent(1, 1, key="ключ", value="значение ✓"),
    sent(0, 2, key="third", value="three"),
    sent(1, 4, key="last", value="long " * 500),
]
LONG = [sent(0, number, key="k", value=f"{number} compressible " * 500) for number in range(3)]


@judges("CLIENT-007")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_records_come_back_as_sent(client: ClientUnderTest) -> None:
    """Two partitions, texts of ASCII and others."""
    with requirement("CLIENT-007"):
        topic = client.create(2, FOR_EVER)
        places = client.calls.produce(topic, RECORDS, idempotent=False)
        assert places == [[0, 0], [1, 0], [0, 1], [1, 1]], f"the records have the places {places}"
        expect_read(client, topic, RECORDS)


def _expect_codec(client: ClientUnderTest, codec: str) -> None:
    """The records are stored with this codec, which our own client reads, and come back."""
    topic = client.create(1, FOR_EVER)
    client.calls.produce(topic, LONG, codec, idempotent=False)
    stored = {batch.compression for batch in stored_batches(client, topic)}
    assert stored == {codec}, f"batches are stored with {sorted(stored)}, sent with {codec}"
    expect_read(client, topic, LONG)


@judges("CLIENT-008")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_gzip_records_come_back(client: ClientUnderTest) -> None:
    """Three long values."""
    with requirement("CLIENT-008"):
        _expect_codec(client, "gzip")


@judges("CLIENT-009")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_snappy_records_come_back(client: ClientUnderTest) -> None:
    """Three long values."""
    with requirement("CLIENT-009"):
        _expect_codec(client, "snappy")


@judges("CLIENT-010")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_lz4_records_come_back(client: ClientUnderTest) -> None:
    """Three long values."""
    with requirement("CLIENT-010"):
        _expect_codec(client, "lz4")


@judges("CLIENT-011")
@client_needs(CreateTopics="0+", Produce="7+", Fetch="10+")
def test_zstd_records_come_back(client: ClientUnderTest) -> None:
    """Three long values."""
    with requirement("CLIENT-011"):
        _expect_codec(client, "zstd")


def _expect_back(client: ClientUnderTest, records: list[Json]) -> None:
    topic = client.create(1, FOR_EVER)
    client.calls.produce(topic, records, idempotent=False)
    expect_read(client, topic, records)


@judges("CLIENT-012")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_headers_come_back_in_order(client: ClientUnderTest) -> None:
    """A name twice, an empty value; a record without headers beside it."""
    headers = [("b", "1"), ("a", "2"), ("b", "")]
    records = [sent(0, 0, key="k", headers=headers), sent(0, 1, key="none")]
    with requirement("CLIENT-012"):
        _expect_back(client, records)


@judges("CLIENT-031")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_null_header_value_comes_back(client: ClientUnderTest) -> None:
    """A null value and an empty one."""
    with requirement("CLIENT-031"):
        _expect_back(client, [sent(0, 0, key="k", headers=[("a", None), ("b", "")])])


@judges("CLIENT-013")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_null_and_empty_keys_come_back(client: ClientUnderTest) -> None:
    """Null, empty, null."""
    keys = (None, "", None)
    with requirement("CLIENT-013"):
        _expect_back(client, [sent(0, number, key=key) for number, key in enumerate(keys)])


@judges("CLIENT-014")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_null_and_empty_values_come_back(client: ClientUnderTest) -> None:
    """A tombstone, an empty value, a tombstone."""
    values = (None, "", None)
    records = [sent(0, number, key="k", value=value) for number, value in enumerate(values)]
    with requirement("CLIENT-014"):
        _expect_back(client, records)


@judges("CLIENT-015")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_large_record_comes_back(client: ClientUnderTest) -> None:
    """A small record before it, and one behind."""
    values = ("small", "0123456789" * (LARGE // 10), "behind")
    records = [sent(0, number, key="k", value=value) for number, value in enumerate(values)]
    with requirement("CLIENT-015"):
        topic = client.create(1, FOR_EVER)
        client.calls.produce(topic, records, idempotent=False)
        found = client.calls.read(topic, 0, 0, len(records))
        lengths = [len(one["value"]) for one in found]
        assert lengths == [len(value) for value in values], f"values have {lengths} bytes"
        assert found == in_partition(records, 0), "a record differs from what was sent"


TIMES = (
    ("before all", BEGAN_MS - 1, 0),
    ("of the first", BEGAN_MS, 0),
    ("between two", BEGAN_MS + 2 * STEP_MS + 1, 3),
    ("of the last", BEGAN_MS + 4 * STEP_MS, 4),
    ("behind all", BEGAN_MS + 4 * STEP_MS + 1, None),
)


@judges("CLIENT-019")
@client_needs(CreateTopics="0+", Produce="3+", ListOffsets="1+")
def test_offset_of_time_is_that_of_first_record_from_it(client: ClientUnderTest) -> None:
    """Five times at five records, and one at an empty partition."""
    with requirement("CLIENT-019") as check:
        topic = client.create(2, FOR_EVER)
        client.calls.produce(topic, numbered(1, 5), idempotent=False)
        for name, at_ms, expected in TIMES:
            with check.subtest(name):
                found = client.calls.offsets_for_times(topic, {0: at_ms})
                assert found == {0: expected}, f"offsets are {found}, expected {expected}"
        with check.subtest("an empty partition"):
            found = client.calls.offsets_for_times(topic, {1: BEGAN_MS})
            assert found == {1: None}, f"offsets are {found}, expected none"


@judges("CLIENT-020")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+", ListOffsets="1+")
@pytest.mark.parametrize(("after_ms", "first"), [(0, 2), (1, 3)], ids=["at", "between"])
def test_consumer_seeks_to_time(client: ClientUnderTest, after_ms: int, first: int) -> None:
    """The time of the third record, and the millisecond behind it."""
    with requirement("CLIENT-020"):
        topic = client.create(1, FOR_EVER)
        records = numbered(1, 5)
        client.calls.produce(topic, records, idempotent=False)
        at_ms = BEGAN_MS + 2 * STEP_MS + after_ms
        wanted = in_partition(records, 0, first)
        found = client.calls.read_from_time(topic, 0, at_ms, len(wanted))
        expect_same(found, wanted, f"from {after_ms} ms behind the third record")


@judges("CLIENT-059")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_records_of_a_topic_that_compresses_come_back(client: ClientUnderTest) -> None:
    """The client compresses nothing, the topic by gzip."""
    with requirement("CLIENT-059"):
        topic = client.create(1, {**FOR_EVER, "compression.type": "gzip"})
        client.calls.produce(topic, LONG, idempotent=False)
        stored = {batch.compression for batch in stored_batches(client, topic)}
        assert stored == {"gzip"}, f"batches are stored with {sorted(stored)}, the topic has gzip"
        expect_read(client, topic, LONG)


@judges("CLIENT-060")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_records_have_the_time_of_the_log(client: ClientUnderTest) -> None:
    """A topic with LogAppendTime, and records with old timestamps."""
    with requirement("CLIENT-060"):
        topic = client.create(1, {**FOR_EVER, "message.timestamp.type": "LogAppendTime"})
        client.calls.produce(topic, LONG, idempotent=False)
        batches = stored_batches(client, topic)
        kept = [batch for batch in batches if not batch.attributes & LOG_APPEND_TIME]
        assert not kept, f"{len(kept)} batches are stored with the times of the client"
        wanted = [batch.max_timestamp for batch in batches for _ in batch.records]
        times = [one["timestamp_ms"] for one in client.calls.read(topic, 0, 0, len(LONG))]
        assert times == wanted, f"the times {times} were read, the log has {wanted}"


@judges("CLIENT-061")
@client_needs(CreateTopics="0+", Produce="3+", Fetch="4+")
def test_consumer_begins_within_a_batch(client: ClientUnderTest) -> None:
    """From offset 7 of 20 that are compressed by gzip."""
    with requirement("CLIENT-061"):
        topic = client.create(1, FOR_EVER)
        records = numbered(1, 20)
        client.calls.produce(topic, records, "gzip", idempotent=False)
        wanted = in_partition(records, 0, 7)
        expect_same(client.calls.read(topic, 0, 7, len(wanted)), wanted, "from offset 7")
