"""FETCH: how long a request waits, for what, and what ends it."""

from __future__ import annotations

import time

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import fetch_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest
from harness.codec.messages import FetchResponse as Answer
from harness.conformance.checks import requirement
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import fetch_session, forget
from suites.protocol.support.fetch_waits import (
    APPEND_PATIENCE_MS,
    PATIENCE_MS,
    PROMPT,
    QUIET_MS,
    WOKEN,
    await_waiting,
    within,
)
from suites.protocol.support.fetching import (
    NO_PARTITION,
    VALUES,
    entry_of,
    log_of_nine,
    partition_of,
    partitions_of,
    values_of,
)
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.leader_epoch import told_leader_epoch

WAIT_MS = 100
LONGER_WAIT_MS = 700  # a broker that waits for a time of its own is not right for both
SESSION_WAIT_MS = 100
EARLY_MS = 10  # a timer may be this much too quick: ticks, rounding
LATE_MS = 5000  # an idle machine needs a few; a loaded one may be slow and conform
GATHERED_BYTES = 64 * 1024


def _at_max_wait(
    broker: BrokerUnderTest, request: FetchRequest, version: int, wait_ms: int = WAIT_MS
) -> Answer:
    """The answer, which comes not before max_wait_ms, and not very long after it."""
    connection = broker.connect()
    bound_ms = wait_ms + broker.scaled_ms(LATE_MS)
    with in_time(bound_ms):
        started = time.monotonic()
        response = connection.ask(request, version)
        took_ms = (time.monotonic() - started) * 1000
        told = f"answered after {took_ms:.0f} ms, max_wait_ms is {wait_ms}"
        assert took_ms >= wait_ms - EARLY_MS, told
        assert took_ms <= bound_ms, told
    return response


