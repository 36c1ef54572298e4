"""TXN: offsets of a transaction beside other offsets of the same partition (KIP-98, KIP-447)."""

from __future__ import annotations

import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.deletion import delete_groups
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.committed_offsets import (
    NO_OFFSET,
    ask_to_delete_offsets,
    commit,
    deleted_codes,
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
ADDED_APART = ("0-3", "4")  # AddOffsetsToTxn adds the group; TRANSACTION_ABORTABLE from v4 on
WITH_STABLE = "7+"  # of OffsetFetch
COMMITTED, PENDING, LATER = 5, 9, 3
LONGEST_METADATA = 4096  # the default of offset.metadata.max.bytes
UNSTABLE = ErrorCode.UNSTABLE_OFFSET_COMMIT
BOTH = pytest.mark.parametrize("commits", [True, False], ids=["commit", "abort"])


def _producer(broker: BrokerUnderTest, client_id: str, version: int) -> TxnProducer:
    return TxnProducer(broker, client_id, newer=version >= FIRST_IMPLICIT)


@judges("TXN-044")
@at_versions("TxnOffsetCommit", *VERSIONS)
@BOTH
def test_offset_committed_behind_pending_one_stays(
    broker: BrokerUnderTest, api_version: int, commits: bool
) -> None:
    """A plain commit behind the pending offset of partition 0, and one before that of partition 1.

    At the end of the transaction the later of both counts, whatever the greater offset is. Only
    partition 2 has a pending offset alone.
    """
    producer = _producer(broker, "TXN-044", api_version)
    topic = broker.create_topic(partitions=3)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED, "before", 1)]})
    entries = {topic: [pending(PENDING, "pending", at) for at in range(3)]}
    make_pending(producer, group, entries, api_version)
    commit(broker, group, {topic: [entry(LATER, "behind")]})
    done = "after the commit" if commits else "after the abort"
    with requirement("TXN-044"):
        offsets = fetch_offsets(broker, group, {topic: [0, 1, 2]})
        offsets.expect(topic, LATER, "behind", where="an open transaction")
        offsets.expect(topic, COMMITTED, "before", partition=1, where="an open transaction")
        offsets.expect_none(topic, partition=2, where="an open transaction")
        end_and_settle(producer, commit=commits)
        last = PENDING if commits else NO_OFFSET
        offsets = offsets_once(producer, group, topic, {2: last})
        offsets = fetch_offsets(broker, group, {topic: [0, 1, 2]})
        offsets.expect(topic, LATER, "behind", where=done)
        other = (PENDING, "pending") if commits else (COMMITTED, "before")
        offsets.expect(topic, *other, partition=1, where=done)


def _expect_stability(
    broker: BrokerUnderTest, group: str, topic: Topic, expected: dict[int, int], where: str
) -> None:
    """The stable offset of each partition; UNSTABLE stands for that error without an offset."""
    version = broker.version("OffsetFetch", WITH_STABLE)
    found = fetch_groups(broker, {group: {topic: list(expected)}}, version, stable=True)[group]
    for index, offset in expected.items():
        one = found.partitions[topic.name, index]
        seen = (one.error_code, one.committed_offset)
        wanted = (UNSTABLE, NO_OFFSET) if offset == UNSTABLE else (0, offset)
        told = f"{where}, partition {index}: (error, stable offset) is {seen}, expected {wanted}"
        assert seen == wanted, told


