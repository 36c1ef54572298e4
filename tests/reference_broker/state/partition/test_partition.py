import struct
from typing import Any

import google_crc32c
import pytest

from harness.base.ids import Offset, PartitionIndex, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, decode_batches, encode_batch
from harness.reference_broker.effects import PartitionGrew
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.partition.offset_search import (
    LATEST,
    MAX_TIMESTAMP,
    NOTHING_FOUND,
    find_offset,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_expiration import ProducerExpiration
from harness.reference_broker.state.producers.producer_states import (
    ProducerStates,
    RememberedProducers,
)
from harness.reference_broker.state.randomness import random_uuid
from harness.reference_broker.state.validation.record_validation import single_batch

NOW = TimeMs(1_700_000_000_000)


class Counting:
    """Random bits that are always the same."""

    def getrandbits(self, k: int, /) -> int:
        return 0x1234567890ABCDEF1234567890ABCDEF % (1 << k)


def partition(**configs: str) -> Partition:
    given = {name.replace("_", "."): value for name, value in configs.items()}
    config = TopicConfig.of(given, {})
    return Partition.empty(
        random_uuid(Counting()),
        PartitionIndex(0),
        config,
        ProducerStates(ProducerExpiration(60_000, 1_000), RememberedProducers()),
    )


def sent(*deltas: int, compression: str = "none", **fields: int) -> bytes:
    records = [Record(b"value", b"key", timestamp_delta=delta) for delta in deltas or (0, 1, 2)]
    fields = {"base_timestamp": NOW, **fields}
    return encode_batch(RecordBatch(records=records, **fields), compression)


def refusal(target: Partition, batch: bytes) -> AppendRefused:
    with pytest.raises(AppendRefused) as raised:
        target.append(batch, NOW)
    assert target.log.end_offset == 0
    return raised.value


def test_append_assigns_consecutive_offsets_and_reports_growth() -> None:
    target = partition()
    first, second = target.append(sent(), NOW), target.append(sent(0), NOW)
    assert (first.base_offset, second.base_offset, target.high_watermark) == (0, 3, 4)
    assert first.effects == (PartitionGrew(target.topic_id, target.index),)


@pytest.mark.parametrize("compression", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_valid_batch_is_stored_with_unchanged_payload(compression: str) -> None:
    target = partition()
    target.append(sent(), NOW)
    batch = sent(compression=compression)
    target.append(batch, NOW)
    stored = target.log.read(Offset(4), 10_000, True)
    assert stored[12 + 4 :] == batch[12 + 4 :]
    assert struct.unpack_from(">q", stored) == (3,)
    assert struct.unpack_from(">i", stored, 12) == (0,)


def test_append_corrects_wrong_max_timestamp() -> None:
    target = partition()
    target.append(sent(0, 7, max_timestamp=5), NOW)
    (stored,) = decode_batches(target.log.read(Offset(0), 10_000, True))
    assert stored.max_timestamp == NOW + 7


def test_log_append_time_replaces_timestamps() -> None:
    target = partition(message_timestamp_type="LogAppendTime")
    assert target.append(sent(), TimeMs(NOW + 50)).append_time == NOW + 50
    (stored,) = decode_batches(target.log.read(Offset(0), 10_000, True))
    assert (stored.max_timestamp, stored.attributes) == (NOW + 50, 8)


@pytest.mark.parametrize("kind", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
def test_topic_compression_type_recompresses_batch(kind: str) -> None:
    target = partition(compression_type=kind)
    target.append(sent(5, 6, compression="zstd" if kind != "zstd" else "gzip"), NOW)
    (stored,) = decode_batches(target.log.read(Offset(0), 10_000, True))
    assert stored.compression == ("none" if kind == "uncompressed" else kind)
    assert [r.offset_delta for r in stored.records] == [0, 1]
    assert [stored.base_timestamp + r.timestamp_delta for r in stored.records] == [NOW + 5, NOW + 6]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"base_offset": 5}, ErrorCode.INVALID_RECORD),
        ({"last_offset_delta": -1}, ErrorCode.INVALID_RECORD),
        ({"record_count": 0}, ErrorCode.INVALID_RECORD),
        ({"last_offset_delta": 7}, ErrorCode.INVALID_RECORD),
        ({"record_count": 4, "last_offset_delta": 3}, ErrorCode.INVALID_RECORD),
        ({"record_count": 2, "last_offset_delta": 1}, ErrorCode.INVALID_RECORD),
        ({"attributes": 0x20}, ErrorCode.INVALID_RECORD),
        ({"producer_id": 4, "producer_epoch": 0}, ErrorCode.INVALID_RECORD),
        ({"base_timestamp": NOW + 3_600_001}, ErrorCode.INVALID_TIMESTAMP),
    ],
)
def test_append_refuses_invalid_batch_header(fields: dict[str, Any], error: ErrorCode) -> None:
    assert refusal(partition(), sent(**fields)).error is error


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_append_refuses_undecodable_payload(codec: int) -> None:
    """The error is that of unforeseen failures, as Kafka 4.4.0 answers for each codec."""
    batch = bytearray(sent())
    struct.pack_into(">h", batch, 21, codec)
    struct.pack_into(">I", batch, 17, google_crc32c.value(bytes(batch[21:])))
    assert refusal(partition(), bytes(batch)).error is ErrorCode.UNKNOWN_SERVER_ERROR


