"""RECF: the leader epochs of the batches that compaction leaves."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.conformance.checks import NotApplicable, requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import await_back
from suites.protocol.support.appended import append
from suites.protocol.support.compacted import (
    QUICKLY,
    KeyedBatches,
    await_compacted,
    batches_of,
    compacted_topic,
)

KEYS = ((b"a", b"b"), (b"a", b"c"), (b"a", b"d"), (b"a",))
LEFT = [1, 3, 5, 6, 7]
Epochs = dict[int, int]
"""The leader epoch of each batch, by its base offset."""


def _epochs(client: BrokerUnderTest, topic: Topic, begin: int = 0) -> Epochs:
    found = batches_of(client, topic, begin=begin)
    return {one.base_offset: one.partition_leader_epoch or 0 for one in found}


@judges("RECF-033")
@needs_broker(Use.PERSISTENT, {**QUICKLY, **BRIEF})
def test_compaction_keeps_leader_epoch_of_changed_batches(
    persistent_broker: PersistentBroker,
) -> None:
    """Three batches, each of an epoch of its own, lose their first record."""
    client, made = persistent_broker.client, KeyedBatches()
    client.version("Fetch", "4+")
    topic, written = compacted_topic(client), Epochs()
    for keys in KEYS:
        append(client, topic, made.next(*keys))
        written |= _epochs(client, topic, client.end_offset(topic) - len(keys))
        if keys != KEYS[-1]:
            persistent_broker.stop()
            persistent_broker.start()
            await_back(client, topic)
    if len(set(written.values())) < 2:
        raise NotApplicable("leader epochs", "with a ZooKeeper a restart begins no leader epoch")
    append(client, topic, made.next(b"end"))
    await_compacted(client, topic, {0: LEFT})
    with requirement("RECF-033"):
        found = _epochs(client, topic)
        expected = {base: epoch for base, epoch in written.items() if base in found}
        left = {base: epoch for base, epoch in found.items() if base in written}
        assert left == expected, f"epochs by base offset are {left}, written were {expected}"
