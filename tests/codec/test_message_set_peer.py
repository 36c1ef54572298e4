"""A second opinion on message sets: kafka-python, which has carried them for years."""

from __future__ import annotations

import struct
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.codec.records import LegacyMessage, decode_message_set, encode_message_set
from labs.message_values.values import QUICK
from tests.codec.test_message_set import BYTES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # kafka-python reads its files in a way that Python warns of
    from kafka.record.legacy_records import LegacyRecordBatch, LegacyRecordBatchBuilder

THEIR_CODECS = {"none": 0, "gzip": 1}


@pytest.mark.parametrize("codec", THEIR_CODECS)
@pytest.mark.parametrize("magic", [0, 1])
@settings(QUICK, max_examples=30)
@given(values=st.lists(st.tuples(BYTES, BYTES), min_size=1, max_size=5))
def test_kafka_python_and_codec_read_message_sets_of_each_other(
    codec: str, magic: int, values: list[tuple[bytes | None, bytes | None]]
) -> None:
    """kafka-python reads what we write, and we read what it writes."""
    sent = [
        LegacyMessage(value, key, 1_000 + at if magic else -1, at, magic)
        for at, (key, value) in enumerate(values)
    ]
    theirs = LegacyRecordBatchBuilder(magic, THEIR_CODECS[codec], 1 << 24)
    for one in sent:
        theirs.append(one.offset, one.timestamp, one.key, one.value)
    assert decode_message_set(bytes(theirs.build())) == sent
    found = []
    for entry in _entries(encode_message_set(sent, codec)):
        batch = LegacyRecordBatch(entry, magic)
        assert batch.validate_crc()
        found += [(record.offset, record.key, record.value) for record in batch]
    assert found == [(one.offset, one.key, one.value) for one in sent]


def _entries(raw: bytes) -> list[bytes]:
    """The bytes of each outer message."""
    found, start = [], 0
    while start < len(raw):
        stop = start + 12 + struct.unpack_from(">i", raw, start + 8)[0]
        found.append(raw[start:stop])
        start = stop
    return found
