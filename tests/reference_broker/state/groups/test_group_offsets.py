from harness.base.ids import GroupId, MemberId, TimeMs
from harness.codec.data_framing.version_prefix import version_prefixed_bytes
from harness.codec.error_code import ErrorCode
from harness.codec.messages import ConsumerProtocolSubscription
from harness.reference_broker.state.groups.group import Group
from harness.reference_broker.state.groups.group_member import Member, Protocol
from harness.reference_broker.state.groups.group_offsets import (
    is_subscribed,
    offsets_age_since,
    problem_with_commit,
    problem_with_deletion,
)
from harness.reference_broker.state.groups.group_states import GroupEvent, GroupState

MEMBER = "m"
WANTS_T = version_prefixed_bytes(ConsumerProtocolSubscription(topics=["t"]), 0)


def group_with_a_member(protocol_type: str = "consumer", metadata: bytes = WANTS_T) -> Group:
    group = Group(GroupId("g"), TimeMs(0))
    group.add(
        Member(
            MemberId(MEMBER),
            None,
            "",
            "",
            session_timeout_ms=1,
            rebalance_timeout_ms=1,
            protocol_type=protocol_type,
            protocols=(Protocol("range", metadata),),
        )
    )
    group.apply(GroupEvent.REBALANCE_BEGINS, TimeMs(0))
    group.begin_generation(TimeMs(0))
    group.apply(GroupEvent.ASSIGNED, TimeMs(0))
    return group


def test_empty_group_accepts_commit_without_generation_of_any_member_id() -> None:
    group = Group(GroupId("g"), TimeMs(0))
    assert problem_with_commit(group, "", -1, None) is ErrorCode.NONE
    assert problem_with_commit(group, "somebody", -1, None) is ErrorCode.NONE
    assert problem_with_commit(group, "somebody", 0, None) is ErrorCode.UNKNOWN_MEMBER_ID


def test_commit_checks_member_then_generation_then_group_state() -> None:
    group = group_with_a_member()
    assert problem_with_commit(group, "", -1, None) is ErrorCode.UNKNOWN_MEMBER_ID
    assert problem_with_commit(group, MEMBER, -1, None) is ErrorCode.ILLEGAL_GENERATION
    group.state = GroupState.COMPLETING_REBALANCE
    assert problem_with_commit(group, MEMBER, 0, None) is ErrorCode.ILLEGAL_GENERATION
    assert problem_with_commit(group, MEMBER, 1, None) is ErrorCode.REBALANCE_IN_PROGRESS
    group.apply(GroupEvent.REBALANCE_BEGINS, TimeMs(0))
    assert problem_with_commit(group, MEMBER, 1, None) is ErrorCode.NONE


def test_unreadable_consumer_subscription_counts_as_any_topic() -> None:
    assert is_subscribed(group_with_a_member(), "t")
    assert not is_subscribed(group_with_a_member(), "u")
    assert is_subscribed(group_with_a_member(metadata=b"?"), "u")
    assert not is_subscribed(group_with_a_member("connect"), "t")


def test_subscriptions_are_those_of_last_generation_until_next_one_begins() -> None:
    group = group_with_a_member()
    member = group.members[MemberId(MEMBER)]
    group.apply(GroupEvent.REBALANCE_BEGINS, TimeMs(0))
    wants_u = version_prefixed_bytes(ConsumerProtocolSubscription(topics=["u"]), 0)
    member.protocols = (Protocol("range", wants_u),)
    assert is_subscribed(group, "t")
    assert not is_subscribed(group, "u")
    group.begin_generation(TimeMs(0))
    assert not is_subscribed(group, "t")
    assert is_subscribed(group, "u")


def test_consumer_in_first_join_phase_of_new_group_may_use_any_topic() -> None:
    group = Group(GroupId("g"), TimeMs(0))
    assert not is_subscribed(group, "t")
    group.protocol_type = "consumer"
    assert is_subscribed(group, "t")


def test_group_that_all_consumers_left_is_subscribed_to_nothing_until_next_generation() -> None:
    group = group_with_a_member()
    member = group.members[MemberId(MEMBER)]
    group.remove(MemberId(MEMBER))
    group.apply(GroupEvent.REBALANCE_BEGINS, TimeMs(0))
    group.begin_generation(TimeMs(0))
    group.add(member)
    group.apply(GroupEvent.REBALANCE_BEGINS, TimeMs(0))
    assert not is_subscribed(group, "t")
    group.begin_generation(TimeMs(0))
    assert is_subscribed(group, "t")


def test_offsets_of_non_consumer_members_are_not_deleted_and_do_not_expire() -> None:
    group = group_with_a_member("connect")
    assert problem_with_deletion(group) is ErrorCode.NON_EMPTY_GROUP
    assert offsets_age_since(group, "t", TimeMs(3)) is None


def test_offset_age_starts_at_commit_or_when_group_becomes_empty() -> None:
    simple = Group(GroupId("g"), TimeMs(1))
    assert offsets_age_since(simple, "t", TimeMs(3)) == 3
    group = group_with_a_member()
    assert offsets_age_since(group, "t", TimeMs(3)) is None
    assert offsets_age_since(group, "u", TimeMs(3)) == 3
    group.remove(MemberId(MEMBER))
    group.apply(GroupEvent.REBALANCE_BEGINS, TimeMs(8))
    group.begin_generation(TimeMs(9))
    assert offsets_age_since(group, "t", TimeMs(3)) == 9
