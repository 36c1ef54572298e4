"""Names of consumers and of their streams.

"Consumer Id Registry": a consumer has a transient, unique id of the form ``hostname:uuid``. Each of
its streams takes part in the rebalancing under a name of its own, the id with the stream's number
(TopicCount.makeConsumerThreadIdsPerTopic).
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID


class ConsumerId(NamedTuple):
    """``host`` is a name or a literal; it may hold colons, a uuid does not."""

    host: str
    uuid: UUID

    def __str__(self) -> str:
        return f"{self.host}:{self.uuid}"


def parse_consumer_id(text: str) -> ConsumerId:
    """The same again. Raises ValueError: no host, or no uuid behind the last colon."""
    host, colon, uuid = text.rpartition(":")
    if not host or not colon:
        raise ValueError(f"{text!r} is not host:uuid")
    found = ConsumerId(host, UUID(uuid))
    if str(found) != text:  # UUID takes braces and capitals, and then two texts were one consumer
        raise ValueError(f"{text!r}: the uuid is not in its usual form")
    return found


def stream_names(consumer_id: str, streams: int) -> list[str]:
    """The names under which the streams of a consumer own partitions."""
    return [f"{consumer_id}-{number}" for number in range(streams)]
