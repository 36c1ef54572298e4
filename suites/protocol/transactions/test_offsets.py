"""TXN: committed offsets of a group as a part of a transaction (KIP-98, KIP-447, KIP-890)."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import (
    NO_OFFSET,
    commit,
    entry,
    expect_codes,
    fetch_groups,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.transactional import TxnProducer
from suites.protocol.support.transactional_offsets import (
    FIRST_IMPLICIT,
    add_offsets,
    commit_pending,
    end_and_settle,
    make_pending,
    offsets_once,
    pending,
)

VERSIONS = ("0-2", "3-4", "5", "6+")  # of TxnOffsetCommit: members, added implicitly, topic ids
BOTH = pytest.mark.parametrize("commits", [True, False], ids=["commit", "abort"])
COMMITTED, PENDING = 5, 9
WITH_EPOCH, FETCH_WITH_EPOCH = 2, 5  # of TxnOffsetCommit, of OffsetFetch (KIP-320)
EPOCH, NO_EPOCH = 0, -1
UNSTABLE = ErrorCode.UNSTABLE_OFFSET_COMMIT


@judges("TXN-029")
@at_versions("TxnOffsetCommit", *VERSIONS)
@BOTH
def test_offsets_of_transaction_are_visible_only_after_its_commit(
    broker: BrokerUnderTest, api_version: int, commits: bool
) -> None:
    """A partition with a committed offset, and one without; both keep that until the end.

    From v2 on an offset has a leader epoch, too.
    """
    newer, epoch = api_version >= FIRST_IMPLICIT, EPOCH if api_version >= WITH_EPOCH else NO_EPOCH
    producer = TxnProducer(broker, "TXN-029", newer=newer)
    topic = broker.create_topic(partitions=2)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED, "five")]})
    with requirement("TXN-029"):
        if not newer:
            expect_error(add_offsets(producer, group), ErrorCode.NONE, "AddOffsetsToTxn")
        entries = {topic: [pending(PENDING, "nine"), pending(3, "three", 1)]}
        entries[topic][0].committed_leader_epoch = epoch
        found = commit_pending(producer, group, entries, api_version)
        expect_codes(found, {(topic.name, at): ErrorCode.NONE for at in (0, 1)}, "TxnOffsetCommit")
        offsets = fetch_offsets(broker, group, {topic: [0, 1]})
        offsets.expect(topic, COMMITTED, "five", where="an open transaction")
        offsets.expect_none(topic, partition=1, where="an open transaction")
        end_and_settle(producer, commit=commits)
        if commits:
            offsets = offsets_once(producer, group, topic, {0: PENDING, 1: 3})
            one = offsets.expect(topic, PENDING, "nine", where="after the commit")
            _expect_epoch(broker, one.committed_leader_epoch, epoch)
            one = offsets.expect(topic, 3, "three", partition=1, where="after the commit")
            _expect_epoch(broker, one.committed_leader_epoch, NO_EPOCH)
        else:
            offsets = fetch_offsets(broker, group, {topic: [0, 1]})
            offsets.expect(topic, COMMITTED, "five", where="after the abort")
            offsets.expect_none(topic, partition=1, where="after the abort")


def _expect_epoch(broker: BrokerUnderTest, found: int, expected: int) -> None:
    """The leader epoch of an offset, where OffsetFetch has one."""
    expected = expected if broker.version("OffsetFetch") >= FETCH_WITH_EPOCH else NO_EPOCH
    assert found == expected, f"after the commit: leader epoch {found}, expected {expected}"


@judges("TXN-030")
@at_versions("AddOffsetsToTxn", "0-2", "3+")
def test_transaction_of_offsets_alone_commits_them(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """No record is produced; two groups in one transaction, with metadata, empty and null."""
    producer, topic = TxnProducer(broker, "TXN-030"), broker.create_topic(partitions=2)
    one, two = (fresh_group(broker, topic) for _ in range(2))
    version = producer.version("TxnOffsetCommit")
    with requirement("TXN-030"):
        for_one = add_offsets(producer, one, api_version)
        expect_error(for_one, ErrorCode.NONE, "AddOffsetsToTxn for the first group")
        for_two = add_offsets(producer, two, api_version)
        expect_error(for_two, ErrorCode.NONE, "AddOffsetsToTxn for the second group")
        entries = {topic: [pending(PENDING, "nine"), pending(3, "", 1)]}
        found = commit_pending(producer, one, entries, version)
        expect_codes(found, {(topic.name, at): ErrorCode.NONE for at in (0, 1)}, "the first group")
        found = commit_pending(producer, two, {topic: [pending(0, None)]}, version)
        expect_codes(found, {(topic.name, 0): ErrorCode.NONE}, "the second group")
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, one, topic, {0: PENDING, 1: 3})
        offsets.expect(topic, PENDING, "nine", where="the first group")
        offsets.expect(topic, 3, partition=1, where="the first group")
        offsets = offsets_once(producer, two, topic, {0: 0})
        offsets.expect(topic, 0, where="the second group")
        end = broker.end_offset(topic)
        assert end == 0, f"no record was produced, yet the log ends at {end}"


def _expect_places(
    broker: BrokerUnderTest,
    version: int,
    groups: list[str],
    topic: Topic,
    expected: dict[int, tuple[int, int]],
    *,
    stable: bool,
) -> None:
    """The (error, offset) of each partition of the first group; the second has offset 5.

    The group is asked for before the other one, and behind it.
    """
    for order in dict.fromkeys((tuple(groups), tuple(reversed(groups)))):
        where = f"require_stable {stable}, group {order.index(groups[0]) + 1} of {len(order)}"
        wanted = {group: {topic: list(expected)} for group in order}
        offsets = fetch_groups(broker, wanted, version, stable=stable)
        found = {
            index: (one.error_code, one.committed_offset)
            for (_, index), one in offsets[groups[0]].partitions.items()
        }
        told = f"{where}: the (error, offset) of each partition is {found}, expected {expected}"
        assert found == expected, told
        for group in groups[1:]:
            offsets[group].expect(topic, COMMITTED, where=f"{where}, another group")


@judges("TXN-031")
@at_versions("OffsetFetch", "7", "8-9", "10+")
def test_offset_fetch_requires_stable_offsets_as_requested(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A pending and a committed offset, a committed one, a pending one; from v8 on two groups.

    With the flag the pending ones are unstable, whichever of the groups comes first; at the end of
    the transaction none is.
    """
    producer, topic = TxnProducer(broker, "TXN-031"), broker.create_topic(partitions=3)
    groups = [fresh_group(broker, topic) for _ in range(1 if api_version == 7 else 2)]
    for group in groups:
        commit(broker, group, {topic: [entry(COMMITTED), entry(6, "", 1)]})
    make_pending(producer, groups[0], {topic: [pending(PENDING), pending(3, "", 2)]})
    before = {0: (0, COMMITTED), 1: (0, 6), 2: (0, NO_OFFSET)}
    unstable = {0: (UNSTABLE, NO_OFFSET), 1: (0, 6), 2: (UNSTABLE, NO_OFFSET)}
    after = {0: (0, PENDING), 1: (0, 6), 2: (0, 3)}
    with requirement("TXN-031") as check:
        for stable, expected in ((False, before), (True, unstable)):
            with check.subtest(f"open, require_stable {stable}"):
                _expect_places(broker, api_version, groups, topic, expected, stable=stable)
        with check.subtest("all partitions"):
            found = fetch_groups(broker, {groups[0]: None}, api_version, [topic], stable=True)
            code = found[groups[0]].error_of(topic)
            expect_error(code, UNSTABLE, "all partitions, require_stable True")
        end_and_settle(producer, commit=True)
        offsets_once(producer, groups[0], topic, {0: PENDING, 2: 3})
        for stable in (False, True):
            with check.subtest(f"ended, require_stable {stable}"):
                _expect_places(broker, api_version, groups, topic, after, stable=stable)


