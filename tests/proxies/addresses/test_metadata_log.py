"""Addresses in records of the metadata log: those of real nodes, and all that can be wrong."""

from __future__ import annotations

import csv
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.apis import APIS
from harness.codec.data_framing import (
    CLUSTER_METADATA,
    MetadataRecord,
    control_record_key,
    control_record_value,
    read_control_record,
)
from harness.codec.header import decode_response
from harness.codec.messages import (
    FetchResponse,
    FetchSnapshotResponse,
    NoOpRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    VotersRecord,
    message_class,
)
from harness.codec.records import CONTROL, Header, Record, RecordBatch, decode_batches, encode_batch
from harness.codec.structs import Message
from harness.proxies.addresses import Address, AddressRewriter
from harness.proxies.direction import Direction
from labs.message_values.values import QUICK
from tests.proxies.addresses.frames import payload_of, proxy_of, rewriter, rewritten, structs_of

FETCH, FETCH_SNAPSHOT = APIS[1], APIS[59]
METADATA_ID, OTHER_ID = UUID(int=1), UUID(int=2)
VIEW = "one"


@dataclass(frozen=True)
class RealLog:
    """The first metadata log of a single node (broker and controller) of a release."""

    release: str
    topic: str
    file: str
    data: bytes


def real_logs() -> list[RealLog]:
    with (Path(__file__).parent / "metadata_logs.tsv").open(newline="") as file:
        rows = csv.DictReader(file, delimiter="\t")
        return [
            RealLog(row["release"], row["topic"], row["file"], bytes.fromhex(row["hex"]))
            for row in rows
        ]


LOGS = [log for log in real_logs() if log.file == "log"]
CHECKPOINT = next(log for log in real_logs() if log.file == "checkpoint")


def read(batches: bytes, release: str) -> list[tuple[RecordBatch, list[Message]]]:
    """All records as messages, with verified checksums."""
    found = []
    for batch in decode_batches(batches):
        messages = []
        for record in batch.records:
            if batch.attributes & CONTROL:
                control = read_control_record(record.key or b"", record.value, release)
                assert control.message is not None
                messages.append(control.message)
                continue
            one = CLUSTER_METADATA.read(record.value or b"", release)
            assert isinstance(one, MetadataRecord)
            messages.append(one.message)
        found.append((batch, messages))
    return found


def check(before: bytes, after: bytes, release: str) -> list[Address]:
    """Check that records, offsets and times are equal, and that proxies replace all addresses.

    Returns the old addresses.
    """
    found: list[Address] = []
    pairs = zip(read(before, release), read(after, release), strict=True)
    for (old_batch, old), (new_batch, new) in pairs:
        assert replace(old_batch, records=()) == replace(new_batch, records=())
        for old_record, new_record in zip(old_batch.records, new_batch.records, strict=True):
            assert replace(old_record, value=None) == replace(new_record, value=None)
        for message in old:
            for own in structs_of(message):
                if any(field.name == "port" for field in own.spec.fields):
                    found.append((own.host, own.port))  # type: ignore[attr-defined]
                    own.host, own.port = proxy_of(VIEW, found[-1])  # type: ignore[attr-defined]
        assert old == new
    return found


def fetched(by: AddressRewriter, batches: bytes, topic: str | UUID) -> bytes | None:
    """The records of a partition as they arrive; None when the frame was not touched."""
    own = FetchResponse.FetchableTopicResponse(
        partitions=[FetchResponse.PartitionData(records=batches)]
    )
    version = 12 if isinstance(topic, str) else 17
    setattr(own, "topic" if isinstance(topic, str) else "topic_id", topic)
    message = FetchResponse(session_id=3, responses=[own])
    payload = payload_of(Direction.DOWNSTREAM, message, version)
    out = rewritten(by, Direction.DOWNSTREAM, FETCH, version, payload)
    if out is None:
        return None
    found = decode_response(FETCH, version, out)[1]
    records: bytes = found.responses[0].partitions[0].records  # type: ignore[attr-defined]
    own.partitions[0].records = records
    assert found == message
    return records


