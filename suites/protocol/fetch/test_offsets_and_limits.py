"""FETCH: offsets, limits, errors. Waiting and sessions have files of their own."""

from __future__ import annotations

from uuid import UUID

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import (
    EARLIEST,
    FETCH_BY_ID,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
)
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetching import (
    NO_PARTITION,
    VALUES,
    entry_of,
    log_of_nine,
    partition_of,
    records_by_partition,
    records_of,
    values_of,
)
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.leader_epoch import told_leader_epoch
from suites.protocol.support.record_formats import first_offsets, records_in

ONE_BATCH = batch_of(b"one of three")
LAST_OFFSET = 2**63 - 1


def _three_of_four(broker: BrokerUnderTest) -> Topic:
    """Partitions 0 to 2 hold ONE_BATCH each, partition 3 nothing."""
    topic = broker.create_topic(partitions=4)
    for partition in range(3):
        append(broker, topic, ONE_BATCH, partition=partition)
    return topic


def _log_from_four(broker: BrokerUnderTest) -> Topic:
    """Create a log of nine records and delete the records below offset 4."""
    topic = log_of_nine(broker)
    delete_records(broker, topic, 4)
    return topic


# -- offsets ---------------------------------------------------------------------------------------


@judges("FETCH-001")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_starts_with_batch_that_contains_fetch_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """From every offset of three batches: the one around it first, then on in order.

    As a message set it may begin with the offset itself, the one of its message.
    """
    topic = kept.topic(broker, log_of_nine)
    with requirement("FETCH-001") as check:
        for offset in range(len(VALUES)):
            with check.subtest(f"offset {offset}"):
                data = broker.fetch(topic, offset, api_version)
                offsets = [at for at, _ in records_of(data)]
                assert offsets, f"nothing at offset {offset} of a log that ends at 9"
                first, last = first_offsets(record_bytes(data))
                told = f"offset {offset}: the first batch is {first} to {last}"
                assert first <= offset <= last, told
                in_order = list(range(first, first + len(offsets)))
                assert offsets == in_order, f"offset {offset}: records come in the order {offsets}"
                assert values_of(data) == VALUES[offsets[0] : offsets[-1] + 1]


