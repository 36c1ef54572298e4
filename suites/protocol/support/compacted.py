"""Logs that a broker has compacted: only the newest record of each key is left in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from suites.protocol.support.appended import now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import IdempotentProducer
from suites.protocol.support.record_formats import batches_in

QUICKLY = {"log.cleaner.enable": "true", "log.cleaner.backoff.ms": "200"}
"""Settings of a broker that compacts often. Before 0.9.0.1 the cleaner is off by default."""

COMPACTED_WITHIN_MS = 60_000
_SECOND_MS, _HOUR_MS = 1_000, 60 * 60 * 1_000
Span = tuple[int, int]
"""The first and the last offset of a batch."""


def compacted_topic(
    broker: BrokerUnderTest, partitions: int = 1, *, least_dirty: str = "0"
) -> Topic:
    """Every batch of `keyed` closes the segment of the one before.

    ``least_dirty``: the share of the log that is dirty before a compaction; any by default.
    """
    configs = {
        "cleanup.policy": "compact",
        "segment.ms": "1",
        "min.cleanable.dirty.ratio": least_dirty,
    }
    return broker.create_topic(partitions, configs)


class KeyedBatches:
    """Batches of records with keys, each a second younger than the one before."""

    def __init__(self) -> None:
        self._time_ms = now_ms() - _HOUR_MS

    def next(
        self,
        *keys: bytes,
        value_size: int = 0,
        compression: str = "none",
        producer: IdempotentProducer | None = None,
        sequence: int = -1,
    ) -> bytes:
        """Return a batch with a record for each key; its value has its position in the batch.

        ``value_size``: the least size of each value in bytes.
        """
        self._time_ms += _SECOND_MS
        batch = RecordBatch(
            [Record((b"%s %d" % (key, at)).ljust(value_size), key) for at, key in enumerate(keys)],
            base_timestamp=self._time_ms,
            producer_id=producer.id if producer else -1,
            producer_epoch=producer.epoch if producer else -1,
            base_sequence=sequence,
        )
        return encode_batch(batch, compression)


def batches_of(
    broker: BrokerUnderTest,
    topic: Topic,
    partition: int = 0,
    version: int | None = None,
    *,
    begin: int = 0,
) -> list[RecordBatch]:
    """Return all batches that Fetch returns, from ``begin`` up to the high watermark."""
    found: list[RecordBatch] = []
    offset, end = begin, begin + 1
    while offset < end:
        answer = broker.fetch(topic, offset, version, partition=partition)
        expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
        end = answer.high_watermark
        batches = batches_in(record_bytes(answer))
        assert batches, f"nothing comes from offset {offset}, the log ends at {end}"
        found += batches
        last = _span(batches[-1])[1]
        assert last >= offset, f"offset {offset} was fetched, what came ends with {last}"
        offset = last + 1
    return found


def spans(batches: Sequence[RecordBatch]) -> list[Span]:
    """Return the first and last offset of each batch."""
    return [_span(batch) for batch in batches]


def _span(batch: RecordBatch) -> Span:
    return batch.base_offset, batch.base_offset + (batch.last_offset_delta or 0)


def offsets(batches: Sequence[RecordBatch]) -> list[int]:
    """Return the offset of each record."""
    return [b.base_offset + (record.offset_delta or 0) for b in batches for record in b.records]


def await_compacted(
    broker: BrokerUnderTest, topic: Topic, left: Mapping[int, Sequence[int]]
) -> None:
    """Wait until these offsets are left of each partition, and no others."""

    def is_compacted() -> bool:
        return all(
            offsets(batches_of(broker, topic, partition)) == list(expected)
            for partition, expected in left.items()
        )

    broker.eventually(is_compacted, f"left are the offsets {dict(left)}", COMPACTED_WITHIN_MS)
