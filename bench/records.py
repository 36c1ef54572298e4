"""The walk over records that makes no objects, against decoding them."""

from __future__ import annotations

from collections.abc import Iterator

from bench.ratio import Case
from harness.codec.records import (
    BATCH_HEADER_BYTES,
    Header,
    Record,
    RecordBatch,
    decode_batches,
    encode_batch,
)
from harness.codec.records.walk import walk_records

COUNT = 1000
SHAPES = {
    "values of 100 bytes": Record(bytes(100)),
    "keys and values of 10 bytes": Record(bytes(10), bytes(10)),
    "values of 1000 bytes": Record(bytes(1000)),
    "values of 100 bytes, two headers": Record(bytes(100), None, [Header("trace", bytes(8))] * 2),
}


def cases() -> Iterator[Case]:
    """One case a shape, a thousand records each."""
    for name, record in SHAPES.items():
        data = encode_batch(RecordBatch([record] * COUNT))
        yield _case(f"walk or decode {name}", data)


def _case(name: str, data: bytes) -> Case:
    payload = data[BATCH_HEADER_BYTES:]
    return Case("records", name, lambda: walk_records(payload, COUNT), lambda: decode_batches(data))
