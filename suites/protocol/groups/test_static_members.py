"""GRP: static members keep their place after a restart (KIP-345)."""

from __future__ import annotations

from harness.client.broker import PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.header import DEFAULT_CLIENT_ID
from harness.codec.messages import LeaveGroupRequest, OffsetCommitRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance_soon,
    followers_of,
    leader_of,
)
from suites.protocol.support.committed_offsets import Committer, commit_request, committed
from suites.protocol.support.expect import expect_error

OF_INSTANCES = "7+"


def _two_statics(
    group: ClassicGroup, client_id: str = DEFAULT_CLIENT_ID
) -> tuple[ClientMember, ClientMember]:
    """Leader and follower of a stable group."""
    newcomers = [group.member(None, f"instance-{number}", client_id) for number in range(2)]
    members = group.grown(newcomers)
    (follower,) = followers_of(members)
    return leader_of(members), follower


def _started_again(group: ClassicGroup, member: ClientMember) -> ClientMember:
    """The same instance, on a connection of its own, and without its member id."""
    return group.member(member.protocols, member.instance_id)


@judges("GRP-035")
@at_versions("JoinGroup", "5+")
def test_restarted_static_member_keeps_assignment_without_rebalance(
    group: ClassicGroup, api_version: int
) -> None:
    """A new id, the same generation and assignment; no rebalance for the leader."""
    leader, old = _two_statics(group.at("JoinGroup", api_version))
    again = _started_again(group, old)
    with requirement("GRP-035"):
        answer = again.ask_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join")
        assert answer.member_id != old.member_id, "it has its old member id"
        found = answer.generation_id
        assert found == old.generation, f"generation {found}, it was {old.generation}"
        again.remember(answer)
        synced = again.ask_sync()
        expect_error(synced.error_code, ErrorCode.NONE, "sync")
        part, before = bytes(synced.assignment), old.member_id.encode()
        assert part == before, f"its part is {part!r}, it was {before!r}"
        expect_error(leader.heartbeat(), ErrorCode.NONE, "the leader's heartbeat")


@judges("GRP-066")
@at_versions("Heartbeat", "3+")
def test_static_members_form_group_and_are_accepted(group: ClassicGroup, api_version: int) -> None:
    """A refusal while they join is judged here too: elsewhere it is a failed preparation.

    Another group has members with the same instance ids, which are others.
    """
    topic = group.broker.create_topic()
    both = {"group": group, "other group": ClassicGroup(group.broker)}
    with requirement("GRP-066") as check:
        members = {where: _formed(each, api_version) for where, each in both.items()}
        for where, each in both.items():
            for member in members[where]:
                with check.subtest(f"{'leader' if member.leads else 'follower'} of the {where}"):
                    expect_error(member.heartbeat(), ErrorCode.NONE, "heartbeat")
                    expect_error(member.ask_sync().error_code, ErrorCode.NONE, "sync again")
                    expect_error(_commit(member, topic), ErrorCode.NONE, "commit")
            with check.subtest(f"description of the {where}"):
                told = {one.group_instance_id: one.member_id for one in each.described().members}
                expected = {one.instance_id: one.member_id for one in members[where]}
                assert told == expected, f"the {where} has the members {told}, not {expected}"
    both["other group"].close()


def _formed(group: ClassicGroup, version: int) -> tuple[ClientMember, ClientMember]:
    """Return the members of the stable group, which use this version of Heartbeat."""
    try:
        return _two_statics(group.at("Heartbeat", version), "GRP-066")
    except PreparationFailed as refused:
        raise AssertionError(f"two static members form no group: {refused}") from refused


def _commit(member: ClientMember, topic: Topic) -> int:
    """Commit offset 1 of partition 0 as a static member; return the partition's error code."""
    group = member.group
    version = group.broker.version("OffsetCommit", OF_INSTANCES)
    request = commit_request(
        group.group_id,
        {topic: [OffsetCommitRequest.OffsetCommitRequestPartition(committed_offset=1)]},
        version,
        Committer(member.generation, member.member_id),
    )
    request.group_instance_id = member.instance_id
    (code,) = committed(group.broker, request, version, [topic]).values()
    return code


@judges("GRP-036")
@at_versions("JoinGroup", "5+")
def test_join_of_replaced_static_member_returns_fenced_instance_id(
    group: ClassicGroup, api_version: int
) -> None:
    """With the id that it had before the instance started again."""
    _, old = _two_statics(group)
    _started_again(group, old).join()
    group.at("JoinGroup", api_version)
    with requirement("GRP-036"):
        expect_error(old.ask_join().error_code, ErrorCode.FENCED_INSTANCE_ID, "join")


@judges("GRP-036")
@at_versions("SyncGroup", "3+")
def test_sync_of_replaced_static_member_returns_fenced_instance_id(
    group: ClassicGroup, api_version: int
) -> None:
    """With the id that it had before the instance started again."""
    _, old = _two_statics(group)
    _started_again(group, old).join()
    group.at("SyncGroup", api_version)
    with requirement("GRP-036"):
        expect_error(old.ask_sync().error_code, ErrorCode.FENCED_INSTANCE_ID, "sync")


