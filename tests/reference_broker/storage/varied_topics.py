"""Topics that together have all features of a log of batches, at our broker and a real Kafka."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from harness.base.address import Address
from harness.client.connection import Connection
from harness.client.requests import Topic, produce_request
from harness.codec.data_framing import read_offset_checkpoint
from harness.codec.data_framing.log_folder import CLEANER_OFFSETS, LOG_STARTS
from harness.codec.error_code import ErrorCode
from harness.codec.messages import (
    CreateTopicsRequest,
    DeleteRecordsRequest,
    FindCoordinatorRequest,
    InitProducerIdRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from harness.codec.records.any_format import read_records
from harness.codec.records.batch import RecordBatch, encode_batch
from harness.codec.records.record import Record
from labs.awaiting import await_right
from tests.reference_broker.storage.exchange import serves
from tests.reference_broker.storage.kafka_folder import BUSY, SETTINGS, batches_of
from tests.targets.round_trip import NOT_YET, eventually

CODECS, COMPACTED, SHORTENED, IDEMPOTENT = "codecs", "compacted", "shortened", "idempotent"
TOPICS = (CODECS, COMPACTED, SHORTENED, IDEMPOTENT)
QUICK = {
    **{name: value for name, value in SETTINGS.items() if name.startswith("log.")},
    "log.cleaner.backoff.ms": "100",
    "log.flush.start.offset.checkpoint.interval.ms": "200",
    "replica.high.watermark.checkpoint.interval.ms": "200",
    "log.initial.task.delay.ms": "200",
    "broker.heartbeat.interval.ms": "300",
    "broker.session.timeout.ms": "2000",
    "metadata.log.max.record.bytes.between.snapshots": "600",
}
_COMPACTED = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.001",
    "delete.retention.ms": "86400000",
}
SHORTENED_TO = 275
_GROUP, _READ_TO = "readers", 123
_Committed = OffsetCommitRequest.OffsetCommitRequestPartition
_KEYS, _ROUNDS, _BIG = 5, 12, b"v" * 60_000
_WAIT_MS, _PRODUCE, _ZSTD = 30_000, 3, 7


def write_topics(address: Address) -> None:
    """Write all of the topics, with one partition each."""
    create(address, {CODECS: {}, COMPACTED: _COMPACTED, SHORTENED: {}, IDEMPOTENT: {}})
    with Connection(address, timeout_ms=60_000) as connection:
        for records, version in batches_of("2.8.2"):
            append(connection, CODECS, records, version)
            append(connection, SHORTENED, records, version)
        for records in _with_keys():
            append(connection, COMPACTED, records)
        for records in _of_producers(connection):
            append(connection, IDEMPOTENT, records)
        _shorten(connection, SHORTENED_TO)
    commit(address)


def create(address: Address, topics: Mapping[str, Mapping[str, str]], version: int = 2) -> None:
    """Create topics of one partition with these configs."""
    topic, config = CreateTopicsRequest.CreatableTopic, CreateTopicsRequest.CreatableTopicConfig
    wanted = [
        topic(
            name=name,
            num_partitions=1,
            replication_factor=1,
            configs=[config(name=key, value=value) for key, value in configs.items()],
        )
        for name, configs in topics.items()
    ]
    with Connection(address, timeout_ms=_WAIT_MS) as connection:
        request = CreateTopicsRequest(topics=wanted, timeout_ms=_WAIT_MS)
        answer = connection.ask(request, version)
    assert [one.error_code for one in answer.topics] == [0] * len(topics), answer


def append(connection: Connection, topic: str, records: bytes, version: int = _PRODUCE) -> int:
    """Append one batch, as soon as the partition is served, and return its offset."""

    def try_it() -> int | None:
        answer = connection.ask(produce_request(Topic(topic), records, version), version)
        found = answer.responses[0].partition_responses[0]
        error = found.error_code
        assert error in NOT_YET or error == ErrorCode.NONE, ErrorCode(error)
        return found.base_offset if error == ErrorCode.NONE else None

    return eventually(try_it, f"a batch is written to {topic}")


def _with_keys() -> Iterator[bytes]:
    """Some megabytes of few keys, with a tombstone for one at the end; then uncompacted batches."""
    now_ms = int(time.time() * 1000)
    for number in range(_ROUNDS):
        keys = [b"key-%d" % key for key in range(_KEYS)]
        values = [b"%d" % number + _BIG for _ in keys]
        gone = number == _ROUNDS // 2
        records = [Record(v, k) for k, v in zip(keys, values, strict=True)]
        if gone:
            records[0] = Record(None, keys[0])
        codec = ("none", "gzip")[number % 2] if number < _ROUNDS // 2 else "none"
        yield encode_batch(RecordBatch(records, base_timestamp=now_ms), codec)


def _of_producers(connection: Connection) -> Iterator[bytes]:
    now_ms = int(time.time() * 1000)
    for _ in range(2):
        asked = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)

        def new_id(asked: InitProducerIdRequest = asked) -> int | None:
            answer = connection.ask(asked, 0)
            return None if answer.error_code in BUSY else answer.producer_id

        producer_id = eventually(new_id, "a producer id")
        for number in range(7):
            yield _batch_of(producer_id, 2 * number, now_ms)


def _batch_of(producer_id: int, sequence: int, now_ms: int) -> bytes:
    return encode_batch(
        RecordBatch(
            [Record(b"one"), Record(b"two", b"key")],
            base_timestamp=now_ms,
            producer_id=producer_id,
            producer_epoch=0,
            base_sequence=sequence,
        )
    )


def go_on(address: Address) -> tuple[int, int]:
    """Repeat the last batch of each idempotent producer, and append one more of the first.

    The first has written nothing since the second began. Returns the end of the log and the number
    of producers.
    """
    data = serves(address, IDEMPOTENT).data
    batches = read_records(data, limit_bytes=1 << 30).batches
    last = {batch.producer_id: batch for batch in batches}
    now_ms = int(time.time() * 1000)
    with Connection(address, timeout_ms=_WAIT_MS) as connection:
        first, second = (last[number] for number in sorted(last))
        repeated = [
            append(connection, IDEMPOTENT, _batch_of(one.producer_id, one.base_sequence, now_ms))
            for one in (first, second)
        ]
        assert repeated == [first.base_offset, second.base_offset]
        append(connection, IDEMPOTENT, _batch_of(first.producer_id, 14, now_ms))
    return serves(address, IDEMPOTENT).end, len(last)


def commit(address: Address) -> None:
    """Commit an offset of a group, which is stored in a topic too."""
    topic, partition = OffsetCommitRequest.OffsetCommitRequestTopic, _Committed
    wanted = partition(partition_index=0, committed_offset=_READ_TO, committed_metadata="m")
    request = OffsetCommitRequest(
        group_id=_GROUP,
        generation_id_or_member_epoch=-1,
        retention_time_ms=-1,
        topics=[topic(name=CODECS, partitions=[wanted])],
    )

    def try_it() -> bool | None:
        with Connection(address, timeout_ms=_WAIT_MS) as connection:
            connection.ask(FindCoordinatorRequest(key=_GROUP), 0)
            answer = connection.ask(request, 2)
        error = answer.topics[0].partitions[0].error_code
        assert error in BUSY or error == ErrorCode.NONE, ErrorCode(error)
        return True if error == ErrorCode.NONE else None

    eventually(try_it, "an offset is committed")


def is_committed(address: Address) -> bool:
    """True if the broker returns the committed offset, as soon as it has loaded the groups."""
    topic = OffsetFetchRequest.OffsetFetchRequestTopic(name=CODECS, partition_indexes=[0])
    request = OffsetFetchRequest(group_id=_GROUP, topics=[topic])

    def try_it() -> tuple[int, str | None] | None:
        with Connection(address, timeout_ms=_WAIT_MS) as connection:
            found = connection.ask(request, 1).topics[0].partitions[0]
        if found.error_code in BUSY:
            return None
        assert found.error_code == ErrorCode.NONE, ErrorCode(found.error_code)
        return found.committed_offset, found.metadata

    return eventually(try_it, "what is committed is told") == (_READ_TO, "m")


def _shorten(connection: Connection, below: int) -> None:
    """Delete records up to the inside of a batch behind the first segment."""
    topic = DeleteRecordsRequest.DeleteRecordsTopic
    partition = DeleteRecordsRequest.DeleteRecordsPartition
    wanted = topic(name=SHORTENED, partitions=[partition(partition_index=0, offset=below)])
    answer = connection.ask(DeleteRecordsRequest(topics=[wanted], timeout_ms=_WAIT_MS), 1)
    (found,) = answer.topics[0].partitions
    assert (found.error_code, found.low_watermark) == (0, below)


def await_compaction(folder: Path) -> None:
    """Wait until all but the last segment is compacted, and that is noted in a node's folder."""

    def is_done() -> bool:
        segments = (folder / f"{COMPACTED}-0").glob("*.log")
        return _noted(folder, CLEANER_OFFSETS, COMPACTED) == max(int(one.stem) for one in segments)

    await_right(is_done, bool, "all is compacted that may be")


def await_log_start(folder: Path) -> None:
    """Wait until a moved start is noted; the next process does not know it otherwise."""
    what = "the log start is noted"
    await_right(lambda: _noted(folder, LOG_STARTS, SHORTENED) == SHORTENED_TO, bool, what)


def _noted(folder: Path, name: str, topic: str) -> int | None:
    path = folder / name
    data = path.read_bytes() if path.exists() else b""
    found = read_offset_checkpoint(data) if data else []
    return next((one.offset for one in found if one.topic == topic), None)


def produce(address: Address, topic: str, value: bytes) -> None:
    """Append one more record."""
    now_ms = int(time.time() * 1000)
    with Connection(address, timeout_ms=_WAIT_MS) as connection:
        append(connection, topic, encode_batch(RecordBatch([Record(value)], base_timestamp=now_ms)))


def files_of(folder: Path) -> list[Path]:
    """The files of a partition's segments."""
    kinds = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
    return sorted(path for path in folder.iterdir() if path.suffix in kinds)
