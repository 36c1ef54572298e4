"""Quick reading of a batch's records sees what the plain reading sees, on good and bad bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.records import Header, Record, decode_record, encode_record
from harness.codec.records.columns import BadColumnRecord, read_columns
from harness.codec.records.log_records import LogRecords
from harness.codec.records.record import encode_records
from harness.codec.varint import encode_varlong
from labs.message_values.values import QUICK, outcome
from tests.codec.test_walk import BYTES, RECORDS, payload_of

pytestmark = pytest.mark.rotates(8)

Rows = list[tuple[object, ...]]


def plainly(payload: bytes, bad_utf8: str = "strict") -> Rows:
    """By the plain decoder; raises IndexError and ValueError."""
    rows: Rows = []
    offset = 0
    while offset < len(payload):
        record, offset = decode_record(payload, offset, bad_utf8=bad_utf8)
        place, time = record.offset_delta, record.timestamp_delta
        rows.append((place, time, record.key, record.value, record.headers, record.attributes))
    return rows


def quickly(payload: bytes, bad_utf8: str = "strict") -> Rows:
    columns = read_columns(payload, bad_utf8=bad_utf8)
    return [
        (
            record.offset,
            record.timestamp,
            record.key,
            record.value,
            record.headers,
            record.attributes,
        )
        for record in LogRecords(columns, "CreateTime")
    ]


@settings(QUICK, max_examples=150)
@given(records=RECORDS)
def test_column_reader_agrees_with_record_decoder_on_any_records(records: list[Record]) -> None:
    payload = payload_of(records)
    assert encode_records(records) == payload
    assert quickly(payload) == plainly(payload)


ALIKE = st.builds(
    lambda count, times, offsets, key, value, headers, attributes: [
        Record(
            None if value is None else bytes([at % 256]) * value,
            None if key is None else b"%c" % (at % 256) * key,
            headers,
            times(at),
            offsets(at),
            attributes,
        )
        for at in range(count)
    ],
    st.sampled_from([16, 40, 63, 64, 65, 130, 300]),
    st.sampled_from(
        [
            lambda at: 0,
            lambda at: at,
            lambda at: -at,
            lambda at: (-1) ** at * at,
            lambda at: 100,
            lambda at: 3 * at + 9000,
            lambda at: 7 * at % 64,
            lambda at: (at << 20) + (at % 5),
            lambda at: 2**54 + at,
            lambda at: -(2**62) + at,
        ]
    ),
    st.sampled_from(
        [
            lambda at: None,
            lambda at: 2 * at,
            lambda at: 8192 + at,
            lambda at: -at,
            lambda at: 2**30 + at,
            lambda at: 5 * at % 8,
        ]
    ),
    st.sampled_from([None, 0, 1, 5, 70]),
    st.sampled_from([None, 0, 1, 100, 9000]),
    st.sampled_from([(), [Header("h", b"x")], [Header("h" * 70, None)], [Header("é", b"")] * 9]),
    st.sampled_from([0, 1, -1]),
)


@settings(QUICK, max_examples=150)
@given(records=ALIKE, others=RECORDS)
def test_column_reader_agrees_with_record_decoder_on_uniform_records(
    records: list[Record], others: list[Record]
) -> None:
    payload = payload_of([*others, *records, *others, *records])
    assert quickly(payload) == plainly(payload)


@settings(QUICK, max_examples=300)
@given(records=ALIKE, data=st.data())
def test_column_reader_agrees_with_record_decoder_on_damaged_records(
    records: list[Record], data: st.DataObject
) -> None:
    raw = bytearray(payload_of(records))
    start = data.draw(st.integers(0, min(len(raw) - 1, 3000)))
    raw[start : start + data.draw(st.integers(0, 2))] = data.draw(
        st.binary(max_size=2) | st.sampled_from([b"\x80", b"\x81\x80\0", b"\xff" * 6])
    )
    payload = bytes(raw)
    for bad_utf8 in ("strict", "surrogateescape"):
        expected = outcome(lambda: plainly(payload, bad_utf8), Exception)  # noqa: B023
        found = outcome(lambda: quickly(payload, bad_utf8), BadColumnRecord)  # noqa: B023
        if isinstance(found, BadColumnRecord):
            assert found.problem == str(expected)
        else:
            assert found == expected


@settings(QUICK, max_examples=300)
@given(st.binary(max_size=60))
def test_column_reader_agrees_with_record_decoder_on_random_bytes(payload: bytes) -> None:
    expected = outcome(lambda: plainly(payload), Exception)
    found = outcome(lambda: quickly(payload), BadColumnRecord)
    assert found == expected or (
        isinstance(found, BadColumnRecord) and found.problem == str(expected)
    )


def test_column_reader_reports_position_and_offset_of_bad_record() -> None:
    good = [encode_record(Record(b"v"), at) for at in range(200)]
    bad = encode_varlong(6) + b"\0\0\0\1\1\1"
    with pytest.raises(BadColumnRecord) as caught:
        read_columns(b"".join(good[:150]) + bad + b"".join(good[150:]))
    assert caught.value.position == 150
    assert caught.value.offset == sum(map(len, good[:150]))
    assert caught.value.problem == "-1 headers with 0 bytes left"


@settings(QUICK, max_examples=100)
@given(name=st.binary(max_size=80), value=BYTES)
def test_header_name_that_is_not_utf8_round_trips(name: bytes, value: bytes | None) -> None:
    header = encode_varlong(len(name)) + name
    header += b"\1" if value is None else encode_varlong(len(value)) + value
    body = b"\0\0\0\1\1\2" + header
    payload = encode_varlong(len(body)) + body
    record = decode_record(payload, 0, bad_utf8="surrogateescape")[0]
    assert encode_record(record, 0) == payload
    columns = read_columns(payload, bad_utf8="surrogateescape")
    assert list(columns.headers_of_all()) == [record.headers]