@pytest.mark.parametrize("log", LOGS, ids=lambda log: log.release)
def test_recorded_metadata_log_has_all_addresses_rewritten(log: RealLog) -> None:
    by = rewriter()
    after = fetched(by, log.data, log.topic)
    assert after is not None
    found = check(log.data, after, log.release)
    assert len(found) == by.counters["addresses"] == (1 if log.release == "2.8.2" else 2)
    assert {host for host, _ in found} == {"127.0.0.1"}
    assert set(by.counters) == {"addresses", "rewritten"}


def test_metadata_topic_is_recognized_by_topic_id() -> None:
    by = rewriter()
    after = fetched(by, LOGS[0].data, METADATA_ID)
    assert after is not None
    assert check(LOGS[0].data, after, LOGS[0].release)


@pytest.mark.parametrize("topic", ["__cluster_metadata2", "orders", OTHER_ID])
def test_records_of_other_topics_are_not_rewritten(topic: str | UUID) -> None:
    by = rewriter()
    assert fetched(by, LOGS[0].data, topic) is None
    assert by.counters == {}


# -- made by hand --------------------------------------------------------------------------------

BROKER = RegisterBrokerRecord(
    broker_id=3,
    end_points=[
        RegisterBrokerRecord.BrokerEndpoint(name="INTERNAL", host="b", port=9001),
        RegisterBrokerRecord.BrokerEndpoint(name="CLIENT", host="b", port=65_535),
    ],
)
CONTROLLER = RegisterControllerRecord(
    end_points=[RegisterControllerRecord.ControllerEndpoint(name="C", host="ctl", port=9003)]
)
VOTERS = VotersRecord(
    voters=[
        VotersRecord.Voter(
            voter_id=100, endpoints=[VotersRecord.Endpoint(name="C", host="ctl", port=9003)]
        )
    ]
)


def record(message: Message, version: int = 0, **fields: object) -> Record:
    return replace(Record(CLUSTER_METADATA.write(message, version)), **fields)  # type: ignore[arg-type]


def batch_of(*records: Record, **fields: object) -> bytes:
    return encode_batch(replace(RecordBatch(records, base_offset=40), **fields))  # type: ignore[arg-type]


EVERYTHING = [
    record(NoOpRecord()),
    record(BROKER, 0, key=b"k", headers=[Header("h", b"v"), Header("n")], timestamp_delta=9_000),
    record(CONTROLLER, 0, attributes=5, offset_delta=7),
    *(record(BROKER, version) for version in range(1, 5)),
    record(NoOpRecord()),
]
VOTERS_BATCH = batch_of(
    Record(control_record_value(VOTERS), control_record_key(6)), attributes=CONTROL
)


def test_every_address_record_version_is_rewritten() -> None:
    before = batch_of(*EVERYTHING) + VOTERS_BATCH + batch_of(record(NoOpRecord()))
    after = fetched(rewriter(), before, METADATA_ID)
    assert after is not None
    assert len(check(before, after, "4.4.0")) == 2 * 5 + 1 + 1
    assert after.endswith(batch_of(record(NoOpRecord())))


def test_rewriting_preserves_leader_epoch_and_sequences() -> None:
    before = batch_of(
        record(BROKER),
        partition_leader_epoch=12,
        producer_id=5,
        producer_epoch=6,
        base_sequence=7,
        base_timestamp=1_700_000_000_000,
    )
    after = fetched(rewriter(), before, METADATA_ID)
    assert after is not None
    assert check(before, after, "4.4.0") == [("b", 9001), ("b", 65_535)]


@settings(QUICK, max_examples=100)
@given(picked=st.lists(st.lists(st.sampled_from(EVERYTHING), max_size=4), max_size=3))
def test_generated_batches_are_rewritten_in_addresses_only(picked: list[list[Record]]) -> None:
    before = b"".join(batch_of(*records) for records in picked)
    after = fetched(rewriter(), before, METADATA_ID)
    check(before, before if after is None else after, "4.4.0")


def test_truncated_last_batch_passes_unchanged() -> None:
    whole = batch_of(record(BROKER))
    for stop in range(len(whole)):
        after = fetched(rewriter(), whole + whole[:stop], METADATA_ID)
        assert after is not None
        changed = fetched(rewriter(), whole, METADATA_ID)
        assert changed is not None
        assert after == changed + whole[:stop]


