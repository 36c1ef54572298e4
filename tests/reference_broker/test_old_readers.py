"""Answers to old consumers: converted batches up to a limit, and base offsets of segments.

The expected values were observed on Apache Kafka 3.9.2.
"""

import struct
from dataclasses import replace

import pytest

from harness.base.ids import Offset, PartitionIndex, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.records import (
    Header,
    Record,
    RecordBatch,
    decode_message_set,
    encode_batch,
    split_message_set,
)
from harness.reference_broker.emulated_release import EmulatedRelease
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.fetch.down_conversion import (
    ConversionRules,
    as_message_sets,
    magic_for,
)
from harness.reference_broker.state.fetch.fetch_plan import FetchLimits, plan_fetch
from harness.reference_broker.state.fetch.fetch_reading import (
    PartitionReading,
    is_complete,
    read_partitions,
)
from harness.reference_broker.state.fetch.fetch_sessions import WantedPartition
from harness.reference_broker.state.log.batch_bytes import magic_of
from harness.reference_broker.state.partition.offset_search import (
    EARLIEST,
    LATEST,
    old_style_offsets,
    record_at,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.randomness import random_uuid
from harness.reference_broker.state.registrations.partition_registration import (
    PartitionRegistration,
)
from harness.reference_broker.state.topics.cluster import ClusterState
from tests.reference_broker.state.partition.test_partition import NOW, Counting, partition, refusal

KEY = ("t", 0)
ANY = ConversionRules()
LOOKS = ConversionRules(looks_at_batches=True)


def _batch(compression: str = "none", size: int = 20) -> bytes:
    records = [Record(b"x" * size)] * 3
    return encode_batch(RecordBatch(records, base_timestamp=NOW), compression)


def _reading(*batches: bytes, cut_bytes: int = 0) -> PartitionReading:
    """A reading of a partition with these batches from its start, and `cut_bytes` of one more."""
    target = partition()
    for batch in batches:
        target.append(batch, NOW)
    records = target.log.read(Offset(0), 1 << 30, True)
    return PartitionReading(KEY, records=records + _batch()[:cut_bytes], high_watermark=9)


def _offsets(reading: PartitionReading) -> list[int]:
    return [message.offset for message in decode_message_set(bytes(reading.records))]


def test_magic_for_returns_magic_of_fetch_version() -> None:
    assert [magic_for(version) for version in (0, 1, 2, 3, 4, 18)] == [0, 0, 1, 1, None, None]


@pytest.mark.parametrize("magic", [0, 1])
def test_batches_are_converted_to_messages_from_fetch_offset(magic: int) -> None:
    found = as_message_sets(_reading(_batch(), _batch()), magic, 2, ANY)
    assert _offsets(found) == [2, 3, 4, 5]
    assert {message.magic for message in split_message_set(bytes(found.records))} == {magic}
    assert found.high_watermark == 9


def test_converted_response_is_padded_to_length_of_read() -> None:
    """The missing bytes are the beginning of a message that is longer than the answer."""
    reading = _reading(_batch(), cut_bytes=40)
    found = as_message_sets(reading, 1, 2, ANY)
    assert len(found.records) == len(reading.records)
    (only,) = split_message_set(bytes(found.records))
    rest = bytes(found.records)[12 + (only.length or 0) :]
    offset, length = struct.unpack_from(">qi", rest)
    assert offset == -1
    assert length > len(rest) - 12


def test_first_converted_batch_is_returned_whole_although_it_grew() -> None:
    """A message is larger than its record without keys and headers: the rest is cut."""
    reading = _reading(_batch(size=1), _batch(size=1))
    found = as_message_sets(reading, 1, 0, ANY)
    assert len(found.records) == len(reading.records)
    assert 3 <= len(_offsets(found)) < 6
    alone = as_message_sets(_reading(_batch(size=1)), 1, 0, ANY)
    assert _offsets(alone) == [0, 1, 2]
    assert len(alone.records) > len(_reading(_batch(size=1)).records)


def test_conversion_of_zstd_returns_unsupported_compression_type() -> None:
    found = as_message_sets(_reading(_batch("zstd")), 1, 0, ANY)
    assert (found.error, found.records) == (ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, b"")


def test_conversion_stops_before_chunk_with_zstd() -> None:
    """All of its chunk is left: only the first batch of these is before the chunk."""
    reading = _reading(_batch("gzip"), _batch(), _batch("zstd"))
    found = as_message_sets(reading, 0, 0, ANY)
    assert (found.error, _offsets(found)) == (ErrorCode.NONE, [0, 1, 2])
    far = _reading(_batch(), _batch(size=70_000), _batch("zstd"))
    assert _offsets(as_message_sets(far, 0, 0, ANY)) == [0, 1, 2, 3, 4, 5]


def test_conversion_stops_at_damaged_batch_or_returns_corrupt_message() -> None:
    """Kafka 2.8.2 returns messages with new checksums of the stored bytes."""
    damaged = bytearray(_batch())
    damaged[-1] ^= 0x10
    last = replace(_reading(_batch(), _batch()), records=_batch() + bytes(damaged))
    found = as_message_sets(last, 1, 0, ANY)
    assert (found.error, _offsets(found)) == (ErrorCode.NONE, [0, 1, 2])
    first = replace(last, records=bytes(damaged) + _batch())
    found = as_message_sets(first, 1, 0, ANY)
    assert (found.error, found.records) == (ErrorCode.CORRUPT_MESSAGE, b"")


def test_conversion_keeps_errors_and_empty_readings() -> None:
    error = PartitionReading(KEY, ErrorCode.OFFSET_OUT_OF_RANGE)
    assert as_message_sets(error, 0, 0, ANY) == error
    assert as_message_sets(PartitionReading(KEY), 0, 0, ANY).records == b""


WHOLE = len(_batch())


@pytest.mark.parametrize(
    ("limit", "hard", "size"),
    [
        *((10, True, 10), (0, True, 0), (WHOLE + 10, True, WHOLE + 10), (10_000, True, 2 * WHOLE)),
        *((10, False, WHOLE), (0, False, WHOLE), (WHOLE + 10, False, WHOLE + 10)),
    ],
)
def test_hard_byte_limit_cuts_first_batch(limit: int, hard: bool, size: int) -> None:
    limits = FetchLimits(1, 1 << 20, is_hard=hard)
    (reading,) = read_partitions(plan_fetch(*_two_batches(limit), limits, NOW))
    assert len(reading.records) == size


@pytest.mark.parametrize(("max_bytes", "size"), [(0, 0), (10, 0), (WHOLE + 10, WHOLE + 10)])
def test_remaining_fetch_bytes_hold_whole_first_batch_or_nothing(max_bytes: int, size: int) -> None:
    cluster, (want,) = _two_batches(10_000)
    missing = replace(want, key=("none", PartitionIndex(0)))
    limits = FetchLimits(1, 2 * WHOLE + max_bytes)
    again = replace(want, key=("again", PartitionIndex(0)))
    _filled(cluster, "again")
    readings = read_partitions(plan_fetch(cluster, [missing, want, again], limits, NOW))
    assert [len(reading.records) for reading in readings] == [2 * WHOLE, size, 0]


def _two_batches(limit: int) -> tuple[ClusterState, list[WantedPartition]]:
    cluster = ClusterState(ProducerExpiration(60_000, 1_000))
    _filled(cluster, "t")
    return cluster, [WantedPartition(("t", PartitionIndex(0)), 0, limit, -1, -1, None)]


def _filled(cluster: ClusterState, name: str) -> None:
    target = cluster.create(name, TopicConfig.of({}, {}), 1, (), Counting()).partition(0)
    assert target is not None
    for _ in range(2):
        target.append(_batch(), NOW)


def test_fetch_reads_one_segment_and_does_not_wait_for_more() -> None:
    cluster = ClusterState(ProducerExpiration(60_000, 1_000))
    config = TopicConfig.of({"segment.bytes": "1048576"}, {})
    target = cluster.create("t", config, 1, (), Counting()).partition(0)
    assert target is not None
    for _ in range(3):
        target.append(_batch(size=200_000), NOW)
    limits = FetchLimits(1 << 30, 1 << 30)
    for offset, expected, is_waited_for in ((0, 1, False), (2, 1, False), (6, 1, True)):
        want = WantedPartition(("t", PartitionIndex(0)), offset, 1 << 30, -1, -1, None)
        readings = read_partitions(plan_fetch(cluster, [want], limits, NOW))
        assert len(readings[0].records) == expected * len(_batch(size=200_000))
        assert is_complete(readings, limits, frozenset()) is not is_waited_for


def _segmented() -> Partition:
    """A partition with three segments of one batch each, written a second after another."""
    target = partition(segment_bytes="1048576")
    for second in range(3):
        target.append(_batch(size=300_000), TimeMs(NOW + 1000 * second))
    return target


@pytest.mark.parametrize(
    ("time", "most", "expected"),
    [
        (LATEST, 9, [9, 6, 3, 0]),
        (LATEST, 2, [9, 6]),
        (LATEST, 0, []),
        (EARLIEST, 9, [0]),
        (NOW + 5000, 9, [9, 6, 3, 0]),
        (NOW + 4999, 9, [6, 3, 0]),
        (NOW + 1999, 9, [3, 0]),
        (NOW, 9, [0]),
        (NOW - 1, 9, []),
    ],
)
def test_old_style_offsets_use_last_write_time_of_segments(
    time: int, most: int, expected: list[int]
) -> None:
    assert old_style_offsets(_segmented(), time, most, TimeMs(NOW + 5000)) == expected


def test_old_style_offsets_of_empty_log_are_zero_since_its_creation() -> None:
    cluster = ClusterState(ProducerExpiration(60_000, 1_000))
    topic = cluster.add_topic("t", random_uuid(Counting()), TopicConfig.of({}, {}))
    alone = PartitionRegistration.new([cluster.host.own], [cluster.host.own])
    empty = cluster.add_partition(topic, PartitionIndex(0), alone, NOW)
    later = TimeMs(NOW + 5000)
    for time, expected in ((LATEST, [0]), (EARLIEST, [0]), (NOW, [0]), (NOW - 1, []), (0, [])):
        assert old_style_offsets(empty, time, 9, later) == expected


def test_segment_ms_begins_new_segment_after_record_time() -> None:
    target = partition(segment_ms="1000")
    for after_ms in (0, 1000, 1001):
        records = [Record(b"x")]
        target.append(encode_batch(RecordBatch(records, base_timestamp=NOW + after_ms)), NOW)
    assert old_style_offsets(target, LATEST, 9, NOW) == [3, 2, 0]


# -- topics of an older format ---------------------------------------------------------------------


def _of_format(version: str, release: str = "2.8.2") -> Partition:
    config = TopicConfig.of({"message.format.version": version}, {}, EmulatedRelease(release))
    target = partition()
    target.config = config
    return target


@pytest.mark.parametrize(
    ("release", "version", "magic"),
    [
        ("2.8.2", "0.9.0", 0),
        ("2.8.2", "0.10.0-IV0", 1),
        ("2.8.2", "0.10.2.1", 1),
        ("2.8.2", "0.11.0-IV0", 2),
        ("3.9.2", "0.9.0", 2),  # ignored (KIP-724)
    ],
)
def test_message_format_version_sets_magic_of_stored_records(
    release: str, version: str, magic: int
) -> None:
    target = _of_format(version, release)
    target.append(_batch(), NOW)
    assert magic_of(target.log.read(Offset(0), 1 << 30, True)) == magic


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_topic_of_old_format_stores_and_finds_single_messages(compression: str) -> None:
    target = _of_format("0.10.2")
    for _ in range(2):
        target.append(_batch(compression), NOW)
    assert target.log.end_offset == 6
    stored = target.log.read(Offset(4), 1 << 30, True)
    messages = decode_message_set(stored)
    expected = [4, 5] if compression == "none" else [3, 4, 5]
    assert [message.offset for message in messages] == expected
    assert record_at(target, NOW).offset == 0
    as_it_is = as_message_sets(PartitionReading(KEY, records=stored),
                               1, 4, replace(LOOKS, may_convert=False))  # fmt: skip
    assert as_it_is.records == stored


def test_disabled_conversion_returns_unsupported_version() -> None:
    rules = ConversionRules(may_convert=False)
    found = as_message_sets(_reading(_batch()), 1, 0, rules)
    assert (found.error, found.records) == (ErrorCode.UNSUPPORTED_VERSION, b"")
    for empty in (_reading(), PartitionReading(KEY, ErrorCode.OFFSET_OUT_OF_RANGE)):
        assert as_message_sets(empty, 1, 0, rules).error is ErrorCode.UNSUPPORTED_VERSION
        looks = replace(LOOKS, may_convert=False)
        assert as_message_sets(empty, 1, 0, looks).error is empty.error


def test_unfinished_batch_alone_is_no_data_where_all_is_converted() -> None:
    reading = _reading(cut_bytes=40)
    assert as_message_sets(reading, 0, 0, ANY).records == b""
    assert as_message_sets(reading, 0, 0, LOOKS).records == reading.records


@pytest.mark.parametrize(
    ("batch", "error"),
    [
        (RecordBatch([Record(b"x")], base_timestamp=NOW, producer_id=7, producer_epoch=0,
                     base_sequence=0), ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        (RecordBatch([Record(b"x", None, [Header("h", b"")])], base_timestamp=NOW),
         ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)  # fmt: skip
def test_topic_of_old_format_refuses_producer_ids_and_headers(
    batch: RecordBatch, error: ErrorCode
) -> None:
    assert refusal(_of_format("0.10.2"), encode_batch(batch)).error is error
