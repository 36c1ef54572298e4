"""COMP: compressed batches that a partition refuses, and forms of snappy that it takes."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable

import google_crc32c
import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import BATCH_HEADER_BYTES, Record, RecordBatch, encode_batch
from harness.codec.records.compression import CODEC_IDS
from harness.codec.varint import encode_uvarint
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import now_ms
from suites.protocol.support.codecs import codecs_of
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.old_messages import GZIP, message_bytes
from suites.protocol.support.partition_log import UntouchedLog, keys_and_values, stored_batches
from suites.protocol.support.record_formats import FIRST_PRODUCE_OF_MAGIC_1

BASE_MS = now_ms()
OVERHEAD_BYTES, LENGTH_AT, CRC_AT, ATTRIBUTES_AT = 12, 8, 17, 21
UNKNOWN_CODECS = (5, 6, 7)
FIVE = [Record(b"number %d" % number, b"key") for number in range(5)]


def _five() -> RecordBatch:
    return RecordBatch(FIVE, base_timestamp=BASE_MS)


def _with_payload(codec: int, payload: bytes) -> bytes:
    """A batch of FIVE by its header, with these bytes as its records, in this codec by its word.

    Length and checksum are right.
    """
    head = bytearray(encode_batch(_five())[:BATCH_HEADER_BYTES])
    struct.pack_into(">i", head, LENGTH_AT, BATCH_HEADER_BYTES - OVERHEAD_BYTES + len(payload))
    struct.pack_into(">h", head, ATTRIBUTES_AT, codec)
    checksum = google_crc32c.value(bytes(head[ATTRIBUTES_AT:]) + payload)
    struct.pack_into(">I", head, CRC_AT, checksum)
    return bytes(head) + payload


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "begun wrong": lambda packed: bytes(byte ^ 0xFF for byte in packed[:8]) + packed[8:],
    "cut in half": lambda packed: packed[: len(packed) // 2],
}


@judges("COMP-007")
@pytest.mark.parametrize("damage", DAMAGES)
@at_versions("Produce", "3+")
def test_produce_with_undecodable_compressed_payload_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int, damage: str
) -> None:
    """The broker refuses bytes that no codec made, in a batch with a correct checksum."""
    log = UntouchedLog(broker, kept.topic(broker, _plain))
    with requirement("COMP-007") as check:
        for codec in codecs_of(broker, api_version, with_none=False):
            with check.subtest(codec):
                log.renew()
                packed = encode_batch(_five(), codec)[BATCH_HEADER_BYTES:]
                batch = _with_payload(CODEC_IDS[codec], DAMAGES[damage](packed))
                answer = broker.produce(log.topic, batch, api_version)
                assert answer.error_code != ErrorCode.NONE, f"{codec} {damage}: taken"
                log.expect_untouched(f"{codec} {damage}")


def _plain(broker: BrokerUnderTest) -> Topic:
    """Stays empty at a broker that refuses what it should."""
    return broker.create_topic()


@judges("COMP-008")
@at_versions("Produce", "3+")
def test_produce_with_unknown_codec_id_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The ids 5 to 7, which no codec has; the records are not compressed at all."""
    log = UntouchedLog(broker, kept.topic(broker, _plain))
    plain = encode_batch(_five())[BATCH_HEADER_BYTES:]
    with requirement("COMP-008") as check:
        for codec in UNKNOWN_CODECS:
            with check.subtest(f"codec {codec}"):
                log.renew()
                answer = broker.produce(log.topic, _with_payload(codec, plain), api_version)
                assert answer.error_code != ErrorCode.NONE, f"a batch of codec {codec} is taken"
                log.expect_untouched(f"codec {codec}")


