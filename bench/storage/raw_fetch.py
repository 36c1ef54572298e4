"""A reader that does nothing with what it reads: what is measured is the broker more than it."""

from __future__ import annotations

import struct
import time

from bench.broker.record_load import LIMIT_S, LoadFailed
from harness.client.connection import Connection
from harness.codec.messages import FetchRequest

FETCH_BYTES = 1 << 20
"""The default of a consumer's max.partition.fetch.bytes."""
_VERSION = 12
_HEAD, _LAST_DELTA_AT, _OVERHEAD_BYTES = struct.Struct(">qi"), 23, 12


def fetch(
    address: tuple[str, int], topic: str, end_offset: int, at_once: int = FETCH_BYTES
) -> float:
    """Bytes a second, from the first record of a topic's only partition to before the offset."""
    with Connection(address, timeout_ms=LIMIT_S * 1000) as connection:
        began, offset, got_bytes = time.perf_counter(), 0, 0
        while offset < end_offset:
            answer = connection.ask(_request(topic, offset, at_once), _VERSION)
            records = answer.responses[0].partitions[0].records or b""
            following = _behind(records, offset)
            if following == offset:
                raise LoadFailed(f"nothing came at offset {offset}")
            offset, got_bytes = following, got_bytes + len(records)
        return got_bytes / (time.perf_counter() - began)


def _request(topic: str, offset: int, at_once: int) -> FetchRequest:
    partition = FetchRequest.FetchPartition(
        partition=0, fetch_offset=offset, partition_max_bytes=at_once
    )
    wanted = FetchRequest.FetchTopic(topic=topic, partitions=[partition])
    return FetchRequest(
        max_wait_ms=1000, min_bytes=1, max_bytes=at_once, session_epoch=-1, topics=[wanted]
    )


def _behind(records: bytes, offset: int) -> int:
    """The offset behind the last whole batch."""
    at = 0
    while at + _LAST_DELTA_AT + 4 <= len(records):
        base, length = _HEAD.unpack_from(records, at)
        if at + _OVERHEAD_BYTES + length > len(records):
            break
        (delta,) = struct.unpack_from(">i", records, at + _LAST_DELTA_AT)
        offset, at = base + delta + 1, at + _OVERHEAD_BYTES + length
    return offset
