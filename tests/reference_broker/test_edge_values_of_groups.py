"""Requests about groups and offsets with missing or excess fields, as Kafka 4.4.0 answers them."""

from uuid import UUID

import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    JoinGroupRequest,
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
)
from tests.reference_broker.running import Address, create_topic

GROUP = "edges"
COMMIT = OffsetCommitRequest.OffsetCommitRequestPartition
DELETE = OffsetDeleteRequest.OffsetDeleteRequestPartition


@pytest.fixture
def connection(address: Address) -> Connection:
    asking = Connection(address)
    asking.ask(FindCoordinatorRequest(key=GROUP), 3)  # makes the groups' topic
    return asking


def commit(
    *topics: tuple[str, list[int]], group: str = GROUP, note: str = ""
) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id=group,
        topics=[
            OffsetCommitRequest.OffsetCommitRequestTopic(
                name=name,
                partitions=[
                    COMMIT(partition_index=index, committed_offset=1, committed_metadata=note)
                    for index in indexes
                ],
            )
            for name, indexes in topics
        ],
    )


def test_offset_commit_merges_repeated_topics_with_refused_ones_first(
    address: Address, connection: Connection
) -> None:
    create_topic(address, "once")
    asked = commit(("once", [0, 9]), ("once", [0]), ("nothing", [0]), ("nothing", []))
    with connection:
        answer = connection.ask(asked, 8)
    told = {
        topic.name: [(part.partition_index, part.error_code) for part in topic.partitions]
        for topic in answer.topics
    }
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert told == {
        "once": [(9, unknown), (0, ErrorCode.NONE), (0, ErrorCode.NONE)],
        "nothing": [(0, unknown)],
    }
    assert len(answer.topics) == 2


def test_existing_topic_without_partitions_is_absent_from_response(
    address: Address, connection: Connection
) -> None:
    create_topic(address, "bare")
    delete = OffsetDeleteRequest(
        group_id=GROUP,
        topics=[
            OffsetDeleteRequest.OffsetDeleteRequestTopic(name=name) for name in ("bare", "none")
        ],
    )
    with connection:
        committed = connection.ask(commit(("bare", []), ("none", [])), 8)
        connection.ask(commit(("bare", [0])), 8)
        deleted = connection.ask(delete, 0)
    assert [topic.name for topic in committed.topics] == ["none"]
    assert [topic.name for topic in deleted.topics] == ["none"]


def test_refused_offset_commit_creates_no_group(address: Address, connection: Connection) -> None:
    create_topic(address, "noted")
    with connection:
        refused = connection.ask(commit(("noted", [0]), group="unmade", note="x" * 5000), 8)
        (found,) = connection.ask(DescribeGroupsRequest(groups=["unmade"]), 6).groups
    assert refused.topics[0].partitions[0].error_code == ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert found.error_code == ErrorCode.GROUP_ID_NOT_FOUND


def test_offset_fetch_with_zero_topic_id_returns_unknown_topic_id(connection: Connection) -> None:
    topic = OffsetFetchRequest.OffsetFetchRequestTopics(topic_id=UUID(int=0), partition_indexes=[0])
    group = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=GROUP, topics=[topic])
    with connection:
        answer = connection.ask(OffsetFetchRequest(groups=[group]), 10)
    (part,) = answer.groups[0].topics[0].partitions
    assert part.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize(("version", "name"), [(6, ""), (7, None)])
def test_refused_join_group_has_null_protocol_name_from_version_7(
    connection: Connection, version: int, name: str | None
) -> None:
    with connection:
        answer = connection.ask(JoinGroupRequest(group_id=""), version)
    assert (answer.error_code, answer.protocol_name) == (ErrorCode.INVALID_GROUP_ID, name)


def test_pending_dynamic_member_cannot_join_as_static(connection: Connection) -> None:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range")
    request = JoinGroupRequest(
        group_id="pending",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[protocol],
    )
    with connection:
        request.member_id = connection.ask(request, 9).member_id
        request.group_instance_id = "static"
        static = connection.ask(request, 9)
        request.group_instance_id = None
        dynamic = connection.ask(request, 9)
    assert (static.error_code, static.member_id) == (ErrorCode.UNKNOWN_SERVER_ERROR, "")
    assert (dynamic.error_code, dynamic.member_id) == (ErrorCode.NONE, request.member_id)
