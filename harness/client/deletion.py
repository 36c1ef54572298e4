"""Deleting what a test has made on the broker under test; what comes back is not judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.client.connection import DEFAULT_TIMEOUT_MS
from harness.codec.messages import DeleteGroupsRequest, DeleteTopicsRequest

if TYPE_CHECKING:
    from harness.client.broker import BrokerUnderTest

_FIRST_VERSION_WITH_IDS = 6


def delete_topics(client: BrokerUnderTest, names: Sequence[str]) -> None:
    """Through the broker, or where it cannot, through the topic maker."""
    if not names:
        return
    if not client.advertised("DeleteTopics"):
        if client.topic_maker is not None:
            client.topic_maker.delete(list(names))
        return
    version = client.version("DeleteTopics")
    request = DeleteTopicsRequest(timeout_ms=DEFAULT_TIMEOUT_MS)
    if version >= _FIRST_VERSION_WITH_IDS:
        request.topics = [DeleteTopicsRequest.DeleteTopicState(name=name) for name in names]
    else:
        request.topic_names = list(names)
    client.ask(request, version)


def delete_groups(client: BrokerUnderTest, names: Sequence[str]) -> None:
    """A group that still has members stays; Kafka before 1.1 has no way to delete one."""
    if names and client.advertised("DeleteGroups"):
        client.ask(DeleteGroupsRequest(groups_names=list(names)))
