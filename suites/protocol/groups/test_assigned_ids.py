"""GRP: member ids that a client has received, and with which no member has joined yet (KIP-394)."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DeleteGroupsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.classic_group import (
    KNOWN_ID,
    ClassicGroup,
    ClientMember,
    await_rebalance,
    leave,
)
from suites.protocol.support.committed_offsets import commit, entry, fetch_offsets
from suites.protocol.support.expect import expect_error
from suites.protocol.support.group_times import expect_alone, patient, short_ms_of
from suites.protocol.support.joined_generation import expect_next_generation
from suites.protocol.support.kept_topics import KeptTopics

JOIN = api_named("JoinGroup").key
STILL_WAITS_MS = 150


def _one_partition(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


@judges("GRP-075")
@at_versions("DeleteGroups", "0-1", "2+")
def test_delete_groups_deletes_group_with_assigned_member_ids_alone(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """The group has an offset too, so that the broker does not forget it before."""
    broker.version("JoinGroup", f"{KNOWN_ID}+")
    topic = kept.topic(broker, _one_partition)
    waiting = group.member(client_id="GRP-075")
    commit(broker, group.group_id, {topic: [entry(5)]})
    waiting.be_given_an_id()
    request = DeleteGroupsRequest(groups_names=[group.group_id])
    with requirement("GRP-075"):
        codes = [result.error_code for result in broker.ask(request, api_version).results]
        assert len(codes) == 1, f"{len(codes)} groups in the answer, asked for one"
        expect_error(codes[0], ErrorCode.NONE, "a group with an assigned id alone")
        fetch_offsets(broker, group.group_id, {topic: [0]}).expect_none(topic)
        code = waiting.ask_join().error_code
        expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, "join with the id of before")


@judges("GRP-076")
@needs_broker(Use.OWN, {"group.max.size": "2"})
def test_member_id_that_full_group_refuses_is_removed(group: ClassicGroup) -> None:
    """The third client received its id while there was room; later there is room again.

    The second member joins at once, as a static one does; the join phase lasts until the rebalance
    timeout, as it waits for the third.
    """
    version = group.broker.version("JoinGroup", "5+")
    short_ms = short_ms_of(group)
    with requirement("GRP-076", api_key=JOIN, api_version=version), in_time(short_ms):
        group.rebalance_ms = short_ms
        first, third = (group.member(client_id="GRP-076") for _ in range(2))
        second = group.member(instance_id="second", client_id="GRP-076")
        group.grown([first])
        third.be_given_an_id()
        _join_together(second, first)
        refused = third.ask_join()
        expect_error(refused.error_code, ErrorCode.GROUP_MAX_SIZE_REACHED, "one too many")
        assert refused.member_id == "", f"it receives the member id {refused.member_id!r}"
        code = leave(group.broker, group.group_id, second.member_id)
        expect_error(code, ErrorCode.NONE, "leave of the second")
        await_rebalance(first)
        expect_alone(patient(first, short_ms).ask_join(), first)
        code = third.ask_join().error_code
        expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, "the id that was refused")


def _join_together(newcomer: ClientMember, member: ClientMember) -> None:
    newcomer.send_join()
    await_rebalance(member)
    member.send_join()
    for each in (newcomer, member):
        patient(each, each.group.rebalance_ms)
        answer = each.remember(each.take_join())
        expect_error(answer.error_code, ErrorCode.NONE, "join of one of two")


@judges("GRP-079")
@needs_broker(Use.OWN, {"group.max.size": "2"})
def test_assigned_member_ids_without_members_leave_stable_group_as_it_is(
    group: ClassicGroup,
) -> None:
    """Two clients receive ids, beside one member of the two that there may be; then one joins.

    An id alone is refused in the generation of the member.
    """
    version = group.broker.version("JoinGroup", f"{KNOWN_ID}+")
    (member,) = group.stable(None)
    early, late = (group.member(client_id="GRP-079") for _ in range(2))
    with requirement("GRP-079", api_key=JOIN, api_version=version) as check:
        _expect_id_alone(early, member, "the first id")
        _expect_id_alone(late, member, "the second id")
        early.generation, early.protocol_name = member.generation, member.protocol_name
        codes = {"Heartbeat": early.heartbeat(), "SyncGroup": early.ask_sync().error_code}
        for api, code in codes.items():
            with check.subtest(api):
                expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, f"{api} with the first id")
        late.send_join()
        late.connection.expect_silence(group.broker.scaled_ms(STILL_WAITS_MS))
        code = leave(group.broker, group.group_id, early.member_id)
        expect_error(code, ErrorCode.NONE, "leave of the id that no client uses")
        await_rebalance(member)
        member.send_join()
        expect_next_generation([member, late], member.generation)


def _expect_id_alone(client: ClientMember, member: ClientMember, which: str) -> None:
    """The client receives a member id, and the only member of the group notices nothing."""
    answer = client.remember(client.ask_join())
    expect_error(answer.error_code, ErrorCode.MEMBER_ID_REQUIRED, which)
    expect_error(member.heartbeat(), ErrorCode.NONE, f"the member's heartbeat, {which}")
    described = member.group.described()
    found = described.group_state, [each.member_id for each in described.members]
    expected = "Stable", [member.member_id]
    assert found == expected, f"state and members are {found}, expected {expected}"
