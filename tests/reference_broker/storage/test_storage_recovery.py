"""Damaged logs are recovered as by Kafka 4.4.0; docs/recovery.md has the cases."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.base.ids import Offset, ProducerId
from harness.codec.data_framing import (
    EpochStart,
    leader_epoch_checkpoint_bytes,
    transaction_index_bytes,
)
from harness.codec.data_framing.control_records import (
    ABORT,
    control_record_key,
    control_record_value,
)
from harness.codec.messages import AbortedTxn, EndTxnMarker
from harness.codec.records import CONTROL, TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.reference_broker.state.log.log_store import UnreadableLog
from harness.reference_broker.state.partition.last_stable_offset import last_stable_offset
from harness.reference_broker.state.partition.offset_search import (
    MAX_TIMESTAMP,
    NOTHING_FOUND,
    find_offset,
)
from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction
from harness.reference_broker.storage.aborted_files import read_aborted
from tests.reference_broker.storage.test_storage import NOW, opened, partition_in, write

MANY_BYTES = 1 << 20
INDEX_ENTRY = struct.Struct(">ii")


def batch(offset: int, count: int = 1, attributes: int = 0, producer_id: int = -1) -> bytes:
    records = [Record(b"v", None) for _ in range(count)]
    return encode_batch(_of(offset, records, attributes, producer_id), "none")


def marker(offset: int, producer_id: int) -> bytes:
    value = control_record_value(EndTxnMarker(coordinator_epoch=3))
    record = Record(value, control_record_key(ABORT))
    return encode_batch(_of(offset, [record], TRANSACTIONAL | CONTROL, producer_id), "none")


def _of(offset: int, records: Sequence[Record], attributes: int, producer_id: int) -> RecordBatch:
    is_known = producer_id >= 0
    return RecordBatch(
        records=records,
        base_offset=offset,
        base_timestamp=NOW + offset,
        attributes=attributes,
        partition_leader_epoch=0,
        producer_id=producer_id,
        producer_epoch=0 if is_known else -1,
        base_sequence=0 if is_known else -1,
    )


def put(folder: Path, *batches: bytes, clean: bool = False, base: int = 0) -> Path:
    """Write these bytes as a log's newest segment without an index, and return its folder."""
    with opened(folder, clean=clean) as logs:
        partition_in(logs)
    log = folder / "t-0"
    (log / f"{base:020d}.log").write_bytes(b"".join(batches))
    return log


def test_recovery_rebuilds_aborted_transactions(tmp_path: Path) -> None:
    aborted = AbortedTransaction(ProducerId(9), Offset(0), Offset(2), Offset(3))
    log = put(tmp_path, batch(0, 2, TRANSACTIONAL, 9), marker(2, 9), batch(3))
    assert not list(log.glob("*.txnindex"))
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        assert partition.log.aborted_in(Offset(0), MANY_BYTES) == [aborted]
        assert last_stable_offset(partition) == partition.log.end_offset == 4
    assert read_aborted(log / f"{0:020d}.txnindex") == [aborted]


@pytest.mark.parametrize(("log_start", "stable"), [(0, 2), (3, 2), (6, 5)])
def test_last_stable_offset_is_start_of_batch_of_open_transaction(
    tmp_path: Path, log_start: int, stable: int
) -> None:
    open_ones = batch(2, 3, TRANSACTIONAL, 9), batch(5, 3, TRANSACTIONAL, 9)
    put(tmp_path, batch(0, 2), *open_ones, batch(8))
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        partition.log.delete_below(Offset(log_start))
        assert partition.high_watermark == 9
        assert last_stable_offset(partition) == stable


def test_marker_with_wrong_last_offset_delta_ends_transaction(tmp_path: Path) -> None:
    bad = bytearray(marker(1, 9))
    bad[24] ^= 16  # the last offset delta
    put(tmp_path, batch(0, 1, TRANSACTIONAL, 9), bytes(bad), batch(2), clean=True)
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        partition.log.remember_producers(partition.producers, NOW)
        assert last_stable_offset(partition) == partition.high_watermark == 3


def test_batch_begin_search_handles_gaps_and_overlaps_of_offsets(
    tmp_path: Path,
) -> None:
    put(tmp_path, batch(0), batch(1, 9), batch(3), batch(12))
    with opened(tmp_path) as logs:
        log = partition_in(logs).log
        assert log.end_offset == 13
        assert [log.batch_begin(Offset(offset)) for offset in (0, 1, 3, 4)] == [0, 1, 3, 12]


def test_epoch_checkpoint_entry_removes_contradicting_earlier_entries(tmp_path: Path) -> None:
    log = put(tmp_path, *map(batch, range(4)))
    entries = [EpochStart(0, 3), EpochStart(1, 2), EpochStart(2, 0)]
    (log / "leader-epoch-checkpoint").write_bytes(leader_epoch_checkpoint_bytes(entries))
    with opened(tmp_path) as logs:
        found = partition_in(logs, leader_epoch=4).epochs.entries
        assert [tuple(entry) for entry in found] == [(2, 0), (4, 4)]


@pytest.mark.parametrize("stranger", [2**40, -(2**40)])
def test_batch_offset_outside_segment_range_prevents_start(tmp_path: Path, stranger: int) -> None:
    put(tmp_path, batch(0), batch(stranger), batch(2))
    with opened(tmp_path) as logs, pytest.raises(UnreadableLog, match=r"0\.log: offset"):
        partition_in(logs)


