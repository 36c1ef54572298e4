"""GRP: each partition has one member, as far as the members follow the assignment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.data_framing.version_prefix import (
    read_assignment,
    read_subscription,
    version_prefixed_bytes,
)
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    JoinGroupResponse,
)
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.classic_group import ClassicGroup, ClientMember, await_rebalance
from suites.protocol.support.expect import expect_error
from suites.protocol.support.record_formats import records_in

PARTITIONS = 4
OWNED = 1  # from this version on the subscription contains the owned partitions (KIP-429)
Parts = Mapping[str, list[int]]


def _part(topic: str, partitions: list[int]) -> bytes:
    """An assignment as a consumer reads it."""
    entry = ConsumerProtocolAssignment.TopicPartition(topic=topic, partitions=partitions)
    found = [entry] if partitions else []
    return version_prefixed_bytes(ConsumerProtocolAssignment(assigned_partitions=found), 0)


def _told(member: ClientMember) -> list[int]:
    """The partitions that the answer to its sync gives it."""
    answer = member.take_sync()
    expect_error(answer.error_code, ErrorCode.NONE, "sync")
    assignment = read_assignment(bytes(answer.assignment)).message
    return [index for entry in assignment.assigned_partitions for index in entry.partitions]


def _assigned(members: Sequence[ClientMember], topic: str, parts: Parts) -> dict[str, list[int]]:
    """Sync with the leader's assignment, and return each member's part by its id."""
    encoded = {name: _part(topic, partitions) for name, partitions in parts.items()}
    for member in members:
        member.send_sync(encoded if member.leads else None)
    return {member.member_id: _told(member) for member in members}


def _dealt(members: Sequence[ClientMember], count: int) -> dict[str, list[int]]:
    """Partitions dealt out in turn."""
    return {
        member.member_id: list(range(count))[place :: len(members)]
        for place, member in enumerate(members)
    }


def _all_again(members: Sequence[ClientMember]) -> dict[str, JoinGroupResponse]:
    """Run a rebalance in which all members join, and return their responses by member id."""
    leader = next(member for member in members if member.leads)
    leader.send_join()
    others = [member for member in members if member is not leader]
    for member in others:
        await_rebalance(member)
        member.send_join()
    return {member.member_id: member.take_joined() for member in members}


def _records_of(group: ClassicGroup, topic: Topic, partitions: Sequence[int]) -> list[bytes]:
    found: list[bytes] = []
    for partition in partitions:
        data = record_bytes(group.broker.fetch(topic, 0, partition=partition))
        found += [bytes(record.value or b"") for record in records_in(data)]
    return found


@judges("GRP-026")
@at_versions("SyncGroup")
def test_members_fetching_assigned_partitions_get_each_record_once(
    group: ClassicGroup, api_version: int
) -> None:
    """Two members read what they were assigned: together all records, each of them once."""
    topic = group.broker.create_topic(partitions=PARTITIONS)
    written = [b"in %d" % partition for partition in range(PARTITIONS)]
    for partition, value in enumerate(written):
        batch = RecordBatch([Record(value)], base_timestamp=now_ms())
        append(group.broker, topic, encode_batch(batch), partition=partition)
    members = group.stable(None, None)
    _all_again(members)
    group.at("SyncGroup", api_version)
    with requirement("GRP-026"):
        told = _assigned(members, topic.name, _dealt(members, PARTITIONS))
        read = [value for mine in told.values() for value in _records_of(group, topic, mine)]
        assert sorted(read) == written, f"the members read {sorted(read)}, written was {written}"


@judges("GRP-027")
@at_versions("SyncGroup")
def test_member_with_no_assigned_partition_remains_in_group(
    group: ClassicGroup, api_version: int
) -> None:
    """Three members and two partitions."""
    members = group.stable(None, None, None)
    _all_again(members)
    group.at("SyncGroup", api_version)
    with requirement("GRP-027"):
        told = _assigned(members, "a-topic", _dealt(members, 2))
        counts = sorted(len(mine) for mine in told.values())
        assert counts == [0, 1, 1], f"the members have {counts} partitions, expected [0, 1, 1]"
        for member in members:
            code = member.heartbeat()
            expect_error(code, ErrorCode.NONE, f"heartbeat of one with {told[member.member_id]}")


def _owning(topic: str, partitions: list[int]) -> dict[str, bytes]:
    owned = ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=partitions)
    said = ConsumerProtocolSubscription(topics=[topic], owned_partitions=[owned])
    return {"cooperative-sticky": version_prefixed_bytes(said, OWNED)}


def _owned(metadata: bytes) -> list[int]:
    said = read_subscription(metadata).message
    return [index for entry in said.owned_partitions for index in entry.partitions]


@judges("GRP-040")
@at_versions("JoinGroup")
def test_cooperative_rebalances_pass_owned_partitions_and_assign_none_twice(
    group: ClassicGroup, api_version: int
) -> None:
    """The leader knows the owned partitions: 1 changes its member in two rebalances."""
    group.at("JoinGroup", api_version)
    first, second = members = group.stable(_owning("a-topic", []), _owning("a-topic", []))
    owned: dict[str, list[int]] = {first.member_id: [0, 1], second.member_id: []}
    for given in ([0], []), ([0], [1]):
        for member in members:
            member.protocols = _owning("a-topic", owned[member.member_id])
        with requirement("GRP-040"):
            roster = _all_again(members)[first.leader_id].members
            known = {entry.member_id: _owned(bytes(entry.metadata)) for entry in roster}
            assert known == owned, f"the leader receives that {known} are owned, it is {owned}"
            parts = dict(zip(owned, given, strict=True))
            told = _assigned(members, "a-topic", parts)
            every = sorted(index for mine in told.values() for index in mine)
            assert len(every) == len(set(every)), f"a partition is assigned twice: {told}"
            assert told == parts, f"the parts are {told}, the leader gave {parts}"
        owned = told
