"""OFFS, GRP: the times and generations of groups when the broker is started again."""

from __future__ import annotations

from copy import copy
from functools import partial

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from harness.codec.structs import Message
from harness.conformance.checks import Inconclusive, requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.changed_group_log import change_group_log
from suites.durability.support.segments import HOUR_MS
from suites.protocol.support.classic_group import (
    ClassicGroup,
    await_rebalance,
    followers_of,
    leader_of,
    leave,
)
from suites.protocol.support.committed_offsets import (
    NO_OFFSET,
    SETTLING,
    Committer,
    GroupOffsets,
    commit,
    commit_request,
    entry,
    fetch_offsets,
    fresh_group,
    send_commit,
)
from suites.protocol.support.expect import expect_error
from suites.protocol.support.group_answers import described_groups
from suites.protocol.support.subscriptions import subscription
from suites.protocol.support.whole_answers import expect_same

JOIN = api_named("JoinGroup").key
RETENTION = {"offsets.retention.minutes": "60", "offsets.retention.check.interval.ms": "500"}
OLD, YOUNG = 0, 1
LAST = 1  # generation of the member that leaves its group
PARTITIONS = {"OFFS-031": 4, "GRP-067": 6, "GRP-068": 7, "GRP-080": 8, "GRP-081": 9}
"""Numbers of partitions, by which a defect recognizes its test."""

EXPIRED_WITHIN_MS = 15_000
EARLIER_MS = 2 * HOUR_MS
BRIEF_SESSION_MS, LONG_MS = 6_000, 120_000
REMOVED_WITHIN_MS = 40_000


class AgedGroups:
    """Groups with an offset that is over and one that is not, when their times are set back.

    ``simple``: the commit of OLD gets two hours earlier. ``asked``: the retention time of each
    commit counts, not the broker's. ``emptied``: the members have left; the group was empty for
    two hours in ``long_ago``, while its commit is new; in ``just_now`` the commit alone is old.
    """

    def __init__(self, client: BrokerUnderTest) -> None:
        version = client.version("OffsetCommit", "2-4")
        self.client, self.topic = client, client.create_topic(PARTITIONS["OFFS-031"])
        topic = self.topic
        self.simple, self.asked = fresh_group(client, topic), fresh_group(client, topic)
        commit(client, self.simple, {topic: [entry(5, "", OLD), entry(5, "", YOUNG)]})
        for partition, hours in ((OLD, 1), (YOUNG, 5)):
            request = commit_request(self.asked, {topic: [entry(5, "", partition)]}, version)
            request.retention_time_ms = hours * HOUR_MS
            send_commit(client, request, version, [topic])
        self.long_ago, self.just_now = (_emptied(client, topic) for _ in range(2))

    def earlier(self, key: Message, value: Message) -> bool:
        """Set the times of a value back; return True if it is one of these."""
        if isinstance(key, GroupMetadataKey) and isinstance(value, GroupMetadataValue):
            is_meant = key.group == self.long_ago
            value.current_state_timestamp -= EARLIER_MS if is_meant else 0
            return is_meant
        if not isinstance(key, OffsetCommitKey) or not isinstance(value, OffsetCommitValue):
            return False
        aged = {(self.simple, OLD), (self.asked, OLD), (self.asked, YOUNG), (self.just_now, OLD)}
        is_meant = (key.group, key.partition) in aged
        value.commit_timestamp -= EARLIER_MS if is_meant else 0
        if key.group == self.asked:
            value.expire_timestamp -= EARLIER_MS
        return is_meant

    def expected(self) -> dict[tuple[str, str, int], bool]:
        """True for the offsets that are over, by words, group and partition."""
        return {
            ("a commit two hours old", self.simple, OLD): True,
            ("a new commit", self.simple, YOUNG): False,
            ("its retention time is over", self.asked, OLD): True,
            ("its retention time is not over", self.asked, YOUNG): False,
            ("the group is empty for two hours", self.long_ago, OLD): True,
            ("the group is empty since a moment", self.just_now, OLD): False,
        }


def _emptied(client: BrokerUnderTest, topic: Topic) -> str:
    """Return a group that its only member has left, with the committed offset 5."""
    group = ClassicGroup(client)
    newcomer = group.member(subscription(topic))
    # A group without anything may be removed between the two steps of a join.
    commit(client, group.group_id, {topic: [entry(1)]})
    (member,) = group.grown([newcomer])
    by = Committer(member.generation, member.member_id)
    commit(client, group.group_id, {topic: [entry(5)]}, by=by)
    leave(client, group.group_id, member.member_id)
    return group.group_id


