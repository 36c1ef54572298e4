"""REPL: the cost of a slow follower, and the producers that it delays."""

from __future__ import annotations

import statistics
import time

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.faults import slowed
from harness.runner.in_time import TooSlow, in_time
from harness.runner.marks import judges
from suites.replication.support.asked_as import produce_as
from suites.replication.support.cutting import linked_cluster, plain_brokers

BY_MS = 300
"""Delay in ms of each fetch of one follower; its replica stays in sync."""
ROUNDS = 7
TIMEOUT_MS = 10_000
RATIO = 2


@judges("REPL-028")
@linked_cluster()
def test_acks_all_latency_grows_with_slow_isr_member_acks_1_does_not(cluster: Cluster) -> None:
    """Medians beside one another, as the machine is no faster for the one than for the other."""
    leader, slow, third = plain_brokers(cluster)
    topic = cluster.create_topic([[leader, slow, third]])
    before_ms = _produce_ms(cluster, topic, leader, acks=-1)
    if before_ms > BY_MS / RATIO:
        raise TooSlow(f"acks=all takes {before_ms:.0f} ms, and {BY_MS} ms more behind a slow link")
    with requirement("REPL-028"):
        with slowed(cluster.links[slow, leader], BY_MS):
            all_ms = _produce_ms(cluster, topic, leader, acks=-1)
            told = f"a slow follower, and acks=all took {before_ms:.0f} ms, then {all_ms:.0f} ms"
            assert all_ms > RATIO * before_ms, told
            with in_time(ROUNDS * BY_MS / RATIO):
                one_ms = _produce_ms(cluster, topic, leader, acks=1)
                assert all_ms > RATIO * one_ms, f"{told}, acks=1 {one_ms:.0f} ms"
        assert cluster.isr(topic) == {leader, slow, third}, "the slow follower is out of sync"


def _produce_ms(cluster: Cluster, topic: Topic, leader: int, *, acks: int) -> float:
    """The median time of an answer."""
    took_ms = []
    for _ in range(ROUNDS):
        began = time.monotonic()
        answer = produce_as(
            "REPL-028", cluster.at(leader), topic, b"r", acks=acks, timeout_ms=TIMEOUT_MS
        )
        took_ms.append((time.monotonic() - began) * 1000)
        code = None if answer is None else answer.error_code
        if code != ErrorCode.NONE:
            raise PreparationFailed(f"acks={acks}: {code}", code)
    return statistics.median(took_ms)
