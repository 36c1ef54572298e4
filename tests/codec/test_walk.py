"""The walk reads the same as the decoder, and reports all damage as BadRecord."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.records import Header, Record, RecordsError, decode_record, encode_record
from harness.codec.records.walk import BadRecord, RecordsSummary, walk_records
from harness.codec.varint import encode_varlong
from labs.message_values.values import QUICK, outcome

pytestmark = pytest.mark.rotates(8)

INT32 = st.integers(-(2**31), 2**31 - 1)
BYTES = st.none() | st.binary(max_size=80) | st.just(b"v" * 9000)
RECORDS = st.lists(
    st.builds(
        Record,
        value=BYTES,
        key=BYTES,
        headers=st.lists(st.builds(Header, st.text(max_size=70), BYTES), max_size=2),
        timestamp_delta=st.sampled_from([0, 0, 5, -5, 100, 8191, -8192])
        | st.integers(-(2**63), 2**63 - 1),
        offset_delta=st.none() | INT32,
        attributes=st.integers(-128, 127),
    ),
    max_size=6,
)


@st.composite
def runs(draw: st.DrawFn) -> list[Record]:
    """Records of one shape, and then of another, as producers batch them."""
    records: list[Record] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.builds(Record, value=st.sampled_from([None, b"", b"v" * 70]), key=BYTES))
        begins, step = draw(st.sampled_from([0, 60, -3, 8190])), draw(st.sampled_from([0, 1, -1]))
        for nth in range(draw(st.integers(1, 80))):
            delta = begins + step * nth // 3
            records.append(Record(kind.value, kind.key, timestamp_delta=delta))
    return records


def payload_of(records: list[Record]) -> bytes:
    return b"".join(encode_record(record, at) for at, record in enumerate(records))


def read_all(payload: bytes, count: int) -> list[Record]:
    """By the ordinary decoder; raises what it raises."""
    records, offset = [], 0
    for _ in range(count):
        record, offset = decode_record(payload, offset)
        records.append(record)
    if offset != len(payload):
        raise RecordsError("bytes left over")
    return records


def summary_of(records: list[Record]) -> RecordsSummary:
    """The expected result of a walk, from decoded records."""
    deltas = [record.timestamp_delta for record in records]
    largest = max(deltas, default=-(2**63))
    return RecordsSummary(
        count=len(records),
        sequential=[record.offset_delta for record in records] == list(range(len(records))),
        max_timestamp_delta=largest,
        max_timestamp_position=deltas.index(largest) if largest > -(2**63) else -1,
        timestamp_deltas=deltas,
        null_keys=[at for at, record in enumerate(records) if record.key is None],
    )


@settings(QUICK, max_examples=150)
@given(records=RECORDS | runs())
def test_walk_returns_summary_of_decoded_records(records: list[Record]) -> None:
    payload = payload_of(records)
    decoded = read_all(payload, len(records))
    assert walk_records(payload, len(records), keep_timestamps=True) == summary_of(decoded)
    assert walk_records(payload, len(records)).timestamp_deltas is None


@pytest.mark.parametrize("count", [1, 63, 64, 65, 8191, 8192, 8200])
def test_walk_detects_sequential_offset_deltas_of_every_width(count: int) -> None:
    payload = payload_of([Record(b"v")] * count)
    assert walk_records(payload, count).sequential
    swapped = [Record(b"v", offset_delta=count - 1 - at) for at in range(count)]
    assert walk_records(payload_of(swapped), count).sequential is (count == 1)


@settings(QUICK, max_examples=150)
@given(records=RECORDS | runs(), data=st.data())
def test_walk_and_decoder_agree_on_damaged_records(
    records: list[Record], data: st.DataObject
) -> None:
    """Whatever the decoder accepts, the walk accepts with the same summary."""
    raw = bytearray(payload_of(records))
    start = data.draw(st.integers(0, len(raw)))
    raw[start : start + data.draw(st.integers(0, 3))] = data.draw(
        st.binary(max_size=3) | st.sampled_from([b"\xff" * 5, b"\xff" * 9 + b"\x01", b"\x80" * 12])
    )
    payload, count = bytes(raw), len(records)
    decoded = outcome(lambda: summary_of(read_all(payload, count)), Exception)
    walked = outcome(lambda: walk_records(payload, count, keep_timestamps=True), BadRecord)
    if isinstance(walked, BadRecord):
        assert isinstance(decoded, RecordsError | IndexError | ValueError)
        assert 0 <= walked.position <= count
        assert str(walked).startswith(f"record {walked.position}: ")
    elif isinstance(decoded, RecordsSummary):
        assert walked == decoded


@settings(QUICK, max_examples=200)
@given(payload=st.binary(max_size=40), count=st.integers(0, 5))
def test_walk_of_random_bytes_raises_bad_record_or_counts_records(
    payload: bytes, count: int
) -> None:
    walked = outcome(lambda: walk_records(payload, count), BadRecord)
    if isinstance(walked, BadRecord):
        assert 0 <= walked.position <= count
    else:
        assert walked.count == count


GOOD = [Record(b"v" * 90, b"k", [Header("h", None)]), Record(None, None), Record(b"", b"")]


def test_walk_of_truncated_records_raises_bad_record_with_position() -> None:
    payload = payload_of(GOOD)
    ends = [len(payload_of(GOOD[: at + 1])) for at in range(3)]
    for size in range(len(payload)):
        with pytest.raises(BadRecord) as caught:
            walk_records(payload[:size], 3)
        assert caught.value.position == sum(size >= end for end in ends)


BODY = b"\0\0\0\1\1\0"  # attributes, two deltas, null key, null value, no headers
DAMAGED: list[tuple[bytes, int, int, str]] = [
    (b"", 1, 0, "missing: there are 0 of 1"),
    (b"\x0c" + BODY, 2, 1, "missing: there are 1 of 2"),
    (b"\x0c" + BODY + b"\0", 1, 1, "1 bytes after the last record"),
    (b"\x0c" + BODY, 0, 0, "7 bytes after the last record"),
    (b"\x0b" + BODY, 1, 0, "does not fit"),
    (b"\x0e" + BODY, 1, 0, "does not fit"),
    (b"\x0a" + BODY, 1, 0, "-1 bytes beside its fields"),
    (b"\x0e" + BODY + b"\0", 1, 0, "1 bytes beside its fields"),
    (b"\0", 1, 0, "ends inside"),
    (b"\x80" * 5 + b"\0" + BODY, 1, 0, "a varint longer than 5 bytes"),
    (b"\x22\0" + b"\x80" * 10 + b"\0\0\1\1\0\0", 1, 0, "a varint longer than 10 bytes"),
    (b"\x0c\0\0\0\1\1\1", 1, 0, "-1 headers with 0 bytes left"),
    (b"\x0c\0\0\0\1\1\4", 1, 0, "2 headers with 0 bytes left"),
    (b"\x10\0\0\0\1\1\2\1\1", 1, 0, "a header without key"),
    (b"\x0c\0\0\0\xfe\xff\xff\xff\x0f\1\0", 1, 0, "ends inside"),
]


@pytest.mark.parametrize(
    ("payload", "count", "position", "problem"), DAMAGED, ids=range(len(DAMAGED))
)
def test_malformed_record_raises_bad_record_with_position_and_problem(
    payload: bytes, count: int, position: int, problem: str
) -> None:
    with pytest.raises(BadRecord) as caught:
        walk_records(payload, count)
    assert caught.value.position == position
    assert problem in caught.value.problem


def test_walk_reads_negative_lengths_as_null() -> None:
    payload = b"\x0c\0\0\0\5\7\0"
    assert walk_records(payload, 1).null_keys == [0]


def test_walk_reads_repeated_negative_lengths_as_null() -> None:
    """Each key has the length -3, each value -4, which is null for a broker."""
    payload = b"".join(bytes((12, 0, 0, 2 * at, 5, 7, 0)) for at in range(40))
    summary = walk_records(payload, 40)
    assert summary.null_keys == list(range(40))
    assert summary.sequential


def test_walk_reads_overlong_varints() -> None:
    """Java's reader takes them; 0 may be written in five bytes."""
    body = b"\0" + b"\x80\0" + b"\x80\x80\x80\x80\0" + b"\x81\0" + b"\x81\x80\0" + b"\x80\0"
    payload = encode_varlong(len(body)) + body
    summary = walk_records(payload, 1, keep_timestamps=True)
    assert summary == RecordsSummary(1, True, 0, 0, [0], [0])
    assert summary_of(read_all(payload, 1)) == summary