@judges("TXN-033")
@at_versions("TxnOffsetCommit", *VERSIONS)
def test_txn_offset_commit_by_fenced_producer_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A new producer of the id has aborted its transaction, and fenced it at the group.

    The committed offset stays, and none is pending.
    """
    newer = api_version >= FIRST_IMPLICIT
    producer, topic = TxnProducer(broker, "TXN-033", newer=newer), broker.create_topic()
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED, "five")]})
    make_pending(producer, group, {topic: [pending(7)]}, api_version)
    former = producer.other()
    producer.take(producer.init())
    fenced = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED)
    with requirement("TXN-033"):
        found = commit_pending(former, group, {topic: [pending(PENDING)]}, api_version)
        code = found[topic.name, 0]
        told = f"the former producer: error is {ErrorCode.describe(code)}"
        assert code in fenced, f"{told}, expected one of {[one.name for one in fenced]}"
        offsets = fetch_offsets(broker, group, {topic: [0]})
        offsets.expect(topic, COMMITTED, "five", where="after the refusal")
        make_pending(producer, group, {topic: [pending(8)]}, api_version)
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, group, topic, {0: 8})
        offsets.expect(topic, 8, where="after the commit of the new producer")


@judges("TXN-033")
@at_versions("TxnOffsetCommit", "0-2", "3-4", "5")
def test_txn_offset_commit_for_unknown_topic_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An unknown topic and an unknown partition, beside a good one that is committed."""
    newer = api_version >= FIRST_IMPLICIT
    producer, topic = TxnProducer(broker, "TXN-033", newer=newer), broker.create_topic()
    missing, group = Topic(broker.unique_topic()), fresh_group(broker, topic)
    if not newer:
        add_offsets(producer, group)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with requirement("TXN-033"):
        entries = {topic: [pending(PENDING), pending(3, "", 77)], missing: [pending(1)]}
        found = commit_pending(producer, group, entries, api_version)
        expected = {(topic.name, 0): ErrorCode.NONE, (topic.name, 77): unknown,
                    (missing.name, 0): unknown}  # fmt: skip
        expect_codes(found, expected, "a good place and two that are unknown")
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, group, topic, {0: PENDING})
        offsets.expect(topic, PENDING, where="the good place")


@judges("TXN-033")
@at_versions("TxnOffsetCommit", "6+")
def test_txn_offset_commit_for_unknown_topic_id_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """An unknown id and an unknown partition, beside a good one that is committed."""
    producer, topic = TxnProducer(broker, "TXN-033", newer=True), broker.create_topic()
    missing, group = Topic("", UUID(int=77)), fresh_group(broker, topic)
    with requirement("TXN-033"):
        entries = {topic: [pending(PENDING), pending(3, "", 77)], missing: [pending(1)]}
        found = commit_pending(producer, group, entries, api_version)
        expected = {
            (topic.name, 0): ErrorCode.NONE,
            (topic.name, 77): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            (missing.name, 0): ErrorCode.UNKNOWN_TOPIC_ID,
        }
        expect_codes(found, expected, "a good place and two that are unknown")
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, group, topic, {0: PENDING})
        offsets.expect(topic, PENDING, where="the good place")
