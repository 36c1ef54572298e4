"""COORD, OFFS: requests that name groups of different coordinators."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import commit, entry, fetch_groups, fetch_offsets
from suites.protocol.support.expect import expect_error
from suites.replication.support.coordinators import (
    CoordinatedGroup,
    PlacedGroup,
    with_different_coordinators,
)

OFFSET = 7


def _with_offsets(cluster: Cluster) -> tuple[Topic, CoordinatedGroup, CoordinatedGroup]:
    """Return a topic, and two groups with offsets of it at different coordinators."""
    topic, places = cluster.create_topic(), with_different_coordinators(cluster)
    for place in places:
        commit(cluster.at(place.node), place.group, {topic: [entry(OFFSET, place.group)]})
    return topic, *places


def _place_of(found: FindCoordinatorResponse.Coordinator) -> tuple[int, str, int]:
    return found.node_id, found.host, found.port


@judges("COORD-005")
@at_versions("FindCoordinator", "4+")
def test_find_coordinator_of_several_groups_returns_own_coordinator_of_each(
    cluster: Cluster, api_version: int
) -> None:
    """Every broker names for each group the coordinator that it names for that group alone."""
    places = with_different_coordinators(cluster)
    keys = [place.group for place in places]
    expected = {place.group: (place.node, *cluster.at(place.node).address) for place in places}
    with requirement("COORD-005") as check:
        for node in cluster.nodes:
            with check.subtest(f"broker {node}"):
                request = FindCoordinatorRequest(coordinator_keys=keys)
                answer = cluster.at(node).ask(request, api_version)
                for each in answer.coordinators:
                    expect_error(each.error_code, ErrorCode.NONE, f"broker {node}, {each.key}")
                told = {each.key: _place_of(each) for each in answer.coordinators}
                assert told == expected, f"broker {node} names {told}, each alone {expected}"


@judges("COORD-008")
@at_versions("DescribeGroups")
def test_describe_groups_describes_own_group_beside_one_of_another_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """Both have a member; the group of the other coordinator is the first or the last."""
    here, there = with_different_coordinators(cluster)
    for place in (here, there):
        PlacedGroup(cluster, place).stable(None)
    expected = {here.group: ErrorCode.NONE, there.group: ErrorCode.NOT_COORDINATOR}
    with requirement("COORD-008") as check:
        for groups in ([there.group, here.group], [here.group, there.group]):
            with check.subtest(f"the other group is number {groups.index(there.group) + 1}"):
                request = DescribeGroupsRequest(groups=groups)
                answer = cluster.at(here.node).ask(request, api_version)
                codes = {each.group_id: each.error_code for each in answer.groups}
                assert codes == expected, f"the errors are {codes}, expected {expected}"
                state = next(
                    each.group_state for each in answer.groups if each.group_id == here.group
                )
                assert state == "Stable", f"the own group is {state}, expected Stable"


@judges("COORD-008")
@at_versions("DeleteGroups")
def test_delete_groups_deletes_own_group_beside_one_of_another_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """The group of the other coordinator is the first, and keeps its offset."""
    topic, here, there = _with_offsets(cluster)
    expected = {there.group: ErrorCode.NOT_COORDINATOR, here.group: ErrorCode.NONE}
    with requirement("COORD-008"):
        request = DeleteGroupsRequest(groups_names=list(expected))
        answer = cluster.at(here.node).ask(request, api_version)
        codes = {each.group_id: each.error_code for each in answer.results}
        assert codes == expected, f"the errors are {codes}, expected {expected}"
        fetch_offsets(cluster.at(here.node), here.group, {topic: [0]}).expect_none(topic)
        kept = fetch_offsets(cluster.at(there.node), there.group, {topic: [0]})
        kept.expect(topic, OFFSET, there.group, where="the other coordinator")


@judges("OFFS-004")
@at_versions("OffsetFetch", "8+")
def test_offset_fetch_returns_own_group_beside_one_of_another_coordinator(
    cluster: Cluster, api_version: int
) -> None:
    """The group of the other coordinator is the first, and has its own error."""
    topic, here, there = _with_offsets(cluster)
    with requirement("OFFS-004"):
        wanted = {place.group: {topic: [0]} for place in (there, here)}
        found = fetch_groups(cluster.at(here.node), wanted, api_version)
        assert sorted(found) == sorted(wanted), f"asked for {list(wanted)}, got {list(found)}"
        refused = found[there.group].error_of(topic)
        expect_error(refused, ErrorCode.NOT_COORDINATOR, "the group of the other coordinator")
        found[here.group].expect(topic, OFFSET, here.group, where="the group of this one")
