"""TOPIC: what groups committed of a topic goes with it."""

from __future__ import annotations

from functools import partial

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.classic_group import ClassicGroup
from suites.protocol.support.committed_offsets import (
    NO_OFFSET,
    Committer,
    GroupOffsets,
    commit,
    entry,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.gone_topics import create_again, delete_topic
from suites.protocol.support.subscriptions import subscription


@judges("TOPIC-034")
@at_versions("OffsetFetch", "2-9", "10+")
def test_deleted_topic_has_no_committed_offsets(broker: BrokerUnderTest, api_version: int) -> None:
    """Of all that a group committed, only what it committed of another topic is left."""
    going, staying = broker.create_topic(partitions=2), broker.create_topic()
    topics = [going, staying]
    group = fresh_group(broker, staying)
    commit(broker, group, {going: [entry(5), entry(7, "", 1)], staying: [entry(9)]})
    before = fetch_offsets(broker, group, None, api_version, known=topics)
    if len(before.partitions) != 3:
        raise PreparationFailed(f"three were committed, not {sorted(before.partitions)}")
    delete_topic(broker, going)

    def left() -> list[str]:
        found = fetch_offsets(broker, group, None, api_version, known=topics)
        return sorted(f"{name}-{index}" for name, index in found.partitions)

    with requirement("TOPIC-034"):
        only_staying = [f"{staying.name}-0"]
        broker.eventually(
            lambda: left() == only_staying, f"only {only_staying} are committed, not {left()}"
        )


@judges("TOPIC-034")
@at_versions("OffsetFetch", "1-9", "10+")
def test_recreated_topic_has_no_committed_offsets_of_deleted_one(
    broker: BrokerUnderTest, group: ClassicGroup, api_version: int
) -> None:
    """Two groups have offsets of the topic and of one with a longer name, which keeps its own.

    One of the groups has a member, which subscribes to both topics.
    """
    gone = broker.create_topic(partitions=2)
    stays = broker.create_topic(name=f"{gone.name}-stays")
    (member,) = group.stable(subscription(gone, stays))
    committers = {
        fresh_group(broker, gone): Committer(),
        group.group_id: Committer(member.generation, member.member_id),
    }
    entries = {gone: [entry(5, "five"), entry(6, "", 1)], stays: [entry(7)]}
    for group_id, by in committers.items():
        commit(broker, group_id, entries, by=by)
    delete_topic(broker, gone)
    new = create_again(broker, gone.name, partitions=2)
    with requirement("TOPIC-034") as check:
        for group_id in committers:
            with check.subtest(
                "with a member" if group_id == group.group_id else "without members"
            ):
                wanted = {new: [0, 1], stays: [0]}
                found = broker.last_seen(
                    partial(fetch_offsets, broker, group_id, wanted, api_version),
                    partial(_has_none_of, new),
                )
                for index in (0, 1):
                    found.expect_none(new, partition=index, where="the topic that is made again")
                found.expect(stays, 7, where="another topic")


def _has_none_of(topic: Topic, found: GroupOffsets) -> bool:
    return not any(
        each.committed_offset != NO_OFFSET
        for (name, _), each in found.partitions.items()
        if name == topic.name
    )