@judges("FETCH-004")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_outside_log_returns_offset_out_of_range(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Below the log start or above the log end: OFFSET_OUT_OF_RANGE and no data.

    Of an empty log both are next to the only offset, 0.
    """
    topic = kept.topic(broker, log_of_nine)
    outside = {0: (-5, -2, -1, len(VALUES) + 1, LAST_OFFSET), 1: (-1, 1, LAST_OFFSET)}
    with requirement("FETCH-004") as check:
        for partition, offset in [(of, at) for of, offsets in outside.items() for at in offsets]:
            where = f"partition {partition}, offset {offset}"
            with check.subtest(where):
                data = broker.fetch(topic, offset, api_version, partition=partition)
                expect_error(data.error_code, ErrorCode.OFFSET_OUT_OF_RANGE, where)
                records = record_bytes(data)
                assert not records, f"{where}: {len(records)} bytes"


@judges("FETCH-004")
@at_versions("Fetch", "4+")
def test_fetch_of_deleted_offset_returns_offset_out_of_range(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Just below the log start, in the middle of a batch, there was a record once."""
    topic = kept.topic(broker, _log_from_four)
    with requirement("FETCH-004") as check:
        for offset, code in ((3, ErrorCode.OFFSET_OUT_OF_RANGE), (4, ErrorCode.NONE)):
            with check.subtest(f"offset {offset}"):
                data = broker.fetch(topic, offset, api_version)
                expect_error(data.error_code, code, f"offset {offset} of a log that begins at 4")
                assert bool(data.records) == (code == ErrorCode.NONE), f"offset {offset}: {data}"


@judges("FETCH-005")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_at_log_end_offset_returns_no_error_and_no_records(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """At the log end, of a log with records and of one without: NONE and no data."""
    topic = kept.topic(broker, log_of_nine)
    with requirement("FETCH-005") as check:
        for partition, end in ((0, len(VALUES)), (1, 0)):
            with check.subtest(f"partition {partition}"):
                data = broker.fetch(topic, end, api_version, partition=partition)
                expect_error(data.error_code, ErrorCode.NONE, f"at the log end {end}")
                records = record_bytes(data)
                assert not records, f"{len(records)} bytes at the log end {end}"


@judges("FETCH-024")
@at_versions("Fetch", "5+")
def test_fetch_log_start_offset_equals_earliest_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The log start offset of Fetch equals the earliest offset of ListOffsets."""
    _expect_log_start(broker, kept.topic(broker, log_of_nine), 0, api_version)


@judges("FETCH-024")
@at_versions("Fetch", "5+")
def test_fetch_log_start_offset_equals_earliest_offset_after_delete_records(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The two are equal also after a deletion of the log's first records."""
    _expect_log_start(broker, kept.topic(broker, _log_from_four), 4, api_version)


def _expect_log_start(
    broker: BrokerUnderTest, topic: Topic, expected: int, api_version: int
) -> None:
    with requirement("FETCH-024"):
        earliest = broker.list_offset(topic, EARLIEST).offset
        for offset in (expected, len(VALUES)):
            start = broker.fetch(topic, offset, api_version).log_start_offset
            told = f"log start offset {start}, the earliest is {earliest}"
            assert start == earliest == expected, told


@judges("FETCH-040")
@at_versions("Fetch", "0-3", "4+")
def test_repeated_fetch_returns_same_bytes(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The same range read four times, over two connections: the same bytes."""
    topic = kept.topic(broker, log_of_nine)
    request = fetch_request([entry_of(topic, api_version, {0: 0})])
    readers = [broker.connect(), broker.connect()]
    with requirement("FETCH-040"):
        answers = [partition_of(reader.ask(request, api_version)) for reader in readers * 2]
        read = [record_bytes(answer) for answer in answers]
        assert read[0], "the first fetch has no data"
        told = f"bytes of four fetches of one range: {[len(data) for data in read]}"
        assert read[1:] == read[:1] * 3, told


@judges("FETCH-041")
@at_versions("Fetch", "0-3", "4+")
def test_independent_consumers_each_fetch_all_records(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Three clients that take turns, each from the beginning to the end."""
    topic = kept.topic(broker, log_of_nine)
    readers = {name: broker.connect(name) for name in ("reader-a", "reader-b", "reader-c")}
    positions = dict.fromkeys(readers, 0)
    seen: dict[str, list[bytes | None]] = {name: [] for name in readers}
    one_batch = len(batch_of(*VALUES[:3]))
    with requirement("FETCH-041"):
        while any(position < len(VALUES) for position in positions.values()):
            for name, reader in readers.items():
                wanted = fetch_partition(positions[name], partition_max_bytes=one_batch)
                request = fetch_request([fetch_topic(topic, api_version, [wanted])])
                got = records_of(partition_of(reader.ask(request, api_version)))
                assert got, f"{name} gets nothing at offset {positions[name]}"
                seen[name] += [value for _, value in got]
                positions[name] = got[-1][0] + 1
        assert seen == dict.fromkeys(readers, VALUES)


@judges("FETCH-039")
@at_versions("Fetch", "4+")
def test_fetch_with_duplicate_partition_returns_identical_data(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Two offsets of one partition, in one entry and in two: whichever counts, it is one."""
    topic = kept.topic(broker, log_of_nine)
    first, second = fetch_partition(0), fetch_partition(6)
    for where, wanted in {
        "in one entry": [fetch_topic(topic, api_version, [first, second])],
        "in two entries": [fetch_topic(topic, api_version, [one]) for one in (first, second)],
    }.items():
        with requirement("FETCH-039"):
            response = broker.ask(fetch_request(wanted), api_version)
            answers = [p for t in response.responses for p in t.partitions]
            told = f"named twice {where}: {[values_of(one) for one in answers]} came"
            assert answers, told
            assert all(one == answers[0] for one in answers), told


# -- limits ----------------------------------------------------------------------------------------


@judges("FETCH-011")
@at_versions("Fetch", "4+")
def test_partition_max_bytes_limits_records_except_first_batch(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Room for two of three batches: no byte more. Room for none: the first batch whole.

    How much of the room is used is the broker's choice, as long as something comes.
    """
    topic = kept.topic(broker, log_of_nine)
    size = len(batch_of(*VALUES[:3]))
    with requirement("FETCH-011") as check:
        for limit in (2 * size, 2 * size + 1):
            with check.subtest(f"partition_max_bytes {limit}"):
                data = broker.fetch(topic, 0, api_version, partition_max_bytes=limit)
                length = len(record_bytes(data))
                assert length <= limit, f"{length} bytes with partition_max_bytes {limit}"
                found = values_of(data)
                assert found, f"nothing with partition_max_bytes {limit}"
                assert found == VALUES[: len(found)]
        for limit in (0, 1, size - 1, size):
            with check.subtest(f"partition_max_bytes {limit}"):
                data = broker.fetch(topic, 0, api_version, partition_max_bytes=limit)
                found, length = values_of(data), len(record_bytes(data))
                told = f"{length} bytes with {found}, not the first batch alone"
                assert (found, length) == (VALUES[:3], size), f"partition_max_bytes {limit}: {told}"


def _filled(found: dict[int, bytes], order: tuple[int, ...]) -> list[int]:
    """The partitions, in this order, that have a whole batch."""
    return [index for index in order if list(records_in(found.get(index, b"")))]


@judges("FETCH-012")
@at_versions("Fetch", "4+")
def test_max_bytes_limits_response_filled_in_request_order(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Three partitions with a batch each, one empty: filled as asked, until max_bytes.

    A broker may count more than the records against max_bytes, and so stop before it.
    """
    topic = kept.topic(broker, _three_of_four)
    one = len(ONE_BATCH)
    with requirement("FETCH-012") as check:
        for order in ((3, 0, 1, 2), (2, 0, 3, 1), (1, 2, 0, 3)):
            wanted = [entry_of(topic, api_version, dict.fromkeys(order, 0))]
            with_data = [index for index in order if index != 3]
            for batches, limit in ((1, 0), (1, 1), (1, one), (2, 2 * one)):
                with check.subtest(f"partitions {order}, max_bytes {limit}"):
                    request = fetch_request(wanted, max_bytes=limit)
                    response = broker.ask(request, api_version)
                    found = records_by_partition(response)
                    sizes = [len(found.get(index, b"")) for index in order]
                    told = f"partitions {order} with max_bytes {limit}: {sizes} bytes"
                    assert sum(sizes) <= max(limit, one), told
                    filled = _filled(found, order)
                    assert filled, told
                    assert filled == with_data[: min(batches, len(filled))], told


@judges("FETCH-012")
@at_versions("Fetch", "4+")
def test_first_batch_comes_whole_behind_partitions_in_error_and_without_records(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Room for no batch; an offset out of range, an unknown partition or a log's end is first."""
    topic = kept.topic(broker, _three_of_four)
    with requirement("FETCH-012") as check:
        for name, first in {
            "an offset out of range": {0: 99},
            "an unknown partition": {NO_PARTITION: 0},
            "the end of a log": {3: 0},
        }.items():
            with check.subtest(name):
                wanted = [entry_of(topic, api_version, {**first, 1: 0, 2: 0})]
                response = broker.ask(fetch_request(wanted, max_bytes=1), api_version)
                found = records_by_partition(response)
                filled = _filled(found, (1, 2))
                assert filled == [1], f"{name} first: whole batches of {filled}, expected of 1"


# -- errors ----------------------------------------------------------------------------------------


@judges("FETCH-015")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_from_unknown_partition_returns_unknown_topic_or_partition(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A high number, the first one that the topic does not have, and -1."""
    topic = kept.topic(broker, log_of_nine)
    with requirement("FETCH-015") as check:
        for partition in (NO_PARTITION, 2, -1):
            with check.subtest(f"partition {partition}"):
                data = broker.fetch(topic, 0, api_version, partition=partition)
                error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                expect_error(data.error_code, error, "unknown partition")


@judges("FETCH-015")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_from_unknown_topic_returns_unknown_topic_error(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """By name UNKNOWN_TOPIC_OR_PARTITION, by id UNKNOWN_TOPIC_ID."""
    nowhere = Topic(broker.unique_topic(), UUID(int=broker.random.getrandbits(128), version=4))
    by_id = api_version >= FETCH_BY_ID
    expected = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with requirement("FETCH-015"):
        expect_error(broker.fetch(nowhere, 0, api_version).error_code, expected, "unknown topic")


@judges("FETCH-023")
@at_versions("Fetch", "9+")
def test_fetch_with_newer_leader_epoch_returns_unknown_leader_epoch(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The leader's own epoch and -1 are served, a newer one is UNKNOWN_LEADER_EPOCH."""
    topic = kept.topic(broker, log_of_nine)
    epoch = told_leader_epoch(broker, topic)
    expected = {
        -1: ErrorCode.NONE,
        epoch: ErrorCode.NONE,
        epoch + 1: ErrorCode.UNKNOWN_LEADER_EPOCH,
    }
    with requirement("FETCH-023") as check:
        for claimed, code in expected.items():
            with check.subtest(f"epoch {claimed}"):
                request = fetch_request([entry_of(topic, api_version, {0: 0})])
                request.topics[0].partitions[0].current_leader_epoch = claimed
                data = partition_of(broker.ask(request, api_version))
                where = f"epoch {claimed}, the leader's is {epoch}"
                expect_error(data.error_code, code, where)
                has_records = bool(data.records)
                assert has_records == (code == ErrorCode.NONE), f"{where}: records {has_records}"
