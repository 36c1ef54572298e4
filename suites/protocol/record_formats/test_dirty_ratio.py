"""STOR: the share of a log that must be dirty before it is compacted."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.conformance.checks import requirement
from harness.runner.broker_request import Use
from harness.runner.marks import judges, needs_broker
from suites.protocol.support.appended import append
from suites.protocol.support.compacted import (
    QUICKLY,
    KeyedBatches,
    await_compacted,
    batches_of,
    compacted_topic,
    offsets,
)

# Batches of one record each. The last one of each list is in the active segment, which no
# compaction reads, until the next list is written. A compaction may come between any two batches.
# So the record that shows a compaction is removed by the last large batch alone: that batch makes
# more than half of the log dirty, and once it is compacted, nothing large is dirty any more.
SMALL, LARGE, LARGER = 0, 10_000, 20_000
Batches = Sequence[tuple[bytes, int]]
FIRST = [(b"a", SMALL), (b"b", SMALL), (b"c", SMALL), (b"a", LARGE), (b"d", SMALL), (b"e", SMALL)]
FEW = [(b"b", SMALL), (b"f", SMALL)]
MORE = [(b"c", SMALL), (b"d", LARGER), (b"g", SMALL)]
ALL = list(range(len(FIRST)))
LEFT_OF_FIRST = [1, 2, 3, 4, 5]
LEFT_OF_FEW = [2, 3, 4, 5, 6, 7]
LEFT_OF_MORE = [3, 5, 6, 7, 8, 9, 10]


@judges("STOR-024")
@needs_broker(Use.OWN, QUICKLY)
def test_log_is_compacted_once_dirty_ratio_exceeds_its_minimum(broker: BrokerUnderTest) -> None:
    """Beside a log that is always compacted: one at a half, and one that never is.

    A log that was never compacted is dirty as a whole. Then some small batches are dirty, and then
    larger ones than all that were compacted. Between, the log beside is compacted twice.
    """
    always, at_half = compacted_topic(broker), compacted_topic(broker, least_dirty="0.5")
    never = compacted_topic(broker, least_dirty="1")
    made = KeyedBatches()
    with requirement("STOR-024"):
        _write(broker, made, FIRST, always, at_half, never)
        await_compacted(broker, always, {0: LEFT_OF_FIRST})
        await_compacted(broker, at_half, {0: LEFT_OF_FIRST})
        _write(broker, made, FEW, always, at_half)
        await_compacted(broker, always, {0: LEFT_OF_FEW})
        _write(broker, made, MORE, always)
        await_compacted(broker, always, {0: LEFT_OF_MORE})
        _expect_left(broker, at_half, [*LEFT_OF_FIRST, 6, 7], "small batches are dirty")
        _write(broker, made, MORE, at_half)
        await_compacted(broker, at_half, {0: LEFT_OF_MORE})
        _expect_left(broker, never, ALL, "the minimum is 1")


def _write(broker: BrokerUnderTest, made: KeyedBatches, batches: Batches, *topics: Topic) -> None:
    encoded = [made.next(key, value_size=size) for key, size in batches]
    for topic in topics:
        append(broker, topic, *encoded)


def _expect_left(
    broker: BrokerUnderTest, topic: Topic, expected: Sequence[int], where: str
) -> None:
    left = offsets(batches_of(broker, topic))
    assert left == list(expected), f"{where}: left are {left}, expected {list(expected)}"
