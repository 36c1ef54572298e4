"""STOR: how retention acts on a log that is compacted, by its cleanup.policy."""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.durability.support.keyed import CleaningWitness, KeyedLog, compacted
from suites.durability.support.segments import (
    DAY_MS,
    OFTEN,
    Witness,
    begin_of,
    begin_once,
    stored_entries,
)
from suites.protocol.support.compacted import QUICKLY

SEGMENTS = 4
LIMITS = {"retention__bytes": "1", "retention__ms": str(DAY_MS)}


def _distinct(log: KeyedLog) -> None:
    """Append a key a segment: compaction removes none of them."""
    for number in range(SEGMENTS):
        log.append((b"key %d" % number, b"value"))


@judges("STOR-016")
@needs_broker(Use.TUNED, QUICKLY)
def test_compact_delete_policy_removes_segments_above_retention_bytes(
    broker: BrokerUnderTest,
) -> None:
    """Of four segments of one size the last two stay; no part of the log is dirty enough."""
    like = KeyedLog(broker, compacted(broker))
    _distinct(like)
    sizes = [len(each) for each in stored_entries(broker, like.topic, 0, SEGMENTS)]
    both = {"cleanup__policy": "compact,delete", "min__cleanable__dirty__ratio": "1"}
    witness = CleaningWitness(broker)
    log = KeyedLog(broker, compacted(broker, **both, retention__bytes=str(sum(sizes[2:]))))
    _distinct(log)
    with requirement("STOR-016"):
        begin = begin_once(broker, log.topic, 2)
        told = "of four segments two have retention.bytes"
        assert begin == 2, f"{told}, the log begins at {begin}"
        witness.look()
        begin = begin_of(broker, log.topic)
        assert begin == 2, f"{told}, looked at again, the log begins at {begin}"


@judges("STOR-025")
@needs_broker(Use.TUNED, {**QUICKLY, **OFTEN})
def test_compact_policy_alone_keeps_records_beyond_retention(broker: BrokerUnderTest) -> None:
    """retention.ms is over and retention.bytes exceeded; a log to delete loses its records."""
    cleanings, looks = CleaningWitness(broker), Witness(broker)
    deleted = KeyedLog(broker, compacted(broker, cleanup__policy="delete", **LIMITS))
    log = KeyedLog(broker, compacted(broker, **LIMITS), oldest_ms=3 * DAY_MS)
    for each in (deleted, log):
        _distinct(each)
    with requirement("STOR-025"):
        begin = begin_once(broker, deleted.topic, SEGMENTS - 1)
        assert begin == SEGMENTS - 1, f"retention.bytes is 1, the log to delete begins at {begin}"
        looks.look()
        cleanings.look()
        begin = begin_of(broker, log.topic)
        assert begin == 0, f"cleanup.policy is compact, the log begins at {begin}"
        left = log.read()
        assert left == log.written, f"no key comes twice, left is {left} of {log.written}"
