"""Descriptions by the built-in broker, beyond those that the suites test on every broker."""

import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DescribeClusterRequest,
    DescribeTopicPartitionsRequest,
    FindCoordinatorRequest,
    MetadataRequest,
    OffsetDeleteRequest,
    SaslHandshakeRequest,
)
from tests.reference_broker.running import Address, create_topic, running_broker

GROUP, TRANSACTION, SHARE = 0, 1, 2
SOME_ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def test_describe_topic_partitions_limits_page_by_broker_setting() -> None:
    with running_broker({"max.request.partition.size.limit": "2"}) as address:
        create_topic(address, "wide", partitions=3)
        with Connection(address) as connection:
            answer = connection.ask(DescribeTopicPartitionsRequest(topics=[]), 0)
    assert [len(topic.partitions) for topic in answer.topics] == [2]
    assert answer.next_cursor is not None
    assert (answer.next_cursor.topic_name, answer.next_cursor.partition_index) == ("wide", 2)


@pytest.mark.parametrize("cursor", [("wide", -1), ("other", 0)], ids=["negative", "elsewhere"])
def test_describe_topic_partitions_refuses_invalid_cursor(
    address: Address, topic_name: str, cursor: tuple[str, int]
) -> None:
    request = DescribeTopicPartitionsRequest
    asked = request(
        topics=[request.TopicRequest(name="wide")],
        cursor=request.Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )
    with Connection(address) as connection:
        (topic,) = connection.ask(asked, 0).topics
    assert (topic.name, topic.error_code) == ("wide", ErrorCode.INVALID_REQUEST)


def test_describe_cluster_of_other_endpoint_type_returns_no_cluster_data(address: Address) -> None:
    with Connection(address) as connection:
        answer = connection.ask(DescribeClusterRequest(endpoint_type=2), 1)
    assert (answer.error_code, answer.cluster_id, answer.brokers) == (
        ErrorCode.MISMATCHED_ENDPOINT_TYPE,
        "",
        [],
    )


def test_find_coordinator_creates_internal_topic() -> None:
    with running_broker({"offsets.topic.num.partitions": "3"}) as address:
        with Connection(address) as connection:
            request = FindCoordinatorRequest(key="group", key_type=GROUP)
            first, second = connection.ask(request, 3), connection.ask(request, 3)
            (topic,) = connection.ask(MetadataRequest(topics=None), 12).topics
    assert first.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert second.error_code == ErrorCode.NONE
    assert (topic.name, topic.is_internal) == ("__consumer_offsets", True)
    assert len(topic.partitions) == 3


@pytest.mark.parametrize(
    "key",
    [
        "",
        "group",
        "group:0",
        f":{SOME_ID}:0",
        "group:abc:0",
        f"group:{SOME_ID}$$:0",
        f"group:{SOME_ID}:x",
    ],
)
def test_find_coordinator_refuses_malformed_share_key(address: Address, key: str) -> None:
    keys = [key, f"group:{SOME_ID}:0"]
    with Connection(address) as connection:
        answer = connection.ask(FindCoordinatorRequest(coordinator_keys=keys, key_type=SHARE), 6)
    bad, good = answer.coordinators
    assert bad.error_code == ErrorCode.INVALID_REQUEST
    assert good.error_code != ErrorCode.INVALID_REQUEST


def test_sasl_handshake_without_authentication_returns_illegal_state(address: Address) -> None:
    with Connection(address) as connection:
        for version in (0, 1):
            answer = connection.ask(SaslHandshakeRequest(mechanism="PLAIN"), version)
            assert answer.error_code == ErrorCode.ILLEGAL_SASL_STATE
            assert answer.mechanisms == []


def test_offset_delete_of_missing_or_invalid_group_returns_error() -> None:
    def code_of(connection: Connection, group: str) -> int:
        return connection.ask(OffsetDeleteRequest(group_id=group), 0).error_code

    with running_broker() as address, Connection(address) as connection:
        too_early = code_of(connection, "g")
        connection.ask(FindCoordinatorRequest(key="g", key_type=GROUP), 3)
        codes = [too_early, code_of(connection, "g"), code_of(connection, "")]
    assert codes == [
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.GROUP_ID_NOT_FOUND,
        ErrorCode.INVALID_GROUP_ID,
    ]
