"""Logs to measure, written by the broker's own storage into a folder of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import google_crc32c

from harness.base.ids import LeaderEpoch, Offset, PartitionIndex, TimeMs
from harness.codec.records import RecordBatch, encode_rows
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.log_store import LogName, OpenedLog
from harness.reference_broker.state.log.stored_batch import StoredBatch
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_states import (
    ProducerStates,
    RememberedProducers,
)
from harness.reference_broker.storage.log_directory import LogDirectory

TOPIC, TOPIC_ID = "bench", UUID(int=5)
NOW = TimeMs(1_000)
RECORD_BYTES, RECORDS_IN_BATCH = 1024, 15
"""As many as a producer puts into a batch.size of 16384, its default."""
STEP_MS = 5
"""Between two batches."""
ONE_SEGMENT = {"segment.bytes": str(2**31 - 1), "segment.index.bytes": str(32 << 20)}
"""Whatever is written stays in one file."""
_TIMES, _SEQUENCE = struct.Struct(">qq"), struct.Struct(">i")
_CRC_AT, _CRC_FROM, _TIMES_AT, _SEQUENCE_AT = 17, 21, 27, 53


def name_of(index: int = 0) -> LogName:
    """Of one partition."""
    return LogName(TOPIC, TOPIC_ID, PartitionIndex(index))


@contextmanager
def opened(folder: Path, *, clean: bool = False) -> Iterator[LogDirectory]:
    """The folder; left as by a process that was killed, or in good order."""
    logs = LogDirectory(folder)
    try:
        yield logs
    finally:
        logs.close(broker_epoch=7 if clean else None)


def open_log(logs: LogDirectory, index: int = 0) -> OpenedLog:
    """As a partition opens it."""
    producers = ProducerStates(ProducerExpiration(60_000, 1_000), RememberedProducers())
    return logs.open(name_of(index), TopicConfig.of(ONE_SEGMENT, {}), producers, NOW)


def fill(log: OpenedLog, size_bytes: int, producer_id: int = -1) -> None:
    """At least so many bytes, in batches each of which is younger than the one before.

    ``producer_id``: -1 writes as a producer does that is not idempotent.
    """
    config = TopicConfig.of(ONE_SEGMENT, {})
    model, number = bytearray(_model(producer_id)), 0
    while log.log.size_bytes < size_bytes:
        base, time = Offset(number * RECORDS_IN_BATCH), number * STEP_MS
        struct.pack_into(">q", model, 0, base)
        _TIMES.pack_into(model, _TIMES_AT, time, time)
        if producer_id >= 0:
            _SEQUENCE.pack_into(model, _SEQUENCE_AT, base)
        struct.pack_into(">I", model, _CRC_AT, google_crc32c.value(bytes(model[_CRC_FROM:])))
        last = Offset(base + RECORDS_IN_BATCH - 1)
        log.log.append(StoredBatch(base, last, LeaderEpoch(0), time, bytes(model)), config, NOW)
        number += 1


def _model(producer_id: int) -> bytes:
    rows: list[tuple[int, bytes | None, bytes | None]] = [(0, None, bytes(RECORD_BYTES))]
    given = RecordBatch(
        partition_leader_epoch=0,
        producer_id=producer_id,
        producer_epoch=0 if producer_id >= 0 else -1,
        base_sequence=0 if producer_id >= 0 else -1,
    )
    return encode_rows(rows * RECORDS_IN_BATCH, given)
