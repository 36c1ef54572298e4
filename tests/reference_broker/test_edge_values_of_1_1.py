"""Requests with missing, repeated or senseless values, as Kafka 1.1.1 answers them."""

from __future__ import annotations

from typing import Any

import pytest

from harness.client.connection import Connection
from harness.client.errors import BrokerMisbehaved
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    CreateTopicsRequest,
    DeleteGroupsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeLogDirsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetCommitRequest,
    OffsetForLeaderEpochRequest,
    ProduceRequest,
    SyncGroupRequest,
)
from harness.codec.records import LOG_APPEND_TIME, Record, RecordBatch, decode_batches, encode_batch
from tests.reference_broker.conftest import TOPIC
from tests.reference_broker.running import create_topic

GROUP = "g"
BATCH = encode_batch(RecordBatch([Record(b"v")]))
UNKNOWN_TOPIC = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
UNFORESEEN = ErrorCode.UNKNOWN_SERVER_ERROR
ASKED = AlterConfigsRequest.AlterConfigsResource
WANTED = CreateTopicsRequest.CreatableTopic
CODEC_AT = 22


@pytest.fixture
def release() -> str:
    return "1.1.1"


@pytest.fixture
def connection(connection: Connection) -> Connection:
    connection.ask(FindCoordinatorRequest(key=GROUP), 0)  # makes the groups' topic
    return connection


def produced(
    connection: Connection, *parts: tuple[int, bytes | None], version: int = 3, acks: int = 1
) -> list[tuple[int, int]]:
    """Return the error codes and base offsets."""
    data = [ProduceRequest.PartitionProduceData(index=index, records=sent) for index, sent in parts]
    to = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=data)
    asked = ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[to])
    (topic,) = connection.ask(asked, version).responses
    return [(part.error_code, part.base_offset) for part in topic.partition_responses]


def fetch(topic: str, index: int, *, replica_id: int = -1, isolation: int = 0) -> FetchRequest:
    part = FetchRequest.FetchPartition(partition=index, partition_max_bytes=1000)
    topics = [FetchRequest.FetchTopic(topic=topic, partitions=[part])]
    return FetchRequest(
        replica_id=replica_id, isolation_level=isolation, max_bytes=1000, topics=topics
    )


def listed(*asked: tuple[str, list[int]], replica_id: int = -1) -> ListOffsetsRequest:
    part = ListOffsetsRequest.ListOffsetsPartition
    return ListOffsetsRequest(
        replica_id=replica_id,
        topics=[
            ListOffsetsRequest.ListOffsetsTopic(
                name=name,
                partitions=[
                    part(partition_index=index, timestamp=-1, max_num_offsets=1)
                    for index in indexes
                ],
            )
            for name, indexes in asked
        ],
    )


def end_of_epoch(connection: Connection, *asked: int) -> list[tuple[int, int]]:
    parts = [
        OffsetForLeaderEpochRequest.OffsetForLeaderPartition(partition=0, leader_epoch=epoch)
        for epoch in asked
    ]
    topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic(topic=TOPIC, partitions=parts)
    answer = connection.ask(OffsetForLeaderEpochRequest(topics=[topic]), 0)
    return [(part.error_code, part.end_offset) for one in answer.topics for part in one.partitions]


def test_repeated_names_count_once(connection: Connection) -> None:
    described = connection.ask(DescribeGroupsRequest(groups=["a", "a"]), 0).groups
    deleted = connection.ask(DeleteTopicsRequest(topic_names=[TOPIC, TOPIC]), 1).responses
    assert [group.group_id for group in described] == ["a"]
    assert [(one.name, one.error_code) for one in deleted] == [(TOPIC, ErrorCode.NONE)]


@pytest.mark.parametrize("version", [0, 2])
def test_list_offsets_leaves_out_topics_without_partitions(
    connection: Connection, version: int
) -> None:
    answer = connection.ask(listed((TOPIC, [0, 0]), ("empty", [])), version)
    (topic,) = answer.topics
    code = ErrorCode.INVALID_REQUEST if version else ErrorCode.NONE
    assert [part.error_code for part in topic.partitions] == [code]


@pytest.mark.parametrize("version", [0, 2])
def test_debugger_gets_replica_not_available(connection: Connection, version: int) -> None:
    (topic,) = connection.ask(listed(("missing", [0]), replica_id=-2), version).topics
    assert topic.partitions[0].error_code == ErrorCode.REPLICA_NOT_AVAILABLE


