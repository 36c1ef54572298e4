"""Requests with missing or excess fields, as Kafka 3.9.2 and 2.8.2 answer them."""

from __future__ import annotations

import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    ListGroupsRequest,
    ListOffsetsRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    ProduceRequest,
)
from harness.codec.records import LOG_APPEND_TIME, Record, RecordBatch, encode_batch
from tests.reference_broker.conftest import TOPIC
from tests.reference_broker.running import create_topic, running_broker
from tests.reference_broker.test_edge_values_of_groups import DELETE, GROUP, commit

UNSUPPORTED = ErrorCode.UNSUPPORTED_VERSION
LIST = ListOffsetsRequest.ListOffsetsPartition


@pytest.fixture
def connection(connection: Connection) -> Connection:
    connection.ask(FindCoordinatorRequest(key=GROUP), 0)  # makes the groups' topic
    return connection


def fetched(*topics: tuple[str, list[int]]) -> OffsetFetchRequest:
    return OffsetFetchRequest(
        group_id=GROUP,
        topics=[
            OffsetFetchRequest.OffsetFetchRequestTopic(name=name, partition_indexes=indexes)
            for name, indexes in topics
        ],
    )


def deleted(*topics: tuple[str, list[int]]) -> OffsetDeleteRequest:
    return OffsetDeleteRequest(
        group_id=GROUP,
        topics=[
            OffsetDeleteRequest.OffsetDeleteRequestTopic(
                name=name, partitions=[DELETE(partition_index=index) for index in indexes]
            )
            for name, indexes in topics
        ],
    )


def listed(
    *partitions: int, isolation_level: int = 0, replica_id: int = -1, timestamp: int = -1
) -> ListOffsetsRequest:
    topic = ListOffsetsRequest.ListOffsetsTopic(
        name=TOPIC,
        partitions=[LIST(partition_index=index, timestamp=timestamp) for index in partitions],
    )
    return ListOffsetsRequest(
        replica_id=replica_id, isolation_level=isolation_level, topics=[topic]
    )


TWICE = ((TOPIC, [0, 0]), (TOPIC, [1, 0]))


def test_repeated_partitions_of_group_request_are_returned_once(connection: Connection) -> None:
    committed = connection.ask(commit(*TWICE), 6).topics
    read = connection.ask(fetched(*TWICE, (TOPIC, []), ("missing", [])), 6).topics
    gone = connection.ask(deleted(*TWICE), 0).topics
    for topics in (committed, read, gone):
        (topic,) = topics
        assert topic.name == TOPIC
        assert sorted(part.partition_index for part in topic.partitions) == [0, 1]
        assert {part.error_code for part in topic.partitions} == {ErrorCode.NONE}


def test_missing_topic_without_partitions_is_returned_since_3_5(
    connection: Connection, release: str
) -> None:
    connection.ask(commit((TOPIC, [0])), 6)
    expected = ["missing"] if release == "3.9.2" else []
    committed = connection.ask(commit(("missing", [])), 6).topics
    gone = connection.ask(deleted(("missing", [])), 0).topics
    assert [topic.name for topic in committed] == expected
    assert [topic.name for topic in gone] == expected


def test_repeated_missing_partitions_are_returned_repeatedly_since_3_5(
    connection: Connection, release: str
) -> None:
    connection.ask(commit((TOPIC, [0])), 6)
    expected = [0, 0, 0] if release == "3.9.2" else [0]
    twice = (("missing", [0, 0]), ("missing", [0]))
    (committed,) = connection.ask(commit(*twice), 6).topics
    (gone,) = connection.ask(deleted(*twice), 0).topics
    assert [part.partition_index for part in committed.partitions] == expected
    assert [part.partition_index for part in gone.partitions] == expected


def test_group_without_members_is_removed_with_its_last_offset(connection: Connection) -> None:
    def groups() -> list[str]:
        return [group.group_id for group in connection.ask(ListGroupsRequest(), 0).groups]

    connection.ask(commit((TOPIC, [0, 1])), 6)
    connection.ask(deleted((TOPIC, [0])), 0)
    assert groups() == [GROUP]
    connection.ask(deleted((TOPIC, [1])), 0)
    assert groups() == []


def test_deleted_offset_of_one_group_removes_no_other_group(connection: Connection) -> None:
    joined = JoinGroupRequest(
        group_id="other",
        session_timeout_ms=30_000,
        rebalance_timeout_ms=30_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="range")],
    )
    assert connection.ask(joined, 5).error_code == ErrorCode.MEMBER_ID_REQUIRED
    connection.ask(commit((TOPIC, [0])), 6)
    connection.ask(deleted(("missing", [0])), 0)
    connection.ask(deleted((TOPIC, [0])), 0)
    groups = connection.ask(ListGroupsRequest(), 0).groups
    assert [group.group_id for group in groups] == ["other"]


