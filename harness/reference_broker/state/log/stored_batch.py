"""A batch as it lies in a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.base.ids import LeaderEpoch, Offset, ProducerEpoch, ProducerId
from harness.codec.data_framing.control_records import ABORT, read_control_record
from harness.codec.errors import CodecError
from harness.codec.messages import EndTxnMarker
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
)
from harness.codec.records.any_format import read_records
from harness.codec.records.compression import decompress
from harness.codec.records.walk import BadRecord
from harness.reference_broker.state.log.batch_bytes import CorruptBatch, magic_of, stored_size
from harness.reference_broker.state.log.records_in_turn import records_in_turn
from harness.reference_broker.state.producers.partition_transactions import (
    AbortedTransaction,
    Marker,
)
from harness.reference_broker.state.producers.producer_states import (
    AppendedBatch,
    KnownBatches,
    ProducerBatch,
    ProducerStates,
)

_ALREADY_CHECKED_BYTES = 2**31 - 1
MAGIC_OF_BATCHES = 2
NO_EPOCH = LeaderEpoch(-1)
"""The leader epoch of messages, the formats before batches."""


class UntoldProducer(ValueError):
    """A batch that does not show what its producer did: Kafka does not start with it."""


class StoredBatch(NamedTuple):
    """One record batch exactly as readers get it, with the facts that lookups need."""

    base_offset: Offset
    last_offset: Offset
    leader_epoch: LeaderEpoch
    max_timestamp: int
    data: bytes


def stored_batches(records: bytes) -> Iterator[StoredBatch]:
    """Yield the whole batches of a piece of a log."""
    at = 0
    while (size := stored_size(records, at)) is not None:
        data = records[at : at + size]
        at += size
        if magic_of(data) < 2:
            yield _stored_message(data)
            continue
        header = BatchHeader.read(data)
        yield StoredBatch(
            Offset(header.base_offset),
            Offset(header.last_offset),
            LeaderEpoch(header.partition_leader_epoch),
            header.max_timestamp,
            data,
        )


def _stored_message(data: bytes) -> StoredBatch:
    """Return a message of format 0 or 1, which may contain others and has no leader epoch."""
    rows = [
        row
        for one in read_records(data, limit_bytes=_ALREADY_CHECKED_BYTES).batches
        for row in one.records.rows()
    ]
    if not rows:
        raise CorruptBatch("a message of format 0 or 1 with nothing in it")
    times = [time for _, time, _, _ in rows]
    first, last = Offset(rows[0][0]), Offset(rows[-1][0])
    return StoredBatch(first, last, NO_EPOCH, max(times), data)


def remember_producers(producers: ProducerStates, batches: Iterable[StoredBatch]) -> None:
    """Replace the state of all producers: these batches are the whole log."""
    producers.forget_all()
    replay(producers, (batch.data for batch in batches))


def replay(producers: ProducerStates, batches: Iterable[bytes]) -> None:
    """Add these batches to the known state of their producers, in one update.

    A producer that has changed its epoch in between and is back in the former one keeps its former
    batches. Raises UntoldProducer.

    Source: UnifiedLog (loadProducersFromRecords), class ProducerStateEntry (update).
    """
    before: dict[ProducerId, KnownBatches] = {}
    changed: set[ProducerId] = set()
    for batch in batches:
        header = _header_with_producer(batch)
        if header is None:
            continue
        who = ProducerId(header.producer_id)
        if who not in before:
            before[who] = producers.batches_of(who)
        if header.producer_epoch != before[who][0]:
            changed.add(who)
        _recall(producers, batch, header)
    for who in changed:
        producers.put_before(who, before[who])


def remember_producer(producers: ProducerStates, batch: bytes) -> AbortedTransaction | None:
    """Remember the producer of an appended batch; return the transaction that it aborts, if any."""
    header = _header_with_producer(batch)
    try:
        return None if header is None else _remember(producers, batch, header)
    except UntoldProducer:
        return None


def recall_producer(producers: ProducerStates, batch: bytes) -> AbortedTransaction | None:
    """Remember the producer of a batch that is read, with any content; return what it aborts.

    Source: class ProducerAppendInfo (append). Raises UntoldProducer.
    """
    header = _header_with_producer(batch)
    return None if header is None else _recall(producers, batch, header)


def _recall(
    producers: ProducerStates, batch: bytes, header: BatchHeader
) -> AbortedTransaction | None:
    in_transaction = producers.is_in_transaction(ProducerId(header.producer_id))
    if in_transaction and not header.attributes & (CONTROL | TRANSACTIONAL):
        raise UntoldProducer(f"batch {header.base_offset}: a transaction of its producer is open")
    return _remember(producers, batch, header)


def _header_with_producer(batch: bytes) -> BatchHeader | None:
    """Return the header of a batch; None if it has no producer."""
    if magic_of(batch) < MAGIC_OF_BATCHES:
        return None
    header = BatchHeader.read(batch)
    return None if header.producer_id < 0 else header


def _remember(
    producers: ProducerStates, batch: bytes, header: BatchHeader
) -> AbortedTransaction | None:
    if header.attributes & CONTROL:
        marker = _marker(batch, header)
        return None if marker is None else producers.end_transaction(marker)
    in_transaction = bool(header.attributes & TRANSACTIONAL)
    stored = AppendedBatch.of(header)
    producers.remember(ProducerBatch.of(header), stored, in_transaction=in_transaction)
    return None


def payload_of(batch: bytes, header: BatchHeader) -> bytes:
    """Return the records of a stored batch, without a checksum check. Raises CompressionError."""
    payload = batch[BATCH_HEADER_BYTES:]
    if not header.codec_id:
        return payload
    return decompress(header.codec_id, payload, _ALREADY_CHECKED_BYTES)


def marker_of(batch: bytes, header: BatchHeader) -> Marker | None:
    """Return the marker of a control batch; None if it ends no transaction or is unreadable."""
    try:
        return _marker(batch, header)
    except UntoldProducer:
        return None


def _marker(batch: bytes, header: BatchHeader) -> Marker | None:
    """Return the marker in the first record; None without records. Raises UntoldProducer."""
    try:
        record = next(records_in_turn(payload_of(batch, header), header.record_count), None)
        if record is None:
            return None
        if record.key is None:
            raise UntoldProducer(f"batch {header.base_offset}: a marker without a key")
        read = read_control_record(record.key, record.value)
    except (BadRecord, CodecError) as problem:
        raise UntoldProducer(f"batch {header.base_offset}: {problem}") from problem
    if not isinstance(read.message, EndTxnMarker):
        raise UntoldProducer(f"batch {header.base_offset}: a marker of type {read.name}")
    is_append_time = header.attributes & LOG_APPEND_TIME
    return Marker(
        ProducerId(header.producer_id),
        ProducerEpoch(header.producer_epoch),
        read.message.coordinator_epoch,
        header.max_timestamp if is_append_time else header.base_timestamp + record.timestamp_delta,
        Offset(header.base_offset),  # as class ProducerAppendInfo has it
        read.type == ABORT,
    )
