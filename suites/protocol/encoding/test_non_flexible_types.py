"""ENC: numbers, strings, bytes and arrays of the versions that are not flexible.

Requests are written and answers read by hand, apart from the codec. What holds for every message
is asked with a client id that names the requirement.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import google_crc32c
import pytest

from harness.client.broker import BrokerUnderTest
from harness.client.coordinator import GROUP, await_coordinator
from harness.client.requests import READ_MIN_BYTES, READ_WAIT_MS, Topic
from harness.codec.error_code import ErrorCode
from harness.conformance.checks import requirement
from harness.runner.marks import at_versions, judges
from suites.protocol.support.appended import now_ms
from suites.protocol.support.expect import expect_error
from suites.protocol.support.kept_topics import KeptTopics
from suites.protocol.support.plain_bytes import (
    NULL_STRING,
    PlainReader,
    array,
    ask_plainly,
    int8,
    int16,
    int32,
    int64,
    string,
)

FIRST_TIMESTAMP = now_ms()
# Two records, "one" and "two", the second a millisecond later; magic 2, not compressed.
BEHIND_CRC = bytes.fromhex(
    f"""
    0000 00000001
    {FIRST_TIMESTAMP:016x} {FIRST_TIMESTAMP + 1:016x} ffffffffffffffff ffff ffffffff 00000002
    12 00 00 00 01 06 6f6e65 00
    12 00 02 02 01 06 74776f 00
    """
)
GOLDEN_BATCH = (
    bytes.fromhex("0000000000000000 00000045 ffffffff 02")
    + google_crc32c.value(BEHIND_CRC).to_bytes(4, "big")
    + BEHIND_CRC
)
LEADER_EPOCH_END = 16  # a broker sets base offset and leader epoch, all behind stays as it is
LATEST, EARLIEST = -1, -2
PARTITIONS = 3


def _filled(broker: BrokerUnderTest) -> Topic:
    topic = broker.create_topic()
    answer = broker.produce(topic, GOLDEN_BATCH)
    expect_error(answer.error_code, ErrorCode.NONE, where="the golden batch")
    return topic


def _wide(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(partitions=PARTITIONS)


def _of_so_many(broker: BrokerUnderTest) -> Topic:
    return broker.create_topic(partitions=PARTITIONS, exactly=True)


# -- ENC-001: numbers ------------------------------------------------------------------------------


def _list_offsets_body(topic: Topic, version: int, partition: int, timestamp: int) -> bytes:
    isolation_level = int8(0) if version >= 2 else b""
    leader_epoch = int32(-1) if version >= 4 else b""
    wanted = int32(partition) + leader_epoch + int64(timestamp)
    return int32(-1) + isolation_level + array(string(topic.name) + array(wanted))


def _read_offset(reader: PlainReader, version: int) -> tuple[int, int, int, int]:
    """(partition, error code, timestamp, offset) of the only partition."""
    if version >= 2:
        reader.int32()  # throttle time
    assert reader.int32() == 1, "one topic was asked for"
    reader.string()
    assert reader.int32() == 1, "one partition was asked for"
    found = (reader.int32(), reader.int16(), reader.int64(), reader.int64())
    if version >= 4:
        reader.int32()  # leader epoch
    reader.end()
    return found


OFFSETS = {
    "a-time": (0, FIRST_TIMESTAMP + 1, (0, 0, FIRST_TIMESTAMP + 1, 1)),
    "latest": (0, LATEST, (0, 0, -1, 2)),
    "earliest": (0, EARLIEST, (0, 0, -1, 0)),
    "unknown-partition": (70_000, LATEST, (70_000, 3, -1, -1)),
}


@judges("ENC-001")
@at_versions("ListOffsets", "1-5")
@pytest.mark.parametrize("which", OFFSETS)
def test_list_offsets_integers_are_signed_big_endian(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int, which: str
) -> None:
    """int16 and int32 and int64, negative ones too, in request and answer."""
    topic = kept.topic(broker, _filled)
    partition, timestamp, expected = OFFSETS[which]
    body = _list_offsets_body(topic, api_version, partition, timestamp)
    with requirement("ENC-001"):
        found = _read_offset(
            ask_plainly(broker, "ListOffsets", api_version, body, "ENC-001"), api_version
        )
        assert found == expected, (
            f"(partition, error code, timestamp, offset) is {found}, expected {expected}"
        )


def _produce_body(topic: Topic) -> bytes:
    partition = int32(0) + int32(len(GOLDEN_BATCH)) + GOLDEN_BATCH
    acks, timeout_ms = int16(-1), int32(10_000)
    return NULL_STRING + acks + timeout_ms + array(string(topic.name) + array(partition))


def _read_produced(reader: PlainReader, version: int) -> tuple[int, int, int, int]:
    """(partition, error code, base offset, append time) of the only partition."""
    assert reader.int32() == 1, "one topic was produced to"
    reader.string()
    assert reader.int32() == 1, "one partition was produced to"
    found = (reader.int32(), reader.int16(), reader.int64(), reader.int64())
    if version >= 5:
        reader.int64()  # log start offset
    if version >= 8:
        reader.array(lambda: (reader.int32(), reader.string()))  # record errors
        reader.string()  # error message
    reader.int32()  # throttle time
    reader.end()
    return found


@judges("ENC-001")
@at_versions("Produce", "3-8")
def test_produce_integers_are_signed_big_endian(broker: BrokerUnderTest, api_version: int) -> None:
    """acks is -1 in two bytes; two batches of two records have the offsets 0 and 2."""
    topic = broker.create_topic()
    with requirement("ENC-001"):
        for offset in (0, 2):
            answer = ask_plainly(broker, "Produce", api_version, _produce_body(topic), "ENC-001")
            found, expected = _read_produced(answer, api_version), (0, 0, offset, -1)
            assert found == expected, (
                f"(partition, error code, base offset, time) is {found}, expected {expected}"
            )


@judges("ENC-001")
@at_versions("FindCoordinator", "1-2")
def test_find_coordinator_integers_are_signed_big_endian(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """The key type is one byte; a node's id and port have four each."""
    await_coordinator(broker, GROUP)
    nodes = {(node.node_id, node.port) for node in broker.metadata([]).brokers}
    with requirement("ENC-001"):
        body = string(broker.unique_topic()) + int8(GROUP)
        reader = ask_plainly(broker, "FindCoordinator", api_version, body, "ENC-001")
        reader.int32()  # throttle time
        expect_error(reader.int16(), ErrorCode.NONE)
        reader.string()  # error message
        node_id = reader.int32()
        reader.string()  # host
        found = (node_id, reader.int32())
        reader.end()
        assert found in nodes, f"(id, port) is {found}, none of the brokers {nodes}"


