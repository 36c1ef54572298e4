"""Many commits of one group."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from suites.protocol.support.committed_offsets import commit_request, entry

PARTITIONS = 50
"""Partitions of the topic with the committed offsets: each commit writes a record for each of them.
"""
WINDOW = 50
"""Commits in flight at once."""


def commit_all(broker: BrokerUnderTest, group: str, topic: Topic, last: int) -> None:
    """The offsets up to ``last``, each of every partition, many on their way at a time."""
    version = broker.version("OffsetCommit", "1+")
    connection = broker.connect()
    entries = [entry(0, "", index) for index in range(PARTITIONS)]
    request = commit_request(group, {topic: entries}, version)
    for offset in range(1, last + 1):
        for one in entries:
            one.committed_offset = offset
        connection.send(request, version)
        if offset > WINDOW:
            connection.receive(tolerant=True)
    for _ in range(min(last, WINDOW)):
        connection.receive(tolerant=True)