def _offsets(client: BrokerUnderTest, group: str, topic: Topic, partition: int) -> GroupOffsets:
    """Return the offset that the coordinator returns after it has loaded its log."""
    return client.last_seen(
        lambda: fetch_offsets(client, group, {topic: [partition]}),
        lambda found: found.error_of(topic, partition) not in SETTLING,
    )


@judges("OFFS-031")
@needs_broker(Use.PERSISTENT, {**BRIEF, **RETENTION})
def test_age_of_committed_offsets_goes_on_after_restart(
    persistent_broker: PersistentBroker,
) -> None:
    """While the broker is down, times in its log are set back by two hours: as long as it was away.

    What is over then goes when it is back; what is not over stays.
    """
    client = persistent_broker.client
    aged = AgedGroups(client)
    topic, expected = aged.topic, aged.expected()
    persistent_broker.stop()
    change_group_log(persistent_broker, aged.earlier, least=5)
    persistent_broker.start()
    with requirement("OFFS-031") as check:
        for is_over in (True, False):
            for (what, group, partition), each in expected.items():
                if each is not is_over:
                    continue
                with check.subtest(what):
                    found = _once_over(client, group, topic, partition, is_over)
                    wanted = NO_OFFSET if is_over else 5
                    assert found == wanted, f"{what}: the offset is {found}, expected {wanted}"


def _once_over(
    client: BrokerUnderTest, group: str, topic: Topic, partition: int, is_over: bool
) -> int:
    """Return the offset once it has expired, if it has to; else the one that is there."""

    def offset() -> int:
        found = _offsets(client, group, topic, partition)
        return found.partitions[topic.name, partition].committed_offset

    if not is_over:
        return offset()
    return client.last_seen(offset, NO_OFFSET.__eq__, EXPIRED_WITHIN_MS)


@judges("GRP-067")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_member_that_does_not_come_back_after_restart_is_removed(
    persistent_broker: PersistentBroker,
) -> None:
    """One has a session of 6 s and a rebalance timeout of 2 minutes, the other the reverse."""
    client = persistent_broker.client
    client.version("JoinGroup", "1+")
    topic = client.create_topic(PARTITIONS["GRP-067"])
    brief, patient = ClassicGroup(client), ClassicGroup(client)
    brief.session_ms = patient.rebalance_ms = BRIEF_SESSION_MS
    brief.rebalance_ms = patient.session_ms = LONG_MS
    for group in (brief, patient):
        newcomer = group.member(subscription(topic))
        commit(client, group.group_id, {topic: [entry(1)]})
        group.grown([newcomer])
    persistent_broker.kill()
    persistent_broker.start()
    with requirement("GRP-067") as check:
        with check.subtest("its session is over"):
            state = client.last_seen(lambda: _state(brief), "Empty".__eq__, REMOVED_WITHIN_MS)
            assert state == "Empty", f"a member with a session of 6 s is away: {state}"
        with check.subtest("its session is not over"):
            state = client.last_seen(lambda: _state(patient), "Stable".__eq__)
            assert state == "Stable", f"a member with a session of 2 minutes is away: {state}"


def _state(group: ClassicGroup) -> str:
    return group.described().group_state


@judges("GRP-068")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_generation_without_assignment_is_gone_after_restart(
    persistent_broker: PersistentBroker,
) -> None:
    """Two members have joined, and neither has synced; before, the first was alone."""
    client = persistent_broker.client
    group, topic = ClassicGroup(client), client.create_topic(PARTITIONS["GRP-068"])
    group.session_ms = group.rebalance_ms = LONG_MS
    (first,) = group.grown([group.member(subscription(topic))])
    assigned = first.generation

    def ask() -> dict[str, object]:
        return described_groups(lambda _: client, [group.group_id])

    before = ask()
    second = group.member(subscription(topic))
    second.be_given_an_id()
    second.send_join()
    await_rebalance(first)
    first.send_join()
    for member in (first, second):
        member.take_joined()
    persistent_broker.kill()
    with requirement("GRP-068"):
        persistent_broker.start()
        expect_same(client, before, ask, "after a kill,")
        first.connection, second.connection = client.connect(), client.connect()
        expect_error(first.heartbeat(), ErrorCode.ILLEGAL_GENERATION, "the first, new generation")
        first.generation = assigned
        expect_error(first.heartbeat(), ErrorCode.NONE, "the first, assigned generation")
        expect_error(second.heartbeat(), ErrorCode.UNKNOWN_MEMBER_ID, "the second")