# -- Metadata by hand, for ENC-002 and ENC-003 -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShownTopic:
    """A topic as an answer of Metadata has it."""

    error_code: int
    name: str | None
    partition_indexes: list[int]


def _metadata_body(names: list[str], version: int) -> bytes:
    auto_creation = int8(0) if version >= 4 else b""
    operations = int8(0) + int8(0) if version >= 8 else b""
    return array(*(string(name) for name in names)) + auto_creation + operations


def _read_metadata(reader: PlainReader, version: int) -> tuple[list[str | None], list[ShownTopic]]:
    """(hosts, topics); reads to the last byte."""
    if version >= 3:
        reader.int32()  # throttle time
    hosts = reader.array(lambda: _read_host(reader, version))
    if version >= 2:
        reader.string()  # cluster id
    if version >= 1:
        reader.int32()  # controller id
    topics = reader.array(lambda: _read_topic(reader, version))
    if version >= 8:
        reader.int32()  # authorized operations
    reader.end()
    return list(hosts), list(topics)


def _read_host(reader: PlainReader, version: int) -> str | None:
    reader.int32()  # node id
    host = reader.string()
    reader.int32()  # port
    if version >= 1:
        reader.string()  # rack
    return host


def _read_topic(reader: PlainReader, version: int) -> ShownTopic:
    error_code, name = reader.int16(), reader.string()
    if version >= 1:
        reader.int8()  # is internal
    indexes = reader.array(lambda: _read_partition(reader, version))
    if version >= 8:
        reader.int32()  # authorized operations
    return ShownTopic(error_code, name, sorted(indexes))


def _read_partition(reader: PlainReader, version: int) -> int:
    reader.int16()  # error code
    index = reader.int32()
    reader.int32()  # leader
    if version >= 7:
        reader.int32()  # leader epoch
    for _ in range(3 if version >= 5 else 2):
        reader.array(reader.int32)  # replicas, in-sync replicas, offline replicas
    return index


# -- ENC-002: strings and bytes --------------------------------------------------------------------


