"""COORD: the partition of the offsets topic in which a group's records are."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.only import only
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.committed_offsets import commit, entry, fresh_group
from suites.protocol.support.internal_topics import (
    OFFSETS_TOPIC,
    hash_of,
    internal_topic,
    with_hash,
)

GROUPS = 6
SUFFIXES = ("-größe", "-\N{SNOWMAN}\N{PILE OF POO}")
PARTITIONS = 9


@judges("COORD-006")
@needs_broker(Use.TUNED, {"offsets.topic.num.partitions": str(PARTITIONS)})
def test_hash_of_group_id_selects_partition_of_its_committed_offset(
    broker: BrokerUnderTest,
) -> None:
    """A record with the group's name in its key is new in that partition after each commit.

    Among the groups are one with a hash below 0, and one with the least int, which has no positive
    counterpart; and two with letters that are several bytes, or two units of UTF-16.
    """
    topic, offsets = broker.create_topic(), internal_topic(broker, OFFSETS_TOPIC)
    count = len(only(broker.metadata([OFFSETS_TOPIC]).topics, "topic").partitions)
    with requirement("COORD-006") as check:
        assert count == PARTITIONS, f"{OFFSETS_TOPIC} has {count} partitions"
        for number, group in enumerate(_groups(broker, topic)):
            partition = hash_of(group) % count
            begin = broker.end_offset(offsets, partition)
            commit(broker, group, {topic: [entry(5)]})
            with check.subtest(f"group {number}"):
                found = broker.fetch(offsets, begin, partition=partition)
                told = f"after a commit of {group} partition {partition} has no record of it"
                assert group.encode() in record_bytes(found), told


def _groups(broker: BrokerUnderTest, topic: Topic) -> list[str]:
    """Return groups without offsets, the last two with the hashes -2 and the least int."""
    names = [fresh_group(broker, topic) for _ in range(GROUPS)]
    beyond_ascii = [f"{name}{suffix}" for name, suffix in zip(names, SUFFIXES, strict=False)]
    return [*beyond_ascii, *names[2:-2], with_hash(names[-2], -2), with_hash(names[-1], -(2**31))]
