"""Reading one replica, whichever it is (from Fetch v11 on, KIP-392)."""

from __future__ import annotations

from functools import partial

from harness.client.cluster import Cluster
from harness.client.requests import FETCH_BY_ID, Topic
from harness.codec.definition import ZERO_UUID
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from suites.protocol.support.fetching import records_of

READ_OF_FOLLOWERS = 11


def follower_version(cluster: Cluster, topic: Topic) -> int:
    """The highest version of Fetch that reads a follower; raises ApiNotAdvertised."""
    highest = 99 if topic.id != ZERO_UUID else FETCH_BY_ID - 1
    return cluster.front.version("Fetch", f"{READ_OF_FOLLOWERS}-{highest}")


def await_served_by(
    cluster: Cluster, node: int, topic: Topic, end: int, version: int | None = None
) -> FetchResponse.PartitionData:
    """Return the replica's data from offset 0, once its high watermark is ``end``.

    A follower learns the leader's high watermark with its next fetch. If it never does, return the
    last response.
    """
    asked = follower_version(cluster, topic) if version is None else version
    return cluster.last_seen(
        lambda: cluster.at(node).fetch(topic, 0, asked),
        lambda data: data.error_code == ErrorCode.NONE and data.high_watermark >= end,
    )


def read_all(cluster: Cluster, node: int, topic: Topic, end: int) -> list[tuple[int, bytes | None]]:
    """Offsets and values of this node's replica up to ``end``, however many fetches it takes."""
    version = follower_version(cluster, topic)
    await_served_by(cluster, node, topic, end, version)
    found: list[tuple[int, bytes | None]] = []
    while True:
        start = found[-1][0] + 1 if found else 0
        if start >= end:
            return found
        data = cluster.last_seen(
            partial(cluster.at(node).fetch, topic, start, version),
            lambda data: bool(data.records),
        )
        more = [one for one in records_of(data) if one[0] >= start]
        if not more:
            return found
        found += more
