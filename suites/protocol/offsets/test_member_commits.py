"""OFFS: which members of a group may commit, and when; the topics of its members' subscriptions."""

from __future__ import annotations

from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    ListGroupsRequest,
    ListGroupsResponse,
)
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    leave,
)
from suites.protocol.support.committed_offsets import (
    Committer,
    ask_to_commit,
    ask_to_delete_offsets,
    commit,
    deleted_codes,
    entry,
    expect_codes,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.held_groups import first_answer
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.loaded_groups import await_all_loaded
from suites.protocol.support.subscriptions import subscription

FIRST_LIST_WITH_STATES = 4
NOBODY = Committer()


def _one_partition(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic()


def _by(member: ClientMember, *, generation: int | None = None) -> Committer:
    return Committer(
        generation=member.generation if generation is None else generation,
        member_id=member.member_id,
    )


def _expect(
    group: ClassicGroup, topic: Topic, version: int, by: Committer, expected: ErrorCode, told: str
) -> None:
    """A commit of this offset ends so."""
    entries = {topic: [entry(7, told)]}
    codes = ask_to_commit(group.broker, group.group_id, entries, version, by)
    expect_codes(codes, {(topic.name, 0): expected}, told)


# -- commits without a member ----------------------------------------------------------------------


@judges("OFFS-005")
@at_versions("OffsetCommit", "2+")
def test_offset_commit_without_generation_creates_simple_group(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """An unknown group accepts the commit, and is listed without a protocol type.

    Where ListGroups returns states, its state is Empty. The group, which then exists and has no
    members, accepts the next commit.
    """
    topic = kept.topic(broker, _one_partition)
    group_id = fresh_group(broker, topic)
    await_all_loaded(broker)  # while any group is being loaded, none may be listed
    with requirement("OFFS-005"):
        for offset in (5, 7):
            entries = {topic: [entry(offset)]}
            codes = first_answer(
                broker,
                partial(ask_to_commit, broker, group_id, entries, api_version, NOBODY),
                lambda codes: codes.values(),
            )
            expect_codes(codes, {(topic.name, 0): ErrorCode.NONE}, f"offset {offset}")
            fetch_offsets(broker, group_id, {topic: [0]}).expect(topic, offset)
        listed = _listed(broker, group_id)
        assert listed is not None, f"{group_id} is not listed"
        assert listed.protocol_type == "", f"its protocol type is {listed.protocol_type!r}"
        if broker.version("ListGroups") >= FIRST_LIST_WITH_STATES:
            assert listed.group_state == "Empty", f"it is {listed.group_state}, expected Empty"


@judges("OFFS-005")
@at_versions("OffsetCommit", "2+")
def test_offset_commit_without_generation_to_group_that_members_left_is_accepted(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """A consumer has committed and left: an offset is set for the group, as tools do."""
    topic = kept.topic(broker, _one_partition)
    _left_behind(broker, group, topic)
    with requirement("OFFS-005"):
        _expect(group, topic, api_version, NOBODY, ErrorCode.NONE, "after the last member left")
        found = fetch_offsets(broker, group.group_id, {topic: [0]})
        found.expect(topic, 7, "after the last member left")


def _left_behind(broker: BrokerUnderTest, group: ClassicGroup, topic: Topic) -> Committer:
    """Return the only member of the group, which has committed offset 5 and left."""
    (member,) = group.stable(None)
    commit(broker, group.group_id, {topic: [entry(5)]}, by=_by(member))
    leave(broker, group.group_id, member.member_id)
    return _by(member)


@judges("OFFS-007")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_of_member_that_left_empty_group_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """UNKNOWN_MEMBER_ID for the last member with its generation; its offset stays."""
    topic = kept.topic(broker, _one_partition)
    left = _left_behind(broker, group, topic)
    with requirement("OFFS-007"):
        told = "the member that left"
        _expect(group, topic, api_version, left, ErrorCode.UNKNOWN_MEMBER_ID, told)
        fetch_offsets(broker, group.group_id, {topic: [0]}).expect(topic, 5)


def _listed(broker: BrokerUnderTest, group_id: str) -> ListGroupsResponse.ListedGroup | None:
    answer = broker.ask(ListGroupsRequest())
    return next((group for group in answer.groups if group.group_id == group_id), None)


@judges("OFFS-006")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_without_generation_to_group_with_members_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """UNKNOWN_MEMBER_ID, or ILLEGAL_GENERATION; the member's offset stays."""
    topic = kept.topic(broker, _one_partition)
    (member,) = group.stable(None)
    commit(broker, group.group_id, {topic: [entry(5)]}, by=_by(member))
    refusals = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}
    with requirement("OFFS-006"):
        codes = ask_to_commit(broker, group.group_id, {topic: [entry(7)]}, api_version, NOBODY)
        code = codes[topic.name, 0]
        told = (
            f"commit without a member: {ErrorCode.describe(code)} is neither of {sorted(refusals)}"
        )
        assert code in refusals, told
        fetch_offsets(broker, group.group_id, {topic: [0]}).expect(topic, 5)


# -- members' commits ------------------------------------------------------------------------------


@judges("OFFS-007")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_with_wrong_generation_or_member_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """ILLEGAL_GENERATION for one before and after the member's, UNKNOWN_MEMBER_ID for another."""
    topic = kept.topic(broker, _one_partition)
    (member,) = group.stable(None)
    current = member.generation
    stranger = Committer(current, "nobody")
    with requirement("OFFS-007") as check:
        _expect(group, topic, api_version, _by(member), ErrorCode.NONE, "the member")
        for generation in (current - 1, current + 1):
            with check.subtest(f"generation {generation}"):
                by, told = (
                    _by(member, generation=generation),
                    f"generation {generation} of {current}",
                )
                _expect(group, topic, api_version, by, ErrorCode.ILLEGAL_GENERATION, told)
        _expect(group, topic, api_version, stranger, ErrorCode.UNKNOWN_MEMBER_ID, "a stranger")
        fetch_offsets(broker, group.group_id, {topic: [0]}).expect(topic, 7, "the member")


@judges("OFFS-009")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_between_join_and_sync_returns_rebalance_in_progress(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """REBALANCE_IN_PROGRESS for a member of the generation that is being assigned."""
    topic = kept.topic(broker, _one_partition)
    member = group.member()
    member.join()
    with requirement("OFFS-009"):
        expected = ErrorCode.REBALANCE_IN_PROGRESS
        _expect(group, topic, api_version, _by(member), expected, "after the join")
        fetch_offsets(broker, group.group_id, {topic: [0]}).expect_none(topic)


@judges("OFFS-010")
@at_versions("OffsetCommit", "1", "2+")
def test_offset_commit_before_rejoining_in_rebalance_is_accepted(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """Another member joins: the first may still commit at the generation that ends."""
    topic = kept.topic(broker, _one_partition)
    (member,) = group.stable(None)
    newcomer = group.member()
    newcomer.be_given_an_id()
    newcomer.send_join()
    await_rebalance(member)
    with requirement("OFFS-010"):
        told = "while another one joins"
        _expect(group, topic, api_version, _by(member), ErrorCode.NONE, told)
        fetch_offsets(broker, group.group_id, {topic: [0]}).expect(topic, 7, told)


# -- what members are subscribed to ----------------------------------------------------------------


@judges("OFFS-020")
@at_versions("OffsetDelete")
def test_offset_delete_of_subscribed_topic_returns_group_subscribed_to_topic(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """GROUP_SUBSCRIBED_TO_TOPIC for the topic of each member; those of another are deleted.

    When both members have left, their topics are free.
    """
    used, unused = kept.topic(broker, _one_partition), broker.create_topic()
    too = broker.create_topic()
    member, other = group.stable(subscription(used), subscription(too))
    entries = {used: [entry(5)], unused: [entry(7)], too: [entry(9)]}
    commit(broker, group.group_id, entries, by=_by(member))
    expected = {
        (used.name, 0): ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
        (unused.name, 0): ErrorCode.NONE,
        (too.name, 0): ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC,
    }
    with requirement("OFFS-020"):
        answer = ask_to_delete_offsets(broker, api_version, group.group_id, *expected)
        expect_codes(deleted_codes(answer), expected)
        found = fetch_offsets(broker, group.group_id, {used: [0], unused: [0], too: [0]})
        found.expect(used, 5)
        found.expect(too, 9)
        found.expect_none(unused)
    for each in (member, other):
        leave(broker, group.group_id, each.member_id)
    with requirement("OFFS-020"):
        free = {(used.name, 0): ErrorCode.NONE}
        answer = ask_to_delete_offsets(broker, api_version, group.group_id, *free)
        expect_codes(deleted_codes(answer), free, "all members have left")
        found = fetch_offsets(broker, group.group_id, {used: [0], too: [0]})
        found.expect_none(used)
        found.expect(too, 9)


@judges("OFFS-033")
@at_versions("OffsetDelete")
def test_offset_delete_during_rebalance_refuses_topics_of_last_generation(
    broker: BrokerUnderTest, group: ClassicGroup, api_version: int
) -> None:
    """A member joins again with another topic; the other member follows after the first check.

    Until then the topics of the generation before count, after that those of the new generation,
    which has no assignments yet.
    """
    used, left, taken = (broker.create_topic() for _ in range(3))
    stays, moves = group.stable(subscription(used), subscription(left))
    entries = {topic: [entry(5)] for topic in (used, left, taken)}
    commit(broker, group.group_id, entries, by=_by(stays))
    moves.protocols = subscription(taken)
    with requirement("OFFS-033"):
        moves.send_join()
        await_rebalance(stays)
        _expect_kept(group, api_version, {used, left}, taken, "in the join phase")
        stays.send_join()
        codes = [member.take_join().error_code for member in (moves, stays)]
        assert codes == [ErrorCode.NONE] * 2, f"the errors of the joins are {codes}"
        _expect_kept(group, api_version, {used, taken}, left, "before the assignment")


def _expect_kept(
    group: ClassicGroup, version: int, kept: set[Topic], free: Topic, when: str
) -> None:
    """The offsets of these topics are not deleted, that of the free one is."""
    expected = {(topic.name, 0): ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC for topic in kept}
    expected[free.name, 0] = ErrorCode.NONE
    answer = ask_to_delete_offsets(group.broker, version, group.group_id, *expected)
    expect_codes(deleted_codes(answer), expected, when)
    found = fetch_offsets(group.broker, group.group_id, {free: [0]})
    found.expect_none(free, where=when)


@judges("OFFS-027")
@at_versions("OffsetDelete")
def test_offset_delete_beside_members_of_other_type_returns_non_empty_group(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """NON_EMPTY_GROUP at the top, no topic in the answer; all offsets stay."""
    topic = kept.topic(broker, _one_partition)
    group.protocol_type = "connect"
    (member,) = group.stable({"default": b"the broker cannot read this"})
    commit(broker, group.group_id, {topic: [entry(5)]}, by=_by(member))
    with requirement("OFFS-027"):
        answer = ask_to_delete_offsets(broker, api_version, group.group_id, (topic.name, 0))
        expect_error(answer.error_code, ErrorCode.NON_EMPTY_GROUP, "beside a connect worker")
        assert not answer.topics, f"{len(answer.topics)} topics are answered, too"
        fetch_offsets(broker, group.group_id, {topic: [0]}).expect(topic, 5)


@judges("OFFS-027")
@at_versions("OffsetDelete")
def test_offset_delete_after_members_of_other_type_left_removes_offset(
    broker: BrokerUnderTest, kept: KeptTopics, group: ClassicGroup, api_version: int
) -> None:
    """The last connect worker has left: one of two offsets is deleted."""
    topic, other = kept.topic(broker, _one_partition), broker.create_topic()
    group.protocol_type = "connect"
    (member,) = group.stable({"default": b"the broker cannot read this"})
    commit(broker, group.group_id, {topic: [entry(5)], other: [entry(7)]}, by=_by(member))
    leave(broker, group.group_id, member.member_id)
    with requirement("OFFS-027"):
        answer = ask_to_delete_offsets(broker, api_version, group.group_id, (topic.name, 0))
        expect_codes(deleted_codes(answer), {(topic.name, 0): ErrorCode.NONE})
        found = fetch_offsets(broker, group.group_id, {topic: [0], other: [0]})
        found.expect_none(topic)
        found.expect(other, 7)
