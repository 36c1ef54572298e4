"""COORD: a group gets another coordinator while the former one goes on."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteGroupsRequest, DescribeGroupsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    followers_of,
    leave,
    sync_all,
)
from suites.protocol.support.committed_offsets import (
    NO_OFFSET,
    ask_to_delete_offsets,
    commit,
    deleted_codes,
    entry,
    fetch_offsets,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import OFFSETS_TOPIC
from suites.replication.support.coordinators import NO_TOPIC, PlacedGroups
from suites.replication.support.reassigning import ask_to_move, elect

SESSION_MS = 120_000
"""Longer than a coordinator takes to move: no member is given up meanwhile."""
SILENCE_MS = 300
OFFSET = 7


def _rebalancing(group: ClassicGroup) -> tuple[ClientMember, ClientMember]:
    """Return a member that is in the group, and another with a join that waits for it."""
    present = group.member()
    present.join()
    sync_all([present])
    newcomer = group.member()
    newcomer.be_given_an_id()
    newcomer.send_join()
    await_rebalance(present)
    return present, newcomer


def _waiting_to_sync(group: ClassicGroup) -> ClientMember:
    """Return a follower with a SyncGroup that waits for that of the leader."""
    members = _rebalancing(group)
    members[0].send_join()
    for member in members:
        member.take_joined()
    (follower,) = followers_of(members)
    follower.send_sync()
    return follower


def _move_coordinator(cluster: Cluster, node: int) -> list[int]:
    """Give the partitions of the offsets topic that this broker leads to other replicas."""
    offsets = Topic(OFFSETS_TOPIC)
    targets: dict[int, list[int]] = {}
    for partition, view in cluster.topic_by(cluster.up[0], OFFSETS_TOPIC).items():
        if view.leader == node:
            replicas = cluster.replicas(offsets, partition)
            others = [each for each in replicas if each != node]
            targets[partition] = [*others, node]
    _lead_by_first(cluster, targets)
    return list(targets)


def _move_back(cluster: Cluster, node: int, partitions: Sequence[int]) -> None:
    """Give these partitions of the offsets topic to this broker again."""
    offsets = Topic(OFFSETS_TOPIC)
    replicas = {each: cluster.replicas(offsets, each) for each in partitions}
    _lead_by_first(
        cluster,
        {each: [node, *(one for one in ids if one != node)] for each, ids in replicas.items()},
    )


def _lead_by_first(cluster: Cluster, targets: dict[int, list[int]]) -> None:
    """Give the partitions these replicas in this order; the first of each leads."""
    codes = ask_to_move(cluster, OFFSETS_TOPIC, targets, None)
    if any(codes.values()):
        raise PreparationFailed(f"AlterPartitionReassignments: {codes}")
    elect(cluster, {OFFSETS_TOPIC: list(targets)})


def _delete_group(client: BrokerUnderTest, group: str) -> None:
    code = client.ask(DeleteGroupsRequest(groups_names=[group])).results[0].error_code
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"DeleteGroups: {ErrorCode.describe(code)}", code)


def _delete_offset(client: BrokerUnderTest, group: str, topic: Topic) -> None:
    version = client.version("OffsetDelete")
    deleted = deleted_codes(ask_to_delete_offsets(client, version, group, (topic.name, 0)))
    if any(deleted.values()):
        raise PreparationFailed(f"OffsetDelete: {deleted}")


@judges("COORD-009")
@needs_broker(Use.CLUSTER)
def test_former_coordinator_answers_requests_that_wait_and_new_ones_with_not_coordinator(
    cluster: Cluster,
) -> None:
    """A join that waits for a member, a sync that waits for the leader, and a member's requests."""
    places = PlacedGroups(cluster)
    groups = [places.new() for _ in range(3)]
    for group in groups:
        group.session_ms = SESSION_MS
    stable, syncing, joining = groups
    (member,) = stable.stable(None)
    follower, (_, newcomer) = _waiting_to_sync(syncing), _rebalancing(joining)
    for waiting in (follower, newcomer):
        waiting.connection.expect_silence(for_ms=SILENCE_MS)
    former = places.node_of(stable.group_id)
    readable = cluster.front.version("OffsetFetch", "1-9")  # by name: the topic need not be there
    _move_coordinator(cluster, former)
    places.settle(other_than=former)
    with requirement("COORD-009") as check:
        expect_error(
            newcomer.take_join().error_code, ErrorCode.NOT_COORDINATOR, "the join that waits"
        )
        expect_error(
            follower.take_sync().error_code, ErrorCode.NOT_COORDINATOR, "the sync that waits"
        )
        codes = {
            "Heartbeat": member.heartbeat(),
            "SyncGroup": member.ask_sync().error_code,
            "JoinGroup": member.ask_join().error_code,
            "OffsetFetch": fetch_offsets(
                stable.broker, stable.group_id, {NO_TOPIC: [0]}, readable
            ).error_of(NO_TOPIC),
        }
        for api, code in codes.items():
            with check.subtest(api):
                expect_error(code, ErrorCode.NOT_COORDINATOR, "the former coordinator")


@judges("COORD-010")
@needs_broker(Use.CLUSTER)
def test_coordinator_that_comes_back_has_what_the_one_between_has_written(
    cluster: Cluster,
) -> None:
    """Three groups with offsets of two partitions; between, one gets another offset, one loses one
    offset, and one is deleted. In a fourth group the only member leaves.
    """
    places, topic = PlacedGroups(cluster), cluster.create_topic([cluster.nodes[:3]] * 2)
    changed, smaller, deleted, left = groups = [places.new() for _ in range(4)]
    for group in groups[:3]:
        entries = [entry(OFFSET), entry(OFFSET + 1, partition=1)]
        commit(places.client_of(group.group_id), group.group_id, {topic: entries})
    left.session_ms = SESSION_MS
    (member,) = left.stable(None)
    first = places.node_of(left.group_id)
    partitions = _move_coordinator(cluster, first)
    places.settle(other_than=first)
    commit(places.client_of(changed.group_id), changed.group_id, {topic: [entry(OFFSET - 1)]})
    _delete_offset(places.client_of(smaller.group_id), smaller.group_id, topic)
    _delete_group(places.client_of(deleted.group_id), deleted.group_id)
    leave(places.client_of(left.group_id), left.group_id, member.member_id)
    _move_back(cluster, first, partitions)
    places.settle_at(first)
    client = cluster.at(first)
    with requirement("COORD-010") as check:
        for group, wanted in (
            (changed, (OFFSET - 1, OFFSET + 1)),
            (smaller, (NO_OFFSET, OFFSET + 1)),
            (deleted, (NO_OFFSET, NO_OFFSET)),
        ):
            with check.subtest(f"offsets {wanted}"):
                found = fetch_offsets(client, group.group_id, {topic: [0, 1]})
                told = [found.partitions[topic.name, at].committed_offset for at in (0, 1)]
                assert told == [*wanted], f"the offsets are {told}, expected {[*wanted]}"
        with check.subtest("a member"):
            state = client.ask(DescribeGroupsRequest(groups=[left.group_id])).groups[0]
            seen = (state.group_state, len(state.members))
            assert seen == ("Empty", 0), f"(state, members) is {seen}, expected ('Empty', 0)"
