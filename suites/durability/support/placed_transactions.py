"""Logs with transactions that are put on the disk while the broker is down.

So they need no coordinator of transactions: a broker recovers them as it recovers its own.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import CONTROL, TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.runner.brokers.persistent_broker import PersistentBroker
from suites.durability.support.broken_logs import await_back, segments_in
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.expect import expect_error

OPEN, ENDED = 0, 1
"""The partitions: a transaction that has no end, and two aborted transactions."""
NO_PRODUCER, UNENDED, FIRST, SECOND = -1, 80_001, 80_002, 80_003
ABORT = struct.pack(">hh", 0, 0)
COORDINATOR_EPOCH_0 = struct.pack(">hi", 0, 0)
READ_COMMITTED = 1


@dataclass(frozen=True, slots=True)
class CommittedView:
    """The part of a Fetch answer that read_committed consumers need beside the records."""

    last_stable: int
    high_watermark: int
    aborted: list[tuple[int, int]]
    """Producer ids with first offsets."""


EXPECTED = {
    OPEN: CommittedView(0, 3, []),
    ENDED: CommittedView(8, 8, [(FIRST, 1), (SECOND, 5)]),
}


def _batch(offset: int, producer: int, *values: bytes, sequence: int = 0) -> bytes:
    """Return a batch of a producer's transaction, or a plain one without a producer."""
    is_plain = producer == NO_PRODUCER
    return encode_batch(
        RecordBatch(
            [Record(value) for value in values],
            base_offset=offset,
            partition_leader_epoch=0,
            attributes=0 if is_plain else TRANSACTIONAL,
            base_timestamp=now_ms(),
            producer_id=producer,
            producer_epoch=-1 if is_plain else 0,
            base_sequence=-1 if is_plain else sequence,
        )
    )


def _abort(offset: int, producer: int) -> bytes:
    return encode_batch(
        RecordBatch(
            [Record(COORDINATOR_EPOCH_0, ABORT)],
            base_offset=offset,
            partition_leader_epoch=0,
            attributes=TRANSACTIONAL | CONTROL,
            base_timestamp=now_ms(),
            producer_id=producer,
            producer_epoch=0,
        )
    )


def place_transactions(kept: PersistentBroker) -> Topic:
    """Create a topic of the two partitions, and start the broker after a kill with these logs."""
    topic = kept.client.create_topic(2)
    for partition in (OPEN, ENDED):
        append(kept.client, topic, batch_of(b"replaced"), partition=partition)
    logs = {
        OPEN: [_batch(0, UNENDED, b"a", b"b"), _batch(2, NO_PRODUCER, b"c")],
        ENDED: [
            _batch(0, NO_PRODUCER, b"a"),
            _batch(1, FIRST, b"b", b"c"),
            _abort(3, FIRST),
            _batch(4, NO_PRODUCER, b"d"),
            _batch(5, SECOND, b"e"),
            _abort(6, SECOND),
            _batch(7, NO_PRODUCER, b"f"),
        ],
    }
    kept.kill()
    for partition, batches in logs.items():
        segment = segments_in(kept.partition_folder(topic.name, partition))[-1]
        segment.write_bytes(b"".join(batches))
    start_with(kept, topic)
    return topic


def start_with(kept: PersistentBroker, topic: Topic) -> None:
    """Start the broker, until it serves both partitions."""
    kept.start()
    for partition in (OPEN, ENDED):
        await_back(kept.client, topic, partition)


def committed_views(kept: PersistentBroker, topic: Topic) -> dict[int, CommittedView]:
    """Return what a read_committed Fetch from offset 0 returns of each partition."""
    found = {}
    for partition in (OPEN, ENDED):
        answer = kept.client.fetch(topic, 0, partition=partition, isolation_level=READ_COMMITTED)
        expect_error(answer.error_code, ErrorCode.NONE, f"Fetch from partition {partition}")
        aborted = answer.aborted_transactions or ()
        found[partition] = CommittedView(
            answer.last_stable_offset,
            answer.high_watermark,
            sorted((each.producer_id, each.first_offset) for each in aborted),
        )
    return found
