"""Compaction of a log with transactions that Kafka has written, by Kafka and by our broker: the
result is the same after each pass, until the markers of transactions without records are gone too.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.requests import Topic, produce_request
from harness.codec.data_framing import read_offset_checkpoint, read_transaction_index
from harness.codec.data_framing.log_folder import CLEANER_OFFSETS
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    FindCoordinatorRequest,
    IncrementalAlterConfigsRequest,
    InitProducerIdRequest,
)
from harness.codec.records.any_format import read_records
from harness.codec.records.batch import DELETE_HORIZON, RecordBatch, encode_batch
from harness.codec.records.record import Record
from harness.targets.kafka.target import KafkaTarget
from harness.targets.target import Target
from tests.reference_broker.storage.exchange import ONLY_NODE, exchanged, given_whole, kept
from tests.reference_broker.storage.kafka_folder import BUSY, SETTINGS, TRANSACTIONAL
from tests.reference_broker.storage.varied_topics import QUICK, append, create
from tests.targets import kinds
from tests.targets.round_trip import eventually

pytestmark = [pytest.mark.kafka, pytest.mark.deep]
KAFKA = "4.4.0"
MIXED, OPEN, NOTHING = "mixed", "open", "nothing"
ROLLED_MS = 1_000
"""Each batch that is so much younger than the segment's first begins another segment."""
AHEAD_MS, STEP_MS = 600_000, 60_000
"""Beyond the markers' times, for which the brokers' clock counts: those begin none. All of it is
less ahead than the hour that a broker takes."""
WAITING = {"cleanup.policy": "delete", "retention.ms": "-1", "segment.ms": str(ROLLED_MS)}
COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0",
    "delete.retention.ms": "0",
}
PASSES = 4


@cache
def begin_ms() -> int:
    """The time of batch 0: counted from the first one written, not from this module's import."""
    return int(time.time() * 1000) + AHEAD_MS


def time_ms(number: int) -> int:
    """The time of the batch with this number."""
    return begin_ms() + number * STEP_MS


@dataclass
class Writer:
    """A transactional producer; each batch is younger than all before it."""

    at: Address
    name: str
    ids: tuple[int, int] = (-1, -1)
    sequences: dict[str, int] | None = None

    def begin(self, topic: str) -> None:
        with Connection(self.at, timeout_ms=60_000) as connection:
            find = FindCoordinatorRequest(key=self.name, key_type=1)
            eventually(lambda: connection.ask(find, 1).error_code == 0 or None, "a coordinator")
            asked = InitProducerIdRequest(
                transactional_id=self.name, transaction_timeout_ms=900_000
            )

            def init() -> tuple[int, int] | None:
                answer = connection.ask(asked, 0)
                assert answer.error_code == 0 or answer.error_code in BUSY, answer
                return None if answer.error_code else (answer.producer_id, answer.producer_epoch)

            self.ids = eventually(init, "a producer id")
            self.sequences = {}
            producer_id, epoch = self.ids
            wanted = AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=topic, partitions=[0])
            add = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.name,
                v3_and_below_producer_id=producer_id,
                v3_and_below_producer_epoch=epoch,
                v3_and_below_topics=[wanted],
            )

            def added() -> bool | None:
                (found,) = connection.ask(add, 0).results_by_topic_v3_and_below
                error = found.results_by_partition[0].partition_error_code
                assert error == 0 or error in BUSY, error
                return True if error == 0 else None

            eventually(added, "the partition is in the transaction")

    def write(self, topic: str, number: int, *rows: tuple[bytes, bytes | None]) -> None:
        assert self.sequences is not None
        sequence = self.sequences.get(topic, 0)
        self.sequences[topic] = sequence + len(rows)
        batch = RecordBatch(
            [Record(value, key) for key, value in rows],
            base_timestamp=time_ms(number),
            producer_id=self.ids[0],
            producer_epoch=self.ids[1],
            base_sequence=sequence,
            attributes=TRANSACTIONAL,
        )
        request = produce_request(Topic(topic), encode_batch(batch), 3)
        request.transactional_id = self.name
        with Connection(self.at, timeout_ms=60_000) as connection:
            answer = connection.ask(request, 3)
        assert answer.responses[0].partition_responses[0].error_code == 0, answer

    def end(self, *, committed: bool) -> None:
        producer_id, epoch = self.ids
        request = EndTxnRequest(
            transactional_id=self.name,
            producer_id=producer_id,
            producer_epoch=epoch,
            committed=committed,
        )
        with Connection(self.at, timeout_ms=60_000) as connection:
            eventually(
                lambda: connection.ask(request, 0).error_code == 0 or None, "the transaction ends"
            )


def plain(at: Address, topic: str, number: int, *rows: tuple[bytes, bytes | None]) -> int:
    """Append a batch without a producer id, and return its offset."""
    records = [Record(value, key) for key, value in rows]
    batch = RecordBatch(records, base_timestamp=time_ms(number))
    with Connection(at, timeout_ms=60_000) as connection:
        return append(connection, topic, encode_batch(batch))


