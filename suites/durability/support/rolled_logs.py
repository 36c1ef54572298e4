"""Logs of several segments, each of which begins where records are much younger than the last ones.

So it is since 0.10.1, which has the times of records; before, segments end by their size alone.
"""

from __future__ import annotations

from harness.client.broker import BrokerUnderTest
from harness.client.older_forms import records_for
from harness.client.requests import Topic
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import Inconclusive
from harness.runner.brokers.persistent_broker import PersistentBroker
from suites.durability.support.broken_logs import Stored, segments_in, stored
from suites.protocol.support.appended import append, now_ms

SEGMENT_MS = 60_000
SEGMENTS, BATCHES = 3, 6
TIMES_SINCE = 1  # of ListOffsets, in 0.10.1
INDEXED = {"index.interval.bytes": "64"}
"""Nearly each batch of a segment has an index entry."""


def timestamp_of(begin_ms: int, segment: int, batch: int) -> int:
    """Return the timestamp of the batch; a segment covers two of its spans."""
    return begin_ms + segment * 2 * SEGMENT_MS + batch * 1000


class RolledLogs:
    """A topic with three segments and the same records in each partition."""

    def __init__(self, kept: PersistentBroker, partitions: int = 1) -> None:
        """Create the topic. Raises Inconclusive if the segments are missing."""
        self.kept = kept
        self.topic = kept.client.create_topic(partitions, {**INDEXED, **_ending(kept.client)})
        self.begin_ms = now_ms() - 2 * SEGMENTS * SEGMENT_MS
        for partition in range(partitions):
            append_segments(kept.client, self.topic, self.begin_ms, partition)
            found = segments_in(kept.partition_folder(self.topic.name, partition))
            if len(found) != SEGMENTS:
                raise Inconclusive(f"the log has the segments {[one.name for one in found]}")
        self.before: Stored
        self.before, *others = (stored(kept.client, self.topic, at) for at in range(partitions))
        if any(held != self.before for held in others):
            raise Inconclusive("the partitions do not hold the same")


def knows_times(broker: BrokerUnderTest) -> bool:
    """True if the broker keeps the timestamps of records (KIP-32, KIP-33)."""
    return TIMES_SINCE in broker.advertised("ListOffsets")


def _ending(broker: BrokerUnderTest) -> dict[str, str]:
    """The setting by which a segment ends behind its last batch."""
    if knows_times(broker):
        return {"segment.ms": str(SEGMENT_MS)}
    one = records_for(broker.version("Produce"), _batch(0, 0, 0)) or b""
    return {"segment.bytes": str(BATCHES * len(one))}


def _batch(segment: int, batch: int, timestamp: int) -> bytes:
    records = [Record(b"%d-%d-%d" % (segment, batch, each) * 20) for each in range(2)]
    return encode_batch(RecordBatch(records, base_timestamp=timestamp))


def append_segments(
    broker: BrokerUnderTest, topic: Topic, begin_ms: int, partition: int = 0
) -> None:
    """Append BATCHES batches of two records each for each segment."""
    for segment in range(SEGMENTS):
        for batch in range(BATCHES):
            made = _batch(segment, batch, timestamp_of(begin_ms, segment, batch))
            append(broker, topic, made, partition=partition)
