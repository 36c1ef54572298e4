"""FETCH: what ends the wait of a request: appends of each kind, the deletion of a topic."""

from __future__ import annotations

from collections.abc import Mapping

from harness.client.broker import BrokerUnderTest
from harness.client.preparing import preparing
from harness.client.requests import Topic, fetch_request, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import fetch_session
from suites.protocol.support.fetch_waits import (
    APPEND_PATIENCE_MS,
    PROMPT,
    QUIET_MS,
    WOKEN,
    await_waiting,
    within,
)
from suites.protocol.support.fetching import entry_of, partition_of, partitions_of, values_of
from suites.protocol.support.gone_topics import delete_topic

EXTENDED_WAIT_MS = 1500
FIRST_PRODUCE_OF_BATCHES = 3
LATE_APPEND, LATEST, EXTENDED = 0.6, 0.8, 1.4
"""Shares of max_wait_ms: of the append, and of the answer, which a new wait would bring at 1.6."""
AFTER_DELETION = (
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.INCONSISTENT_TOPIC_ID,
)


def _append_without_answer(broker: BrokerUnderTest, topic: Topic, value: bytes) -> None:
    """Append one record with acks 0."""
    version = broker.version("Produce")
    request = produce_request(topic, batch_of(value, version=version), version, acks=0)
    connection = broker.connect()
    with preparing(f"Produce to {topic.name} with acks 0"):
        connection.send(request, version)


@judges("FETCH-007")
@at_versions("Fetch", "0-3", "4+")
def test_append_with_acks_0_completes_all_waiting_fetches(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Two clients wait at the end of one log; a record that no client waits for ends both waits."""
    topic = broker.create_topic()
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    wanted = [entry_of(topic, api_version, {0: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
    waiting = [broker.connect() for _ in range(2)]
    with requirement("FETCH-007"):
        with within(WOKEN, wait_ms):
            waiting[0].send(request, api_version)
            waiting[1].send(request, api_version)
            await_waiting(broker, *waiting)
            _append_without_answer(broker, topic, b"without acks")
            answers = [connection.receive() for connection in waiting]
        found = [values_of(partition_of(_fetched(answer))) for answer in answers]
        assert found == [[b"without acks"]] * 2, f"after an append with acks 0 came {found}"


@judges("FETCH-007")
@at_versions("Produce", "0-1", "2", "3-8", "9+")
def test_append_of_messages_or_batches_completes_waiting_fetch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A fetch of the newest version waits; the producer sends messages, or a batch."""
    topic, version = broker.create_topic(), broker.version("Fetch")
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    wanted = [entry_of(topic, version, {0: 0})]
    sent = "messages" if api_version < FIRST_PRODUCE_OF_BATCHES else "batches"
    with requirement("FETCH-007"):
        with within(WOKEN, wait_ms):
            connection = broker.connect(f"FETCH-007 {sent}")
            connection.send(fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1), version)
            await_waiting(broker, connection)
            batch = batch_of(b"appended", version=api_version)
            code = broker.produce(topic, batch, api_version).error_code
            expect_error(code, ErrorCode.NONE, f"Produce of {sent}")
            answer = _fetched(connection.receive())
        found = values_of(partition_of(answer))
        assert found == [b"appended"], f"after an append of {sent} came {found}"