def test_authorized_operations_of_group_exclude_config_operations(connection: Connection) -> None:
    asked = DescribeGroupsRequest(groups=[GROUP], include_authorized_operations=True)
    (described,) = connection.ask(asked, 3).groups
    assert described.authorized_operations == 1 << 3 | 1 << 6 | 1 << 8


def test_list_offsets_returns_error_for_repeated_partition_or_isolation(
    connection: Connection,
) -> None:
    def codes(*partitions: int, isolation_level: int = 0, replica_id: int = -1) -> list[int]:
        asked = listed(*partitions, isolation_level=isolation_level, replica_id=replica_id)
        (topic,) = connection.ask(asked, 5).topics
        return [part.error_code for part in topic.partitions]

    assert codes() == []
    assert codes(0, 0, 1) == [ErrorCode.INVALID_REQUEST, ErrorCode.INVALID_REQUEST, 0]
    unforeseen = ErrorCode.UNKNOWN_SERVER_ERROR
    assert codes(0, 0, 1, isolation_level=2) == [ErrorCode.INVALID_REQUEST] * 2 + [unforeseen]
    assert codes(1, isolation_level=2, replica_id=-2) == [0]


def test_offset_commit_and_fetch_version_0_need_zookeeper(
    connection: Connection, release: str
) -> None:
    error = UNSUPPORTED if release == "3.9.2" else ErrorCode.NONE
    (committed,) = connection.ask(commit((TOPIC, [0])), 0).topics
    (read,) = connection.ask(fetched((TOPIC, [0])), 0).topics
    assert [part.error_code for part in committed.partitions] == [error]
    assert [part.error_code for part in read.partitions] == [error]


def test_unknown_timestamp_precedes_unknown_isolation_level_since_3_9(
    connection: Connection, release: str
) -> None:
    asked = listed(0, isolation_level=2, timestamp=-4)
    (topic,) = connection.ask(asked, 5).topics
    refused = ErrorCode.UNSUPPORTED_VERSION if release == "3.9.2" else -1
    assert [part.error_code for part in topic.partitions] == [refused]


def test_commit_by_generation_to_unknown_group_returns_illegal_generation_before_4_0(
    connection: Connection, release: str
) -> None:
    asked = commit((TOPIC, [0]))
    asked.generation_id_or_member_epoch = 5
    for version in (8, 9) if release == "3.9.2" else (8,):
        (topic,) = connection.ask(asked, version).topics
        assert [part.error_code for part in topic.partitions] == [ErrorCode.ILLEGAL_GENERATION]


@pytest.mark.parametrize("version", [4, 11])
def test_unknown_isolation_level_of_fetch_has_null_records_since_3_0(
    connection: Connection, release: str, version: int
) -> None:
    part = FetchRequest.FetchPartition(partition_max_bytes=100)
    topic = FetchRequest.FetchTopic(topic=TOPIC, partitions=[part])
    asked = FetchRequest(isolation_level=2, max_bytes=100, session_epoch=-1, topics=[topic])
    (answered,) = connection.ask(asked, version).responses
    assert answered.partitions[0].error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    assert answered.partitions[0].records == (None if release == "3.9.2" else b"")


def test_refused_conversion_has_null_records_since_3_0(
    connection: Connection, release: str
) -> None:
    create_topic(connection.address, "new", message_downconversion_enable="false")
    sent = encode_batch(RecordBatch([Record(b"v")]))
    data = ProduceRequest.PartitionProduceData(index=0, records=sent)
    to = ProduceRequest.TopicProduceData(name="new", partition_data=[data])
    connection.ask(ProduceRequest(acks=1, timeout_ms=1000, topic_data=[to]), 7)
    part = FetchRequest.FetchPartition(partition_max_bytes=100)
    asked = FetchRequest(topics=[FetchRequest.FetchTopic(topic="new", partitions=[part])])
    (answered,) = connection.ask(asked, 1).responses
    assert answered.partitions[0].error_code == UNSUPPORTED
    assert answered.partitions[0].records == (None if release == "3.9.2" else b"")


@pytest.mark.parametrize(("like", "is_default"), [("1.1.1", True), ("2.8.2", False)])
def test_describe_configs_0_marks_defaults_before_2_7(like: str, is_default: bool) -> None:
    with running_broker(like=like) as address:
        create_topic(address, TOPIC)
        resource = DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=2, resource_name=TOPIC, configuration_keys=["retention.ms"]
        )
        with Connection(address) as asking:
            (result,) = asking.ask(DescribeConfigsRequest(resources=[resource]), 0).results
    assert [config.is_default for config in result.configs] == [is_default]


