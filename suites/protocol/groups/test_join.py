"""GRP: joining a classic group, and what is refused."""

from __future__ import annotations

import pytest

from harness.codec.error_code import ErrorCode
from harness.codec.messages import JoinGroupRequest, JoinGroupResponse
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    await_rebalance_soon,
    followers_of,
    leader_of,
    subscription,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.held_groups import first_answer, hold
from suites.protocol.support.joined_generation import expect_next_generation


def _newcomer(group: ClassicGroup) -> ClientMember:
    """The first member before it joins, of a group that stays though it has no other."""
    member = group.member(client_id="GRP-001")
    hold(group.broker, group.group_id)
    return member


def _rejoined(members: list[ClientMember]) -> dict[str, JoinGroupResponse]:
    """Join again with all members, the leader first, and return their responses by member id."""
    leader = leader_of(members)
    leader.send_join()
    others = [member for member in members if member is not leader]
    if others:
        await_rebalance(others[0])
    for member in others:
        member.send_join()
    return {member.member_id: member.take_join() for member in members}


# -- ids -------------------------------------------------------------------------------------------


@judges("GRP-001")
@at_versions("JoinGroup", "0-3")
def test_join_v0_to_v3_without_member_id_admits_member_at_once(
    group: ClassicGroup, api_version: int
) -> None:
    """Its first join, with an empty member id, is answered with an id and a generation."""
    member = _newcomer(group.at("JoinGroup", api_version))
    with requirement("GRP-001"):
        answer = member.ask_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join without an id")
        assert answer.member_id, "it is admitted and has no member id"
        assert answer.generation_id == 1, f"generation {answer.generation_id}, expected 1"
    member.remember(answer)


@judges("GRP-001")
@at_versions("JoinGroup", "4+")
def test_join_from_v4_without_member_id_returns_member_id_required(
    group: ClassicGroup, api_version: int
) -> None:
    """MEMBER_ID_REQUIRED with an id; joining with it makes a member of that id."""
    member = _newcomer(group.at("JoinGroup", api_version))
    with requirement("GRP-001"):
        first = member.ask_join()
        expect_error(first.error_code, ErrorCode.MEMBER_ID_REQUIRED, "join without an id")
        assert first.member_id, "there is no id to join with"
        member.member_id = first.member_id
        second = member.ask_join()
        expect_error(second.error_code, ErrorCode.NONE, "join with the id that was given")
        found, given = second.member_id, first.member_id
        assert found == given, f"the id is {found}, given was {given}"


@judges("GRP-009")
@at_versions("JoinGroup")
def test_join_with_unknown_member_id_returns_unknown_member_id(
    group: ClassicGroup, api_version: int
) -> None:
    """In a group with a member, and in one that is not there."""
    group.at("JoinGroup", api_version).stable(None)
    elsewhere = ClassicGroup(group.broker).at("JoinGroup", api_version)
    with requirement("GRP-009") as check:
        for where, stranger in (("a group", group.member()), ("no group", elsewhere.member())):
            with check.subtest(where):
                stranger.member_id = f"{group.group_id}-made-up"
                code = stranger.ask_join().error_code
                stranger.member_id = ""
                expect_error(code, ErrorCode.UNKNOWN_MEMBER_ID, where)


# -- generations -----------------------------------------------------------------------------------


@judges("GRP-003")
@at_versions("JoinGroup")
def test_join_returns_members_and_metadata_only_to_leader(
    group: ClassicGroup, api_version: int
) -> None:
    """Its response has each member's metadata for the chosen protocol, which one names second."""
    group.at("JoinGroup", api_version)
    offers = [
        {name: subscription(b"%s%d" % (name.encode(), n)) for name in names}
        for n, names in enumerate(("ab", "ba", "ba"))
    ]
    members = group.stable(*offers)
    with requirement("GRP-003"):
        told = _rejoined(members)
        for member_id, answer in told.items():
            expect_error(answer.error_code, ErrorCode.NONE, member_id)
        leaders = {answer.leader for answer in told.values()}
        assert len(leaders) == 1, f"the members are told of the leaders {sorted(leaders)}"
        (leader,) = leaders
        assert leader in told, f"the leader {leader} is none of {sorted(told)}"
        chosen = told[leader].protocol_name
        assert chosen in ("a", "b"), f"the protocol {chosen!r} was not offered"
        expected = {m.member_id: m.protocols[chosen] for m in members}
        found = {entry.member_id: bytes(entry.metadata) for entry in told[leader].members}
        assert found == expected, f"the leader receives as members {found}, not {expected}"
        known = {i: len(a.members) for i, a in told.items() if i != leader}
        assert not any(known.values()), f"followers are told of members: {known}"


