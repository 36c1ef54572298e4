"""FETCH: the limits of a session's partitions, and their turns (KIP-227)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic, fetch_partition, fetch_topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchRequest, FetchResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, topic_with_batches
from suites.protocol.support.deleted_records import delete_records
from suites.protocol.support.expect import expect_error
from suites.protocol.support.fetch_session import fetch_session
from suites.protocol.support.fetching import entry_of, partitions_of, records_of
from suites.protocol.support.kept_topics import KeptTopics

PARTITIONS, BATCHES = 3, 3
FOR_ONE, FOR_ALL = len(batch_of(b"batch 0")), 1 << 20


def _three_batches_each(broker: BrokerUnderTest) -> Topic:
    batches = [batch_of(b"batch %d" % number) for number in range(BATCHES)]
    return topic_with_batches(broker, PARTITIONS, *batches)


def _with_room(topic: Topic, version: int, room: dict[int, int]) -> FetchRequest.FetchTopic:
    """Partitions to read from their beginning, each with its partition_max_bytes."""
    wanted = [
        fetch_partition(0, partition=partition, partition_max_bytes=limit)
        for partition, limit in room.items()
    ]
    return fetch_topic(topic, version, wanted)


def _counts(response: FetchResponse) -> dict[int, int]:
    """The number of records of each partition that has any."""
    named = partitions_of(response)
    counts = {data.partition_index: len(records_of(data)) for data in named}
    return {index: count for index, count in counts.items() if count}


@judges("FETCH-043")
@at_versions("Fetch", "7+")
def test_session_keeps_last_partition_max_bytes(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Room for one batch of two partitions; then one of them gets more, and less again."""
    topic = kept.topic(broker, _three_batches_each)
    opened = _with_room(topic, api_version, {0: FOR_ONE, 1: FOR_ONE})
    steps: list[tuple[str, dict[int, int], dict[int, int]]] = [
        ("nothing is sent", {}, {0: 1, 1: 1}),
        ("partition 0 gets more room", {0: FOR_ALL}, {0: BATCHES, 1: 1}),
        ("nothing is sent again", {}, {0: BATCHES, 1: 1}),
        ("partition 0 gets less room", {0: FOR_ONE}, {0: 1, 1: 1}),
    ]
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-043"):
        for what, sent, expected in steps:
            response = session.ask([_with_room(topic, api_version, sent)] if sent else [])
            expect_error(response.error_code, ErrorCode.NONE, what)
            found = _counts(response)
            assert found == expected, f"{what}: {found} batches came, expected {expected}"


@judges("FETCH-044")
@at_versions("Fetch", "7+")
def test_session_partitions_take_turns_when_max_bytes_is_for_one(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Six fetches with room for one batch: each of three partitions twice, in the same order."""
    topic = kept.topic(broker, _three_batches_each)
    opened = entry_of(topic, api_version, dict.fromkeys(range(PARTITIONS), 0))
    with fetch_session(broker, api_version, [opened]) as session, requirement("FETCH-044"):
        turns: list[list[int]] = []
        for _ in range(2 * PARTITIONS):
            request = session.next_request()
            request.max_bytes = FOR_ONE
            response = broker.ask(request, api_version)
            expect_error(response.error_code, ErrorCode.NONE)
            turns.append([*_counts(response)])
        first, second = turns[:PARTITIONS], turns[PARTITIONS:]
        told = f"the partitions with records of six fetches are {turns}"
        assert sorted(first) == [[index] for index in range(PARTITIONS)], told
        assert first == second, told


@judges("FETCH-053")
@at_versions("Fetch", "7+")
def test_session_partition_that_is_returned_without_records_keeps_its_turn(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Partition 0 is returned for its log start alone; then both have a record, 0 is first."""
    topic = _three_batches_each(broker)
    opened = entry_of(topic, api_version, {0: BATCHES, 1: BATCHES})
    with fetch_session(broker, api_version, [opened]) as session:
        delete_records(broker, topic, 1, partition=0)
        with requirement("FETCH-053"):
            moved = session.ask()
            named = [data.partition_index for one in moved.responses for data in one.partitions]
            assert named == [0], f"the log start of partition 0 has moved, named are {named}"
            append(broker, topic, batch_of(b"later"), partition=0)
            append(broker, topic, batch_of(b"later"), partition=1)
            request = session.next_request()
            request.max_bytes = FOR_ONE
            found = _counts(broker.ask(request, api_version))
            assert found == {0: 1}, f"partition 0 had no records yet, {found} came, expected 0: 1"