@pytest.mark.parametrize("like", ["1.1.1", "2.8.2"])
def test_value_that_cannot_be_read_is_unforeseen_before_2_1(like: str) -> None:
    configs = [("min.insync.replicas", "abc"), ("not.a.config", "1")]
    wanted = [
        CreateTopicsRequest.CreatableTopic(
            name=f"t{number}",
            num_partitions=1,
            replication_factor=1,
            configs=[CreateTopicsRequest.CreatableTopicConfig(name=name, value=value)],
        )
        for number, (name, value) in enumerate(configs)
    ]
    with running_broker(like=like) as address, Connection(address) as asking:
        answered = asking.ask(CreateTopicsRequest(topics=wanted), 2).topics
    invalid = ErrorCode.INVALID_CONFIG
    of_value = ErrorCode.UNKNOWN_SERVER_ERROR if like == "1.1.1" else invalid
    assert {each.name: each.error_code for each in answered} == {"t0": of_value, "t1": invalid}


@pytest.mark.parametrize(("version", "end"), [(2, 0), (7, 1)])
def test_produce_2_appends_last_data_of_repeated_partition_or_nothing(
    connection: Connection, version: int, end: int
) -> None:
    batch = encode_batch(RecordBatch([Record(b"v")]))
    parts = [
        ProduceRequest.PartitionProduceData(index=0, records=batch * count) for count in (1, 2)
    ]
    topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=parts)
    asked = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
    (answered,) = connection.ask(asked, version).responses
    codes = [part.error_code for part in answered.partition_responses]
    (found,) = connection.ask(listed(0), 5).topics
    assert (codes, found.partitions[0].offset) == ([ErrorCode.INVALID_RECORD], end)


def test_missing_partition_has_no_list_of_aborted_transactions_before_3_0(
    connection: Connection, release: str
) -> None:
    topic = FetchRequest.FetchTopic(topic="never", partitions=[FetchRequest.FetchPartition()])
    (answered,) = connection.ask(FetchRequest(topics=[topic]), 11).responses
    assert answered.partitions[0].aborted_transactions == (None if release == "2.8.2" else [])


def test_unforeseen_fetch_has_each_partition_once_before_3_1(
    connection: Connection, release: str
) -> None:
    parts = [FetchRequest.FetchPartition()] * 2
    topic = FetchRequest.FetchTopic(topic=TOPIC, partitions=parts)
    asked = FetchRequest(isolation_level=2, session_epoch=-1, topics=[topic])
    (answered,) = connection.ask(asked, 11).responses
    aborted = [part.aborted_transactions is None for part in answered.partitions]
    assert aborted == ([True] if release == "2.8.2" else [False, False])


def test_unknown_timestamp_of_list_offsets_0_is_a_time_before_3_9(
    connection: Connection, release: str
) -> None:
    part = ListOffsetsRequest.ListOffsetsPartition(timestamp=-5)
    topic = ListOffsetsRequest.ListOffsetsTopic(name="never", partitions=[part])
    (answered,) = connection.ask(ListOffsetsRequest(replica_id=-1, topics=[topic]), 0).topics
    expected = (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if release == "2.8.2"
        else ErrorCode.UNSUPPORTED_VERSION
    )
    assert answered.partitions[0].error_code == expected


def test_unknown_instance_counts_as_none_before_3_0(connection: Connection, release: str) -> None:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range")
    asked = JoinGroupRequest(
        group_id="g",
        protocol_type="consumer",
        protocols=[protocol],
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
    )
    asked.member_id = connection.ask(asked, 7).member_id
    joined = connection.ask(asked, 7)
    beat = HeartbeatRequest(group_id="g", member_id=joined.member_id, group_instance_id="other")
    answer = connection.ask(beat, 4)
    assert answer.error_code == (
        ErrorCode.ILLEGAL_GENERATION if release == "2.8.2" else ErrorCode.UNKNOWN_MEMBER_ID
    )


def produced(connection: Connection, records: bytes, version: int, acks: int = 1) -> int:
    data = ProduceRequest.PartitionProduceData(index=0, records=records)
    topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
    asked = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])
    (answered,) = connection.ask(asked, version).responses
    return answered.partition_responses[0].error_code


def test_batch_with_log_append_time_is_refused_before_3_6(
    connection: Connection, release: str
) -> None:
    batch = RecordBatch([Record(b"v")], attributes=LOG_APPEND_TIME)
    assert produced(connection, encode_batch(batch), 7) == (
        ErrorCode.INVALID_TIMESTAMP if release == "2.8.2" else ErrorCode.NONE
    )


def test_wrong_acks_precede_repeated_batches_of_old_versions(connection: Connection) -> None:
    batch = encode_batch(RecordBatch([Record(b"v")]))
    assert produced(connection, batch * 2, 2, acks=2) == ErrorCode.INVALID_REQUIRED_ACKS
    assert produced(connection, batch * 2, 2) == ErrorCode.INVALID_RECORD