@judges("FETCH-059")
@at_versions("Fetch", "0-3", "4-12", "13+")
def test_fetch_that_waited_returns_idle_partitions_too(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Of three partitions the last gets a record: the answer has all, each with its watermark."""
    topic = broker.create_topic(partitions=3)
    append(broker, topic, batch_of(b"before"), partition=1)
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    wanted = [entry_of(topic, api_version, {0: 0, 1: 1, 2: 0})]
    connection = broker.connect("FETCH-059")
    with requirement("FETCH-059"):
        with within(WOKEN, wait_ms):
            request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
            connection.send(request, api_version)
            await_waiting(broker, connection)
            append(broker, topic, batch_of(b"meanwhile"), partition=2)
            answer = _fetched(connection.receive())
        found = {
            data.partition_index: (data.high_watermark, values_of(data))
            for data in partitions_of(answer)
        }
        expected = {0: (0, []), 1: (1, []), 2: (1, [b"meanwhile"])}
        assert found == expected, f"high watermarks and values are {found}, expected {expected}"


def _fetched(answer: object) -> FetchResponse:
    assert isinstance(answer, FetchResponse)
    return answer


def _codes(answer: FetchResponse) -> dict[tuple[str, int], int]:
    """The error of each partition, by the topic as the answer names it."""
    return {
        (topic.topic or str(topic.topic_id), data.partition_index): data.error_code
        for topic in answer.responses
        for data in topic.partitions
    }


def _deleted_while_waiting(
    broker: BrokerUnderTest, wanted: list[FetchRequest.FetchTopic], topic: Topic, version: int
) -> Mapping[tuple[str, int], int]:
    """Return the errors of a fetch that waits while the topic is deleted."""
    wait_ms = int(broker.scaled_ms(2 * APPEND_PATIENCE_MS))
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1)
    connection = broker.connect()
    with within(PROMPT, wait_ms):
        connection.send(request, version)
        await_waiting(broker, connection)
        delete_topic(broker, topic)
        answer = _fetched(connection.receive())
    assert not any(data.records for one in answer.responses for data in one.partitions)
    return _codes(answer)


@judges("FETCH-048")
@at_versions("Fetch", "0-3", "4-12", "13+")
def test_deletion_of_topic_completes_fetch_that_waits_for_last_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Partition 1 alone, then beside the idle partition of another topic, which has no error."""
    idle = broker.create_topic()
    append(broker, idle, batch_of(b"idle"))
    with requirement("FETCH-048") as check:
        for where in ("alone", "beside an idle partition"):
            with check.subtest(where):
                topic = broker.create_topic(partitions=2)
                wanted = [entry_of(topic, api_version, {1: 0})]
                if where != "alone":
                    wanted.insert(0, entry_of(idle, api_version, {0: 1}))
                codes = dict(_deleted_while_waiting(broker, wanted, topic, api_version))
                for name in (idle.name, str(idle.id)):
                    expect_error(codes.pop((name, 0), 0), ErrorCode.NONE, "the idle partition")
                assert len(codes) == 1, f"{where}: partitions of the deleted topic are {codes}"
                code = next(iter(codes.values()))
                told = f"{where}: error is {ErrorCode.describe(code)} after the deletion"
                assert code in AFTER_DELETION, told


# -- in a session ----------------------------------------------------------------------------------


@judges("FETCH-034")
@at_versions("Fetch", "7+")
def test_incremental_fetch_that_names_one_partition_waits_for_all_of_session(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The request sends partition 0 again; min_bytes are those of a record each in 1 and 2."""
    topic = broker.create_topic(partitions=3)
    batch = batch_of(b"half of it", version=broker.version("Produce"))
    wait_ms = int(broker.scaled_ms(APPEND_PATIENCE_MS))
    opened = entry_of(topic, api_version, {0: 0, 1: 0, 2: 0})
    connection = broker.connect()
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-034"):
        again = [entry_of(topic, api_version, {0: 0})]
        with within(WOKEN, wait_ms):
            request = session.next_request(again, max_wait_ms=wait_ms, min_bytes=len(batch) + 1)
            connection.send(request, api_version)
            append(broker, topic, batch, partition=1)
            connection.expect_silence(for_ms=QUIET_MS)
            append(broker, topic, batch, partition=2)
            answer = _fetched(connection.receive())
        found = {data.partition_index: len(values_of(data)) for data in partitions_of(answer)}
        assert found == {1: 1, 2: 1}, f"partitions and their records are {found}"


@judges("FETCH-052")
@at_versions("Fetch", "7+")
def test_waiting_fetch_of_overtaken_session_epoch_returns_invalid_fetch_session_epoch(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """One client waits, another one is served the next epoch; then a record ends the wait.

    The record is in the answer of the epoch after that, and in no earlier one.
    """
    topic = broker.create_topic()
    wait_ms = int(broker.scaled_ms(2 * APPEND_PATIENCE_MS))
    opened = entry_of(topic, api_version, {0: 0})
    connection = broker.connect()
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-052"):
        request = session.next_request(max_wait_ms=wait_ms, min_bytes=1)
        connection.send(request, api_version)
        await_waiting(broker, connection)
        expect_error(session.ask().error_code, ErrorCode.NONE, "the epoch that overtakes")
        append(broker, topic, batch_of(b"later"))
        answer = _fetched(connection.receive())
        expect_error(answer.error_code, ErrorCode.INVALID_FETCH_SESSION_EPOCH, "the overtaken one")
        assert answer.responses == [], "the overtaken fetch has partitions beside its error"
        following = session.ask()
        expect_error(following.error_code, ErrorCode.NONE, "the epoch after both")
        found = [values_of(data) for data in partitions_of(following)]
        assert found == [[b"later"]], f"the epoch after both returns {found}"


# -- the end of the time ---------------------------------------------------------------------------


@judges("FETCH-009")
def test_append_below_min_bytes_does_not_extend_wait(broker: BrokerUnderTest) -> None:
    """A record when more than half of max_wait_ms is over: the answer comes at max_wait_ms."""
    topic = broker.create_topic()
    version = broker.reading_version(topic)
    wait_ms = int(broker.scaled_ms(EXTENDED_WAIT_MS))
    wanted = [entry_of(topic, version, {0: 0})]
    request = fetch_request(wanted, max_wait_ms=wait_ms, min_bytes=1 << 16)
    connection = broker.connect()
    with requirement("FETCH-009"):
        with within(EXTENDED, wait_ms):
            connection.send(request, version)
            connection.expect_silence(for_ms=LATE_APPEND * wait_ms, at_most_ms=LATEST * wait_ms)
            append(broker, topic, batch_of(b"late"))
            answer = _fetched(connection.receive())
        found = values_of(partition_of(answer))
        assert found == [b"late"], f"at max_wait_ms {found} came"
