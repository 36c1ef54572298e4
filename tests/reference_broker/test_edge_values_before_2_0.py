"""Requests with missing or excess fields, as Kafka 0.10.2.2 answers them, and when that changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from harness.client.connection import Connection
from harness.client.errors import ConnectionClosed
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterConfigsRequest,
    CreateAclsRequest,
    CreateTopicsRequest,
    DeleteAclsRequest,
    DeleteTopicsRequest,
    DescribeAclsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    FetchRequest,
    FindCoordinatorRequest,
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    ListOffsetsRequest,
    MetadataRequest,
    OffsetFetchRequest,
    ProduceRequest,
    SaslHandshakeRequest,
    SyncGroupRequest,
    WriteTxnMarkersRequest,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from tests.reference_broker.running import named, running_broker
from tests.reference_broker.test_edge_values_of_groups import GROUP, commit

TOPIC = "edges"
OLD, NEXT = "0.10.2.2", "1.1.1"
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
LIST = ListOffsetsRequest.ListOffsetsPartition
DESCRIBED = DescribeConfigsRequest.DescribeConfigsResource
CREATED = CreateTopicsRequest.CreatableTopic


@contextmanager
def broker_like(release: str) -> Iterator[Connection]:
    with running_broker(like=release) as address, Connection(address) as asking:
        topic = CREATED(name=TOPIC, num_partitions=1, replication_factor=1)
        asking.ask(CreateTopicsRequest(topics=[topic], timeout_ms=1000), 0)
        asking.ask(FindCoordinatorRequest(key=GROUP), 0)  # makes the groups' topic
        yield asking


def joined(asking: Connection) -> str:
    """Return the member id of the group's first member."""
    asked = JoinGroupRequest(
        group_id=GROUP,
        session_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequest.JoinGroupRequestProtocol(name="range")],
    )
    return asking.ask(asked, 0).member_id


def produced(acks: int, index: int, records: bytes | None) -> ProduceRequest:
    data = ProduceRequest.PartitionProduceData(index=index, records=records)
    topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
    return ProduceRequest(acks=acks, timeout_ms=1000, topic_data=[topic])


BATCH = encode_batch(RecordBatch([Record(b"v")]))


@pytest.mark.parametrize(
    ("like", "error"),
    [(OLD, ErrorCode.UNKNOWN_MEMBER_ID), ("2.8.2", ErrorCode.INVALID_GROUP_ID)],
)
def test_empty_group_id_of_member_is_invalid_since_2_0(like: str, error: ErrorCode) -> None:
    with broker_like(like) as asking:
        codes = [
            asking.ask(SyncGroupRequest(), 0).error_code,
            asking.ask(HeartbeatRequest(), 0).error_code,
            asking.ask(LeaveGroupRequest(), 0).error_code,
        ]
    assert codes == [error] * 3


@pytest.mark.parametrize(("like", "mechanisms"), [(OLD, ["GSSAPI"]), (NEXT, [])])
def test_refused_sasl_handshake_has_configured_mechanisms_before_1_1(
    like: str, mechanisms: list[str]
) -> None:
    with broker_like(like) as asking:
        answer = asking.ask(SaslHandshakeRequest(mechanism="PLAIN"), 0)
    assert (answer.error_code, answer.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, mechanisms)


@pytest.mark.parametrize(("like", "times"), [(NEXT, 1), ("2.8.2", 2)])
def test_repeated_group_is_described_once_before_2_3(like: str, times: int) -> None:
    with broker_like(like) as asking:
        described = asking.ask(DescribeGroupsRequest(groups=["g", "g"]), 0).groups
    assert [one.group_id for one in described] == ["g"] * times


@pytest.mark.parametrize(("like", "state"), [(OLD, "AwaitingSync"), (NEXT, "CompletingRebalance")])
def test_group_without_assignment_has_other_state_name_before_1_1(like: str, state: str) -> None:
    with broker_like(like) as asking:
        joined(asking)
        (described,) = asking.ask(DescribeGroupsRequest(groups=[GROUP]), 0).groups
    assert described.group_state == state