UNTOUCHED = {
    "a wrong checksum": (batch_of(record(BROKER), crc=5), "unreadable_batch"),
    "magic 1": (batch_of(record(BROKER), magic=1), "unreadable_batch"),
    "an impossible length": (batch_of(record(BROKER), batch_length=3), "unreadable_batch"),
    "compressed": (encode_batch(RecordBatch([record(BROKER)]), "gzip"), "compressed_batch"),
    "a value that is none": (batch_of(Record(b"")), "unreadable_batch"),
    "a frame version of tomorrow": (batch_of(Record(b"\2\0\0")), "unknown_record"),
    "a record of tomorrow": (batch_of(Record(b"\1\x1e\0")), "unknown_record"),
    "a version of tomorrow": (batch_of(Record(b"\1\0\5rest")), "unknown_record"),
    "a damaged record": (
        batch_of(Record(CLUSTER_METADATA.write(BROKER, 0)[:-1])),
        "unreadable_record",
    ),
    "voters of tomorrow": (
        batch_of(Record(b"\0\x09rest", control_record_key(6)), attributes=CONTROL),
        "unknown_record",
    ),
    "a control record without key": (
        batch_of(Record(control_record_value(VOTERS)), attributes=CONTROL),
        "",
    ),
}


@pytest.mark.parametrize("name", UNTOUCHED)
def test_unreadable_records_stay_unchanged_with_expected_counter(name: str) -> None:
    before, reason = UNTOUCHED[name]
    by = rewriter()
    assert fetched(by, before, METADATA_ID) is None
    assert by.counters == ({reason: 1} if reason else {})


def test_tombstones_and_transaction_markers_are_not_rewritten() -> None:
    marker = message_class("EndTxnMarker")()
    before = batch_of(
        Record(control_record_value(marker), control_record_key(0)), attributes=CONTROL
    )
    by = rewriter()
    assert fetched(by, before + batch_of(Record(None)), METADATA_ID) is None
    assert by.counters == {}


@settings(QUICK, max_examples=300)
@given(data=st.data())
def test_rewriting_damaged_metadata_records_never_raises(data: st.DataObject) -> None:
    raw = bytearray(batch_of(*EVERYTHING) + VOTERS_BATCH)
    at = data.draw(st.integers(0, len(raw)))
    raw[at : at + data.draw(st.integers(0, 4))] = data.draw(
        st.binary(max_size=6) | st.sampled_from([b"\xff" * 5, b"\x80" * 12, b"\x7f\xff\xff\xff"])
    )
    fetched(rewriter(), bytes(raw), METADATA_ID)


# -- snapshots -----------------------------------------------------------------------------------


def snapshot(
    by: AddressRewriter, records: bytes, size: int, position: int = 0
) -> FetchSnapshotResponse | None:
    part = FetchSnapshotResponse.PartitionSnapshot(
        size=size, position=position, unaligned_records=records
    )
    topic = FetchSnapshotResponse.TopicSnapshot(name="__cluster_metadata", partitions=[part])
    payload = payload_of(Direction.DOWNSTREAM, FetchSnapshotResponse(topics=[topic]), 1)
    out = rewritten(by, Direction.DOWNSTREAM, FETCH_SNAPSHOT, 1, payload)
    if out is None:
        return None
    found = decode_response(FETCH_SNAPSHOT, 1, out)[1]
    assert isinstance(found, FetchSnapshotResponse)
    return found


def test_rewritten_whole_snapshot_has_new_size() -> None:
    before = CHECKPOINT.data + batch_of(*EVERYTHING) + VOTERS_BATCH
    found = snapshot(rewriter(), before, len(before))
    assert found is not None
    part = found.topics[0].partitions[0]
    assert part.unaligned_records is not None
    assert check(before, part.unaligned_records, "4.4.0")
    assert part.size == len(part.unaligned_records) > len(before)
    assert part.position == 0


@pytest.mark.parametrize(("start", "stop"), [(0, 100), (100, None), (0, -1)])
def test_partial_snapshot_stays_unchanged_and_is_counted(start: int, stop: int | None) -> None:
    """The reader requests the rest by the count of bytes that it has."""
    whole = batch_of(*EVERYTHING)
    by = rewriter()
    assert snapshot(by, whole[start:stop], len(whole), start) is None
    assert by.counters == {"part_of_snapshot": 1}


def test_snapshot_without_addresses_stays_unchanged() -> None:
    by = rewriter()
    assert snapshot(by, CHECKPOINT.data, len(CHECKPOINT.data)) is None
    assert by.counters == {}
