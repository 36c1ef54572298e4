"""OTOP: the topic in which the coordinator of groups keeps what they commit."""

from __future__ import annotations

import statistics
import time

from harness.base.pace import PAUSE_SHARE
from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.only import only
from harness.client.requests import Topic
from harness.codec.data_framing import OFFSETS
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    DeleteGroupsRequest,
    GroupMetadataValue,
    LegacyOffsetCommitValue,
    MetadataRequest,
    OffsetCommitValue,
)
from harness.codec.structs import Message
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.in_time import in_time
from harness.runner.marks import at_versions, judges, needs_broker
from suites.durability.support.coordinator_log import Key, last_of_each_key
from suites.durability.support.many_commits import PARTITIONS, commit_all
from suites.protocol.support.classic_group import ClassicGroup, leave
from suites.protocol.support.committed_offsets import (
    Committer,
    commit,
    commit_request,
    entry,
    fetch_offsets,
    fresh_group,
    send_commit,
)
from suites.protocol.support.config_admin import TOPIC, values_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.internal_topics import OFFSETS_TOPIC, internal_topic

COMMITS = 2_000  # of all partitions: 100,000 records
OFFSET_VALUES = (OffsetCommitValue, LegacyOffsetCommitValue)
"""Values of offsets as newer releases write them, and as 0.8.2 does."""
READS = 9
"""Number of measurements of the response time."""
MOST_TIMES_AS_LONG = 10
NOISE_MS = 20
"""Time that a busy machine may add to any response."""


@judges("OTOP-001")
@at_versions("Metadata", "1+")
def test_offsets_topic_exists_after_first_use_and_is_internal(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """A FindCoordinator request counts as the first use of the topic."""
    internal_topic(broker, OFFSETS_TOPIC)
    wanted = MetadataRequest.MetadataRequestTopic(name=OFFSETS_TOPIC)
    with requirement("OTOP-001"):
        found = only(broker.ask(MetadataRequest(topics=[wanted]), api_version).topics, "topic")
        expect_error(found.error_code, ErrorCode.NONE, OFFSETS_TOPIC)
        assert found.is_internal, f"{OFFSETS_TOPIC} is not internal"
        assert found.partitions, f"{OFFSETS_TOPIC} has no partitions"


@judges("OTOP-001")
@at_versions("DescribeConfigs", "0+")
def test_offsets_topic_has_cleanup_policy_compact(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """By its cleanup.policy."""
    internal_topic(broker, OFFSETS_TOPIC)
    with requirement("OTOP-001"):
        found = values_of(broker, (TOPIC, OFFSETS_TOPIC), ["cleanup.policy"], api_version)
        assert found["cleanup.policy"] == "compact", f"{OFFSETS_TOPIC}: {found}"


@judges("OTOP-002")
def test_offsets_topic_holds_last_commit_of_each_group_and_partition(
    broker: BrokerUnderTest,
) -> None:
    """OffsetFetch returns the last record of each group and partition."""
    topic = broker.create_topic(partitions=2)
    groups = [fresh_group(broker, topic) for _ in range(2)]
    for offset in (3, 5, 4):
        for group in groups:
            offsets = [entry(offset, f"{group} at {offset}", index) for index in range(2)]
            commit(broker, group, {topic: offsets[: 1 if offset == 4 else 2]})
    with requirement("OTOP-002"):
        written = last_of_each_key(broker, OFFSETS)
        for group in groups:
            told = fetch_offsets(broker, group, {topic: [0, 1]})
            for index, offset in ((0, 4), (1, 5)):
                found = _offset_in(written, group, topic, index)
                assert isinstance(found, OFFSET_VALUES), f"{group}, {index}: written is {found}"
                metadata = f"{group} at {offset}"
                wrote = found.offset, found.metadata
                where = f"{group}, partition {index}: written last is {wrote}"
                assert wrote == (offset, metadata), f"{where}, not {(offset, metadata)}"
                told.expect(topic, offset, metadata, partition=index, where=group)


@judges("OTOP-002")
def test_offsets_topic_holds_group_generation_and_member(
    broker: BrokerUnderTest, group: ClassicGroup
) -> None:
    """The last record of a group has its generation, its protocol and its whole member."""
    (member,) = group.stable(None)
    with requirement("OTOP-002"):
        found = last_of_each_key(broker, OFFSETS).get(("GroupMetadata", group.group_id))
        assert isinstance(found, GroupMetadataValue), f"of the group is written {found}"
        wrote = found.generation, [each.member_id for each in found.members]
        expected = member.generation, [member.member_id]
        assert wrote == expected, f"generation and members written are {wrote}, not {expected}"
        chosen = found.protocol_type, found.protocol, found.leader
        known = group.protocol_type, "range", member.member_id
        assert chosen == known, f"type, protocol and leader written are {chosen}, not {known}"
        subscribed = found.members[0].subscription, found.members[0].assignment
        sent = member.protocols["range"], member.member_id.encode()
        assert subscribed == sent, f"metadata and assignment written are {subscribed}, not {sent}"


def _offset_in(
    written: dict[Key, Message | None], group: str, topic: Topic, index: int
) -> Message | None:
    """The value of this key, as either of the two forms has it; None for a tombstone.

    Raises AssertionError where there is no such key.
    """
    names = ("OffsetCommit", "LegacyOffsetCommit")
    keys = [(name, group, topic.name, index) for name in names]
    found = [key for key in keys if key in written]
    assert found, f"of {group} and partition {index} nothing is written"
    return written[found[0]]


@judges("OTOP-003")
@at_versions("DeleteGroups", "0+")
def test_delete_groups_writes_tombstone_for_each_offset(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """For each of its offsets, and for none of another group."""
    topic = broker.create_topic(partitions=2)
    group, other = (fresh_group(broker, topic) for _ in range(2))
    for one in (group, other):
        commit(broker, one, {topic: [entry(5, "", index) for index in range(2)]})
    with requirement("OTOP-003"):
        answer = broker.ask(DeleteGroupsRequest(groups_names=[group]), api_version)
        expect_error(only(answer.results, "group").error_code, ErrorCode.NONE, group)
        for index in range(2):
            _expect_tombstone(broker, group, topic, index)
            kept = _offset_in(last_of_each_key(broker, OFFSETS), other, topic, index)
            assert kept is not None, f"partition {index} of a group that stays has a tombstone"


@judges("OTOP-003")
def test_delete_groups_writes_tombstone_for_group_with_former_members(
    broker: BrokerUnderTest, group: ClassicGroup
) -> None:
    """The group has had a member; its own record is deleted as its offsets are.

    It has an offset, since without one a coordinator deletes the group by itself.
    """
    version, topic = broker.version("DeleteGroups"), broker.create_topic()
    (member,) = group.stable(None)
    committer = Committer(member.generation, member.member_id)
    commit(broker, group.group_id, {topic: [entry(5)]}, by=committer)
    code = leave(broker, group.group_id, member.member_id)
    if code != ErrorCode.NONE:
        raise PreparationFailed(f"LeaveGroup: {ErrorCode.describe(code)}", code)
    key = "GroupMetadata", group.group_id
    with requirement("OTOP-003"):
        assert last_of_each_key(broker, OFFSETS).get(key), f"of {key} nothing is written"
        answer = broker.ask(DeleteGroupsRequest(groups_names=[group.group_id]), version)
        expect_error(only(answer.results, "group").error_code, ErrorCode.NONE, group.group_id)
        last = broker.last_seen(
            lambda: last_of_each_key(broker, OFFSETS).get(key, "nothing"),
            lambda value: value is None,
        )
        assert last is None, f"the deleted group: written last is {last}, no tombstone"


@judges("OTOP-003")
@needs_broker(
    Use.OWN, {"offsets.retention.minutes": "60", "offsets.retention.check.interval.ms": "500"}
)
def test_expired_offset_gets_tombstone_in_offsets_topic(broker: BrokerUnderTest) -> None:
    """And one beside it that has not expired does not."""
    version = broker.version("OffsetCommit", "2-4")
    topic = broker.create_topic(partitions=2)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(7, "", 1)]}, version)
    request = commit_request(group, {topic: [entry(5)]}, version, Committer())
    request.retention_time_ms = 1
    send_commit(broker, request, version, [topic])
    with requirement("OTOP-003"):
        _expect_tombstone(broker, group, topic, 0)
        kept = _offset_in(last_of_each_key(broker, OFFSETS), group, topic, 1)
        assert kept is not None, "an offset that has not expired has a tombstone"


