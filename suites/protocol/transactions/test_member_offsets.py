"""TXN: offsets that a member of a group commits in a transaction (KIP-447), and KIP-890."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.codec.error_code import ErrorCode
from harness.codec.messages import DescribeTransactionsRequest
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import ClassicGroup, ClientMember
from suites.protocol.support.committed_offsets import (
    NO_OFFSET,
    Committer,
    commit,
    entry,
    expect_codes,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.internal_topics import OFFSETS_TOPIC
from suites.protocol.support.transactional import TxnProducer
from suites.protocol.support.transactional_offsets import (
    FIRST_IMPLICIT,
    add_offsets,
    commit_pending,
    end_and_settle,
    offsets_once,
    pending,
)

COMMITTED, PENDING = 5, 9
NO_MEMBER = Committer()


def _wrong_members(
    static: ClientMember, dynamic: ClientMember
) -> dict[str, tuple[Committer, str | None, ErrorCode]]:
    generation, instance = dynamic.generation, static.instance_id
    member, own = dynamic.member_id, static.member_id
    return {
        "the generation before": (
            Committer(generation - 1, member), None, ErrorCode.ILLEGAL_GENERATION),
        "the generation to come": (
            Committer(generation + 1, member), None, ErrorCode.ILLEGAL_GENERATION),
        "a generation to come of a static member": (
            Committer(generation + 1, own), instance, ErrorCode.ILLEGAL_GENERATION),
        "an unknown member": (
            Committer(generation, "no-member"), None, ErrorCode.UNKNOWN_MEMBER_ID),
        "an instance with the id of another member": (
            Committer(generation, member), instance, ErrorCode.FENCED_INSTANCE_ID),
    }  # fmt: skip


@judges("TXN-032")
@at_versions("TxnOffsetCommit", "3-4", "5", "6+")
def test_txn_offset_commit_of_wrong_member_or_generation_is_refused(
    broker: BrokerUnderTest, group: ClassicGroup, api_version: int
) -> None:
    """A dynamic and a static member; a refusal leaves nothing that the commit makes visible.

    Both members are accepted, and so is a producer without a member.
    """
    newer = api_version >= FIRST_IMPLICIT
    producer = TxnProducer(broker, "TXN-032", newer=newer)
    topic = broker.create_topic(partitions=4)
    dynamic, static = group.member(), group.member(instance_id="instance-1")
    group.grown([dynamic, static])
    if not newer:
        add_offsets(producer, group.group_id)
    with requirement("TXN-032") as check:
        for where, (by, instance, code) in _wrong_members(static, dynamic).items():
            with check.subtest(where):
                entries = {topic: [pending(PENDING)]}
                found = commit_pending(producer, group.group_id, entries, api_version, by, instance)
                expect_codes(found, {(topic.name, 0): code}, where)
        right = {
            "the dynamic member": (Committer(dynamic.generation, dynamic.member_id), None),
            "the static member": (
                Committer(static.generation, static.member_id), static.instance_id),
            "no member": (NO_MEMBER, None),
        }  # fmt: skip
        for index, (where, (by, instance)) in enumerate(right.items(), 1):
            with check.subtest(where):
                entries = {topic: [pending(index, "", index)]}
                found = commit_pending(producer, group.group_id, entries, api_version, by, instance)
                expect_codes(found, {(topic.name, index): ErrorCode.NONE}, where)
        with check.subtest("after the commit"):
            end_and_settle(producer, commit=True)
            expected = {0: NO_OFFSET, 1: 1, 2: 2, 3: 3}
            offsets = offsets_once(producer, group.group_id, topic, expected)
            places = {at: one.committed_offset for (_, at), one in offsets.partitions.items()}
            assert places == expected, f"after the commit: the offsets are {places}"


@judges("TXN-060")
@at_versions("TxnOffsetCommit", "3-4", "5", "6+")
def test_txn_offset_commit_with_part_of_identity_is_refused(
    broker: BrokerUnderTest, group: ClassicGroup, api_version: int
) -> None:
    """The current generation without a member, a member without a generation, an instance alone."""
    newer = api_version >= FIRST_IMPLICIT
    producer = TxnProducer(broker, "TXN-060", newer=newer)
    topic = broker.create_topic()
    dynamic, static = group.member(), group.member(instance_id="instance-1")
    group.grown([dynamic, static])
    if not newer:
        add_offsets(producer, group.group_id)
    with requirement("TXN-060") as check:
        for where, by, instance, code in (
            ("a generation alone", Committer(dynamic.generation), None,
             ErrorCode.UNKNOWN_MEMBER_ID),
            ("a member alone", Committer(-1, dynamic.member_id), None,
             ErrorCode.ILLEGAL_GENERATION),
            ("an instance alone", Committer(-1), static.instance_id,
             ErrorCode.FENCED_INSTANCE_ID),
        ):  # fmt: skip
            with check.subtest(where):
                entries = {topic: [pending(PENDING)]}
                found = commit_pending(producer, group.group_id, entries, api_version, by, instance)
                expect_codes(found, {(topic.name, 0): code}, where)


@judges("TXN-034")
@at_versions("TxnOffsetCommit", "5+")
def test_txn_offset_commit_adds_group_to_transaction(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The transaction has a partition of the offsets topic; its commit makes the offset visible."""
    producer, topic = TxnProducer(broker, "TXN-034", newer=True), broker.create_topic()
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED)]})
    broker.metadata([OFFSETS_TOPIC])  # a user to which it is hidden is refused here
    with requirement("TXN-034"):
        found = commit_pending(producer, group, {topic: [pending(PENDING)]}, api_version)
        expect_codes(found, {(topic.name, 0): ErrorCode.NONE}, "without AddOffsetsToTxn")
        request = DescribeTransactionsRequest(transactional_ids=[producer.name])
        state = only(broker.ask(request).transaction_states, "transaction")
        topics = {one.topic: len(one.partitions) for one in state.topics}
        seen = (state.transaction_state, topics)
        expected = ("Ongoing", {OFFSETS_TOPIC: 1})
        assert seen == expected, f"(state, partitions) is {seen}, expected {expected}"
        offsets = fetch_offsets(broker, group, {topic: [0]})
        offsets.expect(topic, COMMITTED, where="an open transaction")
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, group, topic, {0: PENDING})
        offsets.expect(topic, PENDING, where="after the commit")
