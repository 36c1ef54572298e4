"""Logs with small dirty parts, and then with large ones (KIP-58)."""

from __future__ import annotations

from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from suites.protocol.support.appended import append
from suites.protocol.support.compacted import KeyedBatches, batches_of, offsets

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


def write(broker: BrokerUnderTest, made: KeyedBatches, batches: Batches, *topics: Topic) -> None:
    """Append the batches to each of the topics."""
    encoded = [made.next(key, value_size=size) for key, size in batches]
    for topic in topics:
        append(broker, topic, *encoded)


def expect_left(broker: BrokerUnderTest, topic: Topic, expected: Sequence[int], where: str) -> None:
    """These offsets are left of the log."""
    left = offsets(batches_of(broker, topic))
    assert left == list(expected), f"{where}: left are {left}, expected {list(expected)}"
