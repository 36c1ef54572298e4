"""OFFS: how long a committed offset is kept."""

from __future__ import annotations

import time
from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.messages import OffsetCommitRequest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import now_ms
from suites.protocol.support.classic_group import (
    ClassicGroup,
    ClientMember,
    await_rebalance,
    followers_of,
    leader_of,
    leave,
    sync_all,
)
from suites.protocol.support.committed_offsets import (
    FIRST_IN_KAFKA,
    NO_OFFSET,
    Committer,
    commit,
    commit_request,
    entry,
    fetch_offsets,
    fresh_group,
    send_commit,
)
from suites.protocol.support.subscriptions import subscription

OFFSET_COMMIT = api_named("OffsetCommit")
MINUTE_MS = 60_000
FIRST_WITH_RETENTION_TIME = 2
OLD, KEPT = 0, 1
COMMITTED_AGAIN = 70
BETWEEN_MS = 6_000
"""Time between a commit and the end of its group, which is no part of the retention."""
EXPIRED_WITHIN_MS = 15_000


def _old_and_kept(group: str, topic: Topic, version: int) -> list[OffsetCommitRequest]:
    """Return commits: partition 0 expires at once, partition 1 stays for an hour.

    Version 1 contains the time of the commit, versions 2 to 4 the retention time.
    """
    if version < FIRST_WITH_RETENTION_TIME:
        entries = [entry(5, "", OLD), entry(7, "", KEPT)]
        entries[OLD].commit_timestamp = now_ms() - 61 * MINUTE_MS
        entries[KEPT].commit_timestamp = now_ms()
        return [commit_request(group, {topic: entries}, version)]
    # The commit that stays comes first: a group that loses its last offset may be removed.
    kept = commit_request(group, {topic: [entry(7, "", KEPT)]}, version)
    return [kept, _over_soon(group, topic, version)]


@judges("OFFS-017")
@needs_broker(
    Use.OWN, {"offsets.retention.minutes": "60", "offsets.retention.check.interval.ms": "500"}
)
def test_offset_expires_by_retention_time_or_timestamp_of_its_commit(
    broker: BrokerUnderTest,
) -> None:
    """At each version that can say it: what is over goes, what is not stays."""
    highest = broker.version("OffsetCommit", "1-4")
    lowest = max(1, broker.advertised("OffsetCommit").lowest)
    topic = broker.create_topic(partitions=2)
    groups = {version: fresh_group(broker, topic) for version in range(lowest, highest + 1)}
    for version, group in groups.items():
        for request in _old_and_kept(group, topic, version):
            send_commit(broker, request, version, [topic])
    for version, group in groups.items():
        with requirement("OFFS-017", api_key=OFFSET_COMMIT.key, api_version=version):
            _await_gone(broker, group, topic, OLD)
            found = fetch_offsets(broker, group, {topic: [KEPT]})
            found.expect(topic, 7, partition=KEPT, where=f"committed at version {version}")


def _await_gone(
    broker: BrokerUnderTest,
    group: str,
    topic: Topic,
    partition: int,
    after_ms: float = 0,
) -> None:
    """``after_ms``: the retention, which a slow machine does not make longer."""
    within_ms = after_ms / broker.time_scale + EXPIRED_WITHIN_MS

    def is_gone() -> bool:
        found = fetch_offsets(broker, group, {topic: [partition]}).partitions
        return found[topic.name, partition].committed_offset == NO_OFFSET

    broker.eventually(is_gone, f"the offset of partition {partition} has expired", within_ms)