@judges("ENC-002")
@at_versions("Metadata", "0-8")
def test_metadata_strings_have_int16_lengths(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """A name and the empty string, there and back; a host and strings that may be null."""
    name = kept.topic(broker, _wide).name
    with requirement("ENC-002"):
        body = _metadata_body([name, ""], api_version)
        answer = ask_plainly(broker, "Metadata", api_version, body, "ENC-002")
        hosts, topics = _read_metadata(answer, api_version)
        assert all(hosts), f"a broker without a host: {hosts}"
        named = {topic.name for topic in topics}
        assert named == {name, ""}, f"asked for a topic and the empty name, got {named}"


def _code_of_init(broker: BrokerUnderTest, version: int, transactional_id: bytes) -> int:
    body = transactional_id + int32(60_000)
    reader = ask_plainly(broker, "InitProducerId", version, body, "ENC-002")
    reader.int32()  # throttle time
    code = reader.int16()
    reader.int64()  # producer id
    reader.int16()  # producer epoch
    reader.end()
    return code


@judges("ENC-002")
@at_versions("InitProducerId", "0-1")
def test_init_producer_id_distinguishes_null_from_empty_transactional_id(
    broker: BrokerUnderTest, api_version: int
) -> None:
    """Length -1 stands for no transactional id; length 0 for an empty one, which is refused."""
    with requirement("ENC-002") as check:
        for written, expected in (
            (NULL_STRING, ErrorCode.NONE),
            (string(""), ErrorCode.INVALID_REQUEST),
        ):
            with check.subtest(f"length bytes {written.hex()}"):
                # A broker without a block of producer ids asks the controller for one first.
                code = broker.last_seen(
                    partial(_code_of_init, broker, api_version, written),
                    lambda code: code != ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                )
                expect_error(code, expected, where=f"the length bytes {written.hex()}")


def _fetch_body(topic: Topic, version: int, offset: int) -> bytes:
    replica_id, max_bytes = int32(-1), int32(1 << 20)
    max_wait_ms, min_bytes = int32(READ_WAIT_MS), int32(READ_MIN_BYTES)
    session = int32(0) + int32(-1) if version >= 7 else b""
    partition = int32(0)
    partition += int32(-1) if version >= 9 else b""  # leader epoch
    partition += int64(offset)
    partition += int64(-1) if version >= 5 else b""  # log start offset
    partition += int32(1 << 20)
    body = replica_id + max_wait_ms + min_bytes + max_bytes + int8(0) + session
    body += array(string(topic.name) + array(partition))
    body += array() if version >= 7 else b""  # forgotten topics
    return body + (string("") if version >= 11 else b"")  # rack


def _read_fetched(reader: PlainReader, version: int) -> bytes | None:
    """The records of the only partition."""
    reader.int32()  # throttle time
    if version >= 7:
        expect_error(reader.int16(), ErrorCode.NONE)
        reader.int32()  # session id
    assert reader.int32() == 1, "one topic was fetched"
    reader.string()
    assert reader.int32() == 1, "one partition was fetched"
    reader.int32()  # partition
    expect_error(reader.int16(), ErrorCode.NONE)
    for _ in range(3 if version >= 5 else 2):
        reader.int64()  # high watermark, last stable offset, log start offset
    reader.array(lambda: (reader.int64(), reader.int64()))  # aborted transactions
    if version >= 11:
        reader.int32()  # preferred read replica
    records = reader.bytes_()
    reader.end()
    return records


@judges("ENC-002")
@at_versions("Fetch", "4-11")
def test_fetch_records_have_int32_length(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int
) -> None:
    """Records are bytes: as many as the int32 says, and none at the end of the log."""
    topic = kept.topic(broker, _filled)
    with requirement("ENC-002"):
        body = _fetch_body(topic, api_version, 0)
        found = _read_fetched(
            ask_plainly(broker, "Fetch", api_version, body, "ENC-002"), api_version
        )
        assert found is not None, "null instead of records"
        assert len(found) == len(GOLDEN_BATCH), f"{len(found)} bytes of {len(GOLDEN_BATCH)}"
        assert found[LEADER_EPOCH_END:] == GOLDEN_BATCH[LEADER_EPOCH_END:], found.hex()
        body = _fetch_body(topic, api_version, 2)
        found = _read_fetched(
            ask_plainly(broker, "Fetch", api_version, body, "ENC-002"), api_version
        )
        assert not found, f"records at the end of the log: {found!r}"


# -- ENC-003: arrays -------------------------------------------------------------------------------


@judges("ENC-003")
@at_versions("ApiVersions", "0-2")
def test_api_versions_array_has_int32_count(broker: BrokerUnderTest, api_version: int) -> None:
    """The count says how many triples of api key, lowest and highest version follow."""
    with requirement("ENC-003"):
        reader = ask_plainly(broker, "ApiVersions", api_version, b"", "ENC-003")
        expect_error(reader.int16(), ErrorCode.NONE)
        ranges = reader.array(lambda: (reader.int16(), reader.int16(), reader.int16()))
        if api_version >= 1:
            reader.int32()  # throttle time
        reader.end()
        found = {key: (lowest, highest) for key, lowest, highest in ranges}
        told = {key: (v.lowest, v.highest) for key, v in broker.api_versions.items()}
        assert found == told, f"{found}, before it was {told}"


@judges("ENC-003")
@at_versions("Metadata", "1-8")
@pytest.mark.parametrize("count", [0, 1, 3])
def test_metadata_arrays_have_int32_counts(
    broker: BrokerUnderTest, kept: KeptTopics, api_version: int, count: int
) -> None:
    """As many topics as names; three partitions, each with arrays of nodes."""
    unknown = [broker.unique_topic() for _ in range(2)]
    names = [kept.topic(broker, _of_so_many).name, *unknown][:count]
    # Before v4 asking may create: these illegal names are as unknown as others.
    names = [name if api_version >= 4 or at == 0 else f"{name}/" for at, name in enumerate(names)]
    with requirement("ENC-003"):
        body = _metadata_body(names, api_version)
        _, topics = _read_metadata(
            ask_plainly(broker, "Metadata", api_version, body, "ENC-003"), api_version
        )
        found = sorted(topic.name or "" for topic in topics)
        assert found == sorted(names), f"asked for {names}, got {found}"
        for topic in topics:
            indexes = list(range(PARTITIONS)) if topic.name == names[0] else []
            assert topic.partition_indexes == indexes, f"{topic}, its partitions are {indexes}"
