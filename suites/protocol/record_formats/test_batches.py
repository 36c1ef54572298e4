"""RECF: batches of magic 2 in the bytes of a Fetch response."""

from __future__ import annotations

import struct
import zlib

import google_crc32c

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    LOG_APPEND_TIME,
    Record,
    RecordBatch,
    decode_batches,
    encode_batch,
)
from harness.codec.records.compression import CODEC_IDS
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.codecs import FIRST_FETCH_OF_ZSTD, codecs_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.idempotent import new_producer
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.leader_epoch import told_leader_epoch
from suites.protocol.support.log_entries import MAGIC_AT, attributes_of, fetched_entries
from suites.protocol.support.partition_log import UntouchedLog
from suites.protocol.support.record_formats import FIRST_PRODUCE_OF_MAGIC_1

BASE_MS = now_ms()
EPOCH = 2  # of a producer: not the default of any field
FIRST_LEADER_EPOCH = 0  # of a new partition; before 2.1 Metadata does not show it
BEFORE = 3  # records in front of the batch that a test looks at
CRC_AT, CRC_COVERS_FROM = 17, 21
# Field by field, where it stands and how (KIP-98).
HEADER_LAYOUT = {
    "base offset": (">q", 0),
    "length": (">i", 8),
    "partition leader epoch": (">i", 12),
    "magic": (">b", 16),
    "attributes": (">h", 21),
    "last offset delta": (">i", 23),
    "base timestamp": (">q", 27),
    "max timestamp": (">q", 35),
    "producer id": (">q", 43),
    "producer epoch": (">h", 51),
    "base sequence": (">i", 53),
    "record count": (">i", 57),
    "checksum": (">I", CRC_AT),
}
# Two records by hand: length, attributes, timestamp delta, offset delta, key, value, headers.
GOLDEN_RECORDS = (
    bytes.fromhex("0c 00 00 00 01 01 00")  # key and value null: length -1
    + bytes.fromhex("9601 00 8204 02 00 8001")  # no key bytes, 64 of value; 257 ms later
    + b"v" * 64
    + bytes.fromhex("02 02 68 01")  # one header: "h" with a null value
)


def _golden_batch(producer_id: int = -1, epoch: int = -1, sequence: int = -1) -> bytes:
    """A header in front of GOLDEN_RECORDS, packed here, not by the codec."""
    times = (BASE_MS, BASE_MS + 257)
    covered = struct.pack(">hiqqqhii", 0, 1, *times, producer_id, epoch, sequence, 2)
    covered += GOLDEN_RECORDS
    checksum = google_crc32c.value(covered)
    behind_length = struct.pack(">ibI", -1, 2, checksum) + covered
    return struct.pack(">qi", 0, len(behind_length)) + behind_length


def _golden(broker: BrokerUnderTest) -> Topic:
    """Three records in a batch, then the one by hand."""
    topic = broker.create_topic()
    append(broker, topic, batch_of(*[b"before"] * BEFORE), _golden_batch())
    return topic


def _field(batch: bytes, name: str) -> int:
    form, at = HEADER_LAYOUT[name]
    found: int = struct.unpack_from(form, batch, at)[0]
    return found


