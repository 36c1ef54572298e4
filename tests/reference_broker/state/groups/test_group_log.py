"""The groups' internal topic; labs/group_model compares what is in it with Kafka's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.client.connection import Connection
from harness.codec.data_framing.coordinator_records import OFFSETS
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteGroupsRequest,
    DeleteTopicsRequest,
    DescribeGroupsRequest,
    FetchRequest,
    FetchResponse,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    ListGroupsRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    SyncGroupRequest,
)
from harness.codec.records import decode_batches
from harness.reference_broker.state.groups.group_log import java_hash
from labs.awaiting import await_right
from tests.reference_broker.running import create_topic, running_broker

GROUP, TOPIC, BY_NAME = "g", "t", 12
TOO_LONG = "." * 4097
COMMIT = ("OffsetCommitKey", 4)
OFFSET_GONE, GROUP_GONE = ("OffsetCommitKey", -1), ("GroupMetadataKey", -1)


@pytest.fixture
def connection() -> Iterator[Connection]:
    """A connection to a broker with one partition for groups and frequent checks of retention."""
    with _connected({"offsets.retention.check.interval.ms": "50"}) as made:
        yield made


@pytest.fixture
def unhurried() -> Iterator[Connection]:
    """The same, but no group without offsets expires during a test."""
    with _connected({}) as made:
        yield made


@contextmanager
def _connected(settings: dict[str, str]) -> Iterator[Connection]:
    with running_broker({"offsets.topic.num.partitions": "1", **settings}) as address:
        create_topic(address, TOPIC)
        with Connection(address) as made:
            made.ask(FindCoordinatorRequest(key=GROUP), 2)
            yield made


def commit(
    connection: Connection,
    version: int = 5,
    *,
    group: str = GROUP,
    retention_ms: int = -1,
    metadata: str = "",
    times: int = 1,
    expected: ErrorCode = ErrorCode.NONE,
) -> None:
    request = OffsetCommitRequest
    part = request.OffsetCommitRequestPartition(committed_offset=5, committed_metadata=metadata)
    topic = request.OffsetCommitRequestTopic(name=TOPIC, partitions=[part] * times)
    asked = request(group_id=group, topics=[topic], retention_time_ms=retention_ms)
    answer = connection.ask(asked, version)
    assert answer.topics[0].partitions[0].error_code == expected


def commit_nothing(connection: Connection, group: str) -> None:
    commit(connection, group=group, metadata=TOO_LONG, expected=ErrorCode.OFFSET_METADATA_TOO_LARGE)


def listed(connection: Connection) -> set[str]:
    return {group.group_id for group in connection.ask(ListGroupsRequest(), 2).groups}


def deletion(connection: Connection, group: str = GROUP) -> int:
    return connection.ask(DeleteGroupsRequest(groups_names=[group]), 2).results[0].error_code


def described(connection: Connection, group: str) -> str:
    return connection.ask(DescribeGroupsRequest(groups=[group]), 2).groups[0].group_state


def fetch_from(offset: int, max_wait_ms: int = 0) -> FetchRequest:
    part = FetchRequest.FetchPartition(fetch_offset=offset, partition_max_bytes=1 << 20)
    topic = FetchRequest.FetchTopic(topic=OFFSETS.topic, partitions=[part])
    return FetchRequest(
        replica_id=-1, max_wait_ms=max_wait_ms, min_bytes=1, max_bytes=1 << 20, topics=[topic]
    )


def written(connection: Connection) -> list[tuple[str, int]]:
    """The name of the key and the version of the value of each record, -1 for a tombstone."""
    (part,) = connection.ask(fetch_from(0), BY_NAME).responses[0].partitions
    found = []
    for batch in decode_batches(part.records or b""):
        for record in batch.records:
            assert record.key is not None
            read = OFFSETS.read_record(record.key, record.value)
            found.append((type(read.key).__name__, read.value_version))
    return found


def test_commit_completes_waiting_fetch_of_offsets_topic(connection: Connection) -> None:
    with Connection(connection.address) as reader:
        reader.send(fetch_from(0, max_wait_ms=30_000), BY_NAME)
        commit(connection)
        answer = reader.receive(5_000)
    assert isinstance(answer, FetchResponse)
    assert answer.responses[0].partitions[0].records


def test_group_of_empty_commit_is_listed_after_next_write(
    unhurried: Connection,
) -> None:
    commit_nothing(unhurried, "new")
    assert (listed(unhurried), described(unhurried, "new")) == (set(), "Dead")
    commit(unhurried)
    assert (listed(unhurried), described(unhurried, "new")) == ({"new", GROUP}, "Empty")


def test_unlisted_group_can_be_deleted(unhurried: Connection) -> None:
    commit_nothing(unhurried, GROUP)
    assert deletion(unhurried) == ErrorCode.NONE
    assert written(unhurried) == [GROUP_GONE]
    assert deletion(unhurried) == ErrorCode.GROUP_ID_NOT_FOUND


def test_failed_write_removes_unlisted_group(unhurried: Connection) -> None:
    commit(unhurried)
    commit_nothing(unhurried, "new")
    commit(unhurried, metadata="." * 4000, times=400, expected=ErrorCode.UNKNOWN_SERVER_ERROR)
    assert deletion(unhurried, "new") == ErrorCode.GROUP_ID_NOT_FOUND
    assert deletion(unhurried) == ErrorCode.NONE


def test_group_of_empty_commit_is_listed_immediately_before_4_0() -> None:
    settings = {"offsets.topic.num.partitions": "1"}
    with running_broker(settings, like="3.9.2") as address, Connection(address) as connection:
        create_topic(address, TOPIC)
        connection.ask(FindCoordinatorRequest(key=GROUP), 2)
        commit_nothing(connection, "new")
        assert listed(connection) == {"new"}


def test_deletion_of_group_writes_offset_and_group_tombstones(connection: Connection) -> None:
    commit(connection)
    assert deletion(connection) == ErrorCode.NONE
    assert written(connection) == [COMMIT, OFFSET_GONE, GROUP_GONE]


def test_deletion_of_offset_twice_writes_one_tombstone(connection: Connection) -> None:
    commit(connection)
    request = OffsetDeleteRequest
    topic = request.OffsetDeleteRequestTopic(
        name=TOPIC, partitions=[request.OffsetDeleteRequestPartition(partition_index=0)]
    )
    for _ in range(2):
        connection.ask(request(group_id=GROUP, topics=[topic]), 0)
    await_right(lambda: written(connection), [COMMIT, OFFSET_GONE, GROUP_GONE].__eq__, "all gone")


def test_expired_offset_is_removed_with_tombstones(connection: Connection) -> None:
    commit(connection, version=2, retention_ms=1)
    expected = [("OffsetCommitKey", 1), OFFSET_GONE, GROUP_GONE]
    await_right(lambda: written(connection), expected.__eq__, "all gone")


def test_deletion_of_topic_writes_tombstones_of_its_offsets(connection: Connection) -> None:
    commit(connection)
    connection.ask(DeleteTopicsRequest(topic_names=[TOPIC], timeout_ms=1_000), 4)
    await_right(lambda: written(connection), [COMMIT, OFFSET_GONE, GROUP_GONE].__eq__, "all gone")


def test_sync_group_with_assignment_too_large_to_store_is_refused(connection: Connection) -> None:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=b"")
    joined = connection.ask(
        JoinGroupRequest(
            group_id=GROUP, session_timeout_ms=30_000, rebalance_timeout_ms=30_000,
            protocol_type="consumer", protocols=[protocol],
        ),
        3,
    )  # fmt: skip
    who = joined.member_id
    part = SyncGroupRequest.SyncGroupRequestAssignment(member_id=who, assignment=bytes(1_100_000))
    sync = SyncGroupRequest(group_id=GROUP, generation_id=1, member_id=who, assignments=[part])
    assert connection.ask(sync, 2).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    beat = connection.ask(HeartbeatRequest(group_id=GROUP, generation_id=1, member_id=who), 2)
    assert beat.error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert written(connection) == [("GroupMetadataKey", 3)]  # it is new


@pytest.mark.parametrize(("release", "version"), [("1.1.1", 1), ("2.8.2", 3), ("3.9.2", 3)])
def test_offset_commit_value_has_version_of_emulated_release(release: str, version: int) -> None:
    settings = {"offsets.topic.num.partitions": "1"}
    with running_broker(settings, like=release) as address, Connection(address) as connection:
        create_topic(address, TOPIC)
        connection.ask(FindCoordinatorRequest(key=GROUP), 1)
        commit(connection, version=3)
        (part,) = connection.ask(fetch_from(0), 4).responses[0].partitions
    (batch,) = decode_batches(part.records or b"")
    key, value = batch.records[0].key, batch.records[0].value
    assert key is not None
    assert OFFSETS.read_record(key, value).value_version == version


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("group", 98629247),
        ("my-group", 1906497762),  # Java has it negative
        ("polygenelubricants", 0),  # the one hash that has no positive
        ("é\U0001f600", 1996812),
    ],
)
def test_java_hash_returns_absolute_string_hash_of_java(text: str, expected: int) -> None:
    assert java_hash(text) == expected
