"""Damages that a run of ten thousand found to be recovered differently from Kafka 4.4.0."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base.ids import Offset, PartitionIndex
from harness.codec.data_framing import transaction_index_bytes
from harness.codec.data_framing.control_records import (
    COMMIT,
    control_record_key,
    control_record_value,
)
from harness.codec.messages import AbortedTxn, EndTxnMarker
from harness.codec.records import CONTROL, TRANSACTIONAL, Record, RecordBatch, encode_batch
from harness.codec.records.compression import CompressionError
from harness.codec.records.walk import BadRecord
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.fetch.fetch_plan import FetchLimits, plan_fetch
from harness.reference_broker.state.fetch.fetch_reading import (
    PartitionReading,
    read_partitions,
)
from harness.reference_broker.state.fetch.fetch_sessions import WantedPartition
from harness.reference_broker.state.log.batch_bytes import NoSuchPosition
from harness.reference_broker.state.log.log_store import UnreadableLog
from harness.reference_broker.state.log.stored_batch import (
    UntoldProducer,
    recall_producer,
    remember_producer,
    replay,
)
from harness.reference_broker.state.partition import offset_search
from harness.reference_broker.state.partition.last_stable_offset import last_stable_offset
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.topics.cluster import ClusterState
from harness.reference_broker.storage.aborted_files import read_aborted
from tests.reference_broker.state.partition.test_partition import Counting
from tests.reference_broker.storage.test_storage import (
    NOW,
    all_of,
    opened,
    opened_producers,
    partition_in,
)
from tests.reference_broker.storage.test_storage_recovery import (
    INDEX_ENTRY,
    MANY_BYTES,
    batch,
    marker,
    put,
)

LENGTH_AT, MAGIC_AT, BASE_TIME_AT, EPOCH_AT, COUNT_AT, RECORDS_AT = 8, 16, 27, 51, 57, 61
ENTRY_EACH = {"index.interval.bytes": "0"}
Spoil = Callable[[bytearray], None]


def spoilt(data: bytes, spoil: Spoil) -> bytes:
    made = bytearray(data)
    spoil(made)
    return bytes(made)


def spoil_log(folder: Path, spoil: Spoil) -> None:
    path = folder / "t-0" / f"{0:020d}.log"
    path.write_bytes(spoilt(path.read_bytes(), spoil))


# -- transactions --------------------------------------------------------------------------------


def test_emptied_segment_has_no_aborted_transactions(tmp_path: Path) -> None:
    """An entry for the batch 2 would come behind that for 3 (LogLoader, recoverLog)."""
    log = put(tmp_path, batch(0, 1, TRANSACTIONAL, 9), marker(1, 9), batch(3), batch(2))
    with opened(tmp_path) as logs:
        assert partition_in(logs, configs=ENTRY_EACH).log.end_offset == 0
    assert read_aborted(log / f"{0:020d}.txnindex") == []


def test_aborted_search_stops_at_entry_with_lso_above_read(tmp_path: Path) -> None:
    """Class TransactionIndex (collectAbortedTxns), also where a damaged entry claims that end."""
    log = put(tmp_path, *map(batch, range(4)), clean=True)
    entries = [
        AbortedTxn(producer_id=who, first_offset=0, last_offset=2, last_stable_offset=stable)
        for who, stable in ((8, 1), (9, 99), (7, 3))
    ]
    (log / f"{0:020d}.txnindex").write_bytes(transaction_index_bytes(entries))
    with opened(tmp_path) as logs:
        found = partition_in(logs).log.aborted_in(Offset(0), MANY_BYTES)
    assert [one.producer_id for one in found] == [8, 9]


def with_open_transaction(folder: Path, spoil: Spoil) -> None:
    """A log that ended in good order, with an index entry from its middle to the end; the
    transaction begins with the batch 1, and that is spoilt."""
    around = batch(0), batch(1, 1, TRANSACTIONAL, 9), batch(2)
    log = put(folder, *around, batch(3))
    with opened(folder, clean=True) as logs:
        assert last_stable_offset(partition_in(logs)) == 1
    path, at = log / f"{0:020d}.log", len(around[0])
    data = path.read_bytes()
    of_it = slice(at, at + len(around[1]))
    path.write_bytes(data[:at] + spoilt(data[of_it], spoil) + data[of_it.stop :])
    (log / f"{0:020d}.index").write_bytes(INDEX_ENTRY.pack(3, sum(map(len, around))))


def reach_too_far(data: bytearray) -> None:
    data[LENGTH_AT + 1] ^= 1


def be_zeros(data: bytearray) -> None:
    data[:] = bytes(len(data))


def test_lso_is_log_end_offset_if_batch_of_transaction_is_not_found(tmp_path: Path) -> None:
    """LocalLog (read): as if the reader were at the end."""
    with_open_transaction(tmp_path, reach_too_far)
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        assert partition.producers.first_unstable(Offset(0)) == 1
        assert last_stable_offset(partition) == partition.log.end_offset == 4


def test_zeroed_batch_of_open_transaction_raises_unreadable_log(tmp_path: Path) -> None:
    with_open_transaction(tmp_path, be_zeros)
    with opened(tmp_path) as logs, pytest.raises(UnreadableLog, match="length 0"):
        partition_in(logs)


def test_first_batch_beyond_lso_is_served_up_to_lso(
    tmp_path: Path,
) -> None:
    """Class LogSegment (read): that is no batch too large for the reader's limit."""
    first, begun, last = batch(0), batch(1, 1, TRANSACTIONAL, 9), batch(2)
    log = put(tmp_path, first, begun, last)
    with opened(tmp_path, clean=True) as logs:
        partition_in(logs)

    def reach_over_the_next(data: bytearray) -> None:
        struct.pack_into(">i", data, LENGTH_AT, len(first) - 12 + len(begun))

    spoil_log(tmp_path, reach_over_the_next)
    (log / f"{0:020d}.index").write_bytes(INDEX_ENTRY.pack(1, len(first)))
    reading = read_decided(tmp_path, 0)
    assert reading.last_stable_offset == 1
    assert len(reading.records) == len(first)


