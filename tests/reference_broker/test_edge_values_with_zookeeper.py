"""Requests with missing or excess fields, as Kafka 2.8.2 answers them, whose controller keeps its
data in ZooKeeper, and as 3.9.2 does.
"""

from __future__ import annotations

from math import nan
from uuid import UUID

import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AlterClientQuotasRequest,
    AlterConfigsRequest,
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeClientQuotasRequest,
    DescribeLogDirsRequest,
    DescribeProducersRequest,
    ElectLeadersRequest,
    IncrementalAlterConfigsRequest,
    MetadataRequest,
)
from tests.reference_broker.conftest import TOPIC
from tests.reference_broker.running import named, running_broker

TOPIC_TYPE = 2
NO_ID = UUID(int=0)
E = ErrorCode
Creatable = CreateTopicsRequest.CreatableTopic
Assignment = CreateTopicsRequest.CreatableReplicaAssignment
Reassigned = AlterPartitionReassignmentsRequest.ReassignablePartition
Altered = AlterConfigsRequest.AlterConfigsResource
Value = AlterConfigsRequest.AlterableConfig
ByKey = IncrementalAlterConfigsRequest.AlterConfigsResource
Operation = IncrementalAlterConfigsRequest.AlterableConfig
Quota = AlterClientQuotasRequest.OpData
Component = DescribeClientQuotasRequest.ComponentData
State = DeleteTopicsRequest.DeleteTopicState


@pytest.fixture
def old(release: str) -> bool:
    return release == "2.8.2"


def created(connection: Connection, *topics: Creatable) -> list[int]:
    answer = connection.ask(CreateTopicsRequest(topics=list(topics), validate_only=True), 7)
    return [topic.error_code for topic in answer.topics]


@pytest.mark.parametrize(
    ("topic", "with_zookeeper", "without"),
    [
        (Creatable(name="a", num_partitions=0), E.INVALID_PARTITIONS, E.INVALID_REPLICATION_FACTOR),
        (
            Creatable(name="a b", replication_factor=1),
            E.INVALID_PARTITIONS,
            E.INVALID_TOPIC_EXCEPTION,
        ),
        (
            Creatable(
                name="a b",
                num_partitions=1,
                replication_factor=-1,
                assignments=[Assignment(broker_ids=[1])],
            ),
            E.INVALID_REQUEST,
            E.INVALID_TOPIC_EXCEPTION,
        ),
    ],
)
def test_topic_name_is_checked_after_counts_with_zookeeper(
    connection: Connection, old: bool, topic: Creatable, with_zookeeper: int, without: int
) -> None:
    assert created(connection, topic) == [with_zookeeper if old else without]


def test_last_brokers_of_partition_assigned_twice_count_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    twice = [Assignment(broker_ids=[99]), Assignment(broker_ids=[1])]
    topic = Creatable(name="a", num_partitions=-1, replication_factor=-1, assignments=twice)
    assert created(connection, topic) == [E.NONE if old else E.INVALID_REPLICA_ASSIGNMENT]


def test_repeated_new_topic_is_answered_for_each_entry_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    topics = [Creatable(name="a", num_partitions=1, replication_factor=1)] * 3
    assert created(connection, *topics) == [E.INVALID_REQUEST] * (3 if old else 1)


def test_topic_id_is_drawn_at_creation_with_zookeeper(connection: Connection, old: bool) -> None:
    topic = Creatable(name="a", num_partitions=1, replication_factor=1)
    answer = connection.ask(CreateTopicsRequest(topics=[topic], validate_only=True), 7)
    assert (answer.topics[0].topic_id == NO_ID) is old


def test_topic_named_twice_is_deleted_with_zookeeper(connection: Connection, old: bool) -> None:
    asked = DeleteTopicsRequest(topics=[State(name=TOPIC), State(name=TOPIC)])
    answer = connection.ask(asked, 6)
    expected = [(E.NONE, NO_ID)] * 2 if old else [(E.INVALID_REQUEST, NO_ID)]
    assert [(one.error_code, one.topic_id) for one in answer.responses] == expected


