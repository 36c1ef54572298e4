"""FETCH: offsets, limits, waiting, errors. Sessions have a file of their own."""

from __future__ import annotations

import time
from uuid import UUID

from harness.client.broker import BrokerUnderTest
from harness.client.connection import Connection
from harness.client.requests import (
    EARLIEST,
    FETCH_BY_ID,
    Topic,
    fetch_partition,
    fetch_request,
    fetch_topic,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest
from harness.codec.messages import FetchResponse as Answer
from harness.codec.records import decode_batches
from harness.conformance.checks import requirement
from harness.marks import at_versions, judges
from suites.protocol.appended import append, batch_of
from suites.protocol.expect import expect_error
from suites.protocol.kept_topics import KeptTopics

VALUES = [b"r%d" % number for number in range(9)]
ONE_BATCH = batch_of(b"one of three")
PATIENCE_MS = 3000  # a max_wait that nobody takes for an answer at once
WAIT_MS = 200
EARLY_MS = 10  # a timer may be this much too quick: ticks, rounding
LATE_MS = 5000  # an idle machine needs a few; a loaded one may be slow and conform
QUIET_MS = 30  # long enough for a broker that answers too early to be seen


def _log_of_nine(broker: BrokerUnderTest) -> Topic:
    """Partition 0 holds VALUES in three batches of three, partition 1 nothing."""
    topic = broker.create_topic(partitions=2)
    append(broker, topic, *(batch_of(*VALUES[start : start + 3]) for start in (0, 3, 6)))
    return topic


def _three_of_four(broker: BrokerUnderTest) -> Topic:
    """Partitions 0 to 2 hold ONE_BATCH each, partition 3 nothing."""
    topic = broker.create_topic(partitions=4)
    for partition in range(3):
        append(broker, topic, ONE_BATCH, partition=partition)
    return topic


def _entry(topic: Topic, version: int, offsets: dict[int, int]) -> FetchRequest.FetchTopic:
    """Partitions of a topic and where to read them, in this order."""
    wanted = [fetch_partition(offset, partition=index) for index, offset in offsets.items()]
    return fetch_topic(topic, version, wanted)


def _partition(response: Answer, index: int = 0) -> Answer.PartitionData:
    """The part of an answer about one partition; every test has a single topic."""
    for topic in response.responses:
        for partition in topic.partitions:
            if partition.partition_index == index:
                return partition
    raise AssertionError(f"the answer lacks partition {index}")


def _records(data: Answer.PartitionData) -> list[tuple[int, bytes | None]]:
    """Offset and value, in the order of the bytes."""
    return [
        (batch.base_offset + (record.offset_delta or 0), record.value)
        for batch in decode_batches(data.records or b"")
        for record in batch.records
    ]


def _values(data: Answer.PartitionData) -> list[bytes | None]:
    return [value for _, value in _records(data)]


def _timed(connection: Connection, request: FetchRequest, version: int) -> tuple[Answer, float]:
    """The answer, and the milliseconds that it took."""
    started = time.monotonic()
    response = connection.ask(request, version)
    return response, (time.monotonic() - started) * 1000


def _expect_prompt(took_ms: float, wait_ms: int) -> None:
    """Well before max_wait_ms, whose end would look much the same otherwise."""
    assert took_ms < 0.9 * wait_ms, f"answered after {took_ms:.0f} ms, max_wait_ms is {wait_ms}"


def _expect_at_max_wait(broker: BrokerUnderTest, took_ms: float) -> None:
    """Not before WAIT_MS, and not very long after it."""
    told = f"answered after {took_ms:.0f} ms, max_wait_ms is {WAIT_MS}"
    assert took_ms >= WAIT_MS - EARLY_MS, told
    assert took_ms <= WAIT_MS + broker.scaled_ms(LATE_MS), told


# -- offsets ---------------------------------------------------------------------------------------


@judges("FETCH-001")
@at_versions("Fetch", "4+")
def test_a_fetch_begins_with_the_batch_that_covers_its_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """From every offset of three batches: the batch around it first, then on in order."""
    topic = kept.topic(broker, _log_of_nine)
    with requirement("FETCH-001"):
        for offset in range(len(VALUES)):
            data = broker.fetch(topic, offset, api_version)
            offsets = [at for at, _ in _records(data)]
            assert offsets, f"nothing at offset {offset} of a log that ends at 9"
            first = decode_batches(data.records or b"")[0]
            last = first.base_offset + (first.last_offset_delta or 0)
            told = f"offset {offset}: the first batch is {first.base_offset} to {last}"
            assert first.base_offset <= offset <= last, told
            in_order = list(range(first.base_offset, first.base_offset + len(offsets)))
            assert offsets == in_order, f"offset {offset}: records come in the order {offsets}"
            assert _values(data) == VALUES[offsets[0] : offsets[-1] + 1]


@judges("FETCH-004")
@at_versions("Fetch", "4+")
def test_an_offset_outside_the_log_is_out_of_range(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Below the log start or above the log end: OFFSET_OUT_OF_RANGE and no data."""
    topic = kept.topic(broker, _log_of_nine)
    with requirement("FETCH-004"):
        for offset in (-5, -1, len(VALUES) + 1):
            data = broker.fetch(topic, offset, api_version)
            expect_error(data.error_code, ErrorCode.OFFSET_OUT_OF_RANGE, f"offset {offset}")
            assert not data.records, f"{len(data.records or b'')} bytes at offset {offset}"


@judges("FETCH-005")
@at_versions("Fetch", "4+")
def test_a_fetch_at_the_log_end_is_legal(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """At the log end, of a log with records and of one without: NONE and no data."""
    topic = kept.topic(broker, _log_of_nine)
    with requirement("FETCH-005"):
        for partition, end in ((0, len(VALUES)), (1, 0)):
            data = broker.fetch(topic, end, api_version, partition=partition)
            expect_error(data.error_code, ErrorCode.NONE, f"at the log end {end}")
            assert not data.records, f"{len(data.records or b'')} bytes at the log end {end}"


@judges("FETCH-024")
@at_versions("Fetch", "5+")
def test_the_log_start_offset_is_the_earliest_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """What ListOffsets calls the earliest offset is the log start in the answer."""
    topic = kept.topic(broker, _log_of_nine)
    with requirement("FETCH-024"):
        earliest = broker.list_offset(topic, EARLIEST).offset
        for offset in (0, len(VALUES)):
            start = broker.fetch(topic, offset, api_version).log_start_offset
            assert start == earliest, f"log start offset {start}, the earliest is {earliest}"


@judges("FETCH-040")
@at_versions("Fetch", "4+")
def test_reading_does_not_consume(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The same range read four times, over two connections: the same bytes."""
    topic = kept.topic(broker, _log_of_nine)
    request = fetch_request([_entry(topic, api_version, {0: 0})])
    readers = [broker.connect(), broker.connect()]
    with requirement("FETCH-040"):
        answers = [_partition(reader.ask(request, api_version)) for reader in readers * 2]
        read = [answer.records or b"" for answer in answers]
        assert read[0], "the first fetch has no data"
        told = f"bytes of four fetches of one range: {[len(data) for data in read]}"
        assert read[1:] == read[:1] * 3, told


@judges("FETCH-041")
@at_versions("Fetch", "4+")
def test_every_reader_gets_every_record(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Three clients that take turns, each from the beginning to the end."""
    topic = kept.topic(broker, _log_of_nine)
    readers = {name: broker.connect(name) for name in ("reader-a", "reader-b", "reader-c")}
    positions = dict.fromkeys(readers, 0)
    seen: dict[str, list[bytes | None]] = {name: [] for name in readers}
    with requirement("FETCH-041"):
        while any(position < len(VALUES) for position in positions.values()):
            for name, reader in readers.items():
                wanted = fetch_partition(positions[name], partition_max_bytes=1)
                request = fetch_request([fetch_topic(topic, api_version, [wanted])])
                got = _records(_partition(reader.ask(request, api_version)))
                assert got, f"{name} gets nothing at offset {positions[name]}"
                seen[name] += [value for _, value in got]
                positions[name] = got[-1][0] + 1
        assert seen == dict.fromkeys(readers, VALUES)


# -- waiting ---------------------------------------------------------------------------------------


@judges("FETCH-006")
@at_versions("Fetch", "4+")
def test_without_data_the_answer_comes_at_max_wait(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """An empty partition and min_bytes 1: an empty answer, not before max_wait_ms."""
    topic = kept.topic(broker, _log_of_nine)
    request = fetch_request([_entry(topic, api_version, {1: 0})], max_wait_ms=WAIT_MS)
    with requirement("FETCH-006"):
        response, took_ms = _timed(broker.connect(), request, api_version)
        _expect_at_max_wait(broker, took_ms)
        expect_error(_partition(response, 1).error_code, ErrorCode.NONE)
        assert not _partition(response, 1).records


@judges("FETCH-007")
@at_versions("Fetch", "4+")
def test_min_bytes_over_all_partitions_end_the_wait(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two partitions that hold min_bytes only together: answered long before max_wait_ms."""
    topic = broker.create_topic(partitions=2)
    batch = batch_of(b"half of it")
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = [_entry(topic, api_version, {0: 0, 1: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=len(batch) + 1)
    connection = broker.connect()
    with requirement("FETCH-007"):
        started = time.monotonic()
        connection.send(request, api_version)
        connection.expect_silence(for_ms=QUIET_MS)
        append(broker, topic, batch, partition=0)
        append(broker, topic, batch, partition=1)
        connection.receive_frame()
        took_ms = (time.monotonic() - started) * 1000
        _expect_prompt(took_ms, wait_ms)


@judges("FETCH-008")
@at_versions("Fetch", "4+")
def test_min_bytes_0_is_answered_at_once(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """An empty partition and min_bytes 0: nobody waits."""
    topic = kept.topic(broker, _log_of_nine)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = [_entry(topic, api_version, {1: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=0)
    with requirement("FETCH-008"):
        response, took_ms = _timed(broker.connect(), request, api_version)
        _expect_prompt(took_ms, wait_ms)
        expect_error(_partition(response, 1).error_code, ErrorCode.NONE)
        assert not _partition(response, 1).records


GATHERED_BYTES = 64 * 1024


def _part_of_the_sum(broker: BrokerUnderTest) -> bytes:
    """Three of these reach GATHERED_BYTES, two do not. Chance does not compress."""
    return batch_of(broker.random.randbytes(GATHERED_BYTES // 3 + 100))


@judges("FETCH-009")
@at_versions("Fetch", "4+")
def test_small_appends_are_gathered_to_min_bytes(broker: BrokerUnderTest, api_version: int) -> None:
    """min_bytes of 64 KiB: silent after the first two appends, answered with all three."""
    topic = broker.create_topic()
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = [_entry(topic, api_version, {0: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=GATHERED_BYTES)
    connection = broker.connect()
    parts = [_part_of_the_sum(broker) for _ in range(3)]
    with requirement("FETCH-009"):
        started = time.monotonic()
        connection.send(request, api_version)
        for part in parts[:2]:
            append(broker, topic, part)
            connection.expect_silence(for_ms=QUIET_MS)
        append(broker, topic, parts[2])
        response = connection.receive()
        took_ms = (time.monotonic() - started) * 1000
        assert isinstance(response, Answer)
        size = len(_partition(response).records or b"")
        assert size >= GATHERED_BYTES, f"{size} bytes, min_bytes is {GATHERED_BYTES}"
        _expect_prompt(took_ms, wait_ms)


@judges("FETCH-009")
def test_too_few_bytes_are_given_out_at_max_wait(broker: BrokerUnderTest) -> None:
    """min_bytes is never reached: what there is comes at max_wait_ms, not before."""
    topic, version = broker.create_topic(), broker.version("Fetch", "4+")
    append(broker, topic, batch_of(b"alone"))
    wanted = [_entry(topic, version, {0: 0})]
    request = fetch_request(wanted, max_wait_ms=WAIT_MS, min_bytes=GATHERED_BYTES)
    with requirement("FETCH-009"):
        response, took_ms = _timed(broker.connect(), request, version)
        _expect_at_max_wait(broker, took_ms)
        assert _values(_partition(response)) == [b"alone"]


# -- limits ----------------------------------------------------------------------------------------


@judges("FETCH-011")
@at_versions("Fetch", "4+")
def test_partition_max_bytes_bounds_a_partition(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Room for two of three batches: no byte more. Room for none: the first batch whole."""
    topic = kept.topic(broker, _log_of_nine)
    size = len(batch_of(*VALUES[:3]))
    with requirement("FETCH-011"):
        for limit in (2 * size, 2 * size + 1):
            data = broker.fetch(topic, 0, api_version, partition_max_bytes=limit)
            length = len(data.records or b"")
            assert length <= limit, f"{length} bytes with partition_max_bytes {limit}"
            assert _values(data) == VALUES[:6]
        data = broker.fetch(topic, 0, api_version, partition_max_bytes=1)
        found, length = _values(data), len(data.records or b"")
        told = f"partition_max_bytes 1: {length} bytes with {found}, not the first batch alone"
        assert (found, length) == (VALUES[:3], size), told


def _filled(response: Answer, order: tuple[int, ...]) -> list[int]:
    """The partitions, in this order, that have a whole batch."""
    return [index for index in order if _values(_partition(response, index))]


@judges("FETCH-012")
@at_versions("Fetch", "4+")
def test_max_bytes_bounds_the_answer_in_request_order(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Three partitions with a batch each, one empty: filled as asked, until max_bytes."""
    topic = kept.topic(broker, _three_of_four)
    one = len(ONE_BATCH)
    with requirement("FETCH-012"):
        for order in ((3, 0, 1, 2), (2, 0, 3, 1), (1, 2, 0, 3)):
            wanted = [_entry(topic, api_version, dict.fromkeys(order, 0))]
            with_data = [index for index in order if index != 3]
            for batches, limit in ((1, 1), (1, one), (2, 2 * one)):
                request = fetch_request(wanted, max_bytes=limit)
                response = broker.ask(request, api_version)
                sizes = [len(_partition(response, i).records or b"") for i in order]
                told = f"partitions {order} with max_bytes {limit}: {sizes} bytes"
                assert sum(sizes) <= max(limit, one), told
                assert _filled(response, order) == with_data[:batches], told


# -- errors ----------------------------------------------------------------------------------------


@judges("FETCH-015")
@at_versions("Fetch", "4+")
def test_an_unknown_partition_is_an_error(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A partition that the topic does not have: UNKNOWN_TOPIC_OR_PARTITION."""
    topic = kept.topic(broker, _log_of_nine)
    with requirement("FETCH-015"):
        data = broker.fetch(topic, 0, api_version, partition=2)
        expect_error(
            data.error_code, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "partition 2 of 0 and 1"
        )


@judges("FETCH-015")
@at_versions("Fetch", "4+")
def test_an_unknown_topic_is_an_error(broker: BrokerUnderTest, api_version: int) -> None:
    """By name UNKNOWN_TOPIC_OR_PARTITION, by id UNKNOWN_TOPIC_ID."""
    nowhere = Topic(broker.unique_topic(), UUID(int=broker.random.getrandbits(128), version=4))
    by_id = api_version >= FETCH_BY_ID
    expected = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with requirement("FETCH-015"):
        expect_error(broker.fetch(nowhere, 0, api_version).error_code, expected, "unknown topic")


@judges("FETCH-023")
@at_versions("Fetch", "9+")
def test_the_leader_epoch_of_a_fetch_is_validated(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The leader's own epoch and -1 are served, a newer one is UNKNOWN_LEADER_EPOCH."""
    topic = kept.topic(broker, _log_of_nine)
    epoch = broker.metadata([topic.name]).topics[0].partitions[0].leader_epoch
    expected = {
        -1: ErrorCode.NONE,
        epoch: ErrorCode.NONE,
        epoch + 1: ErrorCode.UNKNOWN_LEADER_EPOCH,
    }
    with requirement("FETCH-023"):
        for claimed, code in expected.items():
            request = fetch_request([_entry(topic, api_version, {0: 0})])
            request.topics[0].partitions[0].current_leader_epoch = claimed
            data = _partition(broker.ask(request, api_version))
            expect_error(data.error_code, code, f"epoch {claimed}, the leader's is {epoch}")
