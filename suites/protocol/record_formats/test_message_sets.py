"""RECF: messages of magic 0 and 1, in requests of Produce 0 to 2 and responses of Fetch 0 to 3."""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Sequence

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from harness.codec.records import Record, RecordBatch, encode_batch
from harness.codec.versions import VersionRange
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import append, batch_of, now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.log_entries import MAGIC_AT, fetched_entries, whole_entries
from suites.protocol.support.old_messages import (
    CRC_COVERS_FROM,
    OldMessage,
    gzip_wrapper,
    message_bytes,
    read_message,
)
from suites.protocol.support.record_formats import FIRST_PRODUCE_OF_MAGIC_1, records_in

BASE_MS = now_ms()
PLAIN = 5  # messages before the wrapper of _wrapper_behind_plain
LOG_APPEND_TIME = 0x08
PAIRS: list[tuple[bytes | None, bytes | None]] = [
    (b"key", b"value"),
    (None, b"\x00" * 200),
    (b"k" * 130, None),
    (b"", b""),
]
SUMMED: list[tuple[bytes | None, bytes | None]] = [
    (b"summed", b"value"),
    (b"summed", None),
    (None, b"\x00" * 200),
    (b"k" * 130, b""),
]


def _magic_for(produce_version: int) -> int:
    return 1 if produce_version >= FIRST_PRODUCE_OF_MAGIC_1 else 0


def _summed(broker: BrokerUnderTest) -> Topic:
    """SUMMED as keys and values."""
    records = [Record(value, key) for key, value in SUMMED]
    topic = broker.create_topic()
    append(broker, topic, encode_batch(RecordBatch(records, base_timestamp=BASE_MS)))
    return topic


def _wrapper_behind_plain(broker: BrokerUnderTest) -> Topic:
    """Five messages, then three in one compressed set."""
    topic = broker.create_topic()
    records = [Record(b"packed %d" % number) for number in range(3)]
    packed = encode_batch(RecordBatch(records, base_timestamp=BASE_MS), "gzip")
    append(broker, topic, batch_of(*[b"plain"] * PLAIN), packed)
    return topic


def _messages(
    broker: BrokerUnderTest, topic: Topic, version: int, offset: int = 0
) -> list[OldMessage]:
    return [read_message(one) for one in fetched_entries(broker, topic, version, offset=offset)]


def _served(broker: BrokerUnderTest, api: str, wanted: str) -> list[int]:
    broker.version(api, wanted)  # raises ApiNotAdvertised where none is
    return list(broker.advertised(api) & VersionRange.parse(wanted))


def _expect_unchanged(
    broker: BrokerUnderTest,
    topic: Topic,
    sent: list[bytes],
    version: int,
    reading: Sequence[int],
) -> None:
    """Every given version of Fetch returns the messages that Produce stored byte by byte."""
    answer = broker.produce(topic, b"".join(sent), version)
    expect_error(answer.error_code, ErrorCode.NONE)
    for fetch_version in reading:
        came = fetched_entries(broker, topic, fetch_version)
        _expect_right_checksums(came)
        assert came == sent, f"Fetch {fetch_version}: sent {_hex(sent)}, came {_hex(came)}"


# -- the layout ------------------------------------------------------------------------------------


