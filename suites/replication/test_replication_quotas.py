"""QUOTA: the quotas on replication traffic, as an administrator sets them for a move (KIP-73)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.in_time import in_time
from harness.runner.marks import judges
from suites.protocol.support.appended import append, batch_of
from suites.protocol.support.config_admin import (
    BROKER,
    TOPIC,
    AlterOperation,
    change,
    prepare_key,
)
from suites.protocol.support.expect import expect_error
from suites.replication.support.reading import read_all
from suites.replication.support.reassigning import ask_to_move, await_moved, is_moving

RATE = "1000"
"""Bytes per second: one fetch of a replica brings more than eleven seconds may."""
VALUE_BYTES = 600_000
"""One fetch of a replica has one such batch, and a part of the next one at most."""
BATCHES, MORE_BATCHES = 5, 8
HELD_MS = 30_000
"""Less than the time until the quota lets the last of ``BATCHES`` pass: 11 s for each but one."""
STAYS_MS = 3_000
"""More than a replica needs for the batches behind those of a larger one."""
LEADER, FOLLOWER = "leader", "follower"


def _replicas_of(role: str, nodes: Sequence[int]) -> tuple[str, str]:
    """Lists with the replicas that the role throttles in a move to the third node, and others."""
    one, two, three = nodes
    if role == LEADER:
        return f"0:{one}", f"0:{two},0:{three},1:{one}"
    return f"0:{two},0:{three}", f"0:{one},1:{three}"


@contextmanager
def _rates(cluster: Cluster, role: str) -> Iterator[None]:
    """Have the rate of this role at each broker."""
    name = f"{role}.replication.throttled.rate"
    try:
        for node in cluster.nodes[:3]:
            prepare_key(cluster.at(node), (BROKER, str(node)), name, RATE)
        yield
    finally:
        for node in cluster.nodes[:3]:
            gone = (name, AlterOperation.DELETE, None)
            code = change(cluster.at(node), (BROKER, str(node)), gone)
            expect_error(code, ErrorCode.NONE, f"{name} of {node} is deleted")


def _filled(cluster: Cluster, role: str, listed: str, batches: int) -> Topic:
    """A topic on the first two nodes; its throttled replicas are listed before it is filled."""
    topic = cluster.create_topic([cluster.nodes[:2]])
    prepare_key(
        cluster.front, (TOPIC, topic.name), f"{role}.replication.throttled.replicas", listed
    )
    client = cluster.leader_client(topic)
    for number in range(batches):
        append(client, topic, batch_of(b"%d" % number * VALUE_BYTES))
    return topic


def _move(cluster: Cluster, topic: Topic, target: Sequence[int]) -> None:
    codes: Mapping[int, int] = ask_to_move(cluster, topic.name, {0: target}, None)
    expect_error(codes[0], ErrorCode.NONE, "AlterPartitionReassignments")


@judges("QUOTA-012")
@pytest.mark.parametrize("role", [LEADER, FOLLOWER])
def test_a_throttled_replica_is_moved_no_faster_than_its_quota_allows(
    cluster: Cluster, role: str
) -> None:
    """The replica that is not listed moves freely; the listed one does when the rate is deleted.

    The records came with acks=all while the quota was exceeded: replicas in sync are not held.
    """
    cluster.front.version("IncrementalAlterConfigs")
    one, two, three = cluster.nodes[:3]
    target = [one, two, three]
    limited, others = _replicas_of(role, target)
    with requirement("QUOTA-012"), in_time(cluster.front.scaled_ms(HELD_MS)):
        with _rates(cluster, role):
            held = _filled(cluster, role, limited, BATCHES)
            free = _filled(cluster, role, others, MORE_BATCHES)
            _move(cluster, held, target)
            _move(cluster, free, target)
            await_moved(cluster, free, target)
            moves = cluster.last_seen(
                lambda: is_moving(cluster, held), lambda moves: not moves, STAYS_MS
            )
            assert moves, f"the replica throttled at the {role} has moved"
            isr = cluster.isr(held)
            assert isr == {one, two}, f"during the move the ISR is {isr}"
        await_moved(cluster, held, target)
        found = [
            (offset, len(value or b"")) for offset, value in read_all(cluster, three, held, BATCHES)
        ]
        expected = [(offset, VALUE_BYTES) for offset in range(BATCHES)]
        assert found == expected, f"the moved replica has {found}"
