"""A comparison of the logs of all replicas, byte by byte."""

from __future__ import annotations

from functools import partial

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import FetchResponse
from suites.protocol.support.expect import expect_error
from suites.protocol.support.record_formats import batches_in, records_in
from suites.replication.support.asked_as import read_as


def expect_alike(cluster: Cluster, topic: Topic, name: str) -> None:
    """All replicas have the same log up to the leader's current end offset.

    Equal are offsets, epochs, keys, values, checksums: all bytes of the batches. ``name``: the
    client id of the reads.
    """
    end = cluster.leader_client(topic).end_offset(topic)
    replicas = cluster.replicas(topic)
    logs = {node: _log_of(cluster, topic, node, end, name) for node in replicas}
    first, *others = replicas
    for node in others:
        assert logs[node] == logs[first], (
            f"{topic.name} up to {end}: replicas {first} and {node} differ: "
            f"{_difference(logs[first], logs[node])}"
        )


def await_known_as_committed(cluster: Cluster, topic: Topic, name: str) -> None:
    """Wait until each replica knows that all records are committed; raises PreparationFailed.

    A leader without this knowledge lowers the high watermark of its followers. ``name``: the client
    id of the reads.
    """
    end = cluster.leader_client(topic).end_offset(topic)
    for node in cluster.replicas(topic):
        data = cluster.last_seen(
            partial(read_as, name, cluster.at(node), topic, 0), partial(_is_enough, end)
        )
        if not _is_enough(end, data):
            raise PreparationFailed(f"replica {node} has the high watermark {data.high_watermark}")


def _log_of(cluster: Cluster, topic: Topic, node: int, end: int, name: str) -> bytes:
    """Return the log from offset 0 to ``end``, in as many fetches as needed."""
    log, offset = b"", 0
    while offset < end:
        data = cluster.last_seen(
            partial(read_as, name, cluster.at(node), topic, offset), partial(_is_enough, end)
        )
        expect_error(data.error_code, ErrorCode.NONE, f"replica {node} at offset {offset}")
        records = record_bytes(data)
        found = [record.offset for record in records_in(records)]
        assert found, f"replica {node} has nothing from offset {offset} on, the log ends at {end}"
        log += records
        offset = found[-1] + 1
    return log


def _is_enough(end: int, data: FetchResponse.PartitionData) -> bool:
    """True if the high watermark is at ``end``; a follower learns of it with its next fetch."""
    return data.error_code == ErrorCode.NONE and data.high_watermark >= end


def _difference(one: bytes, other: bytes) -> str:
    """The first batch that differs."""
    for mine, theirs in zip(batches_in(one), batches_in(other), strict=False):
        if mine != theirs:
            return f"{_described(mine)} and {_described(theirs)}"
    return f"{len(one)} bytes and {len(other)} bytes"


def _described(batch: object) -> str:
    return f"{batch!r}"[:300]
