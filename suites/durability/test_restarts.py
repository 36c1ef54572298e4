"""OTOP, CONF, OFFS, IDEM: what a broker knows when it is started again."""

from __future__ import annotations

import time

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.apis import api_named
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.many_commits import PARTITIONS, commit_all
from suites.durability.support.whole_log import stored
from suites.protocol.support.committed_offsets import (
    NO_OFFSET,
    SETTLING,
    GroupOffsets,
    commit,
    entry,
    fetch_offsets,
    fresh_group,
)
from suites.protocol.support.compacted import COMPACTED_WITHIN_MS
from suites.protocol.support.config_admin import TOPIC, expect_values
from suites.protocol.support.gone_topics import create_again, delete_topic
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.internal_topics import OFFSETS_TOPIC, internal_topic
from suites.protocol.support.record_formats import records_in

OVERRIDES = {"retention.ms": "7654321", "cleanup.policy": "compact", "max.message.bytes": "54321"}
OFFSET_FETCH = api_named("OffsetFetch")
WITH_EPOCH = {"OffsetCommit": "6+", "OffsetFetch": "5+"}
EPOCH, NO_EPOCH = 3, -1
EPOCHS = [EPOCH, NO_EPOCH, NO_EPOCH]
"""The last committed epoch of each partition."""
PRODUCERS = 5  # before the first end, and after each
MANY = 1_000  # commits, of PARTITIONS records each: some segments of a megabyte
SEGMENT_BYTES = "1048576"  # the least that every release takes
CLEANER_PAUSE_MS, QUIET_MS = 200, 1_000


def _told(client: BrokerUnderTest, group: str, topic: Topic, count: int = 1) -> GroupOffsets:
    """Return the offsets that the coordinator returns after it has loaded its log."""
    return client.last_seen(
        lambda: fetch_offsets(client, group, {topic: list(range(count))}),
        lambda found: found.error_of(topic) not in SETTLING,
    )


@judges("OTOP-004")
@needs_broker(
    Use.PERSISTENT,
    {
        "offsets.topic.segment.bytes": SEGMENT_BYTES,
        "log.cleaner.backoff.ms": str(CLEANER_PAUSE_MS),
        "log.cleaner.min.cleanable.ratio": "0.01",
    },
)
def test_committed_offsets_survive_compaction_and_restarts(
    persistent_broker: PersistentBroker,
) -> None:
    """Those of a group that commits all the time, and one that was committed once before."""
    client = persistent_broker.client
    topic = client.create_topic(partitions=PARTITIONS)
    early, busy = fresh_group(client, topic), fresh_group(client, topic)
    commit(client, early, {topic: [entry(7, "early")]})
    commit_all(client, busy, topic, MANY)
    log = internal_topic(client, OFFSETS_TOPIC)
    client.eventually(
        lambda: _has_holes(client, log), f"{OFFSETS_TOPIC} is compacted", COMPACTED_WITHIN_MS
    )
    with requirement("OTOP-004"):
        for how, end in (
            ("in order", persistent_broker.stop),
            ("by SIGKILL", persistent_broker.kill),
        ):
            # Before 2.0 an end between two steps of a compaction takes the segment before, too
            # (Log.completeSwapOperations, apache/kafka#5169).
            client.eventually(_Quiet(client, log), f"the broker does not compact {OFFSETS_TOPIC}")
            end()
            persistent_broker.start()
            where = f"after an end {how}"
            _told(client, early, topic).expect(topic, 7, "early", where=where)
            found = _told(client, busy, topic, PARTITIONS)
            for partition in range(PARTITIONS):
                found.expect(topic, MANY, partition=partition, where=where)


class _Quiet:
    """A check that a log has not changed for a time that is long beside the cleaner's pauses."""

    def __init__(self, client: BrokerUnderTest, log: Topic) -> None:
        self._client, self._log = client, log
        self._seen: list[int] = []
        self._since = time.monotonic()

    def __call__(self) -> bool:
        seen = [offset for offset, _ in stored(self._client, self._log)]
        if seen != self._seen:
            self._seen, self._since = seen, time.monotonic()
        return time.monotonic() - self._since > self._client.scaled_ms(QUIET_MS) / 1000


def _has_holes(client: BrokerUnderTest, log: Topic) -> bool:
    """A record among the first of all is missing: compaction has taken it."""
    wanted = PARTITIONS * MANY // 10
    offsets = [each.offset for each in records_in(record_bytes(client.fetch(log, wanted)))]
    return wanted not in offsets


