"""Recovery skips over batches of producers, and has the state afterwards that all of them give."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from harness.base.ids import Offset
from harness.codec.data_framing.control_records import (
    ABORT,
    COMMIT,
    control_record_key,
    control_record_value,
)
from harness.codec.data_framing.log_folder import TXN_INDEX
from harness.codec.messages import EndTxnMarker
from harness.codec.records import (
    CONTROL,
    TRANSACTIONAL,
    BatchHeader,
    Record,
    RecordBatch,
    encode_batch,
)
from harness.reference_broker.state.log.stored_batch import remember_producer
from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction
from harness.reference_broker.state.producers.producer_states import ProducerBatch
from harness.reference_broker.storage.aborted_files import read_aborted
from harness.reference_broker.storage.open_files import OpenFiles
from harness.reference_broker.storage.recovered_producers import RecoveredProducers
from harness.reference_broker.storage.stored_segment import StoredSegment
from tests.reference_broker.storage.test_storage import opened_producers

RUN, INDEX_BYTES = 9, 1 << 16


def drawn(seed: int) -> list[bytes]:
    """Draw runs of a few producers, with transactions and their ends between them."""
    draws, batches, begun = random.Random(seed), list[bytes](), set[int]()
    while len(batches) < 60:
        producer_id, epoch = draws.randrange(3), draws.randrange(2)
        attributes = draws.choice([0, 0, 0, TRANSACTIONAL, TRANSACTIONAL | CONTROL])
        if attributes & CONTROL:
            begun.discard(producer_id)
        elif attributes or producer_id in begun:  # an open transaction goes on
            begun.add(producer_id)
            attributes = TRANSACTIONAL
        for _ in range(1 if attributes & CONTROL else draws.randrange(1, RUN)):
            batches.append(batch(len(batches), attributes, producer_id, epoch, draws))
    return batches


def batch(
    offset: int, attributes: int, producer_id: int, epoch: int, draws: random.Random
) -> bytes:
    record = Record(bytes(draws.randrange(20)), None)
    if attributes & CONTROL:
        value = control_record_value(EndTxnMarker(coordinator_epoch=3))
        record = Record(value, control_record_key(draws.choice([ABORT, COMMIT])))
    made = RecordBatch(
        records=[record],
        base_offset=offset,
        base_timestamp=1_000 + offset,
        attributes=attributes,
        producer_id=producer_id,
        producer_epoch=epoch,
        base_sequence=-1 if attributes & CONTROL else offset,
    )
    return encode_batch(made, "none")


@pytest.mark.parametrize("seed", range(20))
def test_recovery_gives_same_producer_state_as_each_batch_in_turn(
    tmp_path: Path, seed: int
) -> None:
    batches = drawn(seed)
    one_by_one, aborted = opened_producers(), list[AbortedTransaction]()
    for data in batches:
        found = remember_producer(one_by_one, data)
        aborted += [] if found is None else [found]
    files, producers = OpenFiles(), opened_producers()
    segment = StoredSegment(files, tmp_path, Offset(0), INDEX_BYTES)
    told, at, window = RecoveredProducers(segment, producers), 0, b"".join(batches)
    for data in batches:
        told.note(window, at, len(data))
        at += len(data)
    told.finish()
    files.close_under(Path("/"))
    assert producers.kept() == one_by_one.kept()
    for data in batches:
        sent = ProducerBatch.of(BatchHeader.read(data))
        assert producers.duplicate_of(sent) == one_by_one.duplicate_of(sent)
    assert producers.first_unstable(Offset(0)) == one_by_one.first_unstable(Offset(0))
    assert read_aborted(segment.path(TXN_INDEX)) == aborted
