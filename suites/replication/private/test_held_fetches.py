"""REPL: the ten steps T1 to T10 with real followers and proxies that hold their fetches.

Virtual followers show the same where a target lets the harness join it. These tests need only a
cluster that can be led through proxies: each released fetch is one step.
"""

from __future__ import annotations

from contextlib import ExitStack

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.faults import RuledLink, requests, ruled
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import batch_of
from suites.protocol.support.fetching import records_of
from suites.replication.support.cutting import plain_brokers

API, HELD = "Fetch", "held"
HELD_MS = 60_000
FOREVER_MS = "600000"
FIRST, MORE = 3, 2


class HeldFollower:
    """A follower that asks its leader only when a test lets it."""

    def __init__(self, cluster: Cluster, link: RuledLink, name: str) -> None:
        self._cluster, self._link, self.name = cluster, link, name
        self._let_go = 0

    def await_held(self) -> None:
        """Its next fetch is held: what it asked before has been answered."""
        self._cluster.await_that(
            lambda: self._link.fired(HELD),
            lambda held: held > self._let_go,
            f"a fetch of {self.name} is held",
        )

    def fetch(self) -> None:
        """The fetch that is held goes on; returns when it is answered, and the next one held."""
        self._let_go = self._link.fired(HELD)
        self._link.release(HELD)
        self.await_held()


@judges(
    *("REPL-001", "REPL-002", "REPL-003", "REPL-004"),
    *("REPL-005", "REPL-006", "REPL-007", "REPL-008"),
)
@needs_broker(
    Use.CLUSTER,
    {
        "replica.lag.time.max.ms": FOREVER_MS,
        "replica.socket.timeout.ms": str(HELD_MS),
        "replica.fetch.wait.max.ms": "100",
    },
    links=True,
)
def test_high_watermark_follows_released_fetches_in_ten_steps(cluster: Cluster) -> None:
    """One topic is all that the followers fetch; no replica leaves the ISR by its silence."""
    leader, *others = plain_brokers(cluster)
    topic = cluster.create_topic([[leader, *others]])
    with ExitStack() as held:
        hold = requests(API).named(HELD).hold(at_most_ms=HELD_MS)
        second, third = (
            HeldFollower(cluster, held.enter_context(ruled(link, hold)), name)
            for name, link in ((f"broker {node}", cluster.links[node, leader]) for node in others)
        )
        for one in (second, third):
            one.await_held()
        with requirement("REPL-001"):
            _produce(cluster, topic, leader, FIRST)
            _expect(cluster, topic, leader, 0, "T1: an append")
        with requirement("REPL-002"):
            second.fetch()
            third.fetch()
            _expect(cluster, topic, leader, 0, "T2, T3: both were given the records")
        with requirement("REPL-003"):
            _expect_records(cluster, topic, leader, 0, "T4: nothing is committed")
        with requirement("REPL-004"):
            second.fetch()
            _expect(cluster, topic, leader, 0, "T5: one of two has confirmed")
        with requirement("REPL-005"):
            third.fetch()
            _expect(cluster, topic, leader, FIRST, "T6: both have confirmed")
        with requirement("REPL-006"):
            _produce(cluster, topic, leader, MORE)
            _expect(cluster, topic, leader, FIRST, "T7: an append")
        with requirement("REPL-007"):
            for step in ("T8: one was given the new records", "T9: it has confirmed them"):
                second.fetch()
                _expect(cluster, topic, leader, FIRST, step)
        with requirement("REPL-008"):
            _expect_records(cluster, topic, leader, FIRST, "T10: three of five are committed")


def _produce(cluster: Cluster, topic: Topic, leader: int, count: int) -> None:
    for _ in range(count):
        answer = cluster.at(leader).produce(topic, batch_of(b"r"), acks=1)
        if answer.error_code != ErrorCode.NONE:
            raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")


def _expect(cluster: Cluster, topic: Topic, leader: int, watermark: int, after: str) -> None:
    """The leader returns this high watermark: only a fetch changes it, so there is no wait."""
    told = cluster.at(leader).fetch(topic, 0).high_watermark
    assert told == watermark, f"{after}: the high watermark is {told}, expected {watermark}"


def _expect_records(cluster: Cluster, topic: Topic, leader: int, count: int, when: str) -> None:
    offsets = [offset for offset, _ in records_of(cluster.at(leader).fetch(topic, 0))]
    assert offsets == list(range(count)), f"{when}: a consumer reads the offsets {offsets}"
