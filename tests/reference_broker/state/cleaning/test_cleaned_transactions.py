"""Compaction of a log with transactions; storage/test_compaction_of_transactions.py asks Kafka."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.base.ids import Offset, TimeMs
from harness.codec.data_framing.control_records import (
    ABORT,
    COMMIT,
    control_record_key,
    control_record_value,
)
from harness.codec.messages import EndTxnMarker
from harness.codec.records import (
    CONTROL,
    TRANSACTIONAL,
    BatchHeader,
    Record,
    RecordBatch,
    encode_batch,
)
from harness.reference_broker.state.cleaning.log_cleanable import cleanable
from harness.reference_broker.state.cleaning.log_compaction import compact
from harness.reference_broker.state.partition.partition import Partition
from tests.reference_broker.storage.test_storage import NOW, opened, partition_in

CONFIGS = {
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0",
    "delete.retention.ms": "1000",
}
MANY_BYTES = 1 << 20


def batch(offset: int, producer: int, *keys: bytes, sequence: int = 0) -> bytes:
    records = [Record(b"v%d" % offset, key) for key in keys]
    return encode_batch(_of(offset, records, TRANSACTIONAL, producer, sequence), "none")


def marker(offset: int, producer: int, kind: int) -> bytes:
    value = control_record_value(EndTxnMarker(coordinator_epoch=3))
    record = Record(value, control_record_key(kind))
    return encode_batch(_of(offset, [record], TRANSACTIONAL | CONTROL, producer, -1), "none")


def plain(offset: int, key: bytes) -> bytes:
    return encode_batch(_of(offset, [Record(b"v%d" % offset, key)], 0, -1, -1), "none")


def _of(
    offset: int, records: Sequence[Record], attributes: int, producer: int, sequence: int
) -> RecordBatch:
    return RecordBatch(
        records=records,
        base_offset=offset,
        base_timestamp=NOW,
        attributes=attributes,
        partition_leader_epoch=0,
        producer_id=producer,
        producer_epoch=0 if producer >= 0 else -1,
        base_sequence=sequence,
    )


def segments(folder: Path, *of: tuple[int, list[bytes]]) -> None:
    """Write a log with these segments and an unclean end: a start makes the other files anew."""
    with opened(folder) as logs:
        partition_in(logs, configs=CONFIGS)
    for base, batches in of:
        (folder / "t-0" / f"{base:020d}.log").write_bytes(b"".join(batches))


def left(partition: Partition) -> list[tuple[int, int]]:
    """The base offset and the number of records of each batch."""
    log = partition.log
    batches = log.between(log.start_offset, log.end_offset)
    return [(one.base_offset, BatchHeader.read(one.data).record_count) for one in batches]


def aborted(partition: Partition) -> list[tuple[int, int]]:
    found = partition.log.aborted_in(Offset(0), MANY_BYTES)
    return [(one.producer_id, one.first_offset) for one in found]


def one_pass(partition: Partition, now: int) -> None:
    """Compact all of the log, as if nothing of it was compacted yet."""
    partition.first_dirty = Offset(0)
    part = cleanable(partition, TimeMs(now))
    assert part is not None
    for _ in compact(part, TimeMs(now)):
        pass


def test_compaction_removes_aborted_records_then_marker(tmp_path: Path) -> None:
    segments(
        tmp_path,
        (0, [plain(0, b"a"), batch(1, 9, b"a", b"b"), marker(3, 9, ABORT)]),
        (4, [batch(4, 9, b"c", sequence=2), marker(5, 9, COMMIT)]),
        (6, [plain(6, b"z")]),
    )
    with opened(tmp_path) as logs:
        partition = partition_in(logs, configs=CONFIGS)
        assert aborted(partition) == [(9, 1)]
        one_pass(partition, NOW)
        everything = [(0, 1), (3, 1), (4, 1), (5, 1), (6, 1)]
        assert left(partition) == everything, "what was aborted replaces nothing"
        assert aborted(partition) == [(9, 1)], "who has read it before has to be told"
        one_pass(partition, NOW + 10)
        assert (left(partition), aborted(partition)) == (everything, [])
        one_pass(partition, NOW + 1009)
        assert left(partition) == everything, "the marker stays for delete.retention.ms"
        one_pass(partition, NOW + 1010)
        assert left(partition) == [(0, 1), (4, 1), (5, 1), (6, 1)]
        assert not list((tmp_path / "t-0").glob("*.cleaned"))


def test_compaction_keeps_last_batch_and_marker_of_each_producer(tmp_path: Path) -> None:
    segments(
        tmp_path,
        (0, [batch(0, 9, b"a"), marker(1, 9, ABORT)]),
        (2, [marker(2, 7, COMMIT)]),
        (3, [plain(3, b"z")]),
    )
    with opened(tmp_path) as logs:
        partition = partition_in(logs, configs=CONFIGS)
        for now in (NOW, NOW + 10, NOW + 2000, NOW + 4000):
            one_pass(partition, now)
        assert left(partition) == [(0, 0), (1, 1), (2, 0), (3, 1)]
        assert aborted(partition) == [(9, 0)]


def test_compaction_stops_at_first_segment_with_open_transaction(tmp_path: Path) -> None:
    segments(
        tmp_path,
        (0, [plain(0, b"a")]),
        (1, [plain(1, b"a")]),
        (2, [plain(2, b"a"), batch(3, 9, b"a")]),
        (4, [plain(4, b"a")]),
        (5, [plain(5, b"a")]),
    )
    with opened(tmp_path) as logs:
        partition = partition_in(logs, configs=CONFIGS)
        one_pass(partition, NOW)
        assert left(partition) == [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]
        assert partition.first_dirty == 2
