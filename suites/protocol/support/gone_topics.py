"""Topics that were there and are deleted."""

from __future__ import annotations

from collections.abc import Mapping

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
    _delete(broker, topic.name)
    if FIRST_CREATE_TO_VALIDATE not in broker.advertised("CreateTopics"):
        return
    broker.eventually(lambda: _is_free(broker, topic.name), f"the name {topic.name} is free")
    if not _is_free(broker, topic.name):  # the validation itself has made it, see TOPIC-019
        _delete(broker, topic.name)


def _delete(broker: BrokerUnderTest, name: str) -> None:
    version = broker.version("DeleteTopics")
    request = DeleteTopicsRequest(timeout_ms=int(broker.scaled_ms(DEFAULT_TIMEOUT_MS)))
    if version >= 6:  # from here on by name or by id (KIP-516)
        request.topics = [DeleteTopicsRequest.DeleteTopicState(name=name)]
    else:
        request.topic_names = [name]
    code = only(broker.ask(request, version).responses, "topic").error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"DeleteTopics {name}: {ErrorCode.describe(code)}", code)
    await_gone(broker, name)


def await_gone(broker: BrokerUnderTest, name: str) -> None:
    """Wait until Metadata no longer shows a deleted topic, which a new one of the name hides."""
    broker.eventually(lambda: _is_unknown(broker, name), f"{name} is gone")


def create_again(
    broker: BrokerUnderTest,
    name: str,
    partitions: int = 1,
    configs: Mapping[str, str] | None = None,
) -> Topic:
    """A new topic with the name of a deleted one; it may become free a bit later."""

    def created() -> Topic | None:
        try:
            return broker.create_topic(partitions, configs, name=name)
        except PreparationFailed as refused:
            if refused.error_code == ErrorCode.TOPIC_ALREADY_EXISTS:
                return None
            raise

    return broker.eventually(created, f"the name {name} is free")


def _is_unknown(broker: BrokerUnderTest, name: str) -> bool:
    """Asked among all topics where Metadata cannot be kept from creating it (before v4)."""
    if FIRST_METADATA_WITHOUT_CREATION not in broker.advertised("Metadata"):
        return name not in [topic.name for topic in broker.metadata(None).topics]
    found = only(broker.metadata([name]).topics, "topic")
    return found.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _is_free(broker: BrokerUnderTest, name: str) -> bool:
    """Asked by a validation: with a ZooKeeper the controller is still at it when clients no longer
    see the topic, and a topic that is made meanwhile may go with the old one.
    """
    wanted = CreateTopicsRequest.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
    request = CreateTopicsRequest(
        topics=[wanted], timeout_ms=int(broker.scaled_ms(DEFAULT_TIMEOUT_MS)), validate_only=True
    )
    code = only(broker.ask(request).topics, "topic").error_code
    return code != ErrorCode.TOPIC_ALREADY_EXISTS