def _expect_tombstone(broker: BrokerUnderTest, group: str, topic: Topic, index: int) -> None:
    last = broker.last_seen(
        lambda: _offset_in(last_of_each_key(broker, OFFSETS), group, topic, index),
        lambda value: value is None,
    )
    assert last is None, f"{group}, partition {index}: written last is {last}, no tombstone"


@judges("OTOP-005")
@needs_broker(Use.OWN)
def test_offset_fetch_latency_does_not_grow_with_commits(broker: BrokerUnderTest) -> None:
    """After 100,000 of them, an answer takes no more than some times what it took before them."""
    topic = broker.create_topic(partitions=PARTITIONS)
    group = fresh_group(broker, topic)
    commit_all(broker, group, topic, 1)
    before = _fetch_ms(broker, group, topic, 1)
    commit_all(broker, group, topic, COMMITS)
    bound_ms = MOST_TIMES_AS_LONG * before + NOISE_MS
    # A median moves only where the pauses are as long as all that is read.
    with requirement("OTOP-005"), in_time(READS * bound_ms / PAUSE_SHARE):
        after = _fetch_ms(broker, group, topic, COMMITS)
        commits = COMMITS * PARTITIONS
        told = f"OffsetFetch takes {before:.1f} ms, after {commits} commits {after:.1f} ms"
        assert after <= bound_ms, told


def _fetch_ms(broker: BrokerUnderTest, group: str, topic: Topic, offset: int) -> float:
    """The median of what an answer with the offset of each partition takes."""
    taken = []
    for _ in range(READS):
        start = time.perf_counter()
        found = fetch_offsets(broker, group, {topic: list(range(PARTITIONS))})
        taken.append((time.perf_counter() - start) * 1000)
        last = found.partitions.get((topic.name, PARTITIONS - 1))
        if last is None or last.committed_offset != offset:
            raise PreparationFailed(f"{group}: the offset {offset} was committed, found is {last}")
    return statistics.median(taken)