def test_append_of_empty_zstd_payload_returns_invalid_record() -> None:
    """A stream of no bytes is not broken for Kafka's reader."""
    batch = bytearray(sent()[:61])
    struct.pack_into(">i", batch, 8, 61 - 12)
    struct.pack_into(">h", batch, 21, 4)
    struct.pack_into(">I", batch, 17, google_crc32c.value(bytes(batch[21:])))
    assert refusal(partition(), bytes(batch)).error is ErrorCode.INVALID_RECORD


def test_append_with_wrong_checksum_returns_corrupt_message() -> None:
    batch = sent()
    assert refusal(partition(), batch[:-1] + b"\xff").error is ErrorCode.CORRUPT_MESSAGE


def test_append_refuses_decompression_bomb() -> None:
    record = Record(b"\0" * 100_000, b"key")
    bomb = encode_batch(RecordBatch(records=[record], base_timestamp=NOW), "gzip")
    target = partition(max_decompressed_message_bytes="50000")
    assert refusal(target, bomb).error is ErrorCode.INVALID_RECORD


def test_append_refuses_batch_above_message_or_segment_size() -> None:
    assert refusal(partition(max_message_bytes="60"), sent()).error is ErrorCode.MESSAGE_TOO_LARGE
    small = partition(internal_segment_bytes="60")
    assert refusal(small, sent()).error is ErrorCode.RECORD_LIST_TOO_LARGE


def test_compacted_topic_refuses_records_without_key_by_index() -> None:
    records = [Record(b"v", b"k"), Record(b"v"), Record(b"v", b"k"), Record(b"v")]
    batch = encode_batch(RecordBatch(records=records, base_timestamp=NOW))
    refused = refusal(partition(cleanup_policy="compact"), batch)
    assert refused.error is ErrorCode.INVALID_RECORD
    assert [problem.batch_index for problem in refused.record_problems] == [1, 3]


def test_timestamp_out_of_bounds_is_refused_by_record_index() -> None:
    refused = refusal(partition(message_timestamp_before_max_ms="10"), sent(0, -11, 5))
    assert refused.error is ErrorCode.INVALID_TIMESTAMP
    assert [problem.batch_index for problem in refused.record_problems] == [1]


def test_record_without_timestamp_is_accepted() -> None:
    target = partition(message_timestamp_before_max_ms="10")
    target.append(sent(0, base_timestamp=-1), NOW)
    assert target.log.end_offset == 1


@pytest.mark.parametrize(
    ("records", "version", "error"),
    [
        (b"", 9, ErrorCode.INVALID_RECORD),
        (sent()[:50], 9, ErrorCode.INVALID_RECORD),
        (sent() + sent(), 9, ErrorCode.INVALID_RECORD),
        (sent(compression="zstd"), 6, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        (sent()[:8] + b"\xff\xff\xff\xff" + sent()[12:], 9, ErrorCode.CORRUPT_MESSAGE),
        (sent()[:16] + b"\x03" + sent()[17:], 9, ErrorCode.CORRUPT_MESSAGE),
        (sent()[:16] + b"\x01" + sent()[17:], 9, ErrorCode.INVALID_RECORD),
    ],
)
def test_produce_data_without_exactly_one_valid_batch_is_refused(
    records: bytes, version: int, error: ErrorCode
) -> None:
    with pytest.raises(AppendRefused) as raised:
        single_batch(records, version)
    assert raised.value.error is error


def test_single_batch_drops_trailing_partial_batch() -> None:
    assert single_batch(sent() + sent()[:40], 9) == sent()


def test_duplicate_batch_returns_offset_of_first_append() -> None:
    target = partition()
    batch = sent(producer_id=9, producer_epoch=0, base_sequence=0)
    first, again = target.append(batch, NOW), target.append(batch, NOW)
    assert (again.base_offset, again.effects) == (first.base_offset, ())
    assert target.log.end_offset == 3


def test_log_read_ends_at_byte_limit_or_stop_offset() -> None:
    target = partition()
    for _ in range(4):
        target.append(sent(), NOW)
    size = target.log.size_bytes // 4
    everything = target.log.read(Offset(0), size * 4, True)
    assert len(everything) == size * 4

    def read(offset: int, limit_bytes: int, at_least_one: bool = True, stop: int = 12) -> bytes:
        return target.log.read(Offset(offset), limit_bytes, at_least_one, Offset(stop))

    assert read(4, size * 2 + 5) == everything[size : size * 3 + 5]
    assert read(3, size * 2 + 5) == everything[size : size * 3 + 5]
    assert read(4, size - 1, at_least_one=False) == everything[size : size * 2 - 1]
    assert read(4, 1) == everything[size : size * 2]
    assert read(4, size * 9) == everything[size:]
    assert read(4, size * 9, stop=9) == everything[size : size * 3]
    assert read(4, 0, at_least_one=False) == read(12, size) == b""


def test_find_offset_searches_timestamps_of_records() -> None:
    target = partition()
    target.append(sent(0, 10, 20, compression="gzip"), NOW)
    target.append(sent(5, 30), NOW)
    assert find_offset(target, NOW + 11).offset == 2
    assert find_offset(target, NOW + 21).offset == 4
    assert find_offset(target, NOW + 31) == NOTHING_FOUND
    assert find_offset(target, MAX_TIMESTAMP).timestamp == NOW + 30
    assert find_offset(target, LATEST).offset == 5