NO_SUBSCRIPTIONS = (b"", b"\0", b"\0\0\0")

VOTES = [
    pytest.param([["a", "b"], ["b", "a"], ["b"]], "b", id="only-one-fits-all"),
    pytest.param([["a", "b"], ["b", "a"], ["b", "a"]], "b", id="most-want-the-second"),
    pytest.param([["b", "a"], ["a", "b"], ["a", "b"]], "a", id="most-want-the-first"),
    pytest.param([["a", "b"], ["a", "b", "c"], ["c", "b"]], "b", id="a-favourite-not-for-all"),
    pytest.param([["c", "a", "b"], ["d", "a", "b"], ["b", "a"]], "a", id="votes-of-second-choice"),
]


@judges("GRP-004")
@at_versions("JoinGroup")
@pytest.mark.parametrize(("offers", "expected"), VOTES)
def test_join_selects_protocol_common_to_all_members_by_vote(
    group: ClassicGroup, api_version: int, offers: list[list[str]], expected: str
) -> None:
    """Of those that all members offer, the one that most of them prefer to the others."""
    group.at("JoinGroup", api_version)
    members = group.stable(*(dict.fromkeys(names, subscription()) for names in offers))
    with requirement("GRP-004"):
        for answer in _rejoined(members).values():
            expect_error(answer.error_code, ErrorCode.NONE, "join")
            found = answer.protocol_name
            assert found == expected, f"of {offers} {found!r} is chosen, expected {expected!r}"


@judges("GRP-010")
@at_versions("JoinGroup")
def test_each_rebalance_increments_generation_by_1_starting_at_1(
    group: ClassicGroup, api_version: int
) -> None:
    """The first one is 1; the leader joins again three times."""
    members = group.at("JoinGroup", api_version).stable(None)
    with requirement("GRP-010"):
        found = [members[0].generation]
        for _ in range(3):
            found.append(members[0].join().generation_id)
            _sync_alone(members[0])
        assert found == [1, 2, 3, 4], f"the generations are {found}, expected 1 to 4"


def _sync_alone(member: ClientMember) -> None:
    member.send_sync({member.member_id: b""})
    member.take_sync()


@judges("GRP-022")
@at_versions("JoinGroup")
def test_unchanged_follower_rejoining_gets_same_generation_without_rebalance(
    group: ClassicGroup, api_version: int
) -> None:
    """It joins a stable group again: the same generation at once, and the others stay."""
    members = group.at("JoinGroup", api_version).stable(None, None)
    (follower,) = followers_of(members)
    with requirement("GRP-022"):
        answer = follower.ask_join()
        expect_error(answer.error_code, ErrorCode.NONE, "join again")
        found = (answer.generation_id, answer.member_id, answer.leader)
        expected = (follower.generation, follower.member_id, follower.leader_id)
        told = f"generation, id and leader are {found}, they were {expected}"
        assert found == expected, told
        assert not answer.members, f"a follower is told of {len(answer.members)} members"
        expect_error(leader_of(members).heartbeat(), ErrorCode.NONE, "the leader's heartbeat")