def read_decided(folder: Path, offset: int) -> PartitionReading:
    """The reading of the log with read_committed."""
    cluster = ClusterState(ProducerExpiration(60_000, 1_000))
    served = cluster.create("t", TopicConfig.of({}, {}), 1, (), Counting()).partition(0)
    assert served is not None
    want = WantedPartition(("t", PartitionIndex(0)), offset, MANY_BYTES, -1, -1, None)
    with opened(folder) as logs:
        found = partition_in(logs)
        served.log, served.producers = found.log, found.producers
        served.high_watermark = found.high_watermark
        limits = FetchLimits(1, MANY_BYTES, read_committed=True)
        (reading,) = read_partitions(plan_fetch(cluster, [want], limits, NOW))
    return reading


def test_lso_is_offset_of_index_lookup_for_reordered_batches(
    tmp_path: Path,
) -> None:
    """The batch's own offset does not count (UnifiedLog, fetchLastStableOffsetMetadata)."""
    begun, other, last = batch(1, 1, TRANSACTIONAL, 9), batch(3), batch(5)
    log = put(tmp_path, begun, other, last)
    with opened(tmp_path, clean=True) as logs:
        partition_in(logs)
    (log / f"{0:020d}.log").write_bytes(other + begun + last)
    (log / f"{0:020d}.index").write_bytes(INDEX_ENTRY.pack(3, len(other)))
    reading = read_decided(tmp_path, 1)
    assert (reading.last_stable_offset, reading.high_watermark) == (3, 6)
    assert reading.records == b""


# -- markers and producers -----------------------------------------------------------------------


def control(record: Record, spoil: Spoil = lambda _: None) -> bytes:
    made = RecordBatch(
        records=[record],
        base_offset=1,
        base_timestamp=NOW,
        max_timestamp=NOW + 70,
        attributes=TRANSACTIONAL | CONTROL,
        producer_id=9,
        producer_epoch=0,
        base_sequence=-1,
    )
    return spoilt(encode_batch(made, "none"), spoil)


END = Record(
    control_record_value(EndTxnMarker(coordinator_epoch=3)),
    control_record_key(COMMIT),
    timestamp_delta=5,
)
OPEN = batch(0, 1, TRANSACTIONAL, 9)


def claim_records(count: int) -> Spoil:
    return lambda data: struct.pack_into(">i", data, COUNT_AT, count)


def claim_a_header(data: bytearray) -> None:
    data[-1] = 1  # -1, as a varint


@pytest.mark.parametrize("count", [1, 3, 1 << 20])
def test_marker_state_comes_from_its_first_record(count: int) -> None:
    """Class ProducerAppendInfo (append): its time too, not the batch's."""
    producers = opened_producers()
    recall_producer(producers, OPEN)
    recall_producer(producers, control(END, claim_records(count)))
    (known,) = producers.active()
    assert (known.transaction_start, known.last_timestamp) == (-1, NOW + 5)


def test_marker_without_records_ends_no_transaction() -> None:
    producers = opened_producers()
    recall_producer(producers, OPEN)
    assert recall_producer(producers, control(END, claim_records(0))) is None
    assert producers.is_in_transaction(producers.active()[0].producer_id)


@pytest.mark.parametrize(
    "data",
    [
        control(END, claim_records(-1)),
        control(END, claim_a_header),
        control(replace(END, key=None)),
        control(replace(END, value=None)),
        control(replace(END, key=struct.pack(">hh", 0, 2))),
        control(replace(END, key=struct.pack(">hh", 0, 77))),
        batch(1, 1, 0, 9),  # outside of the transaction
    ],
)
def test_batch_without_valid_producer_data_is_refused_at_recovery(data: bytes) -> None:
    producers = opened_producers()
    recall_producer(producers, OPEN)
    with pytest.raises(UntoldProducer, match="batch 1"):
        recall_producer(producers, data)
    remember_producer(producers, data)  # an append does not check that