def test_recovery_truncates_zeros_but_start_after_clean_shutdown_fails(tmp_path: Path) -> None:
    put(tmp_path / "killed", bytes(100))
    with opened(tmp_path / "killed") as logs:
        assert partition_in(logs).log.end_offset == 0
    put(tmp_path / "clean", bytes(100), clean=True)
    with opened(tmp_path / "clean") as logs, pytest.raises(UnreadableLog, match="length 0"):
        partition_in(logs)


@pytest.mark.parametrize(
    ("entry", "end"), [((1, -5), 3), ((-7, -5), 3), ((1, 1 << 20), 0), ((99, 0), 0)]
)
def test_start_after_clean_shutdown_trusts_offset_index(
    tmp_path: Path, entry: tuple[int, int], end: int
) -> None:
    """If it leads to no batch, the segment's base is the end."""
    log = put(tmp_path, *map(batch, range(3)), clean=True)
    (log / f"{0:020d}.index").write_bytes(INDEX_ENTRY.pack(*entry))
    with opened(tmp_path) as logs:
        assert partition_in(logs).log.end_offset == end


def test_empty_segment_contributes_no_aborted_transactions_to_read(tmp_path: Path) -> None:
    log = put(tmp_path, clean=True)
    put(tmp_path, batch(3), clean=True, base=3)
    entry = AbortedTxn(producer_id=9, first_offset=0, last_offset=2, last_stable_offset=3)
    (log / f"{0:020d}.txnindex").write_bytes(transaction_index_bytes([entry]))
    (log / f"{0:020d}.log").write_bytes(b"")
    (log / f"{3:020d}.index").write_bytes(b"")
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        assert partition.log.batch_begin(Offset(0)) == 3
        assert partition.log.aborted_in(Offset(0), MANY_BYTES) == []


def test_batch_with_unknown_magic_is_kept_and_served(tmp_path: Path) -> None:
    flipped = bytearray(batch(1, 1, TRANSACTIONAL, 9))
    flipped[16] = 6
    put(tmp_path, batch(0), bytes(flipped), batch(2))
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        assert partition.log.end_offset == 3
        assert last_stable_offset(partition) == 1
        (kept,) = partition.log.between(Offset(1), Offset(2))
        assert kept.data == flipped


def test_read_ends_at_end_of_segment_that_overlaps_next_one(tmp_path: Path) -> None:
    put(tmp_path, batch(0, 2))
    put(tmp_path, batch(2), base=1)
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        read = partition.log.read(Offset(0), MANY_BYTES, True, partition.segment_end(Offset(0)))
        assert read == batch(0, 2)


def test_partial_swap_file_keeps_time_index_of_replaced_segment(tmp_path: Path) -> None:
    with opened(tmp_path, clean=True) as logs:
        write(partition_in(logs), 3)
    times = tmp_path / "t-0" / f"{0:020d}.timeindex"
    before = times.read_bytes()
    (tmp_path / "t-0" / f"{0:020d}.log.swap").write_bytes(batch(0)[:20])
    with opened(tmp_path, clean=True) as logs:
        partition_in(logs)
        assert len(before) > 0
        assert times.read_bytes() == before


def test_timestamp_search_does_not_check_batch_checksum(tmp_path: Path) -> None:
    with opened(tmp_path, clean=True) as logs:
        partition_in(logs).append(batch(0, 2), NOW)
    path = tmp_path / "t-0" / f"{0:020d}.log"
    flipped = bytearray(path.read_bytes())
    flipped[24] ^= 16  # the last offset delta
    path.write_bytes(flipped)
    with opened(tmp_path) as logs:
        found = find_offset(partition_in(logs), MAX_TIMESTAMP)
        assert (found.offset, found.timestamp) == (0, NOW)


def test_marker_with_old_magic_is_ignored_and_transaction_stays_open(tmp_path: Path) -> None:
    """A transaction stays open when its marker is not seen; the log is opened all the same."""
    flipped = bytearray(marker(1, 9))
    flipped[16:18] = 0, 0  # its codec would be the first byte of the checksum
    put(tmp_path, batch(0, 1, TRANSACTIONAL, 9), bytes(flipped), clean=True)
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        partition.log.remember_producers(partition.producers, NOW)
        assert partition.log.end_offset == 2
        assert last_stable_offset(partition) == 0


def test_empty_file_with_negative_name_becomes_empty_segment(tmp_path: Path) -> None:
    """The segment is new, so it has the latest time, and no record is found in it."""
    log = put(tmp_path, batch(0))
    (log / "-5.log").touch()
    for _ in range(2):
        with opened(tmp_path) as logs:
            partition = partition_in(logs)
            assert [one.base_offset for one in partition.segments.all()] == [-5, 0]
            assert (partition.log.start_offset, partition.log.end_offset) == (0, 1)
            assert find_offset(partition, NOW) == NOTHING_FOUND
    assert (log / f"-{5:020d}.log").exists()


@pytest.mark.parametrize("codec_bits", [1, 2, 3, 4, 7])
def test_batch_that_claims_old_compressed_magic_raises_unreadable_log(
    tmp_path: Path, codec_bits: int
) -> None:
    """Its attributes are the first byte of a batch's checksum, which is random."""
    flipped = bytearray(batch(1))
    flipped[16:18] = 0, codec_bits
    put(tmp_path, batch(0), bytes(flipped), clean=True)
    with opened(tmp_path) as logs, pytest.raises(UnreadableLog, match=r"t-0"):
        partition_in(logs)
