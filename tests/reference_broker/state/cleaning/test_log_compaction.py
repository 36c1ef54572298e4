"""Records that compaction keeps, and reads of a compacted log."""

import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.ids import Offset, TimeMs
from harness.codec.records import (
    DELETE_HORIZON,
    BatchHeader,
    Header,
    Record,
    RecordBatch,
    decode_batches,
    encode_batch,
)
from harness.reference_broker.state.cleaning.log_cleanable import cleanable
from harness.reference_broker.state.cleaning.log_compaction import compact, compaction_round
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.partition.offset_search import (
    LATEST,
    NOTHING_FOUND,
    find_offset,
    old_style_offsets,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.topics.cluster import ClusterState
from tests.reference_broker.state.partition.test_partition import NOW, partition

Row = tuple[bytes, bytes | None]
LONG = TimeMs(NOW + 10_000_000)
FOREVER = 1 << 40


def compacting(**configs: str) -> Partition:
    """A replica in which each batch a second later than the last one has its own segment."""
    return partition(
        cleanup_policy="compact", segment_ms="900", min_cleanable_dirty_ratio="0", **configs
    )


def of(*rows: Row, second: int, compression: str = "none", producer: int = -1) -> bytes:
    records = [
        Record(value, key, [Header("h", b"x")], timestamp_delta=position)
        for position, (key, value) in enumerate(rows)
    ]
    as_producer = (producer, 0, 0) if producer >= 0 else (-1, -1, -1)
    fields = dict(zip(("producer_id", "producer_epoch", "base_sequence"), as_producer, strict=True))
    base_timestamp = NOW + 1000 * second
    return encode_batch(RecordBatch(records, base_timestamp=base_timestamp, **fields), compression)


def fill(target: Partition, *batches: Sequence[Row], compression: str = "none") -> Partition:
    for second, rows in enumerate(batches):
        target.append(of(*rows, second=second, compression=compression), LONG)
    return target


def clean(target: Partition, now: TimeMs = LONG, most_keys: int = FOREVER) -> bool:
    """Compact the log if it is worth it. Return True if it was."""
    log = cleanable(target, now)
    if log is None:
        return False
    for _ in compact(log, now, most_keys):
        pass
    return True


def stored(target: Partition, at: int = 0) -> list[RecordBatch]:
    offset = max(at, target.log.start_offset)
    return decode_batches(target.log.read(Offset(offset), FOREVER, True))


def rows_of(batches: Sequence[RecordBatch]) -> Iterator[tuple[int, bytes | None, bytes | None]]:
    for batch in batches:
        for record in batch.records:
            yield batch.base_offset + (record.offset_delta or 0), record.key, record.value


def spans(target: Partition) -> list[tuple[int, int]]:
    return [(b.base_offset, b.base_offset + (b.last_offset_delta or 0)) for b in stored(target)]


A1, A2, B1, C1 = (b"a", b"1"), (b"a", b"2"), (b"b", b"1"), (b"c", b"1")


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_compacted_batch_keeps_offsets_codec_timestamps_and_headers(compression: str) -> None:
    target = fill(compacting(), [A1, B1, A1], [A2], [C1], compression=compression)
    size_bytes = target.log.size_bytes
    assert clean(target)
    assert list(rows_of(stored(target))) == [(1, *B1), (3, *A2), (4, *C1)]
    first = stored(target)[0]
    assert (first.base_offset, first.last_offset_delta, first.compression) == (0, 2, compression)
    assert (first.base_timestamp, first.max_timestamp) == (NOW + 1, NOW + 1)
    assert [(h.key, h.value) for h in first.records[0].headers] == [("h", b"x")]
    assert target.log.size_bytes < size_bytes
    assert target.log.size_bytes == len(target.log.read(Offset(0), FOREVER, True))


def test_read_in_offset_gap_returns_batch_that_follows() -> None:
    target = fill(compacting(), [A1], [A1, B1], [A2], [C1])
    clean(target)
    assert spans(target) == [(1, 2), (3, 3), (4, 4)]
    assert [stored(target, at)[0].base_offset for at in range(5)] == [1, 1, 1, 3, 4]
    assert [find_offset(target, at).offset for at in (NOW, NOW + 1001, NOW + 1002)] == [2, 2, 3]
    assert find_offset(target, NOW + 9000) is NOTHING_FOUND
    assert (target.log.start_offset, target.log.end_offset) == (0, 5)
    assert target.delete_records(1) != 1  # only compacted: not allowed


def test_active_segment_is_not_compacted() -> None:
    target = partition(cleanup_policy="compact", min_cleanable_dirty_ratio="0")
    assert not clean(fill(target, [A1], [A2], [A1]))


@pytest.mark.parametrize(
    ("configs", "seconds", "expected"),
    [
        ({"min_cleanable_dirty_ratio": "1"}, 9, False),
        ({"min_cleanable_dirty_ratio": "0.99"}, 9, True),
        ({"min_cleanable_dirty_ratio": "1", "max_compaction_lag_ms": "900"}, 0, False),
        ({"min_cleanable_dirty_ratio": "1", "max_compaction_lag_ms": "900"}, 1, True),
        ({"min_compaction_lag_ms": "3000"}, 2, False),
        ({"min_compaction_lag_ms": "3000"}, 4, True),
    ],
)
def test_compaction_starts_by_dirty_ratio_and_lag_limits(
    configs: dict[str, str], seconds: int, expected: bool
) -> None:
    configs = {"segment_ms": "900", "min_cleanable_dirty_ratio": "0", **configs}
    target = fill(partition(cleanup_policy="compact", **configs), [A1], [A2], [C1])
    assert clean(target, TimeMs(NOW + 1000 * seconds)) is expected


def test_compaction_keeps_tombstone_for_delete_retention_ms() -> None:
    target = fill(compacting(delete_retention_ms="500"), [A1], [(b"a", None), B1], [C1], [C1])
    clean(target, LONG)
    marked = stored(target)[0]
    assert [row[1:] for row in rows_of([marked])] == [(b"a", None), B1]
    assert marked.attributes & DELETE_HORIZON
    assert (marked.base_timestamp, marked.max_timestamp) == (LONG + 500, NOW + 1001)
    target.append(of(C1, second=5), LONG)
    clean(target, TimeMs(LONG + 499))
    assert (1, b"a", None) in list(rows_of(stored(target)))
    target.append(of(C1, second=7), LONG)
    clean(target, TimeMs(LONG + 500))
    assert next(rows_of(stored(target))) == (2, *B1)
    assert spans(target)[0] == (1, 2)


def test_compaction_keeps_empty_last_batch_of_each_producer() -> None:
    target = compacting()
    target.append(of(A1, second=0, producer=7), NOW)
    target.append(of(A2, B1, second=1, producer=8), NOW)
    target.append(of(A1, B1, second=2), NOW)
    target.append(of(C1, second=3), NOW)
    clean(target)
    (one, two) = stored(target)[:2]
    assert [len(each.records) for each in (one, two)] == [0, 0]
    assert (two.base_offset, two.last_offset_delta, two.max_timestamp) == (1, 1, NOW + 1001)
    assert (two.producer_id, two.producer_epoch, two.base_sequence) == (8, 0, 0)
    again = target.append(of(A2, B1, second=1, producer=8), NOW)
    assert (again.base_offset, target.log.end_offset) == (1, 6)
    # Its place is taken by its next batch.
    late = encode_batch(RecordBatch([Record(b"9", b"a")], base_timestamp=NOW + 5000,
                                    producer_id=7, producer_epoch=0, base_sequence=1))  # fmt: skip
    target.append(late, NOW)
    target.append(of(C1, second=7), NOW)
    clean(target)
    assert [each.producer_id for each in stored(target)] == [8, -1, -1, 7, -1]


def test_full_key_map_defers_remaining_segments_to_next_compaction() -> None:
    target = fill(compacting(), [A1], [B1], [A2], [B1], [C1])
    clean(target, most_keys=1)
    assert len(stored(target)) == 5
    while clean(target, most_keys=1):
        pass
    assert [row[0] for row in rows_of(stored(target))] == [2, 3, 4]


def test_compaction_merges_small_segments() -> None:
    target = fill(compacting(), [A1], [A2], [C1])
    clean(target)
    assert old_style_offsets(target, LATEST, 9, LONG) == [3, 2, 0]


def test_records_deleted_during_compaction_stay_deleted() -> None:
    target = fill(compacting(), [A1], [B1], [A2], [C1])
    log = cleanable(target, LONG)
    assert log is not None
    steps = compact(log, LONG)
    next(steps)
    target.log.delete_below(Offset(2))
    target.append(of(A1, second=9), LONG)
    list(steps)
    assert spans(target) == [(2, 2), (3, 3), (4, 4)]
    assert target.log.start_offset == 2


KEYS = st.sampled_from([b"a", b"b", b"c", b"d"])
ROWS = st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=3)), min_size=1, max_size=4)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(ROWS, st.integers(-1, 2), st.sampled_from(["none", "lz4"])), max_size=12),
    st.sets(st.integers(0, 11)),
    st.integers(1, 4) | st.just(FOREVER),
)
def test_random_compactions_keep_newest_record_of_each_key_at_its_offset(
    sent: list[tuple[list[Row], int, str]], cleaned_after: set[int], most_keys: int
) -> None:
    target = compacting()
    appended: list[tuple[int, bytes, bytes | None]] = []
    sequences: dict[int, int] = {}
    for position, (rows, producer, codec) in enumerate(sent):
        end = target.log.end_offset
        batch = of(*rows, second=position, compression=codec, producer=producer)
        if producer >= 0:
            (decoded,) = decode_batches(batch)
            sequence = sequences.get(producer, 0)
            sequences[producer] = sequence + len(rows)
            batch = encode_batch(replace_sequence(decoded, sequence))
        target.append(batch, LONG)
        appended += [(end + at, *row) for at, row in enumerate(rows)]
        if position in cleaned_after:
            clean(target, most_keys=most_keys)
    while clean(target, most_keys=most_keys):
        pass
    left = list(rows_of(stored(target)))
    assert left == [row for row in appended if row in set(left)]
    newest = {key: (offset, value) for offset, key, value in appended}
    assert {key: (offset, value) for offset, key, value in left} == newest
    last_begin = target.segments.active.base_offset
    old = [key for offset, key, _ in left if offset < last_begin]
    assert len(old) == len(set(old))
    ends = [last for _, last in spans(target)]
    assert ends == sorted(set(ends))
    before = target.log.read(Offset(0), FOREVER, True)
    target.first_dirty = Offset(0)
    clean(target)
    assert target.log.read(Offset(0), FOREVER, True) == before