@pytest.mark.parametrize(
    ("request_", "version"),
    [
        (FetchRequest(isolation_level=2), 5),
        (ListOffsetsRequest(isolation_level=2), 2),
        (FindCoordinatorRequest(key_type=3), 1),
        (AlterConfigsRequest(resources=[ASKED(resource_type=-1)]), 0),
        (
            DescribeConfigsRequest(
                resources=[DescribeConfigsRequest.DescribeConfigsResource(resource_type=-1)]
            ),
            1,
        ),
    ],
)
def test_unknown_value_closes_connection(
    connection: Connection, request_: Any, version: int
) -> None:
    with pytest.raises(BrokerMisbehaved):
        connection.ask(request_, version)


def test_fetch_looks_for_topics_first(connection: Connection) -> None:
    def code(topic: str, replica_id: int = -1) -> int:
        (answered,) = connection.ask(fetch(topic, 9, replica_id=replica_id), 2).responses
        return answered.partitions[0].error_code

    assert code("missing", -2) == code(TOPIC) == UNKNOWN_TOPIC
    assert code(TOPIC, -2) == ErrorCode.REPLICA_NOT_AVAILABLE


def test_fetch_has_last_stable_offset_for_read_committed_alone(connection: Connection) -> None:
    def stable(isolation: int) -> int:
        (answered,) = connection.ask(fetch(TOPIC, 0, isolation=isolation), 5).responses
        return answered.partitions[0].last_stable_offset

    assert (stable(0), stable(1)) == (-1, 0)


def test_fetch_lists_no_aborted_transactions_of_missing_topic(connection: Connection) -> None:
    (answered,) = connection.ask(fetch("missing", 0), 6).responses
    assert answered.partitions[0].aborted_transactions is None


def test_converted_records_have_their_own_length(connection: Connection) -> None:
    produced(connection, (0, BATCH))
    (answered,) = connection.ask(fetch(TOPIC, 0), 2).responses
    assert len(answered.partitions[0].records or b"") == 8 + 4 + 22 + 1


def test_epoch_begins_with_its_first_record(connection: Connection) -> None:
    assert end_of_epoch(connection, 0) == [(ErrorCode.NONE, -1)]
    produced(connection, (0, BATCH))
    assert end_of_epoch(connection, -2, 0) == [(ErrorCode.NONE, 1)]
    assert end_of_epoch(connection, -2) == [(ErrorCode.NONE, -1)]


def test_metadata_creates_topic_and_returns_leader_not_available(connection: Connection) -> None:
    def code(name: str, *, may_create: bool) -> int:
        topic = MetadataRequest.MetadataRequestTopic(name=name)
        asked = MetadataRequest(topics=[topic], allow_auto_topic_creation=may_create)
        return connection.ask(asked, 4).topics[0].error_code

    assert code("$", may_create=False) == UNKNOWN_TOPIC
    assert code("$", may_create=True) == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert code("new", may_create=True) == ErrorCode.LEADER_NOT_AVAILABLE
    assert code("new", may_create=True) == ErrorCode.NONE


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (WANTED(name="new", num_partitions=1), ErrorCode.INVALID_REPLICATION_FACTOR),
        (WANTED(name=TOPIC), ErrorCode.INVALID_PARTITIONS),
        (WANTED(name="new", num_partitions=-1, replication_factor=-1), 37),
        (WANTED(name=TOPIC, num_partitions=1, replication_factor=1), 36),
    ],
)
def test_create_topics_has_no_defaults(
    connection: Connection, topic: CreateTopicsRequest.CreatableTopic, code: int
) -> None:
    (answered,) = connection.ask(CreateTopicsRequest(topics=[topic]), 1).topics
    assert answered.error_code == code


def test_configs_without_value_are_unforeseen(connection: Connection) -> None:
    config = CreateTopicsRequest.CreatableTopicConfig(name="retention.ms", value=None)
    topic = WANTED(name="new", num_partitions=1, replication_factor=1, configs=[config])
    (created,) = connection.ask(CreateTopicsRequest(topics=[topic]), 1).topics
    assert created.error_code == UNFORESEEN
    assert altered(connection, (2, TOPIC, [("retention.ms", None)])) == [(2, UNFORESEEN)]


def altered(
    connection: Connection, *asked: tuple[int, str, list[tuple[str, str | None]]]
) -> list[tuple[int, int]]:
    """Return the resource types and error codes."""
    resources = [
        ASKED(
            resource_type=kind,
            resource_name=name,
            configs=[
                AlterConfigsRequest.AlterableConfig(name=key, value=value) for key, value in configs
            ],
        )
        for kind, name, configs in asked
    ]
    answer = connection.ask(AlterConfigsRequest(resources=resources), 0)
    return [(one.resource_type, one.error_code) for one in answer.responses]


