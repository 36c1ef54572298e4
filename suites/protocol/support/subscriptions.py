"""The subscription of a consumer that joins a group: its topics."""

from __future__ import annotations

from harness.client.requests import Topic
from harness.codec.data_framing.version_prefix import version_prefixed_bytes
from harness.codec.messages import ConsumerProtocolSubscription


def subscription(*topics: Topic) -> dict[str, bytes]:
    """Metadata of one protocol, in the first version that there was."""
    names = [topic.name for topic in topics]
    return {"range": version_prefixed_bytes(ConsumerProtocolSubscription(topics=names), 0)}