def test_deleted_topic_keeps_the_name_or_id_of_the_request(
    connection: Connection, old: bool
) -> None:
    unknown = UUID(int=7)
    topic_id = connection.ask(MetadataRequest(topics=named(TOPIC)), 10).topics[0].topic_id
    asked = [State(name="never"), State(name=None, topic_id=unknown), State(name=None)]
    answer = connection.ask(DeleteTopicsRequest(topics=asked), 6)
    found = {(one.name, one.topic_id): one.error_code for one in answer.responses}
    assert found == {
        ("never", NO_ID): E.UNKNOWN_TOPIC_OR_PARTITION,
        (None, unknown): E.UNKNOWN_TOPIC_ID,
        (None, NO_ID): E.TOPIC_AUTHORIZATION_FAILED if old else E.INVALID_REQUEST,
    }
    both = [State(name=TOPIC, topic_id=topic_id), State(name="never")]
    codes = [
        one.error_code for one in connection.ask(DeleteTopicsRequest(topics=both), 6).responses
    ]
    assert codes == [E.INVALID_REQUEST, E.INVALID_REQUEST if old else E.UNKNOWN_TOPIC_OR_PARTITION]
    (gone,) = connection.ask(
        DeleteTopicsRequest(topics=[State(name=None, topic_id=topic_id)]), 6
    ).responses
    assert (gone.name, gone.topic_id, gone.error_code) == (TOPIC, topic_id, E.NONE)


def test_name_that_is_no_path_fails_all_growth_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    grown = CreatePartitionsRequest.CreatePartitionsTopic
    topics = [grown(name=TOPIC, count=3, assignments=None), grown(name="", count=1)]
    answer = connection.ask(CreatePartitionsRequest(topics=topics), 3)
    expected = [E.UNKNOWN_SERVER_ERROR] * 2 if old else [E.NONE, E.UNKNOWN_TOPIC_OR_PARTITION]
    assert [one.error_code for one in answer.results] == expected
    described = connection.ask(MetadataRequest(topics=named(TOPIC)), 10)
    assert len(described.topics[0].partitions) == 3


def test_topic_created_by_metadata_has_no_leader_yet_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    (topic,) = connection.ask(MetadataRequest(topics=named("new")), 10).topics
    assert topic.error_code == (E.LEADER_NOT_AVAILABLE if old else E.UNKNOWN_TOPIC_OR_PARTITION)
    (topic,) = connection.ask(MetadataRequest(topics=named("new")), 10).topics
    assert topic.error_code == E.NONE


def test_elections_have_each_partition_once_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    asked = ElectLeadersRequest.TopicPartitions
    topics = [asked(topic=TOPIC, partitions=[0, 0]), asked(topic="empty", partitions=[])]
    answer = connection.ask(ElectLeadersRequest(topic_partitions=topics), 2)
    found = [(one.topic, len(one.partition_result)) for one in answer.replica_election_results]
    assert found == ([(TOPIC, 1)] if old else [(TOPIC, 2), ("empty", 0)])


def test_election_of_all_leaves_out_topics_that_need_none_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    answer = connection.ask(ElectLeadersRequest(topic_partitions=None), 2)
    assert [one.topic for one in answer.replica_election_results] == ([] if old else [TOPIC])


def test_unknown_election_type_is_unforeseen_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    answer = connection.ask(ElectLeadersRequest(election_type=9, topic_partitions=[]), 2)
    assert answer.error_code == (E.UNKNOWN_SERVER_ERROR if old else E.NONE)