def write_mixed(at: Address) -> None:
    """Write transactions of two producers and one batch without a producer.

    Some are committed, some aborted, one lies within another, and all keys of one are written
    again.
    """
    first, second = Writer(at, "first"), Writer(at, "second")
    plain(at, MIXED, 0, (b"a", b"plain"), (b"b", b"plain"))
    first.begin(MIXED)
    first.write(MIXED, 1, (b"a", b"committed"), (b"c", b"committed"))
    first.end(committed=True)
    second.begin(MIXED)
    second.write(MIXED, 2, (b"b", b"aborted"), (b"d", b"aborted"))
    first.begin(MIXED)
    first.write(MIXED, 3, (b"a", b"again"), (b"c", b"again"), (b"e", None))
    second.write(MIXED, 4, (b"a", b"aborted"))
    second.end(committed=False)
    first.write(MIXED, 5, (b"f", b"after the other's end"))
    first.end(committed=True)
    second.begin(MIXED)
    second.write(MIXED, 6, (b"f", b"aborted"))
    second.end(committed=False)
    first.begin(MIXED)  # its markers are there
    first.end(committed=True)
    second.begin(MIXED)
    second.end(committed=True)
    for writer in (first, second):
        writer.begin(NOTHING)  # that it may says that its last markers are there
    for number in range(7, 9):
        plain(at, MIXED, number, (b"g", b"%d" % number))


def write_open(at: Address) -> None:
    """Write an open transaction: compaction does not go beyond its beginning."""
    plain(at, OPEN, 0, (b"a", b"0"))
    plain(at, OPEN, 1, (b"a", b"1"))
    opener = Writer(at, "opener")
    opener.begin(OPEN)
    opener.write(OPEN, 2, (b"a", b"open"))
    for number in range(3, 6):
        plain(at, OPEN, number, (b"a", b"%d" % number))


def compact(at: Address) -> None:
    """Set both topics to compaction from now on."""
    entry = IncrementalAlterConfigsRequest.AlterableConfig
    resource = IncrementalAlterConfigsRequest.AlterConfigsResource
    resources = [
        resource(
            resource_type=2,
            resource_name=topic,
            configs=[
                entry(name=name, config_operation=0, value=value)
                for name, value in COMPACTED.items()
            ],
        )
        for topic in (MIXED, OPEN)
    ]
    with Connection(at, timeout_ms=60_000) as connection:
        answer = connection.ask(IncrementalAlterConfigsRequest(resources=resources), 0)
    assert [one.error_code for one in answer.responses] == [0, 0]


def await_compacted(folder: Path, topic: str, upto: int) -> None:
    """Wait until compaction up to this offset is noted."""

    def is_done() -> bool | None:
        path = folder / CLEANER_OFFSETS
        found = read_offset_checkpoint(path.read_bytes()) if path.exists() else []
        return any(one.topic == topic and one.offset == upto for one in found) or None

    eventually(is_done, f"{topic} is compacted up to {upto}")


Left = tuple[list[tuple[Any, ...]], list[tuple[int, ...]]]


def left_of(folder: Path, topic: str) -> Left:
    """Every batch with its records, and the aborted transactions, as they lie in the files."""
    batches: list[tuple[Any, ...]] = []
    aborted: list[tuple[int, ...]] = []
    for path in sorted((folder / f"{topic}-0").glob("*.log")):
        for batch in read_records(path.read_bytes(), limit_bytes=1 << 30).batches:
            rows = [(offset, key, value) for offset, _, key, value in batch.records.rows()]
            first, last = batch.base_offset, batch.base_offset + batch.last_offset_delta
            producer = (batch.producer_id, batch.producer_epoch, batch.base_sequence)
            has_horizon = bool(batch.attributes & DELETE_HORIZON)
            batches.append((first, last, producer, batch.attributes, has_horizon, rows))
    for path in sorted((folder / f"{topic}-0").glob("*.txnindex")):
        aborted += [
            (one.producer_id, one.first_offset, one.last_offset, one.last_stable_offset)
            for one in read_transaction_index(path.read_bytes())
        ]
    return batches, aborted


def passes(target: Target, folder: Path) -> list[Left]:
    """The batches that are left after each pass. One more batch begins a segment, and so a pass."""
    at = exchanged(target, given_whole(folder))
    (own,) = target.log_directories(ONLY_NODE)
    compact(at)
    await_compacted(own, OPEN, 2)
    newest = max(int(path.stem) for path in (own / f"{MIXED}-0").glob("*.log"))
    found = []
    for number in range(PASSES):
        await_compacted(own, MIXED, newest)
        found.append(left_of(own, MIXED))
        newest = plain(at, MIXED, 20 + number, (b"last", b"%d" % number))
    return [left_of(own, OPEN), *found]


def test_compaction_of_transactions_leaves_same_batches_as_kafka(tmp_path: Path) -> None:
    kinds.need_kafka(KAFKA)
    settings, folder = {**SETTINGS, **QUICK}, tmp_path / "theirs"
    with KafkaTarget(KAFKA, settings=settings, log_dir=tmp_path) as kafka:
        at = kafka.addresses[0]
        create(at, {MIXED: WAITING, OPEN: WAITING, NOTHING: WAITING})
        write_mixed(at)
        write_open(at)
        (where,) = kafka.log_directories(ONLY_NODE)
        kafka.stop_node(ONLY_NODE)
        shutil.copytree(where, folder)
        kafka.restart_node(ONLY_NODE)
        theirs = passes(kafka, folder)
    with kept(settings=QUICK, log_dir=tmp_path) as ours:
        own = passes(ours, folder)
    assert own == theirs
    aborted = [len(told) for _, told in own[1:]]
    assert aborted[0] > aborted[-1] == 0, "what nothing is left of is not told any more"
    assert len(own[1][0]) > len(own[-1][0]), "nor are their markers kept"
