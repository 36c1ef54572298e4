"""GRP: groups that all members have left."""

from __future__ import annotations

from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeGroupsRequest, ListGroupsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import ClassicGroup, leave, sync_all
from suites.protocol.support.expect import expect_error
from suites.protocol.support.held_groups import hold

FIRST_LIST_WITH_STATES = 4


@judges("GRP-046")
@at_versions("JoinGroup")
def test_group_without_members_accepts_other_protocols_at_higher_generation(
    group: ClassicGroup, api_version: int
) -> None:
    """Two consumers leave; a worker of another type joins, with a protocol that they lacked."""
    newcomers = [group.member() for _ in range(2)]
    hold(group.broker, group.group_id)
    members = group.grown(newcomers)
    last = members[0].generation
    for member in members:
        leave(group.broker, group.group_id, member.member_id)
    group.at("JoinGroup", api_version).protocol_type = "connect"
    worker = group.member({"default": b"a worker's"})
    worker.be_given_an_id()
    with requirement("GRP-046"):
        answer = worker.ask_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join with another type")
        worker.remember(answer)
        found = (answer.leader, answer.protocol_name, len(answer.members))
        expected = (worker.member_id, "default", 1)
        assert found == expected, f"leader, protocol and members are {found}, expected {expected}"
        generation = answer.generation_id
        assert generation > last, f"generation {generation} after {last}"
        sync_all([worker])
        expect_error(worker.heartbeat(), ErrorCode.NONE, "heartbeat of the worker")


def _emptied(group: ClassicGroup) -> None:
    """Let a member join the group and leave it."""
    newcomer = group.member()
    hold(group.broker, group.group_id)
    (member,) = group.grown([newcomer])
    leave(group.broker, group.group_id, member.member_id)


@judges("GRP-053")
@at_versions("DescribeGroups")
def test_describe_groups_of_group_without_members_returns_empty_with_protocol_type(
    group: ClassicGroup, api_version: int
) -> None:
    """One that a consumer has left, and one that exists for its offset alone."""
    _emptied(group)
    broker, simple = group.broker, group.broker.unique_group()
    hold(broker, simple)
    request = DescribeGroupsRequest(groups=[group.group_id, simple])
    with requirement("GRP-053") as check:
        answer = broker.ask(request, api_version)
        for found, kind in zip(answer.groups, ("consumer", ""), strict=True):
            with check.subtest(f"protocol type {kind!r}"):
                expect_error(found.error_code, ErrorCode.NONE, "the group")
                told = (found.group_state, found.protocol_type, found.protocol_data, found.members)
                assert told == ("Empty", kind, "", []), f"the group is described as {told}"


@judges("GRP-053")
@at_versions("ListGroups", "0-3", "4+")
def test_list_groups_lists_group_without_members_as_empty_with_protocol_type(
    group: ClassicGroup, api_version: int
) -> None:
    """One that a consumer has left, and one that exists for its offset alone.

    From v4 on the state is listed, and a filter of states contains it.
    """
    _emptied(group)
    broker, simple = group.broker, group.broker.unique_group()
    hold(broker, simple)
    request = ListGroupsRequest()
    if api_version >= FIRST_LIST_WITH_STATES:
        request.states_filter = ["Empty"]
    with requirement("GRP-053") as check:
        answer = broker.ask(request, api_version)
        listed = {each.group_id: each for each in answer.groups}
        for name, kind in ((group.group_id, "consumer"), (simple, "")):
            with check.subtest(f"protocol type {kind!r}"):
                assert name in listed, "the group is not listed"
                found = listed[name]
                assert found.protocol_type == kind, f"its type is {found.protocol_type!r}"
                if api_version >= FIRST_LIST_WITH_STATES:
                    assert found.group_state == "Empty", f"its state is {found.group_state!r}"
