"""Records as plain values: what they look like, and that they come back."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import Any

import google_crc32c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.errors import CodecError
from harness.codec.records import (
    CONTROL,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    CompressionError,
    Header,
    LegacyMessage,
    Record,
    RecordBatch,
    RecordsError,
    encode_batch,
    encode_batch_around,
    encode_message,
)
from harness.codec.records.compression import CODEC_IDS
from harness.codec.records.message_set import wrapper_of
from harness.codec.records.value_form import records_bytes, records_value
from labs.message_values.values import QUICK, outcome
from tests.codec.test_walk import BYTES, RECORDS

pytestmark = pytest.mark.rotates(8)

INT64 = st.sampled_from([-1, 0, 5, 2**63 - 1, -(2**63)]) | st.integers(-(2**63), 2**63 - 1)
INT32 = st.sampled_from([-1, 0, 2**31 - 1, -(2**31)]) | st.integers(-(2**31), 2**31 - 1)
BATCHES = st.builds(
    RecordBatch,
    records=RECORDS,
    base_offset=INT64,
    partition_leader_epoch=INT32,
    attributes=st.integers(-(2**12), 2**12 - 1).map(lambda bits: bits * 8),
    last_offset_delta=INT32,
    base_timestamp=INT64,
    max_timestamp=INT64,
    producer_id=INT64,
    producer_epoch=st.integers(-(2**15), 2**15 - 1),
    base_sequence=INT32,
)
MESSAGES = st.builds(
    LegacyMessage,
    value=BYTES,
    key=BYTES,
    timestamp=INT64,
    offset=INT64,
    magic=st.sampled_from([0, 1]),
    attributes=st.integers(-16, 15).map(lambda bits: bits * 8),
)


def through_json(data: bytes) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = json.loads(json.dumps(records_value(data)))
    return values


def test_records_value_of_batch_contains_every_field() -> None:
    record = Record(b"\xff", b"k", [Header("h", b"x"), Header("none", None)], 5)
    batch = RecordBatch(
        [record, Record(None, None, (), 7, None, 3)],
        base_offset=100,
        partition_leader_epoch=4,
        attributes=TRANSACTIONAL | 0x80,
        base_timestamp=1000,
        producer_id=9,
        producer_epoch=2,
        base_sequence=30,
    )
    first = {
        "offset": 100,
        "timestamp": 1005,
        "timestamp_type": "CreateTime",
        "key": "6b",
        "value": "ff",
        "headers": [["h", "78"], ["none", None]],
    }
    second = first | {"offset": 101, "timestamp": 1007, "key": None, "value": None, "headers": []}
    assert records_value(encode_batch(batch)) == [
        {
            "magic": 2,
            "base_offset": 100,
            "compression": "none",
            "attributes": {
                "timestamp_type": "CreateTime",
                "transactional": True,
                "control": False,
                "delete_horizon": False,
                "unused_bits": 0x80,
            },
            "partition_leader_epoch": 4,
            "last_offset_delta": 1,
            "base_timestamp": 1000,
            "max_timestamp": 1007,
            "producer_id": 9,
            "producer_epoch": 2,
            "base_sequence": 30,
            "records": [first, second | {"attributes": 3}],
        }
    ]


def test_records_value_of_message_contains_its_fields() -> None:
    data = encode_message(LegacyMessage(b"v", None, 77, 5, 1, LOG_APPEND_TIME))
    (value,) = records_value(data)
    assert (value["magic"], value["base_offset"], value["max_timestamp"]) == (1, 5, 77)
    assert value["attributes"]["timestamp_type"] == "LogAppendTime"
    assert value["producer_id"] == value["base_sequence"] == -1
    assert value["records"] == [
        {
            "offset": 5,
            "timestamp": 77,
            "timestamp_type": "LogAppendTime",
            "key": None,
            "value": "76",
            "headers": [],
        }
    ]


@settings(QUICK, max_examples=300)
@given(batches=st.lists(BATCHES | MESSAGES, max_size=3), cut=st.integers(0, 40))
def test_uncompressed_records_round_trip_byte_for_byte(
    batches: list[RecordBatch | LegacyMessage], cut: int
) -> None:
    data = b"".join(
        encode_message(one) if isinstance(one, LegacyMessage) else encode_batch(one)
        for one in batches
    )
    data += encode_batch(RecordBatch([Record(b"cut")]))[:cut]
    assert records_bytes(through_json(data)) == data


@pytest.mark.parametrize("codec", [codec for codec in CODEC_IDS if codec != "none"])
@settings(QUICK, max_examples=60)
@given(batch=BATCHES)
def test_compressed_records_round_trip_to_equal_value(codec: str, batch: RecordBatch) -> None:
    value = through_json(encode_batch(batch, codec))
    assert value[0]["compression"] == codec
    assert through_json(records_bytes(value)) == value


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4"])
@settings(QUICK, max_examples=60)
@given(
    message=MESSAGES,
    offsets=st.lists(st.integers(0, 2**40), min_size=1, max_size=4, unique=True).map(sorted),
    change=st.sampled_from([lambda own: own, lambda own: 0]),
)
def test_compressed_wrapper_round_trips_to_equal_value(
    codec: str, message: LegacyMessage, offsets: Any, change: Any
) -> None:
    made = wrapper_of([replace(message, offset=offset) for offset in offsets], codec)
    made = replace(made, offset=change(made.offset), attributes=made.attributes | -128)
    value = through_json(encode_message(made))
    assert through_json(records_bytes(value)) == value


SPECIAL = {
    "control": RecordBatch([Record(b"\0" * 6, b"\0\0\0\1")], attributes=CONTROL | TRANSACTIONAL),
    "empty": RecordBatch((), base_timestamp=-1, max_timestamp=9, last_offset_delta=4),
    "horizon": RecordBatch(
        [Record(b"v", timestamp_delta=-89_000)], attributes=DELETE_HORIZON, base_timestamp=90_000
    ),
    "brokers time": RecordBatch(
        [Record(b"v", timestamp_delta=4)], attributes=LOG_APPEND_TIME, max_timestamp=77
    ),
    "odd last delta": RecordBatch([Record(b"v", offset_delta=9)], last_offset_delta=-1),
}


@pytest.mark.parametrize("batch", SPECIAL.values(), ids=list(SPECIAL))
def test_control_empty_and_unusual_batches_round_trip(batch: RecordBatch) -> None:
    data = encode_batch(batch)
    assert records_bytes(through_json(data)) == data


def test_value_keeps_record_timestamp_beside_log_append_time() -> None:
    (value,) = records_value(encode_batch(SPECIAL["brokers time"]))
    assert value["records"][0]["timestamp"] == 77
    assert value["records"][0]["record_timestamp"] == 4


def test_overlong_varints_round_trip_as_hex() -> None:
    payload = b"\x14\0\x80\0\x80\x80\0\x81\0\1\0"
    data = encode_batch_around(
        RecordBatch(record_count=1, last_offset_delta=0, max_timestamp=0), payload
    )
    (value,) = records_value(data)
    assert value["records_hex"] == payload.hex()
    assert records_bytes([value]) == data


def test_header_name_that_is_not_utf8_round_trips() -> None:
    payload = b"\x16\0\0\0\1\1\2\4\xff\xe9\2x"
    data = encode_batch_around(
        RecordBatch(record_count=1, last_offset_delta=0, max_timestamp=0), payload
    )
    value = through_json(data)
    assert value[0]["records"][0]["headers"] == [["\udcff\udce9", "78"]]
    assert records_bytes(value) == data


GOOD = encode_batch(RecordBatch([Record(b"v")]))


def with_crc(data: bytes) -> bytes:
    return data[:17] + struct.pack(">I", google_crc32c.value(data[21:])) + data[21:]


@pytest.mark.parametrize(
    ("damaged", "error", "path"),
    [
        (GOOD[:20] + b"!" + GOOD[21:], RecordsError, "[1]"),
        (with_crc(GOOD[:-1] + b"\1"), RecordsError, "[1].records[0]"),
        (with_crc(GOOD[:60] + b"\2" + GOOD[61:]), RecordsError, "[1].record_count"),
        (with_crc(GOOD[:22] + b"\7" + GOOD[23:]), CompressionError, "[1]"),
        (GOOD[:8] + bytes(4) + GOOD[12:], RecordsError, "[1]"),
    ],
)
def test_damaged_records_raise_error_with_path_and_offset(
    damaged: bytes, error: type[RecordsError | CompressionError], path: str
) -> None:
    with pytest.raises(CodecError) as caught:
        records_value(GOOD + damaged + GOOD)
    assert isinstance(caught.value, error)
    assert (caught.value.path, caught.value.offset) == (path, len(GOOD))


def test_records_bytes_sets_defaults_of_missing_values() -> None:
    value = [
        {"magic": 2, "records": [{"value": "61", "timestamp": 9}, {"key": "62"}]},
        {"magic": 0, "base_offset": 3, "records": [{}]},
        {"magic": 1, "compression": "gzip", "records": [{"offset": 5}, {"offset": 7}]},
    ]
    first, second, third = records_value(records_bytes(value))
    assert [record["offset"] for record in first["records"]] == [0, 1]
    assert [record["timestamp"] for record in first["records"]] == [9, -1]
    assert (first["last_offset_delta"], first["max_timestamp"]) == (1, 9)
    assert second["records"][0]["offset"] == 3
    assert [record["offset"] for record in third["records"]] == [5, 7]


BAD: list[tuple[Any, str, str]] = [
    (5, "[0]", "an object expected, not 5"),
    ({"records": []}, "[0].magic", "-1 is none of 0, 1, 2"),
    ({"magic": "2"}, "[0].magic", "an integer expected, not '2'"),
    ({"magic": True}, "[0].magic", "an integer expected"),
    ({"magic": 2, "base_offset": 1 << 63}, "[0].base_offset", "does not fit 64 bits"),
    ({"magic": 2, "producer_epoch": 1 << 15}, "[0].producer_epoch", "does not fit 16 bits"),
    ({"magic": 2, "compression": "lzma"}, "[0].compression", "'lzma' is none of none, gzip"),
    ({"magic": 2, "compression": []}, "[0].compression", "is none of"),
    ({"magic": 1, "compression": "zstd", "records": [{}]}, "[0].compression", "magic 2 only"),
    ({"magic": 2, "recrods": []}, "[0].recrods", "no such value; there are attributes, base_"),
    ({"magic": 2, 5: 1}, "[0].5", "no such value"),
    ({"magic": 2, "partial_hex": ""}, "[0].magic", "no such value; there are partial_hex"),
    ({"magic": 2, "attributes": {"kontrol": True}}, "[0].attributes.kontrol", "no such value"),
    ({"magic": 2, "records": [{"valeu": ""}]}, "[0].records[0].valeu", "no such value"),
    ({"magic": 2, "records": {}}, "[0].records", "a list expected"),
    ({"magic": 2, "records": [1]}, "[0].records[0]", "an object expected"),
    ({"magic": 2, "records": [{"key": "x"}]}, "[0].records[0].key", "hex digits or null"),
    ({"magic": 2, "records": [{"key": 1}]}, "[0].records[0].key", "hex digits or null"),
    ({"magic": 2, "records": [{"offset": 1 << 40}]}, "[0].records[0].offset", "too far"),
    ({"magic": 2, "records": [{"headers": [["h"]]}]}, "[0].records[0].headers[0]", "[name, hex]"),
    (
        {"magic": 2, "records": [{"headers": [["\ud800", None]]}]},
        "[0].records[0].headers[0]",
        "no bytes have",
    ),
    ({"magic": 2, "attributes": {"control": 1}}, "[0].attributes.control", "true or false"),
    ({"magic": 2, "attributes": {"unused_bits": 8}}, "[0].attributes.unused_bits", "a meaning"),
    ({"magic": 2, "attributes": {"unused_bits": -8}}, "[0].attributes.unused_bits", "a meaning"),
    (
        {"magic": 0, "attributes": {"timestamp_type": "CreateTime"}},
        "[0].attributes.timestamp_type",
        "none of NoTimestampType",
    ),
    ({"magic": 1, "attributes": {"control": True}}, "[0].attributes.control", "magic 1 has no"),
    ({"magic": 1, "records": []}, "[0].records", "no batch without records"),
    ({"magic": 1, "records": [{}, {}]}, "[0].records", "nothing is compressed"),
    ({"magic": 1, "records": [{"headers": [["h", None]]}]}, "[0].records", "no headers"),
    ({"partial_hex": "x"}, "[0].partial_hex", "hex digits"),
]


@pytest.mark.parametrize(("value", "path", "problem"), BAD, ids=range(len(BAD)))
def test_invalid_value_raises_records_error_with_path(value: Any, path: str, problem: str) -> None:
    with pytest.raises(RecordsError) as caught:
        records_bytes([value])
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: ")
    assert problem in str(caught.value)


@settings(QUICK, max_examples=200)
@given(st.binary(max_size=120), st.integers(0, 2))
def test_random_bytes_round_trip_or_raise_codec_error(raw: bytes, magic: int) -> None:
    raw = raw[:16] + bytes([magic]) + raw[17:]
    found = outcome(lambda: records_bytes(records_value(raw)), CodecError)
    assert isinstance(found, CodecError) or found == raw
