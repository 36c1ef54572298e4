"""GRP: groups in DescribeGroups and ListGroups, and DeleteGroups."""

from __future__ import annotations

from itertools import product

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
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
    DeleteGroupsRequest,
    DescribeGroupsRequest,
    ListGroupsRequest,
    ListGroupsResponse,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    followers_of,
    leader_of,
    leave,
    subscription,
    sync_all,
)
from suites.protocol.support.committed_offsets import (
    Committer,
    commit,
    entry,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.expect import expect_error

WITH_TYPES = 5  # from this version of ListGroups on (KIP-848)


# -- DescribeGroups --------------------------------------------------------------------------------


@judges("GRP-030")
@at_versions("DescribeGroups")
def test_describe_groups_of_stable_group_returns_protocol_and_members(
    group: ClassicGroup, api_version: int
) -> None:
    """State, type and protocol; of each member client id, host, metadata and assignment.

    One member prefers a protocol that the other lacks, and has other metadata for it.
    """
    both = {name: subscription(name.encode()) for name in ("cooperative", "range")}
    members = [group.member(both, client_id="client-0"), group.member(client_id="client-1")]
    group.grown(members)
    group.at("DescribeGroups", api_version)
    with requirement("GRP-030"):
        found = group.described()
        expect_error(found.error_code, ErrorCode.NONE, "describe")
        told = (found.group_id, found.group_state, found.protocol_type, found.protocol_data)
        expected = (group.group_id, "Stable", "consumer", "range")
        assert told == expected, f"id, state, type and protocol are {told}, expected {expected}"
        described = {
            each.member_id: (each.client_id, bytes(each.member_metadata)) for each in found.members
        }
        known = {m.member_id: (m.connection.client_id, m.protocols["range"]) for m in members}
        assert described == known, f"the members are {described}, expected {known}"
        hosts = {each.client_host for each in found.members}
        assert all(hosts), f"the hosts of the members are {hosts}"
        assigned = {each.member_id: bytes(each.member_assignment) for each in found.members}
        given = {m.member_id: m.member_id.encode() for m in members}
        assert assigned == given, f"the assignments are {assigned}, expected {given}"


@judges("GRP-061")
@at_versions("DescribeGroups")
def test_describe_groups_returns_state_and_all_members_in_each_phase_of_rebalance(
    group: ClassicGroup, api_version: int
) -> None:
    """PreparingRebalance while one of two has joined again, CompletingRebalance afterwards."""
    leader, follower = _in_join_phase(group)
    group.at("DescribeGroups", api_version)
    with requirement("GRP-061"):
        _expect_phase(group, "PreparingRebalance", leader, follower)
        _end_join_phase(leader, follower)
        _expect_phase(group, "CompletingRebalance", leader, follower)


def _in_join_phase(group: ClassicGroup) -> tuple[ClientMember, ClientMember]:
    """Return a leader that waits in its join, and a follower that has to join."""
    members = group.stable(None, None)
    leader, (follower,) = leader_of(members), followers_of(members)
    leader.send_join()
    await_rebalance(follower)
    return leader, follower


def _end_join_phase(leader: ClientMember, follower: ClientMember) -> None:
    follower.send_join()
    for member in (leader, follower):
        member.take_joined()


def _expect_phase(group: ClassicGroup, state: str, *members: ClientMember) -> None:
    found = group.described()
    expect_error(found.error_code, ErrorCode.NONE, "describe")
    told = (found.group_state, found.protocol_type, found.protocol_data)
    assert told == (state, "consumer", ""), f"state, type and protocol are {told} in {state}"
    ids = {each.member_id for each in found.members}
    known = {member.member_id for member in members}
    assert ids == known, f"the members in {state} are {ids}, expected {known}"


@judges("GRP-044")
@at_versions("DescribeGroups", "4+")
def test_describe_groups_returns_instance_ids_of_static_members_only(
    group: ClassicGroup, api_version: int
) -> None:
    """Two static members, each with its own id, and a dynamic one with null."""
    instance_ids = ("instance-a", None, "instance-b")
    members = group.grown([group.member(instance_id=each) for each in instance_ids])
    group.at("DescribeGroups", api_version)
    with requirement("GRP-044"):
        found = {each.member_id: each.group_instance_id for each in group.described().members}
        known = {member.member_id: member.instance_id for member in members}
        assert found == known, f"the instance ids are {found}, expected {known}"


@judges("GRP-031")
@at_versions("DescribeGroups", "0-5")
def test_describe_groups_v0_to_v5_of_unknown_group_returns_state_dead(
    group: ClassicGroup, api_version: int
) -> None:
    """State Dead, no members, no error."""
    group.member()
    group.at("DescribeGroups", api_version)
    with requirement("GRP-031"):
        found = group.described()
        expect_error(found.error_code, ErrorCode.NONE, "describe")
        told = (found.group_id, found.group_state, len(found.members))
        expected = (group.group_id, "Dead", 0)
        assert told == expected, f"id, state and members are {told}, expected {expected}"


@judges("GRP-031")
@at_versions("DescribeGroups", "6+")
def test_describe_groups_from_v6_of_unknown_group_returns_group_id_not_found(
    group: ClassicGroup, api_version: int
) -> None:
    """GROUP_ID_NOT_FOUND, with a message."""
    group.member()
    group.at("DescribeGroups", api_version)
    with requirement("GRP-031"):
        found = group.described()
        expect_error(found.error_code, ErrorCode.GROUP_ID_NOT_FOUND, "describe")
        assert found.error_message, "there is no error message"


def _subscription_at(version: int) -> ConsumerProtocolSubscription:
    said = ConsumerProtocolSubscription(topics=["a-topic", "b-topic"], user_data=b"\x01\xff")
    if version >= 1:
        owned = ConsumerProtocolSubscription.TopicPartition(topic="a-topic", partitions=[0, 2])
        said.owned_partitions = [owned]
    if version >= 2:
        said.generation_id = 7
    if version >= 3:
        said.rack_id = "rack-a"
    return said


@judges("GRP-028")
@at_versions("DescribeGroups")
@pytest.mark.parametrize("protocol_version", [0, 1, 2, 3])
def test_describe_groups_returns_decodable_subscription_and_assignment(
    group: ClassicGroup, api_version: int, protocol_version: int
) -> None:
    """Subscription and assignment at each of their versions, as the members wrote them."""
    said = _subscription_at(protocol_version)
    (member,) = group.stable({"range": version_prefixed_bytes(said, protocol_version)})
    part = ConsumerProtocolAssignment.TopicPartition(topic="a-topic", partitions=[0, 1])
    given = ConsumerProtocolAssignment(assigned_partitions=[part], user_data=b"\xfe")
    member.join()
    sync_all([member], {member.member_id: version_prefixed_bytes(given, protocol_version)})
    group.at("DescribeGroups", api_version)
    with requirement("GRP-028"):
        (found,) = group.described().members
        subscription = read_subscription(bytes(found.member_metadata))
        assert subscription == (protocol_version, said), f"read was {subscription}"
        assignment = read_assignment(bytes(found.member_assignment))
        assert assignment == (protocol_version, given), f"read was {assignment}"


# -- ListGroups ------------------------------------------------------------------------------------


def _listed(
    broker: BrokerUnderTest, version: int, states: list[str], types: list[str]
) -> dict[str, ListGroupsResponse.ListedGroup]:
    request = ListGroupsRequest(states_filter=states)
    if version >= WITH_TYPES:
        request.types_filter = types
    answer = broker.ask(request, version)
    expect_error(answer.error_code, ErrorCode.NONE, f"list {states} {types}")
    return {each.group_id: each for each in answer.groups}


@judges("GRP-033")
@at_versions("ListGroups", "4+")
def test_list_groups_filters_and_returns_group_states(
    group: ClassicGroup, api_version: int
) -> None:
    """Without a filter and with its own state it is listed, with others it is not."""
    group.stable(None)
    name = group.group_id
    # Kafka answers SyncGroup just before the group is Stable; DescribeGroups waits for its lock.
    group.described()
    with requirement("GRP-033") as check:
        for states in ([], ["Stable"], ["Empty", "Stable"], ["NoState", "Stable"]):
            with check.subtest(f"states {states}"):
                found = _listed(group.broker, api_version, states, []).get(name)
                assert found is not None, f"the group is not listed with the states {states}"
                state, kind = found.group_state, found.protocol_type
                assert state == "Stable", f"listed with {states} its state is {state!r}"
                assert kind == "consumer", f"listed with {states} its protocol type is {kind!r}"
        for states in (["Empty", "PreparingRebalance"], ["NoState"]):
            with check.subtest(f"states {states}"):
                others = _listed(group.broker, api_version, states, [])
                assert name not in others, f"the stable group is listed with the states {states}"


@judges("GRP-064")
@at_versions("ListGroups", "4", "5+")
def test_list_groups_filters_do_not_distinguish_case(group: ClassicGroup, api_version: int) -> None:
    """Its state in lower and upper case, from v5 on its type, too; other words in the same case."""
    group.stable(None)
    group.described()  # as in GRP-033
    words = [("stable", "classic"), ("STABLE", "CLASSIC")]
    with requirement("GRP-064") as check:
        for state, kind in words:
            types = [kind] if api_version >= WITH_TYPES else []
            with check.subtest(f"state {state!r}"):
                found = _listed(group.broker, api_version, [state], types)
                assert group.group_id in found, f"it is not listed with {state!r} and {types}"
        others = _listed(group.broker, api_version, ["empty", "EMPTY"], [])
        assert group.group_id not in others, "the stable group is listed among the empty ones"


@judges("GRP-061")
@at_versions("ListGroups", "4+")
def test_list_groups_returns_and_filters_state_in_each_phase_of_rebalance(
    group: ClassicGroup, api_version: int
) -> None:
    """PreparingRebalance while one of two has joined again, CompletingRebalance afterwards."""
    leader, follower = _in_join_phase(group)
    with requirement("GRP-061"):
        _expect_listed_phase(group, api_version, "PreparingRebalance", "CompletingRebalance")
        _end_join_phase(leader, follower)
        _expect_listed_phase(group, api_version, "CompletingRebalance", "PreparingRebalance")


def _expect_listed_phase(group: ClassicGroup, version: int, state: str, other: str) -> None:
    for states in ([], [state]):
        found = _listed(group.broker, version, states, []).get(group.group_id)
        assert found is not None, f"in {state} it is not listed with the states {states}"
        told = found.group_state
        assert told == state, f"listed with {states} the state is {told!r} in {state}"
    others = _listed(group.broker, version, [other, "Stable"], [])
    assert group.group_id not in others, f"in {state} it is listed among other states"


@judges("GRP-033")
@at_versions("ListGroups", "5+")
def test_list_groups_filters_and_returns_group_types(group: ClassicGroup, api_version: int) -> None:
    """It is a classic one, and none of the consumer protocol."""
    group.stable(None)
    name = group.group_id
    with requirement("GRP-033") as check:
        for types in ([], ["classic"], ["consumer", "classic"], ["no-type", "classic"]):
            with check.subtest(f"types {types}"):
                found = _listed(group.broker, api_version, [], types).get(name)
                assert found is not None, f"the group is not listed with the types {types}"
                kind = found.group_type
                assert kind.lower() == "classic", f"listed with {types} its type is {kind!r}"
        for types in (["consumer"], ["no-type"]):
            with check.subtest(f"types {types}"):
                others = _listed(group.broker, api_version, [], types)
                assert name not in others, f"a classic group is listed with the types {types}"


@judges("GRP-033")
@at_versions("ListGroups", "5+")
def test_list_groups_lists_groups_that_pass_both_filters(
    group: ClassicGroup, api_version: int
) -> None:
    """By state and by type: it has both, or it is not listed."""
    group.stable(None)
    group.described()  # as above
    with requirement("GRP-033") as check:
        for state, kind in product(("Stable", "Empty"), ("classic", "consumer")):
            with check.subtest(f"{state}, {kind}"):
                found = group.group_id in _listed(group.broker, api_version, [state], [kind])
                is_own = (state, kind) == ("Stable", "classic")
                told = f"a stable classic group is listed with {state} and {kind}: {found}"
                assert found == is_own, told


# -- DeleteGroups ----------------------------------------------------------------------------------


def _delete(broker: BrokerUnderTest, version: int, *names: str) -> dict[str, int]:
    answer = broker.ask(DeleteGroupsRequest(groups_names=list(names)), version)
    return {each.group_id: each.error_code for each in answer.results}


@judges("GRP-034")
@at_versions("DeleteGroups")
def test_delete_groups_refuses_group_with_members_and_deletes_empty_group(
    group: ClassicGroup, api_version: int
) -> None:
    """One with a member stays as it is; when it has left, the group is gone with its offsets.

    One request names it, a group that has only offsets, and one that does not exist. A group that
    no request names keeps its offsets. Each has offsets of several partitions of two topics.
    """
    (member,) = group.stable(None)
    broker, name = group.broker, group.group_id
    # Up to 3.9 any deletion of a topic removes a group without offsets.
    topic, other = broker.create_topic(partitions=2), broker.create_topic()
    simple, unnamed = (fresh_group(broker, topic) for _ in range(2))
    by = Committer(member.generation, member.member_id)
    commit(broker, name, {topic: [entry(1), entry(1, "", 1)], other: [entry(1)]}, by=by)
    for each in (simple, unnamed):
        commit(broker, each, {topic: [entry(2), entry(2, "", 1)], other: [entry(2)]})
    unknown = broker.unique_group()
    _described_state(broker, simple)
    with requirement("GRP-034"):
        codes = _delete(broker, api_version, unknown, name, simple)
        expect_error(codes[name], ErrorCode.NON_EMPTY_GROUP, "with a member")
        expect_error(codes[unknown], ErrorCode.GROUP_ID_NOT_FOUND, "a made-up group")
        expect_error(codes[simple], ErrorCode.NONE, "with offsets only")
        expect_error(member.heartbeat(), ErrorCode.NONE, "the member's heartbeat")
        fetch_offsets(broker, name, {topic: [0]}).expect(topic, 1, where="the refused group")
        _expect_gone(broker, simple, topic, other)
    leave(broker, name, member.member_id)
    with requirement("GRP-034"):
        codes = _delete(broker, api_version, name)
        expect_error(codes[name], ErrorCode.NONE, "without members")
        codes = _delete(broker, api_version, name)
        expect_error(codes[name], ErrorCode.GROUP_ID_NOT_FOUND, "deleted before")
        _expect_gone(broker, name, topic, other)
        fetch_offsets(broker, unnamed, {topic: [0]}).expect(topic, 2, where="a group beside them")
        again = group.member().join()
        assert again.generation_id == 1, f"made again, it is at generation {again.generation_id}"


def _expect_gone(broker: BrokerUnderTest, name: str, topic: Topic, other: Topic) -> None:
    """The group has no offset of either topic, and ListGroups does not list it."""
    found, where = fetch_offsets(broker, name, {topic: [0, 1], other: [0]}), "a deleted group"
    for partition in (0, 1):
        found.expect_none(topic, partition=partition, where=where)
    found.expect_none(other, where=where)
    listed = {each.group_id for each in broker.ask(ListGroupsRequest()).groups}
    assert name not in listed, "a deleted group is listed"
    told = _described_state(broker, name)
    assert told == (ErrorCode.describe(ErrorCode.NONE), "Dead"), f"a deleted group is {told}"


def _described_state(broker: BrokerUnderTest, name: str) -> tuple[str, str]:
    """The error and the state of a group, where an unknown one is Dead."""
    request = DescribeGroupsRequest(groups=[name])
    answer = broker.ask(request, broker.version("DescribeGroups", "0-5"))
    described = only(answer.groups, "group")
    return ErrorCode.describe(described.error_code), described.group_state