@judges("OFFS-018")
@needs_broker(
    Use.OWN, {"offsets.retention.minutes": "60", "offsets.retention.check.interval.ms": "500"}
)
def test_offsets_expire_only_while_group_has_no_members(
    broker: BrokerUnderTest, group: ClassicGroup
) -> None:
    """While a member needs them they are kept, whatever the commit says; when it leaves they go.

    The commits say how long they are wanted: what the broker says is a minute at least.
    """
    version = broker.version("OffsetCommit", "2-4")
    topic = broker.create_topic()
    simple, left = fresh_group(broker, topic), ClassicGroup(broker)
    for each in (group, left):
        (member,) = _grown(broker, each, topic, [each.member(subscription(topic))])
        by = Committer(member.generation, member.member_id)
        send_commit(broker, _over_soon(each.group_id, topic, version, by), version, [topic])
    send_commit(broker, _over_soon(simple, topic, version), version, [topic])
    with requirement("OFFS-018", api_key=OFFSET_COMMIT.key, api_version=version):
        _await_gone(broker, simple, topic, 0)
        for each in (group, left):
            found = fetch_offsets(broker, each.group_id, {topic: [0]})
            found.expect(topic, 5, where="a group with a member")
        leave(broker, left.group_id, left.members[0].member_id)
        _await_gone(broker, left.group_id, topic, 0)
        found = fetch_offsets(broker, group.group_id, {topic: [0]})
        found.expect(topic, 5, where="the group that still has its member")


@judges("OFFS-028")
@needs_broker(
    Use.OWN, {"offsets.retention.minutes": "60", "offsets.retention.check.interval.ms": "500"}
)
def test_offset_of_topic_that_no_member_subscribes_to_expires_in_stable_group(
    broker: BrokerUnderTest, group: ClassicGroup
) -> None:
    """Two consumers use a topic each: these offsets stay, and that of a third topic expires."""
    version = broker.version("OffsetCommit", "2-4")
    used, too, left = (broker.create_topic() for _ in range(3))
    newcomers = [group.member(subscription(each)) for each in (used, too)]
    member, _ = _grown(broker, group, used, newcomers)
    by = Committer(member.generation, member.member_id)
    for topic in (used, too, left):
        request = _over_soon(group.group_id, topic, version, by)
        send_commit(broker, request, version, [topic])
    with requirement("OFFS-028", api_key=OFFSET_COMMIT.key, api_version=version) as check:
        _await_gone(broker, group.group_id, left, 0)
        found = fetch_offsets(broker, group.group_id, {used: [0], too: [0]})
        for number, topic in enumerate((used, too)):
            with check.subtest(f"topic of member {number}"):
                found.expect(topic, 5, where="a topic that a member subscribes to")


@judges("OFFS-032")
@needs_broker(
    Use.OWN, {"offsets.retention.minutes": "60", "offsets.retention.check.interval.ms": "500"}
)
def test_offset_of_topic_that_no_member_subscribes_to_stays_during_rebalance(
    broker: BrokerUnderTest, group: ClassicGroup
) -> None:
    """It expires after the rebalance, though that of a group without members, which was committed
    later, has expired before."""
    version = broker.version("OffsetCommit", "2-4")
    used, left = broker.create_topic(), broker.create_topic()
    newcomers = [group.member(subscription(used)) for _ in range(2)]
    members = _grown(broker, group, used, newcomers)
    leader, (follower,) = leader_of(members), followers_of(members)
    leader.send_join()
    await_rebalance(follower)
    by = Committer(follower.generation, follower.member_id)
    send_commit(broker, _over_soon(group.group_id, left, version, by), version, [left])
    simple = fresh_group(broker, left)
    send_commit(broker, _over_soon(simple, left, version), version, [left])
    with requirement("OFFS-032", api_key=OFFSET_COMMIT.key, api_version=version):
        _await_gone(broker, simple, left, 0)
        found = fetch_offsets(broker, group.group_id, {left: [0]})
        found.expect(left, 5, where="a topic without a subscription in a rebalance")
        follower.send_join()
        _end_rebalance(members)
        _await_gone(broker, group.group_id, left, 0)


def _end_rebalance(members: Sequence[ClientMember]) -> None:
    for member in members:
        member.take_joined()
    sync_all(members)