@judges("GRP-022")
@at_versions("JoinGroup")
@pytest.mark.parametrize("mover_role", ["leader", "follower-with-news"])
def test_rejoining_leader_or_changed_follower_metadata_starts_rebalance(
    group: ClassicGroup, api_version: int, mover_role: str
) -> None:
    """The leader joins again as it was, or a follower with other metadata: all have to join."""
    members = group.at("JoinGroup", api_version).stable(None, None)
    leader, (follower,) = leader_of(members), followers_of(members)
    mover, other = (leader, follower) if mover_role == "leader" else (follower, leader)
    if mover is follower:
        mover.protocols = dict.fromkeys(mover.protocols, subscription(b"news"))
    before = mover.generation
    with requirement("GRP-022"):
        mover.send_join()
        await_rebalance(other)
        other.send_join()
        for member in (mover, other):
            answer = member.take_join()
            expect_error(answer.error_code, ErrorCode.NONE, "join again")
            found = answer.generation_id
            assert found == before + 1, f"generation {found} after {before}"


@judges("GRP-055")
@at_versions("JoinGroup")
@pytest.mark.parametrize("names", ["ba", "a", "abc"], ids=["other-order", "fewer", "more"])
def test_follower_rejoining_with_other_list_of_protocols_starts_rebalance(
    group: ClassicGroup, api_version: int, names: str
) -> None:
    """Its protocols "a" and "b" in another order, one of them, or one more: all have to join."""
    offer = dict.fromkeys("ab", subscription())
    members = group.at("JoinGroup", api_version).stable(offer, offer)
    leader, (follower,) = leader_of(members), followers_of(members)
    follower.protocols = dict.fromkeys(names, subscription())
    before = follower.generation
    with requirement("GRP-055"):
        follower.send_join()
        await_rebalance_soon(leader)
        leader.send_join()
        expect_next_generation([follower, leader], before)


@judges("GRP-029")
@at_versions("JoinGroup")
@pytest.mark.parametrize("protocol_type", ["x", "connect", "consumer"])
def test_protocol_metadata_and_assignment_bytes_are_delivered_unchanged(
    group: ClassicGroup, api_version: int, protocol_type: str
) -> None:
    """Random bytes, of any type of protocol: the leader gets those, the members these.

    Of consumers, bytes that are too few for a subscription.
    """
    group.at("JoinGroup", api_version).protocol_type = protocol_type
    some_bytes = [group.broker.random.randbytes(size) for size in (0, 1, 300)]
    if protocol_type == "consumer":
        some_bytes = list(NO_SUBSCRIPTIONS)
    members = group.stable(*({"p": each} for each in some_bytes))
    parts = {m.member_id: group.broker.random.randbytes(257) for m in members}
    with requirement("GRP-029"):
        told = _rejoined(members)
        for member in members:
            expect_error(told[member.member_id].error_code, ErrorCode.NONE, "join")
            member.remember(told[member.member_id])
        roster = told[leader_of(members).member_id].members
        found = {entry.member_id: bytes(entry.metadata) for entry in roster}
        expected = {m.member_id: each for m, each in zip(members, some_bytes, strict=True)}
        assert found == expected, "the leader receives other metadata than the members sent"
        for member in members:
            member.send_sync(parts if member.leads else None)
        for member in members:
            answer = member.take_sync()
            expect_error(answer.error_code, ErrorCode.NONE, "sync")
            same = bytes(answer.assignment) == parts[member.member_id]
            assert same, "a member is told another assignment than the leader gave"


# -- refused ---------------------------------------------------------------------------------------


@judges("GRP-005")
@at_versions("JoinGroup")
@pytest.mark.parametrize("difference", ["type", "protocols"])
def test_join_with_mismatched_protocol_returns_inconsistent_group_protocol(
    group: ClassicGroup, api_version: int, difference: str
) -> None:
    """Another type, or no protocol that all have: an error, and nothing for the member there."""
    (member,) = group.at("JoinGroup", api_version).stable(dict.fromkeys("ab", subscription()))
    stranger = group.member(dict.fromkeys("a" if difference == "type" else "c", subscription()))
    request = stranger.join_request()
    if difference == "type":
        request.protocol_type = "connect"
    with requirement("GRP-005"):
        code = stranger.ask_join(request).error_code
        expect_error(code, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"another {difference}")
        expect_error(member.heartbeat(), ErrorCode.NONE, "heartbeat of the member")


