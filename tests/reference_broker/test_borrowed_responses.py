"""A broker with its logs in files answers large fetches with the bytes of the files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.base.ids import Offset
from harness.client.connection import Connection
from harness.codec.borrowed_buffer import BorrowedBuffer
from harness.codec.messages import CreateTopicsRequest, FetchRequest, ProduceRequest
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.reference_broker.file_part import LEAST_BYTES
from harness.reference_broker.state.log.stored_batch import stored_batches
from harness.reference_broker.storage.open_files import OpenFiles
from harness.reference_broker.storage.stored_segment import StoredSegment
from harness.targets.reference import ReferenceBroker
from tests.reference_broker.storage.test_storage import NOW, opened, partition_in, write

TOPIC, BATCHES, VALUE_BYTES = "large", 12, 300_000
ALL_BYTES = 10 << 20


@pytest.fixture(scope="module")
def target() -> Iterator[ReferenceBroker]:
    with ReferenceBroker(on_disk=True, like="3.9.2") as started:
        topic = CreateTopicsRequest.CreatableTopic(
            name=TOPIC, num_partitions=1, replication_factor=1
        )
        with Connection(started.addresses[0]) as connection:
            made = connection.ask(CreateTopicsRequest(topics=[topic]), 4)
            assert made.topics[0].error_code == 0
            for number in range(BATCHES):
                connection.ask(_produce(number), 7)
        yield started


def _produce(number: int) -> ProduceRequest:
    records = encode_batch(RecordBatch(records=[Record(bytes([number]) * VALUE_BYTES)]))
    data = ProduceRequest.PartitionProduceData(index=0, records=records)
    topic = ProduceRequest.TopicProduceData(name=TOPIC, partition_data=[data])
    return ProduceRequest(acks=1, timeout_ms=30_000, topic_data=[topic])


def _fetch(offset: int, max_bytes: int = ALL_BYTES) -> FetchRequest:
    part = FetchRequest.FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=max_bytes
    )
    topic = FetchRequest.FetchTopic(topic=TOPIC, partitions=[part])
    return FetchRequest(
        max_wait_ms=1000, min_bytes=1, max_bytes=ALL_BYTES, session_epoch=-1, topics=[topic]
    )


def _records(answer: Any) -> bytes:
    (part,) = answer.responses[0].partitions
    assert part.error_code == 0
    return bytes(part.records)


def _log(target: ReferenceBroker) -> bytes:
    (folder,) = target.log_directories(target.nodes[0])
    (log,) = (folder / f"{TOPIC}-0").glob("*.log")
    return log.read_bytes()


@pytest.mark.parametrize("version", [4, 11, 12])
def test_large_fetch_returns_bytes_of_log_file(target: ReferenceBroker, version: int) -> None:
    stored = _log(target)
    batch_bytes = len(stored) // BATCHES
    with Connection(target.addresses[0]) as connection:
        for offset in (0, 1, BATCHES - 1):
            left = stored[batch_bytes * offset :]
            assert _records(connection.ask(_fetch(offset), version)) == left
            cut = batch_bytes + 1_000
            assert _records(connection.ask(_fetch(offset, cut), version)) == left[:cut]


def test_pipelined_large_fetches_of_slow_reader_are_complete(target: ReferenceBroker) -> None:
    with Connection(target.addresses[0]) as connection:
        for _ in range(8):
            connection.send(_fetch(0), 12)
        stored = _log(target)
        for _ in range(8):
            assert _records(connection.receive()) == stored


def test_fetch_version_3_returns_converted_messages(target: ReferenceBroker) -> None:
    with Connection(target.addresses[0]) as connection:
        found = _records(connection.ask(_fetch(0), 3))
    assert found[16] == 1
    assert bytes([3]) * VALUE_BYTES in found


def test_small_or_empty_reads_are_not_borrowed(tmp_path: Path) -> None:
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        write(partition, 2, bytes(2 * LEAST_BYTES))
        log = partition.log
        first = len(log.read(Offset(0), 1, at_least_one=True))
        for limit, at_least_one, is_lent in [
            (LEAST_BYTES - 1, False, False),
            (first - 1, False, False),
            (first - 1, True, True),
            (2 * first, False, True),
        ]:
            found = log.borrow(Offset(0), limit, at_least_one)
            assert isinstance(found, BorrowedBuffer) is is_lent
            assert bytes(found) == log.read(Offset(0), limit, at_least_one)


def test_borrowed_buffer_survives_close_of_its_descriptor(tmp_path: Path) -> None:
    """An answer may have parts of more files than are kept open."""
    files = OpenFiles(most=1)
    segment = StoredSegment(files, tmp_path, Offset(0), 1 << 16)
    data = encode_batch(RecordBatch(records=[Record(bytes(LEAST_BYTES))]))
    (batch,) = stored_batches(data)
    segment.append(batch, 4096, NOW)
    borrowed = segment.borrow(0, len(data))
    for number in range(3):
        other = files.descriptor(tmp_path / f"other-{number}")
        os.pwrite(other, b"x" * len(data), 0)
    assert bytes(borrowed) == data
    files.close_under(Path("/"))