@judges("OFFS-018")
@needs_broker(
    Use.OWN, {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "500"}
)
def test_offsets_expire_retention_minutes_after_group_became_empty(
    broker: BrokerUnderTest, group: ClassicGroup
) -> None:
    """The retention of a minute begins when the last member leaves, not with the commit before.

    The group has become empty once before, and that does not count. An offset of a member that
    stays outlives it.
    """
    version = broker.version("OffsetCommit", FIRST_IN_KAFKA)
    topic, left = broker.create_topic(), ClassicGroup(broker)
    for each in (group, left):
        _commit_as_member(broker, each, topic)
    leave(broker, left.group_id, left.members.pop().member_id)
    left.grown([left.member(subscription(topic))])
    _await_age(broker, topic, BETWEEN_MS)
    with requirement("OFFS-018", api_key=OFFSET_COMMIT.key, api_version=version):
        since = time.monotonic()
        leave(broker, left.group_id, left.members[0].member_id)
        _await_gone(broker, left.group_id, topic, 0, after_ms=MINUTE_MS)
        lasted_s = time.monotonic() - since
        least_s = (MINUTE_MS - BETWEEN_MS / 2) / 1000
        assert lasted_s >= least_s, f"the offset was kept for {lasted_s:.0f} s, expected 60"
        found = fetch_offsets(broker, group.group_id, {topic: [0]})
        found.expect(topic, 5, where="the group that still has its member")


@judges("OFFS-030")
@needs_broker(
    Use.OWN, {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "500"}
)
def test_offset_of_simple_group_expires_retention_minutes_after_its_last_commit(
    broker: BrokerUnderTest,
) -> None:
    """Two offsets are committed together, and one of them again a while later: it lasts longer."""
    version = broker.version("OffsetCommit", FIRST_IN_KAFKA)
    topic = broker.create_topic(partitions=2)
    group = fresh_group(broker, topic)
    commit(broker, group, {topic: [entry(5, "", OLD), entry(5, "", KEPT)]})
    _await_age(broker, topic, BETWEEN_MS)
    with requirement("OFFS-030", api_key=OFFSET_COMMIT.key, api_version=version):
        since = time.monotonic()
        commit(broker, group, {topic: [entry(COMMITTED_AGAIN, "", KEPT)]})
        _await_gone(broker, group, topic, OLD, after_ms=MINUTE_MS)
        _await_gone(broker, group, topic, KEPT, after_ms=MINUTE_MS)
        lasted_s = time.monotonic() - since
        least_s = (MINUTE_MS - BETWEEN_MS / 2) / 1000
        assert lasted_s >= least_s, f"the offset was kept for {lasted_s:.0f} s, expected 60"


def _await_age(broker: BrokerUnderTest, topic: Topic, age_ms: int) -> None:
    """Wait until an offset that is committed now, to be kept for this time, has expired."""
    version, witness = broker.version("OffsetCommit", "2-4"), fresh_group(broker, topic)
    send_commit(broker, _over_soon(witness, topic, version, kept_ms=age_ms), version, [topic])
    _await_gone(broker, witness, topic, 0, after_ms=age_ms)


def _commit_as_member(broker: BrokerUnderTest, group: ClassicGroup, topic: Topic) -> None:
    """Commit offset 5 by the only member of the group, which needs no heartbeat in the test."""
    group.session_ms = 4 * MINUTE_MS
    (member,) = _grown(broker, group, topic, [group.member(subscription(topic))])
    by = Committer(member.generation, member.member_id)
    commit(broker, group.group_id, {topic: [entry(5)]}, by=by)


def _grown(
    broker: BrokerUnderTest, group: ClassicGroup, topic: Topic, newcomers: Sequence[ClientMember]
) -> list[ClientMember]:
    """Add members to a group with an offset.

    The broker may remove a group without anything between the two steps of a join.
    """
    commit(broker, group.group_id, {topic: [entry(1)]})
    return group.grown(newcomers)


def _over_soon(
    group: str, topic: Topic, version: int, by: Committer | None = None, *, kept_ms: int = 1
) -> OffsetCommitRequest:
    request = commit_request(group, {topic: [entry(5)]}, version, by)
    request.retention_time_ms = kept_ms
    return request
