"""RECV: a start after a crash between the renames of a compaction."""

from __future__ import annotations

import shutil
from pathlib import Path

from harness.codec.data_framing.log_folder import INDEX, LOG, TIME_INDEX
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.brokers.persistent_broker import PersistentBroker
from harness.runner.marks import judges, needs_broker
from suites.durability.support.brief_sessions import BRIEF
from suites.durability.support.broken_logs import segments_in
from suites.protocol.support.appended import append
from suites.protocol.support.compacted import (
    QUICKLY,
    KeyedBatches,
    await_compacted,
    compacted_topic,
)
from suites.protocol.support.log_answers import fetched
from suites.protocol.support.whole_answers import expect_same

SWAP, CLEANED, DELETED = ".swap", ".cleaned", ".deleted"
ALL = (LOG, INDEX, TIME_INDEX)
LEFT = (ALL, (LOG, INDEX), (LOG, TIME_INDEX), (LOG,), ())
"""Kinds of files that a crash leaves as ``.swap``, by partition; the log is renamed last."""

KEYS = [(b"a",), (b"b", b"c"), (b"c",), (b"a",), (b"d",)]
COMPACTED = [1, 3, 4, 5]


@judges("RECV-027")
@needs_broker(Use.PERSISTENT, {**BRIEF, **QUICKLY})
def test_start_finishes_renames_of_interrupted_compaction(
    persistent_broker: PersistentBroker,
) -> None:
    """The last partition has all renames done, and files that are to be removed."""
    client, partitions = persistent_broker.client, range(len(LEFT))
    topic, made = compacted_topic(client, len(LEFT)), KeyedBatches()
    for keys in KEYS:
        batch = made.next(*keys)
        for partition in partitions:
            append(client, topic, batch, partition=partition)
    await_compacted(client, topic, dict.fromkeys(partitions, COMPACTED))
    before = fetched(client, {topic: len(LEFT)})
    persistent_broker.kill()
    for partition, left in enumerate(LEFT):
        folder = persistent_broker.partition_folder(topic.name, partition)
        _leave(segments_in(folder)[0], left)
    with requirement("RECV-027"):
        persistent_broker.start()
        for partition in partitions:
            client.await_served(topic, partition)
        expect_same(client, before, lambda: fetched(client, {topic: len(LEFT)}), "after a crash,")


def _leave(log: Path, kinds: tuple[str, ...]) -> None:
    """Rename these files of the segment back; without any, leave copies that are to be removed."""
    for kind in kinds:
        path = log.with_suffix(kind)
        path.rename(path.with_name(path.name + SWAP))
    for kind in () if kinds else ALL:
        path = log.with_suffix(kind)
        for suffix in (CLEANED, DELETED):
            shutil.copyfile(path, path.with_name(path.name + suffix))