@judges("GRP-080")
@needs_broker(Use.PERSISTENT, {**BRIEF, "group.max.size": "2"})
def test_loaded_group_above_group_max_size_begins_rebalance(
    persistent_broker: PersistentBroker,
) -> None:
    """Two groups have two members, of which one has a third one in the log when it is loaded."""
    client = persistent_broker.client
    topic = client.create_topic(PARTITIONS["GRP-080"])
    full, over = groups = ClassicGroup(client), ClassicGroup(client)
    for group in groups:
        group.session_ms = group.rebalance_ms = LONG_MS
        group.grown([group.member(subscription(topic)) for _ in range(2)])
    persistent_broker.kill()
    change_group_log(persistent_broker, partial(_grows, over.group_id), 1, keeps_size=False)
    persistent_broker.start()
    expected = (
        ("three members", over, "PreparingRebalance", ErrorCode.REBALANCE_IN_PROGRESS),
        ("two members", full, "Stable", ErrorCode.NONE),
    )
    with requirement("GRP-080") as check:
        for size, group, state, error in expected:
            with check.subtest(size):
                found = client.last_seen(partial(_state, group), state.__eq__)
                assert found == state, f"a group of {size}, with room for two, is {found}"
                member = group.members[0]
                member.connection = client.connect()
                _expect(member.heartbeat(), error, f"heartbeat in a group of {size}")


def _expect(code: int, expected: ErrorCode, what: str) -> None:
    """Raise Inconclusive if the broker, fenced on a slow machine, is the coordinator no more."""
    if code in SETTLING:
        raise Inconclusive(f"{what}: {ErrorCode.describe(code)}, and it was the coordinator before")
    expect_error(code, expected, what)


def _grows(group_id: str, key: Message, value: Message) -> bool:
    """Add a member to each generation of two members of this group."""
    is_meant = isinstance(key, GroupMetadataKey) and key.group == group_id
    if not is_meant or not isinstance(value, GroupMetadataValue) or len(value.members) != 2:
        return False
    another = copy(value.members[0])
    another.member_id = "another"
    value.members.append(another)
    return True


@judges("GRP-081")
@needs_broker(Use.PERSISTENT)
def test_loaded_group_has_its_leader_and_rebalance_timeout(
    persistent_broker: PersistentBroker,
) -> None:
    """The leader of two static members has come back before, so that it is the newest member.

    After the restart the follower joins again, which changes nothing; then the leader does.
    """
    client = persistent_broker.client
    version = client.version("JoinGroup", "5+")
    topic = client.create_topic(PARTITIONS["GRP-081"])
    group = ClassicGroup(client)
    group.session_ms, group.rebalance_ms = LONG_MS, BRIEF_SESSION_MS
    members = [group.member(subscription(topic), f"instance-{number}") for number in range(2)]
    former, (follower,) = leader_of(group.grown(members)), followers_of(members)
    leader = group.member(former.protocols, former.instance_id)
    leader.join()
    persistent_broker.stop()
    persistent_broker.start()
    with requirement("GRP-081", api_key=JOIN, api_version=version):
        state = client.last_seen(lambda: _state(group), "Stable".__eq__)
        assert state == "Stable", f"the loaded group is {state}"
        follower.connection, leader.connection = client.connect(), client.connect()
        answer = follower.ask_join()
        _expect(answer.error_code, ErrorCode.NONE, "the follower's join")
        found = answer.generation_id, answer.leader, len(answer.members)
        expected = follower.generation, leader.member_id, 0
        told = f"the follower's generation, leader and number of members are {found}"
        assert found == expected, f"{told}, expected {expected}"
        _expect(leader.heartbeat(), ErrorCode.NONE, "the leader's heartbeat")
        leader.send_join()
        await_rebalance(follower)
        leader.connection.timeout_ms = client.scaled_ms(REMOVED_WITHIN_MS)
        joined = leader.take_join()
        _expect(joined.error_code, ErrorCode.NONE, "the leader's join")
        generation = joined.generation_id
        assert generation == follower.generation + 1, f"the leader's generation is {generation}"


@judges("GRP-046")
@needs_broker(Use.PERSISTENT, BRIEF)
def test_group_without_members_accepts_other_protocols_after_restart(
    persistent_broker: PersistentBroker,
) -> None:
    """Its only consumer has left; after the restart a worker joins, at a higher generation."""
    client = persistent_broker.client
    version = client.version("JoinGroup", "1+")
    group = ClassicGroup(client)
    group.group_id = _emptied(client, client.create_topic())
    persistent_broker.stop()
    persistent_broker.start()
    group.protocol_type = "connect"
    worker = group.member({"default": b"a worker's"})
    worker.be_given_an_id()
    with requirement("GRP-046", api_key=JOIN, api_version=version):
        answer = worker.remember(worker.ask_join())
        expect_error(answer.error_code, ErrorCode.NONE, "join with another type")
        found = answer.leader, answer.protocol_name
        expected = worker.member_id, "default"
        assert found == expected, f"leader and protocol are {found}, expected {expected}"
        generation = answer.generation_id
        assert generation > LAST, f"generation {generation} after {LAST}"