def replace_sequence(batch: RecordBatch, sequence: int) -> RecordBatch:
    return RecordBatch(
        batch.records,
        attributes=batch.attributes,
        base_timestamp=batch.base_timestamp,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=sequence,
    )


def test_undecodable_batch_marks_partition_uncleanable_and_keeps_its_log() -> None:
    target = fill(compacting(), [A1], [A2], [C1])
    damaged = next(iter(target.log.between(Offset(0), Offset(1))))
    broken = damaged.data[:-1] + b"\x7f"
    assert BatchHeader.read(broken) == BatchHeader.read(damaged.data)
    compaction = target.log.compaction()
    compaction.begin_segment(target.segments.all()[:1])
    compaction.add(damaged._replace(data=broken))
    compaction.put_in_place(Offset(1))
    clean(target)
    assert target.is_uncleanable
    assert len(list(target.log.between(Offset(0), Offset(9)))) == 3
    assert not clean(target)


def test_compaction_round_compacts_each_topic_with_compact_policy() -> None:
    cluster = ClusterState(ProducerExpiration(60_000, 1_000))
    for name, policy in (("first", "compact"), ("kept", "delete"), ("second", "compact,delete")):
        given = {"cleanup.policy": policy, "segment.ms": "900", "min.cleanable.dirty.ratio": "0.1"}
        config = TopicConfig.of(given, {})
        fill(
            cluster.create(name, config, 1, (), random.Random(name)).partitions[0], [A1], [A2], [C1]
        )
    for _ in compaction_round(cluster, LONG):
        pass
    assert [spans(each)[0][0] for each in cluster.partitions()] == [1, 0, 1]
    assert [each.first_dirty for each in cluster.partitions()] == [2, 0, 2]
