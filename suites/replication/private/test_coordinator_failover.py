"""OFFS, COORD, GRP: groups and their offsets outlive their coordinator."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.client.cluster import Cluster
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeGroupsResponse
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.classic_group import ClientMember
from suites.protocol.support.committed_offsets import (
    FIRST_IN_KAFKA,
    SETTLING,
    Committer,
    GroupOffsets,
    ask_to_commit,
    commit,
    entry,
    fetch_offsets,
)
from suites.protocol.support.expect import expect_error
from suites.replication.support.coordinators import (
    CoordinatedGroup,
    PlacedGroup,
    await_coordinator,
    await_offsets_topic,
    new_group,
)

MANY = 200
"""Partitions that a group has offsets of."""
COMMITS = 20
LATE = 7
"""An offset that the member commits for one more partition at the new coordinator."""
COMMIT_WITH_EPOCH, FETCH_WITH_EPOCH = 6, 5  # KIP-320


def _metadata(index: int) -> str:
    return f"of partition {index}"


def _committed(cluster: Cluster) -> tuple[Topic, CoordinatedGroup, ClientMember]:
    """A member commits again and again: for each partition its number, metadata and epoch."""
    topic = cluster.create_topic([cluster.nodes[:1]] * (MANY + 1), {"min.insync.replicas": "1"})
    place = new_group(cluster)
    group = PlacedGroup(cluster, place)
    (member,) = group.stable(None)
    for _ in range(COMMITS):
        entries = [entry(index, _metadata(index), index) for index in range(MANY)]
        for each in entries:
            each.committed_leader_epoch = each.partition_index
        commit(group.broker, group.group_id, {topic: entries}, by=_as(member))
    return topic, place, member


def _as(member: ClientMember) -> Committer:
    return Committer(member.generation, member.member_id)


def _expect_kept(cluster: Cluster, node: int, topic: Topic, place: CoordinatedGroup) -> None:
    """The broker returns all offsets, and before that only errors of a coordinator not ready."""
    client = cluster.at(node)
    version = client.version("OffsetFetch", FIRST_IN_KAFKA)
    has_epochs = (
        client.version("OffsetCommit", FIRST_IN_KAFKA) >= COMMIT_WITH_EPOCH
        and version >= FETCH_WITH_EPOCH
    )

    def asked() -> int:
        offsets = fetch_offsets(client, place.group, {topic: list(range(MANY))}, version)
        code = offsets.error_of(topic)
        if code not in SETTLING:
            for index in range(MANY):
                where = f"broker {node}"
                found = offsets.expect(topic, index, _metadata(index), partition=index, where=where)
                epoch = found.committed_leader_epoch
                assert epoch == index or not has_epochs, (
                    f"{where}, partition {index}: leader epoch is {epoch}, expected {index}"
                )
        return code

    code = cluster.last_seen(asked, lambda code: code == ErrorCode.NONE)
    expect_error(code, ErrorCode.NONE, f"broker {node}")


def _codes_at(
    cluster: Cluster, node: int, topic: Topic, member: ClientMember
) -> Iterator[tuple[str, int]]:
    """Send a heartbeat, a commit and a fetch to this broker; yield API and error code of each."""
    client, group = cluster.at(node), member.group.group_id
    member.connection = client.connect()
    yield "Heartbeat", member.heartbeat()
    entries = {topic: [entry(LATE, "", MANY)]}
    version = client.version("OffsetCommit", FIRST_IN_KAFKA)
    yield (
        "OffsetCommit",
        ask_to_commit(client, group, entries, version, _as(member))[topic.name, MANY],
    )
    yield "OffsetFetch", fetch_offsets(client, group, {topic: [0]}).error_of(topic)


def _expect_taken(cluster: Cluster, node: int, topic: Topic, member: ClientMember) -> None:
    """All three soon succeed, and before that the errors are those of a coordinator not ready."""

    def asked() -> dict[str, int]:
        codes = dict(_codes_at(cluster, node, topic, member))
        _expect_not_ready(codes, node)
        return codes

    codes = cluster.last_seen(asked, lambda codes: not any(codes.values()))
    for api, code in codes.items():
        expect_error(code, ErrorCode.NONE, f"{api} at broker {node}")


def _expect_not_ready(codes: dict[str, int], node: int) -> None:
    """A heartbeat has no error while the offsets are loaded: old clients know none there."""
    for api, code in codes.items():
        told = f"{api} at broker {node}, at first: error is {ErrorCode.describe(code)}"
        loading = {ErrorCode.COORDINATOR_LOAD_IN_PROGRESS} if api == "Heartbeat" else set()
        assert code in {ErrorCode.NONE, *SETTLING} - loading, told


@judges("OFFS-014")
@needs_broker(Use.CLUSTER)
def test_requests_at_new_coordinator_succeed_after_loading_with_all_offsets(
    cluster: Cluster,
) -> None:
    """Heartbeat, commit and fetch get only errors of a coordinator not ready, and then succeed.

    Each offset has its metadata and leader epoch, and a new commit is kept beside them.
    """
    topic, place, member = _committed(cluster)
    cluster.kill(place.node)
    with requirement("OFFS-014"):
        for node in cluster.up:
            _expect_not_ready(dict(_codes_at(cluster, node, topic, member)), node)
        now = await_coordinator(cluster, place.group, other_than=place.node)
        _expect_taken(cluster, now, topic, member)
        _expect_kept(cluster, now, topic, place)
        late = fetch_offsets(cluster.at(now), place.group, {topic: [MANY]})
        late.expect(topic, LATE, partition=MANY, where="a commit after the failover")


@judges("OFFS-015")
@needs_broker(Use.CLUSTER)
def test_acknowledged_offset_commit_survives_coordinator_kill(cluster: Cluster) -> None:
    """It is killed as soon as the commit is acknowledged, twice."""
    topic, place = cluster.create_topic(), new_group(cluster)
    node = place.node
    with requirement("OFFS-015"):
        for offset in (1, 2):
            commit(cluster.at(node), place.group, {topic: [entry(offset)]})
            cluster.kill(node)
            now = await_coordinator(cluster, place.group, other_than=node)
            _expect_committed(cluster, now, topic, place, offset)
            cluster.restart(node)
            cluster.await_brokers(cluster.nodes)
            await_offsets_topic(cluster)
            node = await_coordinator(cluster, place.group)


def _expect_committed(
    cluster: Cluster, node: int, topic: Topic, place: CoordinatedGroup, offset: int
) -> None:
    """The coordinator soon returns the new offset.

    Kafka 4.x returns the old one until the high watermark of the new leader has reached the commit.
    """

    def asked() -> GroupOffsets:
        return fetch_offsets(cluster.at(node), place.group, {topic: [0]})

    def is_right(offsets: GroupOffsets) -> bool:
        found = offsets.partitions.get((topic.name, 0))
        return found is not None and found.committed_offset == offset

    told = cluster.last_seen(asked, is_right)
    told.expect(topic, offset, where=f"{node}, which coordinates now")


@judges("COORD-004")
@needs_broker(Use.CLUSTER)
def test_find_coordinator_after_kill_names_coordinator_with_offsets(cluster: Cluster) -> None:
    """By all brokers that are left; it has the offsets, and takes more."""
    topic, place = cluster.create_topic(), new_group(cluster)
    for _ in range(2):
        commit(cluster.at(place.node), place.group, {topic: [entry(7)]})  # see _heard_of
    cluster.kill(place.node)
    with requirement("COORD-004"):
        now = await_coordinator(cluster, place.group, other_than=place.node)
        _expect_committed(cluster, now, topic, place, 7)
        commit(cluster.at(now), place.group, {topic: [entry(8)]})
        _expect_committed(cluster, now, topic, place, 8)


def _heard_of(cluster: Cluster, group: PlacedGroup) -> None:
    """Commit once more, by which the followers learn that the earlier commits are committed.

    Coordinators before 0.11 load no further than that (class GroupMetadataManager, KAFKA-5059).
    """
    topic, member = cluster.create_topic(), group.members[0]
    by = Committer(member.generation, member.member_id)
    commit(group.broker, group.group_id, {topic: [entry(1)]}, by=by)


@judges("GRP-041")
@needs_broker(Use.CLUSTER)
def test_heartbeat_at_new_coordinator_accepts_member_id_and_generation(cluster: Cluster) -> None:
    """Their heartbeats are taken there, with the ids and the generation that they have.

    One member is static, where the broker knows instance ids. State, protocol and members are
    described as before.
    """
    place = new_group(cluster)
    group = PlacedGroup(cluster, place)
    members = [group.member(instance_id=_instance_id(cluster)), group.member()]
    group.grown(members)
    _heard_of(cluster, group)
    before = _described(group.described())
    cluster.kill(place.node)
    with requirement("GRP-041"):
        now = await_coordinator(cluster, place.group, other_than=place.node)
        for member in members:
            member.connection = cluster.at(now).connect()
            code = cluster.last_seen(
                partial(ClientMember.heartbeat, member), lambda code: code not in SETTLING
            )
            expect_error(code, ErrorCode.NONE, f"a heartbeat in generation {member.generation}")
        group.broker = cluster.at(now)
        found = _described(group.described())
        assert found == before, f"the group is {found}, it was {before}"


def _instance_id(cluster: Cluster) -> str | None:
    """Return the id of a static member (KIP-345), or none for a broker that knows only dynamic."""
    apis = {"JoinGroup": 5, "SyncGroup": 3, "Heartbeat": 3}
    known = all(cluster.front.advertised(name).highest >= least for name, least in apis.items())
    return "instance-0" if known else None


def _described(group: DescribeGroupsResponse.DescribedGroup) -> tuple[object, ...]:
    """Return the fields that a group keeps for its members, whichever broker coordinates it."""
    members = {
        each.member_id: (
            each.group_instance_id,
            each.client_id,
            bytes(each.member_metadata),
            bytes(each.member_assignment),
        )
        for each in group.members
    }
    return group.group_state, group.protocol_type, group.protocol_data, members