@judges("TXN-045")
@at_versions("TxnOffsetCommit", *VERSIONS)
@BOTH
def test_end_of_one_transaction_leaves_pending_offsets_of_another(
    broker: BrokerUnderTest, api_version: int, commits: bool
) -> None:
    """Two producers for partition 0, each with a partition of its own; the later ends first.

    Partition 0 is unstable until both have ended.
    """
    broker.version("OffsetFetch", WITH_STABLE)
    first, second = (_producer(broker, "TXN-045", api_version) for _ in range(2))
    topic = broker.create_topic(partitions=3)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED, "", at) for at in range(3)]})
    make_pending(first, group, {topic: [pending(10), pending(11, "", 1)]}, api_version)
    make_pending(second, group, {topic: [pending(20), pending(22, "", 2)]}, api_version)
    with requirement("TXN-045"):
        unstable = dict.fromkeys(range(3), int(UNSTABLE))
        _expect_stability(broker, group, topic, unstable, "both are open")
        end_and_settle(second, commit=commits)
        own = 22 if commits else COMMITTED
        offsets_once(second, group, topic, {2: own})
        expected = {0: int(UNSTABLE), 1: int(UNSTABLE), 2: own}
        _expect_stability(broker, group, topic, expected, "the second has ended")
        shown = fetch_offsets(broker, group, {topic: [0, 1]})
        shown.expect(topic, 20 if commits else COMMITTED, where="the second has ended")
        shown.expect(topic, COMMITTED, partition=1, where="the second has ended")
        end_and_settle(first, commit=True)
        offsets_once(first, group, topic, {1: 11})
        last = 20 if commits else 10  # the second stored its offset later
        _expect_stability(broker, group, topic, {0: last, 1: 11, 2: own}, "both have ended")


@judges("TXN-046")
@at_versions("TxnOffsetCommit", *VERSIONS)
def test_txn_offset_commit_with_too_long_metadata_fails_only_its_partition(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """4096 characters of two bytes are stored; 4097 change nothing of their partition."""
    producer = _producer(broker, "TXN-046", api_version)
    topic = broker.create_topic(partitions=3)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED, "before", 1)]})
    if not producer.newer:
        make_pending(producer, group, {topic: [pending(1, "", 2)]}, api_version)
    longest = "\u00fc" * LONGEST_METADATA
    with requirement("TXN-046"):
        entries = {topic: [pending(6, longest), pending(7, f"{longest}m", 1), pending(8, "s", 2)]}
        found = commit_pending(producer, group, entries, api_version)
        codes = (ErrorCode.NONE, ErrorCode.OFFSET_METADATA_TOO_LARGE, ErrorCode.NONE)
        expect_codes(
            found, {(topic.name, at): code for at, code in enumerate(codes)}, "TxnOffsetCommit"
        )
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, group, topic, {0: 6, 2: 8})
        offsets = fetch_offsets(broker, group, {topic: [0, 1, 2]})
        offsets.expect(topic, 6, longest, where="after the commit")
        offsets.expect(topic, COMMITTED, "before", partition=1, where="after the commit")
        offsets.expect(topic, 8, "s", partition=2, where="after the commit")


@judges("TXN-047")
@at_versions("TxnOffsetCommit", *ADDED_APART)
def test_txn_offset_commit_of_group_that_was_not_added_is_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A transaction without any partition, and one with records alone; the offset stays.

    When the group was added the same request is accepted.
    """
    producer, topic = TxnProducer(broker, "TXN-047"), broker.create_topic()
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED)]})
    is_new = api_version >= 4
    refused = ErrorCode.TRANSACTION_ABORTABLE if is_new else ErrorCode.INVALID_TXN_STATE
    with requirement("TXN-047"):
        found = commit_pending(producer, group, {topic: [pending(PENDING)]}, api_version)
        expect_codes(found, {(topic.name, 0): refused}, "no transaction")
        producer.begin({topic: [0]})
        found = commit_pending(producer, group, {topic: [pending(PENDING)]}, api_version)
        expect_codes(found, {(topic.name, 0): refused}, "a transaction of records")
        make_pending(producer, group, {topic: [pending(LATER)]}, api_version)
        fetch_offsets(broker, group, {topic: [0]}).expect(topic, COMMITTED, where="still open")
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, group, topic, {0: LATER})
        offsets.expect(topic, LATER, where="after the commit")


@judges("TXN-048")
@at_versions("TxnOffsetCommit", *VERSIONS)
def test_commit_brings_back_no_offset_of_deleted_group(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A group with a committed and a pending offset is deleted; then the transaction commits.

    Another group of the same transaction gets its offset.
    """
    broker.version("DeleteGroups")
    producer = _producer(broker, "TXN-048", api_version)
    topic = broker.create_topic()
    gone, kept = (fresh_group(broker, topic) for _ in range(2))
    for group in (gone, kept):
        commit(broker, group, {topic: [entry(COMMITTED)]})
        make_pending(producer, group, {topic: [pending(PENDING)]}, api_version)
    delete_groups(broker, [gone])
    with requirement("TXN-048"):
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, kept, topic, {0: PENDING})
        offsets.expect(topic, PENDING, where="the other group")
        fetch_offsets(broker, gone, {topic: [0]}).expect_none(topic, where="the deleted group")


