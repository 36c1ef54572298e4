"""Message sets of old producers: stored and refused ones.

The expected values were observed on Apache Kafka 3.9.2.
"""

import gzip
from dataclasses import replace

import pytest

from harness.base.ids import Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.records import (
    LOG_APPEND_TIME,
    LegacyMessage,
    Record,
    RecordBatch,
    decode_batches,
    encode_batch,
    encode_message,
    encode_message_set,
)
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.validation.message_set_validation import records_of_old_version
from tests.reference_broker.state.partition.test_partition import NOW, partition

GOOD = LegacyMessage(b"v", b"k", NOW)
TWO = [replace(GOOD, offset=1000), replace(GOOD, offset=1003)]
BATCH = encode_batch(RecordBatch([Record(b"v", b"k")], base_timestamp=NOW))


def stored(target: Partition) -> list[RecordBatch]:
    return decode_batches(target.log.read(Offset(0), 1 << 20, True))


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4"])
@pytest.mark.parametrize("magic", [0, 1])
def test_message_set_is_stored_as_one_batch(codec: str, magic: int) -> None:
    target = partition()
    messages = [replace(GOOD, offset=at, magic=magic) for at in (1000, 1003)]
    appended = target.append(encode_message_set(messages, codec), NOW)
    assert (appended.base_offset, target.log.end_offset) == (0, 2)
    (batch,) = stored(target)
    assert (batch.compression, batch.partition_leader_epoch) == (codec, 0)
    time = NOW if magic else -1
    assert (batch.base_timestamp, batch.max_timestamp) == (time, time)
    assert [(r.key, r.value, r.offset_delta) for r in batch.records] == [
        (b"k", b"v", 0),
        (b"k", b"v", 1),
    ]


def test_topic_config_sets_codec_and_timestamps_of_message_set() -> None:
    target = partition(compression_type="zstd", message_timestamp_type="LogAppendTime")
    appended = target.append(encode_message_set(TWO), TimeMs(NOW + 9))
    (batch,) = stored(target)
    assert (batch.compression, batch.max_timestamp) == ("zstd", NOW + 9)
    assert batch.attributes & LOG_APPEND_TIME
    assert appended.append_time == NOW + 9


def _wrapped(inner: bytes, offset: int = 0) -> bytes:
    packed = gzip.compress(inner)
    return encode_message(LegacyMessage(packed, timestamp=NOW, attributes=1, offset=offset))


INVALID, CORRUPT = ErrorCode.INVALID_RECORD, ErrorCode.CORRUPT_MESSAGE
BAD_TIME, UNFORESEEN = ErrorCode.INVALID_TIMESTAMP, ErrorCode.UNKNOWN_SERVER_ERROR
REFUSED: dict[str, tuple[bytes, ErrorCode]] = {
    "checksum": (encode_message(replace(GOOD, crc=1)), CORRUPT),
    "second checksum": (encode_message(GOOD) + encode_message(replace(GOOD, crc=1)), CORRUPT),
    "checksum inside": (_wrapped(encode_message(replace(GOOD, crc=1))), CORRUPT),
    "mixed magics": (encode_message(replace(GOOD, magic=0)) + encode_message(GOOD), INVALID),
    "batch behind": (encode_message(GOOD) + BATCH, INVALID),
    "two wrappers": (encode_message_set(TWO, "gzip") * 2, INVALID),
    "wrapper beside": (encode_message_set(TWO, "gzip") + encode_message(GOOD), INVALID),
    "magic inside": (_wrapped(encode_message(replace(GOOD, magic=0))), INVALID),
    "wrapped twice": (_wrapped(_wrapped(encode_message(GOOD))), INVALID),
    "empty wrapper": (_wrapped(b""), INVALID),
    "null wrapper": (encode_message(LegacyMessage(None, attributes=1)), INVALID),
    "wrapper's offset": (_wrapped(encode_message(replace(GOOD, offset=5)), offset=3), INVALID),
    "zstd": (encode_message_set(TWO, "zstd"), INVALID),
    "no gzip": (encode_message(LegacyMessage(b"garbage", attributes=1)), UNFORESEEN),
    "unknown codec": (encode_message(replace(GOOD, attributes=5)), UNFORESEEN),
    "negative time": (encode_message(replace(GOOD, timestamp=-5)), UNFORESEEN),
    "future": (encode_message(replace(GOOD, timestamp=NOW + 10**9)), BAD_TIME),
    "the broker's time": (
        encode_message(LegacyMessage(b"v", attributes=LOG_APPEND_TIME)),
        BAD_TIME,
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_append_refuses_invalid_message_set(name: str) -> None:
    target = partition()
    raw, error = REFUSED[name]
    with pytest.raises(AppendRefused) as refused:
        target.append(records_of_old_version(raw), NOW)
    assert refused.value.error is error
    assert target.log.end_offset == 0


@pytest.mark.parametrize("magic", [0, 1])
def test_compacted_topic_refuses_message_without_key(magic: int) -> None:
    target = partition(cleanup_policy="compact")
    with pytest.raises(AppendRefused) as refused:
        target.append(encode_message(replace(GOOD, key=None, magic=magic)), NOW)
    assert refused.value.error is INVALID
    target.append(encode_message(replace(GOOD, key=b"", magic=magic)), NOW)


def test_append_refuses_message_set_above_size_or_decompression_limit() -> None:
    raw = encode_message(replace(GOOD, value=b"v" * 60))
    for limit in (len(raw) - 1, len(raw)):
        target = partition(max_message_bytes=str(limit))
        with pytest.raises(AppendRefused) as refused:
            target.append(raw, NOW)  # a batch of one record is larger than its message
        assert refused.value.error is ErrorCode.MESSAGE_TOO_LARGE
    bomb = encode_message_set([replace(GOOD, value=bytes(100_000))], "gzip")
    with pytest.raises(AppendRefused, match="more than 1000 bytes"):
        partition(max_decompressed_message_bytes="1000").append(bomb, NOW)


def test_old_produce_request_drops_partial_tail_and_refuses_bad_sets() -> None:
    one = encode_message(GOOD)
    assert records_of_old_version(b"") == b""
    assert records_of_old_version(one[:-1]) == b""
    assert records_of_old_version(one + one[:-1]) == one
    assert records_of_old_version(BATCH + BATCH[:-1]) == BATCH
    for raw, error in (
        (BATCH * 2, INVALID),
        (encode_message(replace(GOOD, magic=3)), CORRUPT),
        (encode_message(replace(GOOD, length=10)), CORRUPT),
        (one + encode_message(replace(GOOD, length=-1)), CORRUPT),
    ):
        with pytest.raises(AppendRefused) as refused:
            records_of_old_version(raw)
        assert refused.value.error is error