@judges("FETCH-006")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_without_data_returns_empty_after_max_wait_ms(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Min_bytes 1 at the end of a log with records, of an empty one, and of both.

    An empty answer with each log's high watermark, not before max_wait_ms, be it short or longer.
    """
    topic = kept.topic(broker, log_of_nine)
    with requirement("FETCH-006") as check:
        for ends, wait_ms in (({1: 0}, WAIT_MS), ({0: 9}, LONGER_WAIT_MS), ({0: 9, 1: 0}, WAIT_MS)):
            with check.subtest(f"from the ends {ends}"):
                wanted = [entry_of(topic, api_version, ends)]
                request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
                response = _at_max_wait(broker, request, api_version, wait_ms)
                for index, end in ends.items():
                    found = partition_of(response, index)
                    expect_error(found.error_code, ErrorCode.NONE, f"partition {index}")
                    assert not record_bytes(found), f"partition {index}: records came from its end"
                    high = found.high_watermark
                    assert high == end, (
                        f"partition {index}: the high watermark is {high}, not {end}"
                    )


@judges("FETCH-006")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_with_max_wait_0_returns_records_and_empty_partition(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Every partition is answered at once, the full one with its records, the empty one empty."""
    topic = kept.topic(broker, log_of_nine)
    wanted = [entry_of(topic, api_version, {0: 0, 1: 0})]
    request = fetch_request(wanted, max_wait_ms=0, min_bytes=1)
    with requirement("FETCH-006"):
        response = broker.ask(request, api_version)
        full, empty = partition_of(response, 0), partition_of(response, 1)
        assert values_of(full)[:1] == VALUES[:1], "no records with max_wait_ms 0"
        expect_error(empty.error_code, ErrorCode.NONE)
        assert not record_bytes(empty)


@judges("FETCH-006")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_with_max_wait_below_0_returns_immediately(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """An empty partition, min_bytes 1: -1 and the lowest number are no time, like 0."""
    topic = kept.topic(broker, log_of_nine)
    wanted = [entry_of(topic, api_version, {1: 0})]
    with requirement("FETCH-006") as check:
        for wait_ms in (0, -1, -(2**31)):
            with check.subtest(f"max_wait_ms {wait_ms}"):
                request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
                answer = broker.connect().ask(request, api_version)
                data = partition_of(answer, 1)
                expect_error(data.error_code, ErrorCode.NONE, f"max_wait_ms {wait_ms}")
                assert not record_bytes(data), "records came of an empty partition"


@judges("FETCH-007")
@at_versions("Fetch", "0-3", "4+")
def test_min_bytes_reached_across_partitions_completes_fetch_before_max_wait(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two partitions that hold min_bytes only together: answered long before max_wait_ms."""
    topic = broker.create_topic(partitions=2)
    # in the form in which it is stored, for its size counts
    batch = batch_of(b"half of it", version=broker.version("Produce"))
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    wanted = [entry_of(topic, api_version, {0: 0, 1: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=len(batch) + 1)
    connection = broker.connect()
    with requirement("FETCH-007"):
        with within(WOKEN, wait_ms):
            connection.send(request, api_version)
            await_waiting(broker, connection)
            append(broker, topic, batch, partition=0)
            append(broker, topic, batch, partition=1)
            connection.receive_frame()


@judges("FETCH-008")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_with_min_bytes_0_returns_immediately(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A fetch with min_bytes 0 from an empty partition does not wait."""
    topic = kept.topic(broker, log_of_nine)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = [entry_of(topic, api_version, {1: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=0)
    with requirement("FETCH-008"):
        connection = broker.connect()
        with within(PROMPT, wait_ms):
            response = connection.ask(request, api_version)
        expect_error(partition_of(response, 1).error_code, ErrorCode.NONE)
        assert not partition_of(response, 1).records


def _part_of_the_sum(broker: BrokerUnderTest) -> bytes:
    """Three of these reach GATHERED_BYTES, two do not. Chance does not compress."""
    return batch_of(broker.random.randbytes(GATHERED_BYTES // 3 + 100))


@judges("FETCH-009")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_accumulates_small_appends_until_min_bytes(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """min_bytes of 64 KiB: silent after the first two appends, answered with all three."""
    topic = broker.create_topic()
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    wanted = [entry_of(topic, api_version, {0: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=GATHERED_BYTES)
    connection = broker.connect()
    parts = [_part_of_the_sum(broker) for _ in range(3)]
    with requirement("FETCH-009"):
        with within(WOKEN, wait_ms):
            connection.send(request, api_version)
            await_waiting(broker, connection)
            for part in parts[:2]:
                append(broker, topic, part)
                connection.expect_silence(for_ms=QUIET_MS)
            append(broker, topic, parts[2])
            response = connection.receive()
        assert isinstance(response, Answer)
        size = len(record_bytes(partition_of(response)))
        assert size >= GATHERED_BYTES, f"{size} bytes, min_bytes is {GATHERED_BYTES}"


@judges("FETCH-009")
def test_fetch_below_min_bytes_returns_available_records_at_max_wait(
    broker: BrokerUnderTest,
) -> None:
    """min_bytes is never reached: what there is comes at max_wait_ms, not before."""
    topic = broker.create_topic()
    version = broker.reading_version(topic)
    append(broker, topic, batch_of(b"alone"))
    wanted = [entry_of(topic, version, {0: 0})]
    request = fetch_request(wanted, max_wait_ms=WAIT_MS, min_bytes=GATHERED_BYTES)
    with requirement("FETCH-009"):
        response = _at_max_wait(broker, request, version)
        assert values_of(partition_of(response)) == [b"alone"]


@judges("FETCH-009")
def test_fetch_returns_records_of_its_wait_at_max_wait(broker: BrokerUnderTest) -> None:
    """A record before the fetch and one while it waits, both together below min_bytes."""
    topic = broker.create_topic()
    version = broker.reading_version(topic)
    append(broker, topic, batch_of(b"before"))
    wait_ms = int(broker.scaled_ms(LONGER_WAIT_MS))
    wanted = [entry_of(topic, version, {0: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=GATHERED_BYTES)
    connection = broker.connect()
    with requirement("FETCH-009"):
        with within(PROMPT, wait_ms):
            connection.send(request, version)
            await_waiting(broker, connection)
            append(broker, topic, batch_of(b"meanwhile"))
        response = connection.receive()
        assert isinstance(response, Answer)
        found = values_of(partition_of(response))
        assert found == [b"before", b"meanwhile"], f"at max_wait_ms {found} came"


@judges("FETCH-010")
@at_versions("Fetch", "0-3", "4+")
def test_offset_out_of_range_completes_fetch_immediately(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """One idle partition, one read outside of its log: answered at once."""
    topic = kept.topic(broker, log_of_nine)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = [entry_of(topic, api_version, {1: 0, 0: 77})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
    with requirement("FETCH-010"):
        connection = broker.connect()
        with within(PROMPT, wait_ms):
            response = connection.ask(request, api_version)
        expect_error(partition_of(response, 0).error_code, ErrorCode.OFFSET_OUT_OF_RANGE)
        expect_error(partition_of(response, 1).error_code, ErrorCode.NONE, "the idle partition")


@judges("FETCH-010")
@at_versions("Fetch", "9+")
def test_unknown_leader_epoch_completes_fetch_immediately(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """One idle partition, one read at its end with a leader epoch to come: answered at once."""
    topic = kept.topic(broker, log_of_nine)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = entry_of(topic, api_version, {1: 0, 0: len(VALUES)})
    wanted.partitions[1].current_leader_epoch = told_leader_epoch(broker, topic) + 1
    request = fetch_request([wanted], max_wait_ms=wait_ms, min_bytes=1)
    with requirement("FETCH-010"):
        connection = broker.connect()
        with within(PROMPT, wait_ms):
            response = connection.ask(request, api_version)
        expect_error(partition_of(response, 0).error_code, ErrorCode.UNKNOWN_LEADER_EPOCH)
        expect_error(partition_of(response, 1).error_code, ErrorCode.NONE, "the idle partition")


@judges("FETCH-058")
@at_versions("Fetch", "0-3", "4-6", "7+")
def test_fetch_of_no_partition_returns_immediately(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """No topic, and a topic without partitions: there is nothing to wait for."""
    topic = kept.topic(broker, log_of_nine)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    with requirement("FETCH-058") as check:
        for wanted in ([], [entry_of(topic, api_version, {})]):
            with check.subtest(f"{len(wanted)} topics"):
                request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
                connection = broker.connect("FETCH-058")
                with within(PROMPT, wait_ms):
                    response = connection.ask(request, api_version)
                expect_error(response.error_code, ErrorCode.NONE)
                assert not partitions_of(response), "partitions that were not asked for"


@judges("FETCH-010")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_of_only_unknown_partition_returns_immediately(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Nothing else is asked: answered at once. Beside an idle partition the broker may wait."""
    topic = kept.topic(broker, log_of_nine)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    wanted = [entry_of(topic, api_version, {NO_PARTITION: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
    with requirement("FETCH-010"):
        connection = broker.connect()
        with within(PROMPT, wait_ms):
            response = connection.ask(request, api_version)
        found = partition_of(response, NO_PARTITION).error_code
        expect_error(found, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


# -- in a session ----------------------------------------------------------------------------------


@judges("FETCH-034")
@at_versions("Fetch", "7+")
def test_empty_incremental_fetch_without_data_returns_after_max_wait_ms(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Nothing new to ask and nothing to read: an empty answer, not before max_wait_ms."""
    topic = kept.topic(broker, log_of_nine)
    opened = entry_of(topic, api_version, {0: 9, 1: 0})
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-034"):
        request = session.next_request(max_wait_ms=SESSION_WAIT_MS, min_bytes=1)
        response = _at_max_wait(broker, request, api_version, SESSION_WAIT_MS)
        expect_error(response.error_code, ErrorCode.NONE)
        assert not any(p.records for p in partitions_of(response))


@judges("FETCH-034")
@at_versions("Fetch", "7+")
def test_append_completes_empty_incremental_fetch_before_max_wait(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The session alone says what is waited for: answered with it, long before max_wait_ms."""
    topic = broker.create_topic(partitions=2)
    wait_ms = int(broker.scaled_ms(PATIENCE_MS))
    opened = entry_of(topic, api_version, {0: 0, 1: 0})
    connection = broker.connect()
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-034"):
        with within(PROMPT, wait_ms):
            request = session.next_request(max_wait_ms=wait_ms, min_bytes=1)
            connection.send(request, api_version)
            await_waiting(broker, connection)
            append(broker, topic, batch_of(b"awaited"), partition=1)
            response = connection.receive()
        assert isinstance(response, Answer)
        assert values_of(partition_of(response, 1)) == [b"awaited"]


@judges("FETCH-034")
@at_versions("Fetch", "7+")
def test_empty_incremental_fetch_waits_for_added_and_not_for_forgotten_partitions(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Partition 1 has left the session, and 2 has come: 1 wakes no fetch, 2 does.

    The answer brings the records of 2 alone, long before max_wait_ms.
    """
    topic = broker.create_topic(partitions=3)
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    opened = entry_of(topic, api_version, {0: 0, 1: 0})
    connection = broker.connect()
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-034"):
        added = entry_of(topic, api_version, {2: 0})
        changed = session.ask([added], [forget(topic, api_version, 1)])
        expect_error(changed.error_code, ErrorCode.NONE, "the change of the session")
        with within(PROMPT, wait_ms):
            request = session.next_request(max_wait_ms=wait_ms, min_bytes=1)
            connection.send(request, api_version)
            await_waiting(broker, connection)
            append(broker, topic, batch_of(b"forgotten"), partition=1)
            connection.expect_silence(for_ms=QUIET_MS)
            append(broker, topic, batch_of(b"added"), partition=2)
            response = connection.receive()
        assert isinstance(response, Answer)
        expect_error(response.error_code, ErrorCode.NONE)
        values = {
            partition.partition_index: values_of(partition)
            for answered in response.responses
            for partition in answered.partitions
        }
        assert values == {2: [b"added"]}, f"partitions with values: {values}"