@judges("TXN-078")
@at_versions("TxnOffsetCommit", *VERSIONS)
def test_commit_brings_back_no_offset_that_was_deleted_while_it_was_pending(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Partition 0 has a committed and a pending offset, partition 1 a pending one alone; both are
    deleted. Partition 2 is not, and partition 3 gets another pending one behind its deletion."""
    newest = broker.version("OffsetDelete")
    producer = _producer(broker, "TXN-078", api_version)
    topic = broker.create_topic(partitions=4)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(COMMITTED), entry(COMMITTED, "", 2)]})
    entries = {topic: [pending(PENDING, "", at) for at in range(4)]}
    make_pending(producer, group, entries, api_version)
    deleted = [(topic.name, at) for at in (0, 1, 3)]
    with requirement("TXN-078"):
        codes = deleted_codes(ask_to_delete_offsets(broker, newest, group, *deleted))
        expect_codes(codes, dict.fromkeys(deleted, ErrorCode.NONE), "OffsetDelete")
        found = commit_pending(producer, group, {topic: [pending(LATER, "", 3)]}, api_version)
        expect_codes(found, {(topic.name, 3): ErrorCode.NONE}, "behind the deletion")
        offsets = fetch_offsets(broker, group, {topic: [0]})
        offsets.expect_none(topic, where="an open transaction")
        end_and_settle(producer, commit=True)
        offsets = offsets_once(producer, group, topic, {2: PENDING, 3: LATER})
        offsets.expect(topic, PENDING, partition=2, where="not deleted")
        offsets.expect(topic, LATER, partition=3, where="behind the deletion")
        offsets = fetch_offsets(broker, group, {topic: [0, 1]})
        offsets.expect_none(topic, where="deleted beside a committed one")
        offsets.expect_none(topic, partition=1, where="deleted while pending alone")


@judges("TXN-063")
@at_versions("TxnOffsetCommit", *VERSIONS)
def test_each_offset_commit_of_a_transaction_counts(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Partition 0 three times, the last time lower, and partition 1 once; then the same in the next
    transaction of the producer, and in an aborted one."""
    producer = _producer(broker, "TXN-063", api_version)
    topic = broker.create_topic(partitions=2)
    group = fresh_group(broker, topic)
    with requirement("TXN-063"):
        for begin, commits in ((10, True), (20, True), (30, False)):
            where = f"transaction from {begin}"
            if api_version < FIRST_IMPLICIT:
                expect_error(add_offsets(producer, group), ErrorCode.NONE, f"{where}, the group")
            for at, offset in ((0, begin + 2), (1, begin), (0, begin + 5), (0, begin + 1)):
                entries = {topic: [pending(offset, f"{offset}", at)]}
                found = commit_pending(producer, group, entries, api_version)
                expect_codes(found, {(topic.name, at): ErrorCode.NONE}, f"{where}, {offset}")
            producer.finish(commit=commits)
            last = begin if commits else begin - 10
            offsets = offsets_once(producer, group, topic, {0: last + 1, 1: last})
            offsets.expect(topic, last + 1, f"{last + 1}", where=f"{where}, ended")
            offsets.expect(topic, last, f"{last}", partition=1, where=f"{where}, ended")