@judges("CONF-015")
@needs_broker(Use.PERSISTENT)
def test_topic_configs_survive_restarts(persistent_broker: PersistentBroker) -> None:
    """As they were given when the topic was created."""
    client = persistent_broker.client
    client.version("DescribeConfigs")
    topic = client.create_topic(configs=OVERRIDES)
    with requirement("CONF-015"):
        expect_values(client, (TOPIC, topic.name), OVERRIDES, "before any end")
        for how, end in (
            ("in order", persistent_broker.stop),
            ("by SIGKILL", persistent_broker.kill),
        ):
            end()
            persistent_broker.start()
            client.await_served(topic)
            # With a ZooKeeper a broker serves a partition before it hears what topics there are.
            client.eventually(
                lambda: client.metadata([topic.name]).topics[0].error_code == ErrorCode.NONE,
                "the topic is in the metadata",
            )
            expect_values(client, (TOPIC, topic.name), OVERRIDES, f"after an end {how}")


@judges("OFFS-019")
@needs_broker(Use.PERSISTENT)
def test_offset_fetch_returns_committed_leader_epoch_after_restart(
    persistent_broker: PersistentBroker,
) -> None:
    """At each version that can say it; -1 where none was given; after a restart, too.

    A commit without an epoch replaces one that had it.
    """
    client = persistent_broker.client
    newest = {name: client.version(name, wanted) for name, wanted in WITH_EPOCH.items()}
    commits, fetches = (
        [each for each in client.advertised(name) if each <= version]
        for name, version in newest.items()
    )
    topic = client.create_topic(partitions=len(EPOCHS))
    groups = {version: fresh_group(client, topic) for version in commits if version >= 6}
    for version, group in groups.items():
        entries = [entry(5, "", index) for index in range(len(EPOCHS))]
        for each in (entries[0], entries[2]):
            each.committed_leader_epoch = EPOCH
        commit(client, group, {topic: entries}, version)
        commit(client, group, {topic: [entry(5, "", 2)]}, version)
    readings = [version for version in fetches if version >= 5]
    _expect_epochs(client, topic, groups, readings, "")
    persistent_broker.stop()
    persistent_broker.start()
    for group in groups.values():
        _told(client, group, topic)
    _expect_epochs(client, topic, groups, readings, "after a restart, ")


def _expect_epochs(
    client: BrokerUnderTest, topic: Topic, groups: dict[int, str], readings: list[int], when: str
) -> None:
    for version in readings:
        with requirement("OFFS-019", api_key=OFFSET_FETCH.key, api_version=version):
            for committed_at, group in groups.items():
                found = fetch_offsets(client, group, {topic: list(range(len(EPOCHS)))}, version)
                where = f"{when}committed at version {committed_at}"
                epochs = [
                    found.expect(topic, 5, partition=index, where=where).committed_leader_epoch
                    for index in range(len(EPOCHS))
                ]
                assert epochs == EPOCHS, f"{where}: leader epochs are {epochs}, not {EPOCHS}"


@judges("IDEM-002")
@needs_broker(Use.PERSISTENT)
def test_producer_ids_are_not_reused_after_restarts_of_only_broker(
    persistent_broker: PersistentBroker,
) -> None:
    """No other broker and no other controller can have kept the ids that were given."""
    client = persistent_broker.client
    seen: dict[int, str] = {}
    with requirement("IDEM-002"):
        for when in ("before any end", "after an end in order", "after an end by SIGKILL"):
            if seen:
                (persistent_broker.stop if "order" in when else persistent_broker.kill)()
                persistent_broker.start()
            for _ in range(PRODUCERS):
                made = new_producer(client).id
                assert made not in seen, f"{when} the id {made} again, as {seen[made]}"
                seen[made] = when


@judges("TOPIC-034")
@needs_broker(Use.PERSISTENT)
def test_offsets_of_deleted_topic_do_not_come_back_with_restart(
    persistent_broker: PersistentBroker,
) -> None:
    """A new topic has the name of the deleted one after the restart; another topic stays."""
    client = persistent_broker.client
    version = client.version("OffsetFetch", "1-9")  # by name
    gone, stays = client.create_topic(), client.create_topic()
    group = fresh_group(client, stays)
    commit(client, group, {gone: [entry(5)], stays: [entry(9)]})

    def offsets() -> GroupOffsets:
        return fetch_offsets(client, group, {gone: [0], stays: [0]}, version)

    delete_topic(client, gone)
    client.eventually(
        lambda: offsets().partitions[gone.name, 0].committed_offset == NO_OFFSET,
        "the coordinator has removed the offset of the deleted topic",
    )
    persistent_broker.stop()
    persistent_broker.start()
    create_again(client, gone.name)
    with requirement("TOPIC-034"):
        found = client.last_seen(offsets, lambda seen: seen.error_of(stays) not in SETTLING)
        found.expect(stays, 9, where="the topic that stays")
        found.expect_none(gone, where="the topic that is made again")
