"""COORD, GRP: groups spread over the brokers; the offsets topic has several partitions."""

from __future__ import annotations

from functools import partial

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ListGroupsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.classic_group import sync_all
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import OFFSETS_TOPIC, hash_of
from suites.replication.support.coordinators import (
    NO_NODE,
    CoordinatedGroup,
    PlacedGroup,
    named,
    new_group,
)

spread = needs_broker(Use.CLUSTER, {"offsets.topic.num.partitions": "9"})
GROUPS = 12
GROUPS_LIMIT = 60


def _spread_groups(cluster: Cluster) -> list[CoordinatedGroup]:
    """Groups with a member each, at least one on each broker."""
    places: list[CoordinatedGroup] = []
    while len(places) < GROUPS_LIMIT:
        place = new_group(cluster)
        member = PlacedGroup(cluster, place).member()
        member.join()
        sync_all([member])
        places.append(place)
        if len(places) >= GROUPS and {each.node for each in places} == set(cluster.nodes):
            break
    return places


@judges("COORD-006")
@spread
def test_group_coordinator_is_selected_by_hash_of_group_id(cluster: Cluster) -> None:
    """The coordinator leads the partition of the offsets topic that the name's hash selects.

    A broker that was slow to begin gets its partitions back some time later: both are asked anew.
    """
    new_group(cluster)
    count = len(cluster.topic_by(cluster.nodes[0], OFFSETS_TOPIC))
    with requirement("COORD-006"):
        assert count > 1, f"{OFFSETS_TOPIC} has {count} partitions"
        for _ in range(GROUPS):
            group = cluster.unique_group()
            found, expected = cluster.last_seen(
                partial(_named_and_leading, cluster, group, hash_of(group) % count),
                lambda nodes: nodes[0] == nodes[1] != NO_NODE,
            )
            assert found == expected, f"{group} is coordinated by {found}, expected {expected}"


def _named_and_leading(cluster: Cluster, group: str, partition: int) -> tuple[int, int]:
    """Return the group's coordinator and the partition's leader, both as one broker names them."""
    leader = cluster.view(Topic(OFFSETS_TOPIC), partition).leader
    return named(cluster.front, group), leader


@judges("GRP-032")
@spread
@at_versions("ListGroups")
def test_list_groups_returns_only_groups_coordinated_by_broker(
    cluster: Cluster, api_version: int
) -> None:
    """Only the coordinator of a group lists it, of the groups of this test."""
    places = _spread_groups(cluster)
    ours = {place.group for place in places}
    with requirement("GRP-032"):
        for node in cluster.nodes:
            answer = cluster.at(node).ask(ListGroupsRequest(), api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"broker {node}")
            listed = ours & {group.group_id for group in answer.groups}
            expected = {place.group for place in places if place.node == node}
            assert listed == expected, (
                f"broker {node} lists {len(listed)} of our groups, it coordinates "
                f"{len(expected)}; too many: {listed - expected}, lacking: {expected - listed}"
            )
