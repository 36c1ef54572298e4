"""Topics that were there and are deleted."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import CreateTopicsRequest, DeleteTopicsRequest

FIRST_CREATE_TO_VALIDATE = 1
FIRST_METADATA_WITHOUT_CREATION = 4


def delete_topic(broker: BrokerUnderTest, topic: Topic) -> None:
    """Delete it and wait until its name is unknown and free; PreparationFailed when refused."""
    version = broker.version("DeleteTopics")
    request = DeleteTopicsRequest(timeout_ms=int(broker.scaled_ms(DEFAULT_TIMEOUT_MS)))
    if version >= 6:  # from here on by name or by id (KIP-516)
        request.topics = [DeleteTopicsRequest.DeleteTopicState(name=topic.name)]
    else:
        request.topic_names = [topic.name]
    code = only(broker.ask(request, version).responses, "topic").error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"DeleteTopics {topic.name}: {ErrorCode.describe(code)}")
    broker.eventually(lambda: _is_unknown(broker, topic.name), f"{topic.name} is gone")
    if FIRST_CREATE_TO_VALIDATE in broker.advertised("CreateTopics"):
        broker.eventually(lambda: _is_free(broker, topic.name), f"the name {topic.name} is free")


def _is_unknown(broker: BrokerUnderTest, name: str) -> bool:
    """Asked among all topics where Metadata cannot be kept from creating it (before v4)."""
    if FIRST_METADATA_WITHOUT_CREATION not in broker.advertised("Metadata"):
        return name not in [topic.name for topic in broker.metadata(None).topics]
    found = only(broker.metadata([name]).topics, "topic")
    return found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _is_free(broker: BrokerUnderTest, name: str) -> bool:
    """With a ZooKeeper the controller is still at it when clients no longer see the topic."""
    wanted = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    request = CreateTopicsRequest(
        topics=[wanted], timeout_ms=int(broker.scaled_ms(DEFAULT_TIMEOUT_MS)), validate_only=True
    )
    code = only(broker.ask(request).topics, "topic").error_code
    return code != ErrorCode.TOPIC_ALREADY_EXISTS