@judges("COMP-007")
@at_versions("Produce", "0-2")
def test_produce_of_message_with_undecodable_value_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Messages of magic 0 and 1, by their attributes in gzip, with a damaged value."""
    log, magic = UntouchedLog(broker, kept.topic(broker, _plain)), _magic_for(api_version)
    packed = gzip.compress(message_bytes(magic, b"inside of a message"))
    with requirement("COMP-007") as check:
        for damage, change in DAMAGES.items():
            with check.subtest(damage):
                message = message_bytes(magic, change(packed), attributes=GZIP)
                _expect_refused(log, message, api_version, f"gzip {damage}")


@judges("COMP-008")
@at_versions("Produce", "0-2")
def test_produce_of_message_with_unknown_codec_id_is_refused(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Messages of magic 0 and 1 with the ids 5 to 7; the value is a message, not compressed."""
    log, magic = UntouchedLog(broker, kept.topic(broker, _plain)), _magic_for(api_version)
    inner = message_bytes(magic, b"inside of a message")
    with requirement("COMP-008") as check:
        for codec in UNKNOWN_CODECS:
            with check.subtest(f"codec {codec}"):
                message = message_bytes(magic, inner, attributes=codec)
                _expect_refused(log, message, api_version, f"codec {codec}")


def _magic_for(produce_version: int) -> int:
    return 1 if produce_version >= FIRST_PRODUCE_OF_MAGIC_1 else 0


def _expect_refused(log: UntouchedLog, records: bytes, version: int, where: str) -> None:
    log.renew()
    answer = log.broker.produce(log.topic, records, version)
    assert answer.error_code != ErrorCode.NONE, f"{where}: taken"
    log.expect_untouched(where)


@judges("COMP-009")
@at_versions("Produce", "3+")
def test_compressed_batch_with_wrong_record_count_returns_invalid_record(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The header says five, four or six are inside."""
    log = UntouchedLog(broker, kept.topic(broker, _plain))
    with requirement("COMP-009") as check:
        for codec in codecs_of(broker, api_version, with_none=False):
            for inside in (FIVE[:4], [*FIVE, Record(b"number 5", b"key")]):
                with check.subtest(f"{codec}, {len(inside)} inside"):
                    batch = RecordBatch(inside, base_timestamp=BASE_MS, record_count=5,
                                        last_offset_delta=4)  # fmt: skip
                    where = f"{codec}: five by the header, {len(inside)} inside"
                    refusal = ErrorCode.INVALID_RECORD
                    log.expect_refusal(encode_batch(batch, codec), api_version, refusal, where)


# -- snappy ----------------------------------------------------------------------------------------

LITERAL_OF_TWO_BYTES = 61 << 2  # a tag; the two bytes after it hold the length, less one
XERIAL = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


def _raw_snappy(data: bytes) -> bytes:
    """One block that holds ``data`` as a literal, as snappy's format description has it."""
    size = encode_uvarint(len(data))
    return size + struct.pack("<BH", LITERAL_OF_TWO_BYTES, len(data) - 1) + data


def _in_xerial_blocks(data: bytes) -> bytes:
    """The framing of the Java client: a header, then blocks with their lengths."""
    blocks = [_raw_snappy(half) for half in (data[:20], data[20:])]
    return XERIAL + b"".join(struct.pack(">i", len(block)) + block for block in blocks)


@judges("COMP-011")
@pytest.mark.parametrize("framing", [_in_xerial_blocks, _raw_snappy])
@at_versions("Produce", "3+")
def test_produce_accepts_xerial_framed_and_raw_snappy(
    broker: BrokerUnderTest, api_version: int, framing: Callable[[bytes], bytes]
) -> None:
    """The framing of the Java client, and a bare block as librdkafka and others write it."""
    topic = broker.create_topic()
    plain = encode_batch(_five())[BATCH_HEADER_BYTES:]
    batch = _with_payload(CODEC_IDS["snappy"], framing(plain))
    with requirement("COMP-011"):
        expect_error(broker.produce(topic, batch, api_version).error_code, ErrorCode.NONE)
        came = keys_and_values(stored_batches(broker, topic))
        expected = [(record.key, record.value) for record in FIVE]
        assert came == expected, f"came back as {came}"