def test_producer_epoch_change_within_segment_keeps_previous_sequence() -> None:
    """The batches of one segment make one update (ProducerStateEntry, update)."""
    producers = opened_producers()
    other_epoch = bytearray(batch(2, 1, TRANSACTIONAL, 9))
    other_epoch[EPOCH_AT + 1] = 1
    replay(producers, [OPEN])
    replay(producers, [bytes(other_epoch), control(END)])
    (known,) = producers.active()
    assert (known.producer_epoch, known.last_sequence) == (0, 0)
    replay(producers, [bytes(other_epoch)])
    replay(producers, [control(END)])
    assert producers.active()[0].last_sequence == -1


def test_log_with_non_transactional_batch_in_transaction_is_unreadable(tmp_path: Path) -> None:
    put(tmp_path, OPEN, batch(1, 1, 0, 9))
    with opened(tmp_path) as logs, pytest.raises(UnreadableLog, match="batch 1"):
        partition_in(logs)


# -- times ---------------------------------------------------------------------------------------


def spoilt_log(folder: Path, spoil: Spoil, compression: str = "none") -> Path:
    """Three records of one batch, a millisecond apart, in a log that ended in good order."""
    made = RecordBatch(
        records=[Record(b"v%d" % delta, None, timestamp_delta=delta) for delta in range(3)],
        base_timestamp=NOW,
    )
    with opened(folder, clean=True) as logs:
        partition_in(logs).append(encode_batch(made, compression), NOW)
    spoil_log(folder, spoil)
    return folder / "t-0"


def zero_the_last_record(data: bytearray) -> None:
    size = (len(data) - RECORDS_AT) // 3
    data[-size:] = bytes(size)


def found_at(partition: Partition, time: int) -> tuple[int, int]:
    found = offset_search.find_offset(partition, time)
    return found.offset, found.timestamp


@pytest.mark.parametrize("spoil", [zero_the_last_record, claim_records(99)])
def test_timestamp_search_finds_record_before_damage(tmp_path: Path, spoil: Spoil) -> None:
    """Class DefaultRecordBatch (streamingIterator) reads no farther than it has to."""
    spoilt_log(tmp_path, spoil)
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        assert found_at(partition, NOW + 1) == (1, NOW + 1)


def test_timestamp_search_raises_bad_record_at_damage(tmp_path: Path) -> None:
    spoilt_log(tmp_path, zero_the_last_record)
    with opened(tmp_path) as logs, pytest.raises(BadRecord):
        offset_search.find_offset(partition_in(logs), NOW + 2)


def change_the_checksum(data: bytearray) -> None:
    data[-5] ^= 1  # of what was compressed; its size is behind it


def change_the_magic(data: bytearray) -> None:
    data[RECORDS_AT] ^= 1


@pytest.mark.parametrize(
    ("codec", "spoil", "readable"),
    [
        ("gzip", change_the_checksum, 2),
        ("zstd", change_the_magic, 0),
        ("gzip", change_the_magic, 0),
    ],
)
def test_timestamp_search_reads_compressed_batch_up_to_damage(
    tmp_path: Path, codec: str, spoil: Spoil, readable: int
) -> None:
    """The wrong checksum shows at the last record."""
    spoilt_log(tmp_path, spoil, codec)
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        for offset in range(readable):
            assert found_at(partition, NOW + offset) == (offset, NOW + offset)
        with pytest.raises(CompressionError):
            offset_search.find_offset(partition, NOW + readable)


def test_max_timestamp_search_finds_nothing_without_matching_record(tmp_path: Path) -> None:
    def begin_later(data: bytearray) -> None:
        data[BASE_TIME_AT + 5] ^= 1

    for name, spoil in (("later", begin_later), ("none", claim_records(0))):
        spoilt_log(tmp_path / name, spoil)
        with opened(tmp_path / name) as logs:
            assert (
                offset_search.find_offset(partition_in(logs), offset_search.MAX_TIMESTAMP)
                == offset_search.NOTHING_FOUND
            )


def test_negative_index_position_fails_timestamp_search_only(tmp_path: Path) -> None:
    """Class FileChannelRecordBatch cannot be read there; a lookup of an offset begins at 0."""
    log = spoilt_log(tmp_path, lambda _: None)
    (log / f"{0:020d}.index").write_bytes(INDEX_ENTRY.pack(-7, -5))
    with opened(tmp_path) as logs:
        partition = partition_in(logs)
        for time in (NOW, offset_search.MAX_TIMESTAMP):
            with pytest.raises(NoSuchPosition):
                offset_search.find_offset(partition, time)
        assert len(all_of(partition)) == (log / f"{0:020d}.log").stat().st_size
