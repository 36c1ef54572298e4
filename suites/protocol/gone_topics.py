"""Topics that were there and are deleted."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteTopicsRequest


def delete_topic(broker: BrokerUnderTest, topic: Topic) -> None:
    """Delete it and wait until its name is unknown; raises PreparationFailed when refused."""
    version = broker.version("DeleteTopics")
    request = DeleteTopicsRequest(timeout_ms=int(broker.scaled_ms(DEFAULT_TIMEOUT_MS)))
    if version >= 6:  # from here on by name or by id (KIP-516)
        request.topics = [DeleteTopicsRequest.DeleteTopicState(name=topic.name)]
    else:
        request.topic_names = [topic.name]
    code = only(broker.ask(request, version).responses, "topic").error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"DeleteTopics {topic.name}: {ErrorCode.describe(code)}")
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    broker.eventually(
        lambda: only(broker.metadata([topic.name]).topics, "topic").error_code == unknown,
        f"{topic.name} is gone",
    )
