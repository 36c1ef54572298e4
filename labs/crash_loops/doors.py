"""A thread's own connections to the brokers, and the leader of each partition."""

from __future__ import annotations

from contextlib import suppress

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic


class Doors:
    """The connections of one thread, with a cache of leaders."""

    def __init__(self, doors: dict[int, BrokerUnderTest], topic: Topic) -> None:
        self.topic = topic
        self._doors = doors
        self._leaders: dict[int, int] = {}

    def leader(self, partition: int) -> BrokerUnderTest | None:
        """Return the connection to the leader that the first answering broker names, or None."""
        if partition not in self._leaders:
            self._look()
        node = self._leaders.get(partition)
        return None if node is None else self._doors[node]

    def forget(self, partition: int) -> None:
        """Remove the cached leader, which did not answer, or no longer leads."""
        self._leaders.pop(partition, None)

    def any(self) -> list[BrokerUnderTest]:
        """Return all connections, for requests that every broker can answer."""
        return list(self._doors.values())

    def _look(self) -> None:
        for door in self._doors.values():
            with suppress(BrokerMisbehaved):
                for told in door.metadata([self.topic.name]).topics:
                    for each in told.partitions:
                        if each.leader_id in self._doors:
                            self._leaders[each.partition_index] = each.leader_id
                return
