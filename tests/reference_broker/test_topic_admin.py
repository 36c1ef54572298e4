"""Creation, growth and deletion over a socket, for several topics."""

from collections import Counter
from uuid import UUID

import pytest

from harness.client.connection import Connection
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    MetadataRequest,
)
from tests.reference_broker.running import Address, create_topic, named

NO_ID = UUID(int=0)
MOST = 10_000
Creatable = CreateTopicsRequest.CreatableTopic
Growing = CreatePartitionsRequest.CreatePartitionsTopic
State = DeleteTopicsRequest.DeleteTopicState


def partition_counts(address: Address, *names: str) -> list[int]:
    with Connection(address) as connection:
        request = MetadataRequest(topics=named(*names), allow_auto_topic_creation=False)
        counts = {t.name: len(t.partitions) for t in connection.ask(request, 12).topics}
    return [counts[name] for name in names]


def topic_id(address: Address, name: str) -> UUID:
    with Connection(address) as connection:
        return connection.ask(MetadataRequest(topics=named(name)), 12).topics[0].topic_id


def created(address: Address, *topics: Creatable, validate_only: bool = False) -> Counter[int]:
    with Connection(address) as connection:
        request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
        return Counter(topic.error_code for topic in connection.ask(request, 7).topics)


def grown(address: Address, *topics: Growing, validate_only: bool = False) -> Counter[int]:
    with Connection(address) as connection:
        request = CreatePartitionsRequest(topics=list(topics), validate_only=validate_only)
        return Counter(result.error_code for result in connection.ask(request, 3).results)


def deleted(address: Address, *states: State) -> list[tuple[str | None, bool, int]]:
    """Delete topics and return name, True if there is an id, and error of each."""
    with Connection(address) as connection:
        answer = connection.ask(DeleteTopicsRequest(topics=list(states)), 6)
    return [(one.name, one.topic_id != NO_ID, one.error_code) for one in answer.responses]


def creatable(name: str, partitions: int = 1) -> Creatable:
    return Creatable(name=name, num_partitions=partitions, replication_factor=1)


def growing(name: str, count: int) -> Growing:
    return Growing(name=name, count=count, assignments=None)


@pytest.mark.parametrize("first_is_null", [True, False])
def test_repeated_config_with_one_null_value_is_refused(
    address: Address, topic_name: str, first_is_null: bool
) -> None:
    values = [None, "5"] if first_is_null else ["5", None]
    topic = creatable(topic_name)
    topic.configs = [
        CreateTopicsRequest.CreatableTopicConfig(name="retention.ms", value=value)
        for value in values
    ]
    assert created(address, topic) == {ErrorCode.INVALID_CONFIG: 1}


def test_creation_of_too_many_partitions_fails_all_topics_of_request(
    address: Address, topic_name: str
) -> None:
    twice = creatable(f"{topic_name}-2")
    topics = creatable(topic_name, MOST + 1), creatable(""), twice, twice
    assert created(address, *topics) == {ErrorCode.POLICY_VIOLATION: 4}
    assert created(address, *topics[1:]) == {
        ErrorCode.INVALID_TOPIC_EXCEPTION: 1,
        ErrorCode.INVALID_REQUEST: 1,
    }


def test_create_partitions_returns_result_of_each_topic(address: Address, topic_name: str) -> None:
    once, twice = f"{topic_name}-1", f"{topic_name}-2"
    create_topic(address, once)
    create_topic(address, twice)
    topics = growing(once, 3), growing(twice, 3), growing(twice, 3), growing("nowhere", 3)
    expected = {
        ErrorCode.NONE: 1,
        ErrorCode.INVALID_REQUEST: 1,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 1,
    }
    assert grown(address, *topics, validate_only=True) == expected
    assert partition_counts(address, once, twice) == [1, 1]
    assert grown(address, *topics) == expected
    assert partition_counts(address, once, twice) == [3, 1]


def test_excessive_growth_fails_all_topics_of_request(address: Address, topic_name: str) -> None:
    create_topic(address, topic_name)
    topics = growing(topic_name, MOST + 2), growing("nowhere", 3)
    assert grown(address, *topics) == {ErrorCode.POLICY_VIOLATION: 2}
    assert partition_counts(address, topic_name) == [1]


def test_topic_named_by_name_and_by_id_is_not_deleted(address: Address, topic_name: str) -> None:
    create_topic(address, topic_name)
    by_name, by_id = (
        State(name=topic_name),
        State(name=None, topic_id=topic_id(address, topic_name)),
    )
    refused = (topic_name, True, ErrorCode.INVALID_REQUEST)
    assert deleted(address, by_name, by_id) == [refused]
    assert deleted(address, by_id, by_name) == [refused]
    twice = (None, True, ErrorCode.INVALID_REQUEST)
    assert deleted(address, by_name, by_id, by_id) == [twice, refused]
    assert partition_counts(address, topic_name) == [1]


def test_repeated_name_is_refused_and_topic_id_is_deleted(
    address: Address, topic_name: str
) -> None:
    create_topic(address, topic_name)
    by_name, by_id = (
        State(name=topic_name),
        State(name=None, topic_id=topic_id(address, topic_name)),
    )
    assert deleted(address, by_name, by_name, by_id) == [
        (topic_name, False, ErrorCode.INVALID_REQUEST),
        (topic_name, True, ErrorCode.NONE),
    ]
    assert partition_counts(address, topic_name) == [0]