@pytest.mark.parametrize(
    ("like", "heard", "committed"),
    [
        (NEXT, ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.REBALANCE_IN_PROGRESS),
        ("2.8.2", ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_group_without_assignment_refuses_before_other_checks_in_old_releases(
    like: str, heard: ErrorCode, committed: ErrorCode
) -> None:
    with broker_like(like) as asking:
        member = joined(asking)
        asked = HeartbeatRequest(group_id=GROUP, member_id=member, generation_id=77)
        of_unknown = HeartbeatRequest(group_id=GROUP, member_id="unknown", generation_id=77)
        assert asking.ask(asked, 0).error_code == heard
        assert asking.ask(of_unknown, 0).error_code == ErrorCode.UNKNOWN_MEMBER_ID
        (topic,) = asking.ask(commit((TOPIC, [0])), 2).topics
    assert [part.error_code for part in topic.partitions] == [committed]


@pytest.mark.parametrize(
    ("like", "error"), [(NEXT, ErrorCode.REBALANCE_IN_PROGRESS), ("2.8.2", ErrorCode.NONE)]
)
def test_heartbeat_before_assignment_is_refused_before_2_7(like: str, error: ErrorCode) -> None:
    with broker_like(like) as asking:
        member = joined(asking)
        asked = HeartbeatRequest(group_id=GROUP, member_id=member, generation_id=1)
        assert asking.ask(asked, 0).error_code == error


def test_refused_join_without_protocols_has_no_generation() -> None:
    with broker_like(OLD) as asking:
        answer = asking.ask(JoinGroupRequest(group_id="bare", session_timeout_ms=10_000), 0)
    assert (answer.error_code, answer.generation_id) == (ErrorCode.UNKNOWN_SERVER_ERROR, -1)


def test_unknown_member_of_empty_group_precedes_its_missing_protocols() -> None:
    again = JoinGroupRequest(group_id=GROUP, session_timeout_ms=10_000, member_id="unknown")
    with broker_like(OLD) as asking:
        asking.ask(commit((TOPIC, [0])), 2)
        assert asking.ask(again, 0).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_batch_is_corrupt_message_before_0_11() -> None:
    with broker_like(OLD) as asking:
        cases = [(1, 0, BATCH), (2, 0, BATCH * 2), (2, 9, BATCH), (1, 9, BATCH)]
        answers = [asking.ask(produced(*case), 2).responses[0] for case in cases]
    codes = [one.partition_responses[0].error_code for one in answers]
    acks = ErrorCode.INVALID_REQUIRED_ACKS
    assert codes == [ErrorCode.CORRUPT_MESSAGE, acks, acks, UNKNOWN]


@pytest.mark.parametrize("like", [OLD, NEXT])
def test_null_records_close_connection_before_2_8(like: str) -> None:
    with broker_like(like) as asking, pytest.raises(ConnectionClosed):
        asking.ask(produced(1, 0, None), 2)


def test_null_config_of_new_topic_closes_connection_before_0_11() -> None:
    config = CreateTopicsRequest.CreatableTopicConfig(name="retention.ms", value=None)
    asked = CreateTopicsRequest(topics=[CREATED(name="other", configs=[config])])
    with broker_like(OLD) as asking, pytest.raises(ConnectionClosed):
        asking.ask(asked, 0)


@pytest.mark.parametrize(
    ("partitions", "factor", "name", "error"),
    [
        (0, 0, TOPIC, ErrorCode.INVALID_PARTITIONS),
        (-1, 1, "new", ErrorCode.INVALID_PARTITIONS),
        (1, -1, "new", ErrorCode.INVALID_REPLICATION_FACTOR),
        (1, 1, TOPIC, ErrorCode.TOPIC_ALREADY_EXISTS),
    ],
)
def test_counts_of_new_topic_precede_its_name_before_2_4(
    partitions: int, factor: int, name: str, error: ErrorCode
) -> None:
    topic = CREATED(name=name, num_partitions=partitions, replication_factor=factor)
    with broker_like(OLD) as asking:
        (answered,) = asking.ask(CreateTopicsRequest(topics=[topic]), 1).topics
    assert answered.error_code == error


@pytest.mark.parametrize(("like", "refused"), [(NEXT, False), ("2.8.2", True)])
def test_retention_below_minus_1_is_refused_since_2_2(like: str, refused: bool) -> None:
    config = CreateTopicsRequest.CreatableTopicConfig(name="retention.ms", value="-2")
    topic = CREATED(name="new", num_partitions=1, replication_factor=1, configs=[config])
    with broker_like(like) as asking:
        (answered,) = asking.ask(CreateTopicsRequest(topics=[topic]), 2).topics
    assert (answered.error_code != ErrorCode.NONE) == refused


def test_repeated_name_is_deleted_once_before_2_3() -> None:
    with broker_like(OLD) as asking:
        answered = asking.ask(DeleteTopicsRequest(topic_names=[TOPIC, TOPIC]), 0).responses
    assert [(one.name, one.error_code) for one in answered] == [(TOPIC, ErrorCode.NONE)]


def test_metadata_creates_topic_and_returns_leader_not_available_with_zookeeper() -> None:
    with broker_like(OLD) as asking:
        first, second = (
            asking.ask(MetadataRequest(topics=named("asked.for")), 1).topics[0] for _ in range(2)
        )
    assert first.error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert (second.error_code, len(second.partitions)) == (ErrorCode.NONE, 1)


def test_list_offsets_returns_each_partition_once_before_2_7() -> None:
    def listed(*partitions: int, timestamp: int = -1, replica_id: int = -1) -> ListOffsetsRequest:
        parts = [LIST(partition_index=each, timestamp=timestamp) for each in partitions]
        topic = ListOffsetsRequest.ListOffsetsTopic(name=TOPIC, partitions=parts)
        return ListOffsetsRequest(replica_id=replica_id, topics=[topic])

    with broker_like(OLD) as asking:
        twice = asking.ask(listed(0, 0), 0).topics
        unknown_time = asking.ask(listed(0, timestamp=-5), 0).topics
        nothing = asking.ask(listed(), 1).topics
        debugged = asking.ask(listed(9, replica_id=-2), 1).topics
    assert [len(topic.partitions) for topic in twice] == [1]
    assert unknown_time[0].partitions[0].error_code == ErrorCode.NONE
    assert nothing == []
    assert debugged[0].partitions[0].error_code == ErrorCode.REPLICA_NOT_AVAILABLE


@pytest.mark.parametrize(("replica_id", "error"), [(-1, UNKNOWN), (-2, 9)])
def test_fetch_of_missing_partition_depends_on_replica_id_before_2_0(
    replica_id: int, error: int
) -> None:
    part = FetchRequest.FetchPartition(partition=9, partition_max_bytes=100)
    topic = FetchRequest.FetchTopic(topic=TOPIC, partitions=[part])
    with broker_like(OLD) as asking:
        (answered,) = asking.ask(FetchRequest(replica_id=replica_id, topics=[topic]), 2).responses
    assert answered.partitions[0].error_code == error


@pytest.mark.parametrize("like", [OLD, NEXT])
def test_offset_of_missing_partition_is_read_from_zookeeper_before_2_0(like: str) -> None:
    topic = OffsetFetchRequest.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[9])
    with broker_like(like) as asking:
        asking.ask(commit((TOPIC, [9])), 0)
        (read,) = asking.ask(OffsetFetchRequest(group_id=GROUP, topics=[topic]), 0).topics
    assert (read.partitions[0].error_code, read.partitions[0].committed_offset) == (0, 1)


@pytest.mark.parametrize(("like", "changes"), [("0.11.0.3", False), (NEXT, True)])
def test_configs_of_a_broker_change_since_1_1(like: str, changes: bool) -> None:
    broker, name = 4, "log.retention.ms"  # a type of resource, a config
    with broker_like(like) as asking:
        own = asking.ask(MetadataRequest(topics=[]), 1).brokers[0].node_id
        described = DESCRIBED(
            resource_type=broker, resource_name=str(own), configuration_keys=[name]
        )
        (shown,) = asking.ask(DescribeConfigsRequest(resources=[described]), 0).results
        config = AlterConfigsRequest.AlterableConfig(name=name, value="1000000")
        altered = AlterConfigsRequest.AlterConfigsResource(
            resource_type=broker, resource_name=str(own), configs=[config]
        )
        (answer,) = asking.ask(AlterConfigsRequest(resources=[altered]), 0).responses
        defaults = DESCRIBED(resource_type=broker, resource_name="", configuration_keys=None)
        (of_all,) = asking.ask(DescribeConfigsRequest(resources=[defaults]), 0).results
    assert [config.read_only for config in shown.configs] == [not changes]
    refused = ErrorCode.NONE if changes else ErrorCode.INVALID_REQUEST
    assert [answer.error_code, of_all.error_code] == [refused] * 2


@pytest.mark.parametrize("like", ["0.11.0.3", NEXT])
def test_unknown_values_of_acls_are_no_reason_to_close_before_2_0(like: str) -> None:
    with broker_like(like) as asking:
        creation, every = CreateAclsRequest.AclCreation(), DeleteAclsRequest.DeleteAclsFilter()
        codes = [
            asking.ask(DescribeAclsRequest(), 0).error_code,
            asking.ask(CreateAclsRequest(creations=[creation]), 0).results[0].error_code,
            asking.ask(DeleteAclsRequest(filters=[every]), 0).filter_results[0].error_code,
        ]
        creation.permission_type = 1  # ANY
        with pytest.raises(ConnectionClosed):
            asking.ask(CreateAclsRequest(creations=[creation]), 0)
    assert codes == [ErrorCode.SECURITY_DISABLED] * 3


@pytest.mark.parametrize(("like", "is_empty"), [("0.11.0.3", True), (NEXT, False)])
def test_marker_alone_is_nothing_to_older_readers_before_1_1(like: str, is_empty: bool) -> None:
    topic = WriteTxnMarkersRequest.WritableTxnMarkerTopic(name=TOPIC, partition_indexes=[0])
    marker = WriteTxnMarkersRequest.WritableTxnMarker(producer_id=7, topics=[topic])
    part = FetchRequest.FetchPartition(partition_max_bytes=1000)
    fetch = FetchRequest(topics=[FetchRequest.FetchTopic(topic=TOPIC, partitions=[part])])
    with broker_like(like) as asking:
        asking.ask(WriteTxnMarkersRequest(markers=[marker]), 0)
        (answer,) = asking.ask(fetch, 2).responses[0].partitions
    assert answer.high_watermark == 1
    assert (not answer.records) is is_empty
