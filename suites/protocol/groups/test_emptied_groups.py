"""GRP: groups that all members have left."""

from __future__ import annotations

from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeGroupsRequest, ListGroupsRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges, needs_broker
from suites.protocol.support.classic_group import ClassicGroup, leave, sync_all
from suites.protocol.support.expect import expect_error
from suites.protocol.support.held_groups import hold
from suites.protocol.support.joined_generation import expect_one_generation

FIRST_LIST_WITH_STATES = 4
DELAY_MS = 2_000  # as the own broker of GRP-056 has it
JOIN = api_named("JoinGroup").key


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


@judges("GRP-056")
@needs_broker(Use.OWN, {"group.initial.rebalance.delay.ms": str(DELAY_MS)})
def test_joins_after_all_members_left_form_one_generation(group: ClassicGroup) -> None:
    """A member was in the group, and left; two others join one after the other."""
    group.rebalance_ms = DELAY_MS  # so one delay is all that there is
    version = group.version("JoinGroup")
    with requirement("GRP-056", api_key=JOIN, api_version=version), in_time(DELAY_MS):
        _emptied(group)
        first, second = members = [group.member(), group.member(client_id="GRP-056")]
        first.be_given_an_id()
        first.send_join()
        second.be_given_an_id()  # not before: a join phase waits for it then, without a delay, too
        second.send_join()
        expect_one_generation(members)


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
