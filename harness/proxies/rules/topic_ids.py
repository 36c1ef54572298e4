"""The names of topic ids, from messages on their way through the proxies."""

from __future__ import annotations

from collections import OrderedDict
from uuid import UUID

from harness.proxies.direction import Direction
from harness.proxies.rules.mentions import Mentions

AT_MOST = 100_000
TELLING: dict[Direction, frozenset[int]] = {
    Direction.DOWNSTREAM: frozenset({3, 19, 75}),  # Metadata, CreateTopics, DescribeTopicPartitions
    Direction.UPSTREAM: frozenset({4, 6}),  # LeaderAndIsr, UpdateMetadata
}
"""The keys of the APIs with messages that contain names together with ids."""


class TopicIds:
    """The latest names by topic id, up to a bound."""

    def __init__(self) -> None:
        self._names: OrderedDict[UUID, str] = OrderedDict()

    def learn(self, name: str, id: UUID) -> None:  # noqa: A002
        self._names[id] = name
        self._names.move_to_end(id)
        if len(self._names) > AT_MOST:
            self._names.popitem(last=False)

    def learn_from(self, mentions: Mentions) -> None:
        for topic in mentions.topics:
            if topic.name and topic.id:
                self.learn(topic.name, topic.id)

    def name(self, id: UUID | None) -> str | None:  # noqa: A002
        return self._names.get(id) if id else None
