"""A data folder that a real Kafka of any release has written, in every format that it has."""

import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.requests import Topic, produce_request
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
)
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.message_set import LegacyMessage, encode_message_set
from harness.codec.records.record import Header, Record
from harness.targets.kafka.release import release_key
from harness.targets.kafka.target import KafkaTarget
from tests.targets.round_trip import NOT_YET, Talk, eventually

TOPIC = "written"
SETTINGS = {
    "log.segment.bytes": str(1 << 20),  # the least that 4.x takes
    "log.index.interval.bytes": "2000",
    "log.index.size.max.bytes": "4096",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
}
BATCHES, RECORDS, VALUE_BYTES = 60, 10, 4_000
TRANSACTIONAL = 0x10
BUSY = {
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}
_DICE = random.Random(7)


def written_folder(release: str, folder: Path, *, mode: str | None = None) -> tuple[Path, Path]:
    """Copies of Kafka's log directory: while Kafka still had it, and after its end."""
    running, ended = folder / "running", folder / "ended"
    with KafkaTarget(release, mode=mode, settings=SETTINGS, log_dir=folder) as target:
        write(target)
        (where,) = target.log_directories(1)
        shutil.copytree(where, running, copy_function=copied_file)
        target.stop_node(1)
        shutil.copytree(where, ended)
    return running, ended


def copied_file(source: str, to: str) -> None:
    """Copy a file; it may vanish during the copy of a folder."""
    if os.path.exists(source):  # noqa: PTH110  # shutil's own kind of path
        shutil.copy2(source, to)


def write(target: KafkaTarget) -> None:
    """Write some megabytes into the first partition of the topic, with transactions at the end."""
    talk, address = Talk(target), target.addresses[0]
    leader = eventually(lambda: talk.leader_of(TOPIC, address), "the topic has a leader")
    with Connection(leader, timeout_ms=60_000) as connection:
        for records, version in batches_of(target.release):
            eventually(lambda: _append(connection, records, version), "a batch is written")  # noqa: B023
    if release_key(target.release) >= release_key("0.11"):
        for committed in (True, False, True):
            transaction(leader, committed=committed)


def _append(connection: Connection, records: bytes, version: int) -> bool | None:
    answer = connection.ask(produce_request(Topic(TOPIC), records, version), version)
    error = answer.responses[0].partition_responses[0].error_code
    assert error in NOT_YET or error == 0, error
    return True if error == 0 else None


def batches_of(release: str) -> Iterator[tuple[bytes, int]]:
    """(bytes, version of Produce): plain and in every codec that the release has, in turn."""
    key, begin_ms = release_key(release), _now_ms() - 3_600_000
    if key >= release_key("0.11"):
        codecs = ["none", "gzip", "snappy", "lz4"]
        codecs += ["zstd"] if key >= release_key("2.1") else []
        for number in range(BATCHES):
            yield (
                _batch(begin_ms + 1_000 * number, codecs[number % len(codecs)]),
                7 if len(codecs) > 4 else 3,
            )
        return
    magic = 1 if key >= release_key("0.10") else 0
    for number in range(BATCHES):
        messages = [
            LegacyMessage(
                _DICE.randbytes(VALUE_BYTES), b"k%d" % place, begin_ms + number, place, magic
            )
            for place in range(RECORDS)
        ]
        codec = ("none", "gzip")[number % 2]
        yield encode_message_set(messages, codec), 2 if magic else 0


def _batch(time_ms: int, codec: str) -> bytes:
    records = [
        Record(
            _DICE.randbytes(VALUE_BYTES),
            None if place == 0 else b"k%d" % place,
            [Header("h", b"v"), Header("n", None)] if place == 1 else (),
            timestamp_delta=place,
        )
        for place in range(RECORDS)
    ]
    return encode_batch(RecordBatch(records, base_timestamp=time_ms), codec)


def _now_ms() -> int:
    return int(time.time() * 1000)


def transaction(leader: Address, *, committed: bool) -> None:
    """Write two batches in one transaction of a transactional producer, in one connection."""
    name = "mover"
    with Connection(leader, timeout_ms=60_000) as connection:
        find = FindCoordinatorRequest(key=name, key_type=1)
        eventually(
            lambda: connection.ask(find, 1).error_code == 0 or None, "there is a coordinator"
        )
        producer_id, epoch = eventually(lambda: _init(connection, name), "a producer id")
        add = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=producer_id,
            v3_and_below_producer_epoch=epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnRequest.AddPartitionsToTxnTopic(name=TOPIC, partitions=[0])
            ],
        )
        eventually(lambda: _added(connection, add), "the partition is in the transaction")
        for number in range(2):
            batch = RecordBatch(
                [Record(b"in a transaction", b"key"), Record(b"too")],
                base_timestamp=_now_ms(),
                producer_id=producer_id,
                producer_epoch=epoch,
                base_sequence=2 * number,
                attributes=TRANSACTIONAL,
            )
            request = produce_request(Topic(TOPIC), encode_batch(batch), 3)
            request.transactional_id = name
            answer = connection.ask(request, 3)
            assert answer.responses[0].partition_responses[0].error_code == 0
        end = EndTxnRequest(
            transactional_id=name,
            producer_id=producer_id,
            producer_epoch=epoch,
            committed=committed,
        )
        eventually(lambda: _fine(connection.ask(end, 0).error_code), "the transaction ends")
        # The answer comes before the markers: a broker that is killed now writes them at its start.
        eventually(lambda: _init(connection, name), "the markers are written")


def _init(connection: Connection, name: str) -> tuple[int, int] | None:
    asked = InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=30_000)
    answer = connection.ask(asked, 0)
    return (answer.producer_id, answer.producer_epoch) if _fine(answer.error_code) else None


def _added(connection: Connection, request: AddPartitionsToTxnRequest) -> bool | None:
    answer = connection.ask(request, 0)
    (topic,) = answer.results_by_topic_v3_and_below
    return _fine(topic.results_by_partition[0].partition_error_code)


def _fine(error_code: int) -> bool | None:
    assert error_code == 0 or error_code in BUSY, error_code
    return True if error_code == 0 else None
