"""A thread's own connections to the brokers, and the leader of each partition."""

from __future__ import annotations

from contextlib import suppress

from harness.client.broker import BrokerUnderTest
from harness.client.errors import BrokerMisbehaved
from harness.client.requests import Topic


class LoadClients:
    """The connections of one thread, with a cache of leaders."""

    def __init__(self, clients: dict[int, BrokerUnderTest], topic: Topic) -> None:
        self.topic = topic
        self._clients = clients
        self._leaders: dict[int, int] = {}

    def leader(self, partition: int) -> BrokerUnderTest | None:
        """Return the connection to the leader that the first answering broker names, or None."""
        if partition not in self._leaders:
            self._look()
        node = self._leaders.get(partition)
        return None if node is None else self._clients[node]

    def forget(self, partition: int) -> None:
        """Remove the cached leader, which did not answer, or no longer leads."""
        self._leaders.pop(partition, None)

    def any(self) -> list[BrokerUnderTest]:
        """Return all connections, for requests that every broker can answer."""
        return list(self._clients.values())

    def _look(self) -> None:
        for client in self._clients.values():
            with suppress(BrokerMisbehaved):
                for told in client.metadata([self.topic.name]).topics:
                    for each in told.partitions:
                        if each.leader_id in self._clients:
                            self._leaders[each.partition_index] = each.leader_id
                return