@judges("RECF-010")
@at_versions("Fetch", "4+")
def test_fetched_batch_header_has_documented_layout(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Each field in its place, those of a producer too.

    The broker's are the base offset, the leader epoch, which Metadata shows, and with it nothing
    that the checksum covers.
    """
    topic, producer = broker.create_topic(), new_producer(broker).at_epoch(EPOCH)
    sent = _golden_batch(producer.id, EPOCH, BEFORE)
    append(broker, topic, producer.batch(0, *[b"before"] * BEFORE), sent)
    expected = {name: _field(sent, name) for name in HEADER_LAYOUT} | {"base offset": BEFORE}
    expected["partition leader epoch"] = max(told_leader_epoch(broker, topic), FIRST_LEADER_EPOCH)
    with requirement("RECF-010"):
        batch = fetched_entries(broker, topic, api_version, offset=BEFORE)[0]
        assert len(batch) == len(sent), f"{len(sent)} bytes sent, {len(batch)} came"
        found = {name: _field(batch, name) for name in HEADER_LAYOUT}
        wrong = [name for name, value in found.items() if value != expected[name]]
        told = ", ".join(f"{name} is {found[name]}, not {expected[name]}" for name in wrong)
        assert not wrong, told


@judges("RECF-013")
@at_versions("Fetch", "4+")
def test_fetched_record_fields_have_documented_encoding(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Varints in zig-zag, null as length -1, an empty key and a null header value."""
    topic = kept.topic(broker, _golden)
    with requirement("RECF-013"):
        batch = fetched_entries(broker, topic, api_version, offset=BEFORE)[0]
        came = batch[BATCH_HEADER_BYTES:]
        assert came == GOLDEN_RECORDS, f"records sent: {GOLDEN_RECORDS.hex()}, came: {came.hex()}"


# -- the attributes --------------------------------------------------------------------------------

BOTH_TIMES = {"CreateTime": 0, "LogAppendTime": LOG_APPEND_TIME}


def _of_every_codec(broker: BrokerUnderTest, codecs: list[str]) -> list[tuple[Topic, int]]:
    """Create a topic for each time type, with a batch in codec i in its partition i.

    Return the topics with the bits of their time types.
    """
    topics = []
    for time_type, bit in BOTH_TIMES.items():
        if bit and FIRST_PRODUCE_OF_MAGIC_1 not in broker.advertised("Produce"):
            continue  # before, there were no times (KIP-32)
        configs = {"message.timestamp.type": time_type} if bit else {}
        topic = broker.create_topic(partitions=len(codecs), configs=configs)
        for partition, codec in enumerate(codecs):
            batch = RecordBatch([Record(b"coded")] * 3, base_timestamp=BASE_MS)
            append(broker, topic, encode_batch(batch, codec), partition=partition)
        topics.append((topic, bit))
    return topics


@judges("RECF-005")
@at_versions("Fetch", "0-1", "2-3", "4-9", "10+")
def test_attributes_contain_only_codec_and_timestamp_type(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Bits 0 to 2 and bit 3, which magic 0 has not; all others are 0."""
    codecs = codecs_of(broker, broker.version("Produce"))
    topics = _of_every_codec(broker, codecs)
    if api_version < FIRST_FETCH_OF_ZSTD:
        codecs = [codec for codec in codecs if codec != "zstd"]
    with requirement("RECF-005") as check:
        for topic, time_bit in topics:
            for partition, codec in enumerate(codecs):
                with check.subtest(f"{codec}, time bit {time_bit}"):
                    (entry, *_) = fetched_entries(broker, topic, api_version, partition=partition)
                    expected = CODEC_IDS[codec] | (time_bit if entry[MAGIC_AT] else 0)
                    found = attributes_of(entry)
                    told = f"{codec}, magic {entry[MAGIC_AT]}: attributes are {found:#x}"
                    assert found == expected, f"{told}, expected {expected:#x}"


# -- the checksum ----------------------------------------------------------------------------------


def _checksum(batch: bytes) -> tuple[int, int]:
    """Return the batch's checksum, and the one computed from the attributes on."""
    (told,) = struct.unpack_from(">I", batch, CRC_AT)
    return told, google_crc32c.value(batch[CRC_COVERS_FROM:])


def _changed_by_the_broker(broker: BrokerUnderTest) -> list[Topic]:
    """Logs with three batches; in the second one, the broker's time is in their headers."""
    topics = []
    for time_type in ("CreateTime", "LogAppendTime"):
        topic = broker.create_topic(configs={"message.timestamp.type": time_type})
        wrong = RecordBatch([Record(b"third")], base_timestamp=BASE_MS, max_timestamp=BASE_MS + 9)
        append(broker, topic, batch_of(b"first"), batch_of(b"second"), encode_batch(wrong))
        topics.append(topic)
    return topics


@judges("RECF-011")
@at_versions("Fetch", "4+")
def test_fetched_batch_has_crc_32c_from_attributes_to_end(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """CRC-32C from the attributes on, also where the broker has changed what it covers."""
    topics = _changed_by_the_broker(broker)
    with requirement("RECF-011"):
        for topic in topics:
            for batch in fetched_entries(broker, topic, api_version):
                told, computed = _checksum(batch)
                where = f"base offset {_field(batch, 'base offset')}"
                assert told == computed, f"{where}: checksum {told:#x}, computed {computed:#x}"


@judges("RECF-011")
@at_versions("Produce", "3+")
def test_produce_with_crc_32_or_wrong_crc_range_returns_corrupt_message(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """That of magic 0 and 1, and one that covers offset and leader epoch as well."""
    topic = broker.create_topic()
    log = UntouchedLog(broker, topic)
    batch = batch_of(b"checked otherwise")
    others = {
        "CRC-32": zlib.crc32(batch[CRC_COVERS_FROM:]),
        "CRC-32C from the first byte on": google_crc32c.value(
            batch[:CRC_AT] + batch[CRC_COVERS_FROM:]
        ),
    }
    with requirement("RECF-011") as check:
        for name, checksum in others.items():
            with check.subtest(name):
                made = batch[:CRC_AT] + struct.pack(">I", checksum) + batch[CRC_COVERS_FROM:]
                log.expect_refusal(made, api_version, ErrorCode.CORRUPT_MESSAGE, name)


# -- what is relative to the header ----------------------------------------------------------------

TIMES_AFTER_MS = [0, 5, 3000]


def _timed_behind_others(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic()
    records = [Record(b"timed", timestamp_delta=after) for after in TIMES_AFTER_MS]
    older = RecordBatch([Record(b"before")] * BEFORE, base_timestamp=BASE_MS - 60_000)
    timed = RecordBatch(records, base_timestamp=BASE_MS)
    append(broker, topic, encode_batch(older), encode_batch(timed))
    return topic


@judges("RECF-012")
@at_versions("Fetch", "4+")
def test_record_offset_and_timestamp_are_relative_to_batch_header(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Base offset + delta and base timestamp + delta are what ListOffsets says of each record."""
    broker.version("ListOffsets", "1+")  # version 0 knows no time of a record
    topic = kept.topic(broker, _timed_behind_others)
    with requirement("RECF-012"):
        raw = fetched_entries(broker, topic, api_version, offset=BEFORE)[0]
        (batch,) = decode_batches(raw)
        for record, after_ms in zip(batch.records, TIMES_AFTER_MS, strict=True):
            answer = broker.list_offset(topic, BASE_MS + after_ms)
            expect_error(answer.error_code, ErrorCode.NONE, f"ListOffsets {after_ms}")
            listed = (answer.offset, answer.timestamp - BASE_MS)
            offset = batch.base_offset + (record.offset_delta or 0)
            computed = (offset, batch.base_timestamp + record.timestamp_delta - BASE_MS)
            told = f"(offset, time) of the record is {computed}, ListOffsets says {listed}"
            assert computed == listed, told


@judges("RECF-028")
@at_versions("Fetch", "0-3", "4+")
def test_fetch_at_offset_inside_batch_returns_that_batch(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Of [0,1][2,3] each offset is fetched: it comes, and records before it may."""
    topic = kept.topic(broker, _two_pairs)
    with requirement("RECF-028") as check:
        for offset in range(4):
            with check.subtest(f"offset {offset}"):
                found = _offsets(fetched_entries(broker, topic, api_version, offset=offset))
                assert offset in found, f"a fetch at {offset} brings {found}"
                run = list(range(found[0], found[0] + len(found)))
                assert found == run, f"a fetch at {offset} brings {found}"


def _two_pairs(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic()
    append(broker, topic, batch_of(b"pair 0", b"pair 1"), batch_of(b"pair 2", b"pair 3"))
    return topic


def _offsets(entries: list[bytes]) -> list[int]:
    """Return the offsets of all records; a message of an older format is one."""
    offsets: list[int] = []
    for entry in entries:
        base = _field(entry, "base offset")
        count = _field(entry, "record count") if _field(entry, "magic") == 2 else 1
        offsets += range(base, base + count)
    return offsets
