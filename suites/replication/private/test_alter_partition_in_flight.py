"""ALTP: how many proposals a leader sends at once, and for how long it asks."""

from __future__ import annotations

from functools import partial

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import Inconclusive, requirement
from harness.runner.faults import RuledLink, requests, responses, ruled
from harness.runner.marks import judges
from suites.protocol.support.appended import batch_of
from suites.replication.support.cutting import (
    committed_isr,
    controller_of,
    linked_cluster,
    plain_brokers,
)
from suites.replication.support.in_flight import (
    ANSWERED,
    ASKED,
    HELD,
    LOST,
    given_up,
    in_flight_twice,
    passages,
)

API = "AlterPartition"
HELD_MS = 20_000
"""Less than the 30 s after which Kafka closes a connection on which it is not answered."""
LOSSES = 2
FIRST, SECOND = 0, 1
WITNESSES = (2, 3, 4)


@judges("ALTP-013")
@linked_cluster()
def test_leader_has_one_alter_partition_in_flight_and_retries(cluster: Cluster) -> None:
    """The first answer is held until a second shrink is due; then requests are lost.

    Due, because the third broker has meanwhile shrunk three ISRs one after another, each for a
    record that is younger: the leader, which looks as often, has looked twice.
    """
    leader, follower, third = plain_brokers(cluster)
    topic = cluster.create_topic(
        [[leader, follower, third]] * 2 + [[third, follower, leader]] * len(WITNESSES)
    )
    link = cluster.links[leader, controller_of(cluster)]
    isr = partial(committed_isr, cluster, topic, third)
    for other in (leader, third):
        cluster.links[follower, other].cut()
    with ruled(
        link,
        requests(API).named(ASKED).watch(),
        responses(API).first().named(HELD).hold(at_most_ms=HELD_MS),
        responses(API).skip(1).named(ANSWERED).watch(),
    ) as at_work:
        _write(cluster, topic, leader, FIRST)
        cluster.await_that(lambda: at_work.fired(HELD), what="an answer to the leader is held")
        _write(cluster, topic, leader, SECOND)
        for each in WITNESSES:
            _write(cluster, topic, third, each)
            what = f"{third} has shrunk the ISR of partition {each}"
            cluster.await_that(partial(isr, each), lambda seen: follower not in seen, what)
        with requirement("ALTP-013"):
            _expect_one_in_flight(at_work)
            if any(event.what == "expired" for event in at_work.events):
                raise Inconclusive("the answer was let go before the second change was due")
            at_work.release(HELD)
            _expect_isr(cluster, topic, third, {leader, third}, "the first is answered")
            at_work.arm(requests(API).first(LOSSES).named(LOST).close())
            cluster.links.heal()
            everybody = {leader, follower, third}
            _expect_isr(cluster, topic, third, everybody, f"{LOSSES} requests were lost")
            left = cluster.last_seen(
                lambda: given_up(passages(at_work.events)), lambda left: left is None
            )
            assert left is None, left
            _expect_one_in_flight(at_work)


def _write(cluster: Cluster, topic: Topic, node: int, partition: int) -> None:
    """One record more than the follower has that is cut off."""
    answer = cluster.at(node).produce(topic, batch_of(b"r"), partition=partition, acks=1)
    if answer.error_code != ErrorCode.NONE:
        raise PreparationFailed(f"Produce: {ErrorCode.describe(answer.error_code)}")


def _expect_one_in_flight(at_work: RuledLink) -> None:
    found = in_flight_twice(passages(at_work.events))
    assert found is None, f"{API} {found}"


def _expect_isr(cluster: Cluster, topic: Topic, witness: int, wanted: set[int], after: str) -> None:
    """Both partitions of the leader reach this ISR."""
    for partition in (FIRST, SECOND):
        isr = cluster.last_seen(
            partial(committed_isr, cluster, topic, witness, partition),
            lambda isr: isr == wanted,
        )
        told = f"{after}, and the ISR of partition {partition} is {sorted(isr)}"
        assert isr == wanted, f"{told}, not {sorted(wanted)}"