@judges("GRP-036")
@at_versions("Heartbeat", "3+")
def test_heartbeat_of_replaced_static_member_returns_fenced_instance_id(
    group: ClassicGroup, api_version: int
) -> None:
    """With the id that it had before the instance started again."""
    _, old = _two_statics(group)
    _started_again(group, old).join()
    group.at("Heartbeat", api_version)
    with requirement("GRP-036"):
        expect_error(old.heartbeat(), ErrorCode.FENCED_INSTANCE_ID, "heartbeat")


@judges("GRP-036")
@at_versions("OffsetCommit", "7-9")
def test_offset_commit_of_replaced_static_member_returns_fenced_instance_id(
    group: ClassicGroup, api_version: int
) -> None:
    """With the id that it had before the instance started again."""
    _, old = _two_statics(group)
    _started_again(group, old).join()
    topic = group.broker.create_topic()
    partition = OffsetCommitRequest.OffsetCommitRequestPartition(committed_offset=1)
    request = OffsetCommitRequest(
        group_id=group.group_id,
        generation_id_or_member_epoch=old.generation,
        member_id=old.member_id,
        group_instance_id=old.instance_id,
        topics=[
            OffsetCommitRequest.OffsetCommitRequestTopic(name=topic.name, partitions=[partition])
        ],
    )
    with requirement("GRP-036"):
        answer = group.broker.ask(request, api_version)
        code = answer.topics[0].partitions[0].error_code
        expect_error(code, ErrorCode.FENCED_INSTANCE_ID, "commit")


@judges("GRP-037")
@at_versions("LeaveGroup", "3+")
def test_static_member_stays_after_disconnect_and_leaves_by_instance_id(
    group: ClassicGroup, api_version: int
) -> None:
    """The end of its connection removes no static member; its LeaveGroup begins a rebalance."""
    leader, gone = _two_statics(group)
    gone.connection.close()
    entry = LeaveGroupRequest.MemberIdentity(member_id="", group_instance_id=gone.instance_id)
    request = LeaveGroupRequest(group_id=group.group_id, members=[entry])
    with requirement("GRP-037"):
        expect_error(leader.heartbeat(), ErrorCode.NONE, "after it went away")
        known = [each.member_id for each in group.described().members]
        assert gone.member_id in known, "it is no member any more, before its session is over"
        answer = group.broker.ask(request, api_version)
        code = answer.error_code or answer.members[0].error_code
        expect_error(code, ErrorCode.NONE, "leave")
        await_rebalance_soon(leader)
        known = [each.member_id for each in group.described().members]
        assert gone.member_id not in known, "it left and is a member still"


@judges("GRP-065")
@at_versions("JoinGroup", "5-8")
def test_restarted_static_leader_v5_to_v8_receives_former_leader_id_and_no_members(
    group: ClassicGroup, api_version: int
) -> None:
    """So it does not assign: its sync without an assignment returns its part."""
    leader, follower = _two_statics(group.at("JoinGroup", api_version))
    again = _started_again(group, leader)
    with requirement("GRP-065"):
        answer = again.ask_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join")
        found = (answer.leader, len(answer.members))
        expected = (leader.member_id, 0)
        assert found == expected, f"leader and members are {found}, expected {expected}"
        again.remember(answer)
        synced = again.ask_sync()
        expect_error(synced.error_code, ErrorCode.NONE, "sync")
        part, before = bytes(synced.assignment), leader.member_id.encode()
        assert part == before, f"its part is {part!r}, it was {before!r}"
        expect_error(follower.heartbeat(), ErrorCode.NONE, "the follower's heartbeat")


@judges("GRP-039")
@at_versions("JoinGroup", "9+")
def test_restarted_static_leader_gets_skip_assignment_and_all_members(
    group: ClassicGroup, api_version: int
) -> None:
    """Its response has skip_assignment, itself as leader, and all members.

    The leader of a new generation, and a follower that starts again, skip nothing.
    """
    leader, follower = _two_statics(group.at("JoinGroup", api_version))
    again = _started_again(group, leader)
    elsewhere = ClassicGroup(group.broker).at("JoinGroup", api_version)
    first = elsewhere.member().join()
    elsewhere.close()
    with requirement("GRP-039"):
        assert not first.skip_assignment, "the leader of a new generation has skip_assignment"
        answer = again.ask_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join")
        assert answer.skip_assignment, "the leader that starts again has no skip_assignment"
        assert answer.leader == answer.member_id, f"{answer.leader} leads, not itself"
        found = {entry.group_instance_id for entry in answer.members}
        expected = {leader.instance_id, follower.instance_id}
        assert found == expected, f"it receives the members {found}, expected {expected}"
        expect_error(follower.heartbeat(), ErrorCode.NONE, "the follower's heartbeat")
        follower = _started_again(group, follower)
        assert not follower.ask_join().skip_assignment, "a follower has skip_assignment"