@judges("GRP-005")
@at_versions("JoinGroup")
def test_join_with_protocols_that_one_member_lacks_returns_inconsistent_group_protocol(
    group: ClassicGroup, api_version: int
) -> None:
    """Two members have one protocol in common; each other protocol of theirs is refused."""
    offers = (dict.fromkeys(names, subscription()) for names in ("ab", "bc"))
    members = group.at("JoinGroup", api_version).stable(*offers)
    with requirement("GRP-005") as check:
        for names in ("a", "c", "ac"):
            where = f"other protocols {names!r}"
            with check.subtest(where):
                stranger = group.member(dict.fromkeys(names, subscription()))
                code = stranger.ask_join().error_code
                expect_error(code, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, where)
        for number, member in enumerate(members):
            with check.subtest(f"heartbeat of member {number}"):
                expect_error(member.heartbeat(), ErrorCode.NONE, "heartbeat of a member")


@judges("GRP-005")
@at_versions("JoinGroup")
def test_member_that_joins_again_with_mismatched_protocol_stays_as_it_was(
    group: ClassicGroup, api_version: int
) -> None:
    """The follower has another type, or only protocols that the leader lacks, and is refused.

    It is a member of the same generation afterwards, and the leader has no rebalance.
    """
    group.at("JoinGroup", api_version)
    members = group.stable(*(dict.fromkeys(names, subscription()) for names in ("ab", "bc")))
    leader, (follower,) = leader_of(members), followers_of(members)
    lacking = (set("abc") - set(leader.protocols)).pop()
    with requirement("GRP-005") as check:
        for what, protocol_type, names in (
            ("type", "connect", follower.protocols),
            ("protocols", group.protocol_type, (lacking, "d")),
        ):
            with check.subtest(f"other {what}"):
                request = follower.join_request()
                request.protocol_type = protocol_type
                request.protocols = [
                    JoinGroupRequest.JoinGroupRequestProtocol(name=name, metadata=subscription())
                    for name in names
                ]
                follower.reconnect()
                code = follower.ask_join(request).error_code
                error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
                expect_error(code, error, f"a member with other {what}")
        follower.reconnect()
        for role, member in (("leader", leader), ("follower", follower)):
            with check.subtest(f"heartbeat of the {role}"):
                expect_error(member.heartbeat(), ErrorCode.NONE, f"heartbeat of the {role}")


@judges("GRP-006")
@at_versions("JoinGroup")
@pytest.mark.parametrize("missing", ["type", "protocols"])
def test_join_without_protocol_returns_inconsistent_group_protocol(
    group: ClassicGroup, api_version: int, missing: str
) -> None:
    """An empty type or no protocols at all, for a group that is not there."""
    member = group.at("JoinGroup", api_version).member()
    request = member.join_request()
    if missing == "type":
        request.protocol_type = ""
    else:
        request.protocols = []
    with requirement("GRP-006"):
        answer = first_answer(
            group.broker, lambda: member.ask_join(request), lambda answer: [answer.error_code]
        )
        expect_error(answer.error_code, ErrorCode.INCONSISTENT_GROUP_PROTOCOL, f"no {missing}")


@judges("GRP-007")
@at_versions("JoinGroup")
def test_join_with_empty_group_id_returns_invalid_group_id(
    group: ClassicGroup, api_version: int
) -> None:
    """The group ""."""
    member = group.at("JoinGroup", api_version).member()
    request = member.join_request()
    request.group_id = ""
    with requirement("GRP-007"):
        code = member.ask_join(request).error_code
        expect_error(code, ErrorCode.INVALID_GROUP_ID, 'group ""')


@judges("GRP-008")
@at_versions("JoinGroup")
def test_join_with_bad_session_timeout_returns_invalid_session_timeout(
    group: ClassicGroup, api_version: int
) -> None:
    """A session timeout of 1 ms, and one of 11 days."""
    member = group.at("JoinGroup", api_version).member()
    with requirement("GRP-008") as check:
        for timeout_ms in (1, 10**9):
            with check.subtest(f"{timeout_ms} ms"):
                member.reconnect()
                request = member.join_request()
                request.session_timeout_ms = timeout_ms
                code = member.ask_join(request).error_code
                expect_error(code, ErrorCode.INVALID_SESSION_TIMEOUT, f"{timeout_ms} ms")