@pytest.mark.parametrize(
    ("replicas", "with_zookeeper"),
    [
        (None, E.NO_REASSIGNMENT_IN_PROGRESS),
        ([], E.INVALID_REPLICA_ASSIGNMENT),
        ([1], E.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_missing_partition_is_noticed_late_with_zookeeper(
    connection: Connection, old: bool, replicas: list[int] | None, with_zookeeper: int
) -> None:
    parts = [Reassigned(replicas=[1]), Reassigned(replicas=replicas)]
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic(name="never", partitions=parts)
    answer = connection.ask(AlterPartitionReassignmentsRequest(topics=[topic]), 0)
    codes = [part.error_code for part in answer.responses[0].partitions]
    assert codes == ([with_zookeeper] if old else [E.UNKNOWN_TOPIC_OR_PARTITION] * 2)


def test_reassignment_to_present_replicas_begins_epoch_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    parts = [Reassigned(replicas=[1])]
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic(name=TOPIC, partitions=parts)
    connection.ask(AlterPartitionReassignmentsRequest(topics=[topic]), 0)
    (topic_now,) = connection.ask(MetadataRequest(topics=named(TOPIC)), 10).topics
    assert [part.leader_epoch for part in topic_now.partitions] == [1 if old else 0, 0]


@pytest.mark.parametrize(
    ("resources", "with_zookeeper", "without"),
    [
        (
            [Altered(resource_type=TOPIC_TYPE), Altered()],
            [E.INVALID_REQUEST] * 2,
            [E.INVALID_REQUEST] * 2,
        ),
        (
            [Altered(resource_type=TOPIC_TYPE, resource_name=TOPIC), Altered()],
            [E.INVALID_REQUEST] * 2,
            [E.NONE, E.INVALID_REQUEST],
        ),
        (
            [
                Altered(
                    resource_type=TOPIC_TYPE,
                    resource_name=TOPIC,
                    configs=[
                        Value(name="retention.ms", value="1"),
                        Value(name="retention.ms", value="2"),
                    ],
                )
            ],
            [E.NONE],
            [E.INVALID_REQUEST],
        ),
        (
            [Altered(configs=[Value(name="retention.ms", value=None)])],
            [E.UNKNOWN_SERVER_ERROR],
            [E.INVALID_REQUEST],
        ),
        (
            [Altered(resource_type=TOPIC_TYPE)],
            [E.UNKNOWN_TOPIC_OR_PARTITION],
            [E.INVALID_REQUEST],
        ),
    ],
)
def test_whole_alter_configs_fails_by_one_resource_before_3_2(
    connection: Connection,
    old: bool,
    resources: list[Altered],
    with_zookeeper: list[int],
    without: list[int],
) -> None:
    answer = connection.ask(AlterConfigsRequest(resources=resources), 1)
    expected = with_zookeeper if old else without
    assert [one.error_code for one in answer.responses] == expected


@pytest.mark.parametrize(
    ("name", "operation", "with_zookeeper", "without"),
    [
        (".", 0, E.INVALID_REQUEST, E.INVALID_TOPIC_EXCEPTION),
        ("a b", 0, E.UNKNOWN_TOPIC_OR_PARTITION, E.INVALID_TOPIC_EXCEPTION),
        (TOPIC, 4, E.UNKNOWN_SERVER_ERROR, E.UNKNOWN_SERVER_ERROR),
        ("", 4, E.INVALID_REQUEST, E.UNKNOWN_SERVER_ERROR),
    ],
)
def test_topic_is_read_before_its_changes_with_zookeeper(
    connection: Connection, old: bool, name: str, operation: int, with_zookeeper: int, without: int
) -> None:
    change = Operation(name="retention.ms", config_operation=operation, value="1")
    resource = ByKey(resource_type=TOPIC_TYPE, resource_name=name, configs=[change])
    answer = connection.ask(IncrementalAlterConfigsRequest(resources=[resource]), 1)
    expected = with_zookeeper if old else without
    assert [one.error_code for one in answer.responses] == [expected]


@pytest.mark.parametrize(
    ("ops", "stored"),
    [
        ([Quota(key="producer_byte_rate", value=0.0)], 0.0),
        ([Quota(key="producer_byte_rate", value=nan)], 0.0),
        ([Quota(key="producer_byte_rate", value=-1.0)], None),
        ([Quota(key="request_percentage", value=-1.5)], -1.5),
        ([Quota(key="unknown", remove=True), Quota(key="request_percentage", value=2.0)], 2.0),
        ([Quota(key="unknown", value=2.0)], None),
        ([Quota(key="request_percentage", value=each) for each in (3.0, 4.0)], 4.0),
    ],
)
def test_any_number_is_a_quota_with_zookeeper(ops: list[Quota], stored: float | None) -> None:
    user = AlterClientQuotasRequest.EntityData(entity_type="user", entity_name="u")
    entry = AlterClientQuotasRequest.EntryData(entity=[user], ops=ops)
    with running_broker(like="2.8.2") as address, Connection(address) as asking:
        (result,) = asking.ask(AlterClientQuotasRequest(entries=[entry]), 1).entries
        found = asking.ask(DescribeClientQuotasRequest(components=[], strict=False), 1).entries
    assert result.error_code == (E.INVALID_REQUEST if stored is None else E.NONE)
    values = [value.value for one in found or () for value in one.values]
    assert values == ([] if stored is None else [stored])


def test_all_changes_of_repeated_entity_count_with_zookeeper(
    connection: Connection, old: bool
) -> None:
    user = AlterClientQuotasRequest.EntityData(entity_type="user", entity_name="u")
    entries = [
        AlterClientQuotasRequest.EntryData(entity=[user], ops=[Quota(key=key, value=5.0)])
        for key in ("producer_byte_rate", "consumer_byte_rate")
    ]
    (result,) = connection.ask(AlterClientQuotasRequest(entries=entries), 1).entries
    asked = DescribeClientQuotasRequest(components=[], strict=False)
    found = connection.ask(asked, 1).entries or []
    assert result.error_code == (E.NONE if old else E.INVALID_REQUEST)
    assert [len(entry.values) for entry in found] == [2 if old else 1]


@pytest.mark.parametrize(
    ("components", "strict", "with_zookeeper", "without"),
    [
        ([("user", 3, None)], False, E.UNKNOWN_SERVER_ERROR, E.INVALID_REQUEST),
        ([("user", 0, None)], False, E.UNKNOWN_SERVER_ERROR, E.INVALID_REQUEST),
        ([("user", 2, "a")], False, E.NONE, E.INVALID_REQUEST),
        ([("user", 0, "")], True, E.UNKNOWN_SERVER_ERROR, E.NONE),
        ([("user", 0, "")], False, E.NONE, E.NONE),
        ([("user", 0, ""), ("client-id", 0, "c")], False, E.UNKNOWN_SERVER_ERROR, E.NONE),
        ([("ip", 0, "")], False, E.UNKNOWN_SERVER_ERROR, E.NONE),
    ],
)
def test_unforeseen_quota_filter_with_zookeeper(
    connection: Connection,
    old: bool,
    components: list[tuple[str, int, str | None]],
    strict: bool,
    with_zookeeper: int,
    without: int,
) -> None:
    made = [Component(entity_type=k, match_type=how, match=name) for k, how, name in components]
    answer = connection.ask(DescribeClientQuotasRequest(components=made, strict=strict), 1)
    assert answer.error_code == (with_zookeeper if old else without)


def test_folder_lists_topics_without_requested_partitions_before_3_7_1(
    connection: Connection, old: bool
) -> None:
    (folder,) = connection.ask(DescribeLogDirsRequest(topics=[]), 2).results
    found = [(topic.name, len(topic.partitions)) for topic in folder.topics]
    assert found == ([(TOPIC, 0)] if old else [])


def test_topic_name_of_described_producers_is_checked_since_3_0(
    connection: Connection, old: bool
) -> None:
    asked = DescribeProducersRequest.TopicRequest(name="", partition_indexes=[0])
    (topic,) = connection.ask(DescribeProducersRequest(topics=[asked]), 0).topics
    expected = E.UNKNOWN_TOPIC_OR_PARTITION if old else E.INVALID_TOPIC_EXCEPTION
    assert topic.partitions[0].error_code == expected
