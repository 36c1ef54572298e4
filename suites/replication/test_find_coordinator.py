"""COORD: every broker names the coordinator of a group."""

from __future__ import annotations

from itertools import product

from harness.client.cluster import Cluster
from harness.client.coordinator import Coordinator, ask_for_coordinator
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from harness.runner.refusal_judged import refusal_judged
from suites.protocol.support.committed_offsets import commit, entry, fetch_offsets
from suites.protocol.support.expect import expect_error
from suites.replication.support.coordinators import CoordinatedGroup, new_group

SUFFIXES = ("", "-größe", "-группа", "-组", "-\N{SNOWMAN}\N{PILE OF POO}")


def _asked(cluster: Cluster, node: int, place: CoordinatedGroup, version: int) -> Coordinator:
    return ask_for_coordinator(cluster.at(node), place.group, version=version)


@judges("COORD-001")
@at_versions("FindCoordinator")
def test_find_coordinator_at_every_broker_returns_same_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """Its id, and the address at which it was reached."""
    place = new_group(cluster)
    address = tuple(cluster.at(place.node).address)
    with requirement("COORD-001") as check:
        for node in cluster.nodes:
            with check.subtest(f"broker {node}"):
                found = _asked(cluster, node, place, api_version)
                expect_error(found.error_code, ErrorCode.NONE, f"broker {node}")
                told = (found.node, (found.host, found.port))
                assert told == (place.node, address), (
                    f"broker {node} names {told}, others {(place.node, address)}"
                )


@judges("COORD-002")
@at_versions("FindCoordinator")
def test_coordinator_from_find_coordinator_accepts_offset_commit(
    cluster: Cluster, api_version: int
) -> None:
    """The coordinator that each broker names accepts a commit and returns it.

    The names have letters of one, two and three bytes, and one that is two units of UTF-16.
    """
    topic = cluster.create_topic()
    places = [new_group(cluster, suffix) for suffix in SUFFIXES]
    with requirement("COORD-002") as check:
        for offset, (place, node) in enumerate(product(places, cluster.nodes)):
            with check.subtest(f"group {place.group}, broker {node}"):
                found = _asked(cluster, node, place, api_version)
                expect_error(found.error_code, ErrorCode.NONE, f"broker {node}")
                assert found.node in cluster.nodes, f"broker {node} names {found.node}"
                client = cluster.at(found.node)
                with refusal_judged():
                    commit(client, place.group, {topic: [entry(offset)]})
                told = fetch_offsets(client, place.group, {topic: [0]})
                told.expect(topic, offset, where=f"broker {found.node}, named by {node}")