def test_alter_configs_looks_for_topic_before_values(connection: Connection) -> None:
    assert altered(connection, (2, "", [])) == [(2, ErrorCode.INVALID_TOPIC_EXCEPTION)]
    assert altered(connection, (2, "missing", [("none", "1")])) == [(2, UNFORESEEN)]
    twice: list[tuple[str, str | None]] = [("retention.ms", "x"), ("retention.ms", "-2")]
    assert altered(connection, (2, TOPIC, twice)) == [(2, ErrorCode.NONE)]


def test_unknown_resource_type_refuses_request(connection: Connection) -> None:
    refused = ErrorCode.INVALID_REQUEST
    asked: list[tuple[str, str | None]] = [("retention.ms", "5")]
    assert altered(connection, (99, "", []), (2, TOPIC, asked)) == [(0, refused), (2, refused)]


def test_describe_configs_answers_last_request_for_resource(connection: Connection) -> None:
    wanted: tuple[list[str] | None, ...] = (None, [])
    asked = [
        DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=2, resource_name=TOPIC, configuration_keys=keys
        )
        for keys in wanted
    ]
    (result,) = connection.ask(DescribeConfigsRequest(resources=asked), 1).results
    assert (result.error_code, result.configs) == (ErrorCode.NONE, [])


def test_empty_group_id(connection: Connection) -> None:
    connection.ask(FindCoordinatorRequest(key=""), 0)
    synced = connection.ask(SyncGroupRequest(), 0)
    (deleted,) = connection.ask(DeleteGroupsRequest(groups_names=[""]), 0).results
    assert synced.error_code == ErrorCode.UNKNOWN_MEMBER_ID
    assert deleted.error_code == ErrorCode.INVALID_GROUP_ID


def test_group_that_waits_for_its_leader_is_rebalancing(connection: Connection) -> None:
    protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range")
    joined = connection.ask(
        JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=10_000,
            rebalance_timeout_ms=10_000,
            protocol_type="consumer",
            protocols=[protocol],
        ),
        1,
    )
    beat = HeartbeatRequest(group_id=GROUP, member_id=joined.member_id, generation_id=99)
    part = OffsetCommitRequest.OffsetCommitRequestPartition(partition_index=0)
    topic = OffsetCommitRequest.OffsetCommitRequestTopic(name=TOPIC, partitions=[part])
    (committed,) = connection.ask(OffsetCommitRequest(group_id=GROUP, topics=[topic]), 2).topics
    assert connection.ask(beat, 0).error_code == ErrorCode.REBALANCE_IN_PROGRESS
    assert committed.partitions[0].error_code == ErrorCode.REBALANCE_IN_PROGRESS


def test_produce_without_records_closes_connection(connection: Connection) -> None:
    with pytest.raises(BrokerMisbehaved):
        produced(connection, (0, None), version=0)


def test_produce_appends_last_data_of_partition(connection: Connection) -> None:
    unknown = BATCH[:CODEC_AT] + b"\x04" + BATCH[CODEC_AT + 1 :]
    assert produced(connection, (0, unknown), (0, BATCH)) == [(ErrorCode.NONE, 0)]


def test_produce_joins_batches_of_old_request_of_which_one_is_compressed(
    connection: Connection,
) -> None:
    compressed = encode_batch(RecordBatch([Record(b"w")]), "gzip")
    assert produced(connection, (0, BATCH + compressed), version=2) == [(ErrorCode.NONE, 0)]
    part = FetchRequest.FetchPartition(partition=0, partition_max_bytes=1 << 20)
    topic = FetchRequest.FetchTopic(topic=TOPIC, partitions=[part])
    (answered,) = connection.ask(FetchRequest(max_bytes=1 << 20, topics=[topic]), 5).responses
    (batch,) = decode_batches(answered.partitions[0].records or b"")
    assert [record.value for record in batch.records] == [b"v", b"w"]
    assert batch.attributes == 1


def test_produce_appends_all_batches_of_old_request(connection: Connection) -> None:
    assert produced(connection, (0, BATCH + BATCH), version=2) == [(ErrorCode.NONE, 0)]
    assert produced(connection, (0, BATCH)) == [(ErrorCode.NONE, 2)]


