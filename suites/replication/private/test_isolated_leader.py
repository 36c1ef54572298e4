"""BROK: a leader that is cut off continues as if it led, and misleads no client."""

from __future__ import annotations

from harness.client.cluster import NOBODY, Cluster
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import judges
from suites.protocol.support.fetching import values_of
from suites.replication.support.asked_as import produce_as
from suites.replication.support.cutting import (
    DEPOSED_MS,
    await_deposed,
    coordinator_of,
    cut_off,
    leader_without,
    linked_cluster,
    plain_brokers,
)

SOON_MS = 1_000
DEPOSED = {ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH}


def _described(code: int | None) -> str:
    return "no answer" if code is None else ErrorCode.describe(code)


@judges("BROK-013")
@linked_cluster()
def test_leader_cut_from_controller_is_replaced_and_refuses_produce(cluster: Cluster) -> None:
    """It accepts a record that no broker fetches, and so asks for a smaller ISR when it is back."""
    old, *others = plain_brokers(cluster)
    topic = cluster.create_topic([[old, *others]])
    cluster.links[old, coordinator_of(cluster)].cut()
    with requirement("BROK-013"):
        now = cluster.last_seen(
            lambda: leader_without(cluster, topic, old), lambda leader: leader != NOBODY, DEPOSED_MS
        )
        assert now != NOBODY, f"{old} is cut off, and the others name no other leader"
        await_deposed(cluster, topic, old)
        produce_as("zombie", cluster.at(old), topic, b"lost", acks=1, timeout_ms=SOON_MS)
        cluster.links.heal()

        def told() -> int | None:
            asked = cluster.at(old)
            answer = produce_as("BROK-013", asked, topic, b"late", acks=1, timeout_ms=SOON_MS)
            return None if answer is None else answer.error_code

        code = cluster.last_seen(told, lambda code: code in DEPOSED)
        assert code in DEPOSED, f"the old leader's client receives {_described(code)}"
        leader = cluster.leader(topic)
        assert leader != old, f"{old} leads again, by an ISR that it has made up"
        cluster.await_isr(topic, cluster.nodes[:3])
        values = values_of(cluster.at(leader).fetch(topic, 0))
        assert values == [], f"what the old leader took stands in the log: {values}"


@judges("BROK-014")
@linked_cluster()
def test_isolated_leader_never_acknowledges_acks_all(cluster: Cluster) -> None:
    """Until the others have another leader, and afterwards; for acks=1 it may."""
    old, *others = plain_brokers(cluster)
    topic = cluster.create_topic([[old, *others]])
    cut_off(cluster, old)
    with requirement("BROK-014"):

        def refused() -> int:
            asked = cluster.at(old)
            answer = produce_as("BROK-014", asked, topic, b"all", acks=-1, timeout_ms=SOON_MS)
            code = None if answer is None else answer.error_code
            assert code != ErrorCode.NONE, f"{old} is alone and acknowledges acks=all"
            return leader_without(cluster, topic, old)

        now = cluster.last_seen(refused, lambda leader: leader != NOBODY, DEPOSED_MS)
        assert now != NOBODY, f"{old} is cut off, and the others name no other leader"
        refused()
