"""COORD: a group gets another coordinator while the former one goes on."""

from __future__ import annotations

from harness.client.cluster import Cluster
from harness.client.errors import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    followers_of,
    sync_all,
)
from suites.protocol.support.committed_offsets import fetch_offsets
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import OFFSETS_TOPIC
from suites.replication.support.coordinators import NO_TOPIC, PlacedGroups
from suites.replication.support.reassigning import ask_to_move, elect

SESSION_MS = 120_000
"""Longer than a coordinator takes to move: no member is given up meanwhile."""
SILENCE_MS = 300


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


def _move_coordinator(cluster: Cluster, node: int) -> None:
    """Give the partitions of the offsets topic that this broker leads to other replicas."""
    offsets = Topic(OFFSETS_TOPIC)
    targets: dict[int, list[int]] = {}
    for partition, view in cluster.topic_by(cluster.up[0], OFFSETS_TOPIC).items():
        if view.leader == node:
            replicas = cluster.replicas(offsets, partition)
            others = [each for each in replicas if each != node]
            targets[partition] = [*others, node]
    codes = ask_to_move(cluster, OFFSETS_TOPIC, targets, None)
    if any(codes.values()):
        raise PreparationFailed(f"AlterPartitionReassignments: {codes}")
    elect(cluster, {OFFSETS_TOPIC: list(targets)})


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