@judges("RECF-001")
@at_versions("Produce", "0-2")
def test_message_of_magic_0_is_fetched_byte_identical(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Checksum, magic, attributes, key, value; only the offset in front is the broker's."""
    reading = _served(broker, "Fetch", "0-1")
    topic = broker.create_topic()
    sent = [message_bytes(0, value, key, offset=at) for at, (key, value) in enumerate(PAIRS)]
    with requirement("RECF-001"):
        _expect_unchanged(broker, topic, sent, api_version, reading)


@judges("RECF-002")
@at_versions("Produce", "2")
def test_message_of_magic_1_is_fetched_byte_identical(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """As magic 0, and a time of eight bytes behind the attributes."""
    reading = _served(broker, "Fetch", "2-3")
    topic = broker.create_topic()
    sent = [
        message_bytes(1, value, key, offset=at, timestamp=BASE_MS + at)
        for at, (key, value) in enumerate(PAIRS)
    ]
    with requirement("RECF-002"):
        _expect_unchanged(broker, topic, sent, api_version, reading)


@judges("RECF-002")
@at_versions("Fetch", "2-3")
def test_magic_1_attribute_bit_3_is_timestamp_type(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """0 for the producer's time, 1 for the broker's."""
    for time_type, bit in (("CreateTime", 0), ("LogAppendTime", LOG_APPEND_TIME)):
        topic = broker.create_topic(configs={"message.timestamp.type": time_type})
        append(broker, topic, batch_of(b"timed"))
        with requirement("RECF-002"):
            (message,) = _messages(broker, topic, api_version)
            found = message.attributes & LOG_APPEND_TIME
            assert found == bit, f"{time_type}: attributes are {message.attributes:#x}"


def _expect_right_checksums(entries: list[bytes]) -> None:
    for entry in entries:
        computed = zlib.crc32(entry[CRC_COVERS_FROM:])
        told = read_message(entry).crc
        assert told == computed, f"checksum {told:#x}, of magic and all behind it {computed:#x}"


def _hex(entries: list[bytes]) -> str:
    return " ".join(entry.hex() for entry in entries)


@judges("RECF-003")
@at_versions("Fetch", "0-1", "2-3")
def test_message_length_equals_sum_of_field_sizes(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """4+1+1+4+K+4+V, with magic 1 eight more; null needs no byte but its length."""
    topic = kept.topic(broker, _summed)
    with requirement("RECF-003"):
        entries = fetched_entries(broker, topic, api_version)
        for entry, (key, value) in zip(entries, SUMMED, strict=True):
            offset, length = struct.unpack_from(">qi", entry)
            magic = entry[MAGIC_AT]
            expected = 14 + (8 if magic else 0) + len(key or b"") + len(value or b"")
            told = f"offset {offset}, magic {magic}: length {length}"
            assert length == expected, f"{told}, its fields have {expected} bytes"


@judges("RECF-004")
@at_versions("Produce", "0-1", "2")
def test_message_set_is_bounded_by_size_without_count(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Sets of one, two and five messages: no count in front, neither sent nor fetched."""
    reading = _served(broker, "Fetch", "0-3")
    topic, magic = broker.create_topic(), _magic_for(api_version)
    end = 0
    for count in (1, 2, 5):
        numbers = range(end, end + count)
        sent = [message_bytes(magic, b"one of %d" % count, offset=at) for at in range(count)]
        with requirement("RECF-004"):
            answer = broker.produce(topic, b"".join(sent), api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"{count} messages")
            for version in reading:
                data = record_bytes(broker.fetch(topic, end, version))
                began = struct.unpack_from(">q", data.ljust(8, b"\xff"))[0]
                assert began == end, f"Fetch {version} at {end}: the set begins with {began}"
                offsets = [read_message(one).offset for one in whole_entries(data)[0]]
                assert offsets == list(numbers), f"Fetch {version} at {end}: {offsets}"
        end += count


# -- compressed sets -------------------------------------------------------------------------------


@judges("RECF-006")
@at_versions("Produce", "0-1", "2")
def test_compressed_message_contains_inner_message_set(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Three messages inside of one; what is fetched again holds the three as well."""
    reading = _served(broker, "Fetch", "0-3")
    topic, magic = broker.create_topic(), _magic_for(api_version)
    inner = b"".join(message_bytes(magic, b"inner %d" % at, offset=at) for at in range(3))
    with requirement("RECF-006") as check:
        answer = broker.produce(topic, gzip_wrapper(magic, inner, offset=2), api_version)
        expect_error(answer.error_code, ErrorCode.NONE)
        for version in reading:
            with check.subtest(f"Fetch v{version}"):
                (wrapper,) = _messages(broker, topic, version)
                found = [message.value for message in _inside(wrapper)]
                expected = [b"inner 0", b"inner 1", b"inner 2"]
                assert found == expected, f"Fetch {version}: {found} are inside"


@judges("RECF-006")
@at_versions("Produce", "0-1", "2")
def test_two_compressed_messages_in_one_set_are_refused(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Refused, and neither is stored."""
    topic, magic = broker.create_topic(), _magic_for(api_version)
    wrapper = gzip_wrapper(magic, message_bytes(magic, b"in one of two wrappers"))
    with requirement("RECF-006"):
        answer = broker.produce(topic, wrapper * 2, api_version)
        assert answer.error_code != ErrorCode.NONE, "two compressed messages are taken as one set"
        end = broker.end_offset(topic)
        assert end == 0, f"refused, yet the log ends at {end}"


def _inside(wrapper: OldMessage) -> list[OldMessage]:
    assert wrapper.attributes & 7 == 1, f"attributes {wrapper.attributes:#x} are not of gzip"
    entries, rest = whole_entries(gzip.decompress(wrapper.value or b""))
    assert not rest, f"{len(rest)} bytes behind the messages inside"
    return [read_message(entry) for entry in entries]


@judges("RECF-007")
@at_versions("Fetch", "2-3")
def test_magic_1_inner_offsets_are_relative_and_wrapper_has_last_offset(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """The wrapper has the offset of the last message inside."""
    topic = kept.topic(broker, _wrapper_behind_plain)
    with requirement("RECF-007"):
        (wrapper,) = _messages(broker, topic, api_version, PLAIN)
        assert wrapper.magic == 1, f"magic {wrapper.magic}, expected 1"
        relative = [message.offset for message in _inside(wrapper)]
        found = (wrapper.offset, relative)
        expected = (PLAIN + 2, [0, 1, 2])
        assert found == expected, f"offsets of the wrapper and inside are {found}, not {expected}"


@judges("RECF-008")
@at_versions("Fetch", "0-1")
def test_magic_0_inner_offsets_are_absolute(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Inside as outside."""
    topic = kept.topic(broker, _wrapper_behind_plain)
    with requirement("RECF-008"):
        (wrapper,) = _messages(broker, topic, api_version, PLAIN)
        assert wrapper.magic == 0, f"magic {wrapper.magic}, expected 0"
        found = [message.offset for message in _inside(wrapper)]
        expected = [PLAIN, PLAIN + 1, PLAIN + 2]
        assert found == expected, f"offsets inside are {found}, expected {expected}"


@judges("RECF-009")
@at_versions("Produce", "2")
def test_irregular_inner_offsets_of_magic_1_are_renumbered(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Gaps, all the same: three messages are stored as 0, 1, 2."""
    for odd in ([0, 2, 7], [0, 0, 0], [5, 6, 7]):
        topic = broker.create_topic()
        inner = b"".join(message_bytes(1, b"odd", offset=offset) for offset in odd)
        with requirement("RECF-009"):
            wrapper = gzip_wrapper(1, inner, offset=odd[-1])
            answer = broker.produce(topic, wrapper, api_version)
            expect_error(answer.error_code, ErrorCode.NONE, f"numbered {odd}")
            offsets = [one.offset for one in records_in(record_bytes(broker.fetch(topic, 0)))]
            assert offsets == [0, 1, 2], f"numbered {odd}, stored at {offsets}"
