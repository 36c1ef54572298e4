"""Entries of a log as they came, batches of magic 2 and messages of older formats alike."""

from __future__ import annotations

import struct

from harness.client.broker import BrokerUnderTest
from harness.client.record_bytes import record_bytes
from harness.client.requests import Topic
from harness.codec.error_code import ErrorCode
from suites.protocol.support.expect import expect_error

OVERHEAD_BYTES = 12  # offset and length in front of every batch and every message
MAGIC_AT, BATCH_ATTRIBUTES_AT = 16, 21


def whole_entries(data: bytes) -> tuple[list[bytes], bytes]:
    """Split the data by their length fields into whole entries and an incomplete rest."""
    entries, at = [], 0
    while at + OVERHEAD_BYTES <= len(data):
        (length,) = struct.unpack_from(">i", data, at + 8)
        assert length > 0, f"byte {at}: a length of {length}"
        stop = at + OVERHEAD_BYTES + length
        if stop > len(data):
            break
        entries.append(data[at:stop])
        at = stop
    return entries, data[at:]


def fetched_entries(
    broker: BrokerUnderTest,
    topic: Topic,
    version: int | None = None,
    *,
    offset: int = 0,
    partition: int = 0,
) -> list[bytes]:
    """The whole batches or messages that one Fetch brings; there has to be one at least."""
    answer = broker.fetch(topic, offset, version, partition=partition)
    expect_error(answer.error_code, ErrorCode.NONE, f"Fetch at {offset}")
    entries, _ = whole_entries(record_bytes(answer))
    assert entries, f"Fetch at {offset} brings nothing, the log ends at {answer.high_watermark}"
    return entries


def attributes_of(entry: bytes) -> int:
    """All bits: one byte in a message, two in a batch."""
    form, at = (">b", MAGIC_AT + 1) if entry[MAGIC_AT] < 2 else (">h", BATCH_ATTRIBUTES_AT)
    found: int = struct.unpack_from(form, entry, at)[0]
    return found