@pytest.mark.parametrize("version", [0, 3])
def test_produce_does_not_know_zstd(connection: Connection, version: int) -> None:
    batch = encode_batch(RecordBatch([Record(b"v")]), compression="zstd")
    assert produced(connection, (0, batch), version=version) == [(UNFORESEEN, -1)]


def test_illegal_acks_precede_missing_partition(connection: Connection) -> None:
    assert produced(connection, (9, BATCH), acks=2) == [(ErrorCode.INVALID_REQUIRED_ACKS, -1)]
    assert produced(connection, (9, BATCH)) == [(UNKNOWN_TOPIC, -1)]


def test_producer_may_not_set_log_append_time(connection: Connection) -> None:
    batch = encode_batch(RecordBatch([Record(b"v")], attributes=LOG_APPEND_TIME))
    assert produced(connection, (0, batch)) == [(ErrorCode.INVALID_TIMESTAMP, -1)]


def test_topic_that_is_named_twice_is_refused_once(connection: Connection) -> None:
    request = CreateTopicsRequest(topics=[WANTED(name="twice"), WANTED(name="twice")])
    (answered,) = connection.ask(request, 2).topics
    assert answered.error_code == ErrorCode.INVALID_REQUEST


def test_last_of_repeated_values_counts_for_new_topic(connection: Connection) -> None:
    config = CreateTopicsRequest.CreatableTopicConfig
    configs = [config(name="retention.ms", value=value) for value in (None, "1000")]
    assigned = CreateTopicsRequest.CreatableReplicaAssignment(partition_index=0, broker_ids=[1])
    topic = WANTED(
        name="last",
        num_partitions=-1,
        replication_factor=-1,
        assignments=[assigned, assigned],
        configs=configs,
    )
    (answered,) = connection.ask(CreateTopicsRequest(topics=[topic]), 2).topics
    assert answered.error_code == ErrorCode.NONE


def test_folders_list_no_topic_without_wanted_partition(connection: Connection) -> None:
    wanted = DescribeLogDirsRequest.DescribableLogDirTopic(topic=TOPIC, partitions=[9])
    (folder,) = connection.ask(DescribeLogDirsRequest(topics=[wanted]), 0).results
    assert folder.topics == []


def test_unknown_resource_that_is_named_twice_is_refused_once(connection: Connection) -> None:
    resource = ASKED(resource_type=0, resource_name=TOPIC)
    answer = connection.ask(AlterConfigsRequest(resources=[resource, resource]), 0)
    assert [one.error_code for one in answer.responses] == [ErrorCode.INVALID_REQUEST]


def test_partition_after_missing_one_is_read_with_negative_limit(connection: Connection) -> None:
    assert produced(connection, (0, BATCH)) == [(ErrorCode.NONE, 0)]
    parts = [
        FetchRequest.FetchPartition(partition=index, partition_max_bytes=1 << 20)
        for index in (99, 0)
    ]
    topic = FetchRequest.FetchTopic(topic=TOPIC, partitions=parts)
    (answered,) = connection.ask(FetchRequest(max_bytes=-1, topics=[topic]), 7).responses
    assert [part.error_code for part in answered.partitions] == [UNKNOWN_TOPIC, ErrorCode.NONE]


@pytest.mark.parametrize("base_offset", [0, 7])
def test_wrong_checksum_and_base_offset_precede_unknown_compression(
    connection: Connection, base_offset: int
) -> None:
    batch = bytearray(encode_batch(RecordBatch([Record(b"v")], base_offset=base_offset), "zstd"))
    batch[-1] ^= base_offset == 0
    assert produced(connection, (0, bytes(batch)), version=1) == [(ErrorCode.CORRUPT_MESSAGE, -1)]


def test_colliding_topic_is_not_created_by_metadata(connection: Connection) -> None:
    create_topic(connection.address, "a.b")
    topic = MetadataRequest.MetadataRequestTopic(name="a_b")
    (answered,) = connection.ask(MetadataRequest(topics=[topic]), 1).topics
    assert answered.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_invalid_record_is_corrupt_message_without_log_start(connection: Connection) -> None:
    batch = encode_batch(RecordBatch([Record(b"v")], last_offset_delta=5))
    data = ProduceRequest.PartitionProduceData(index=0, records=batch)
    to = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
    asked = ProduceRequest(acks=1, timeout_ms=1000, topic_data=[to])
    (part,) = connection.ask(asked, 5).responses[0].partition_responses
    assert (part.error_code, part.log_start_offset) == (ErrorCode.CORRUPT_MESSAGE, -1)
