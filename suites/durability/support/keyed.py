"""Compacted logs with a copy of the written records, for a comparison with the records left."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from harness.client.broker import BrokerUnderTest, PreparationFailed
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.conformance.checks import NotApplicable
from suites.durability.support.segments import HOUR_MS, SECOND_MS
from suites.protocol.support.appended import append, now_ms
from suites.protocol.support.compacted import COMPACTED_WITHIN_MS, batches_of

Pair = tuple[bytes | None, bytes | None]
"""Key and value; no value is a tombstone. Only a log that is not compacted takes no key."""


class Kept(NamedTuple):
    """A record of a log."""

    offset: int
    key: bytes | None
    value: bytes | None


def records_of_batch(batch: RecordBatch) -> list[Kept]:
    """Return the records of the batch with their offsets in the log."""
    return [
        Kept(batch.base_offset + (record.offset_delta or 0), record.key, record.value)
        for record in batch.records
    ]


USUAL = {"cleanup.policy": "compact", "segment.ms": "1", "min.cleanable.dirty.ratio": "0"}
"""Every batch that is younger than the one before begins a segment, and is worth compacting."""

ROLLED_AFTER_MS = 5
"""Wait in ms before each append.

Before 0.10.1 the broker's clock counts: a record that arrives while the segment is not yet older
than ``segment.ms`` begins no new segment (KIP-33), and no response contains the segment's age.
"""


def compacted(broker: BrokerUnderTest, **configs: str) -> Topic:
    """A topic with these settings too (dots written as ``__``).

    Raises NotApplicable where the broker does not know all of them.
    """
    named = {name.replace("__", "."): value for name, value in configs.items()}
    try:
        return broker.create_topic(configs={**USUAL, **named})
    except PreparationFailed as refused:
        if refused.error_code != ErrorCode.INVALID_CONFIG:
            raise
        told = f"the broker does not know all of {sorted(named)}"
        raise NotApplicable(next(iter(named)), told) from refused


class KeyedLog:
    """One partition. Each batch is a second younger than the one before, and ends its segment."""

    def __init__(
        self, broker: BrokerUnderTest, topic: Topic, partition: int = 0, oldest_ms: int = HOUR_MS
    ) -> None:
        self.broker, self.topic, self.partition = broker, topic, partition
        self.begin = 0  # where it is read from
        self.written: list[Kept] = []
        self.active: list[Kept] = []
        self._time_ms = now_ms() - oldest_ms

    def append(self, *pairs: Pair, age_ms: int | None = None) -> None:
        """Append the pairs in one batch, a second younger than the last or ``age_ms`` old."""
        self._time_ms = self._time_ms + SECOND_MS if age_ms is None else now_ms() - age_ms
        records = [Record(value, key) for key, value in pairs]
        batch = encode_batch(RecordBatch(records, base_timestamp=self._time_ms))
        time.sleep(ROLLED_AFTER_MS / 1000)
        append(self.broker, self.topic, batch, partition=self.partition)
        begin = len(self.written)
        self.active = [Kept(begin + at, *pair) for at, pair in enumerate(pairs)]
        self.written += self.active

    def newest(self) -> dict[bytes | None, Kept]:
        """The last record of each key."""
        return {each.key: each for each in self.written}

    def superseded(self) -> list[Kept]:
        """Return the records that compaction removes.

        These are the records with a later record of the same key, both in closed segments.
        """
        closed = [each for each in self.written if each not in self.active]
        newest = {each.key: each for each in closed}
        return [each for each in closed if each != newest[each.key]]

    def read(self) -> list[Kept]:
        """Return the records left in the log, in the order of Fetch."""
        return [
            record
            for batch in batches_of(self.broker, self.topic, self.partition, begin=self.begin)
            for record in records_of_batch(batch)
        ]

    def read_once(self, is_right: Callable[[list[Kept]], bool]) -> list[Kept]:
        """Return the records left once ``is_right`` accepts them; else the last ones seen."""
        return self.broker.last_seen(self.read, is_right, COMPACTED_WITHIN_MS)

    def await_compacted(self) -> list[Kept]:
        """Return the records left after compaction has removed all that it may remove."""
        gone = self.superseded()

        def is_compacted() -> list[Kept]:
            left = self.read()
            return [] if set(left) & set(gone) else left

        return self.broker.eventually(is_compacted, f"{gone} are gone", COMPACTED_WITHIN_MS)


class CleaningWitness:
    """A topic of its own, by which is seen that logs were compacted again."""

    ROUNDS = 2  # what is under way when it is asked for counts no more than half

    def __init__(self, broker: BrokerUnderTest) -> None:
        self._log = KeyedLog(broker, compacted(broker))
        self._log.append((b"witness", b"0"))

    def look(self) -> None:
        """Return when logs were compacted once more, from now on."""
        for _ in range(self.ROUNDS):
            for _ in range(2):
                self._log.append((b"witness", b"%d" % len(self._log.written)))
            self._log.await_compacted()
