"""Record batches of magic 2, read and built by us and by each peer.

Read: the checksum verified, as both peers' consumers do, and offset, timestamp, key and value of
each record looked at. Ours by the quickest function, ``rows``; as objects in a table of its own,
and so are shapes that records of one size are not. Built: from times, keys, values and headers,
with the peers' builders of batches and our ``encode_rows`` (with headers ``encode_batch``); the
bytes must be the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from aiokafka.record.default_records import (  # type: ignore[import-untyped]
    DefaultRecordBatchBuilder as AioBuilder,
)
from aiokafka.record.memory_records import (  # type: ignore[import-untyped]
    MemoryRecords as AioRecords,
)
from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaBuilder
from kafka.record.memory_records import MemoryRecords as KafkaRecords

from bench.codec.rounds import medians
from bench.codec.table import CodecResult, CodecTarget
from harness.codec.records import Header, Record, RecordBatch, encode_batch, encode_rows
from harness.codec.records.any_format import read_records

READ, BUILD = "read records", "build records"
TARGETS = [
    CodecTarget(READ, "kafka-python", mean=2.5, least=2.5),
    CodecTarget(READ, "aiokafka", mean=0.6, least=0.6),
    CodecTarget(BUILD, "kafka-python", mean=2.0, least=2.0),
]
COUNT, BASE_TIMESTAMP = 1000, 1_700_000_000_000
LIMIT_BYTES = 1 << 24
EPOCH_AT, MAGIC_AT = 12, 16  # kafka-python writes 0 for the leader's epoch, not -1

Given = tuple[int, bytes | None, bytes | None, list[tuple[str, bytes]]]
PEERS: dict[str, tuple[Any, Any]] = {
    "kafka-python": (KafkaRecords, KafkaBuilder),
    "aiokafka": (AioRecords, AioBuilder),
}


def shapes() -> dict[str, list[Given]]:
    """Time, key, value and headers of each record."""
    chance = random.Random(1)  # the same sizes every time
    times = [BASE_TIMESTAMP + place // 2 for place in range(COUNT)]
    return {
        f"{COUNT} records of 100 bytes": [(time, None, bytes(100), []) for time in times],
        "key of 10, value of 90 bytes": [
            (time, b"key-%06d" % place, bytes(90), []) for place, time in enumerate(times)
        ],
        "values of 50 to 150 bytes": [
            (time, None, bytes(chance.randrange(50, 151)), []) for time in times
        ],
        "two headers": [
            (time, None, bytes(100), [("trace", b"%016d" % place), ("kind", b"x")])
            for place, time in enumerate(times)
        ],
    }


def results() -> Iterator[CodecResult]:
    """The first shape is the one with targets."""
    for number, (case, given) in enumerate(shapes().items()):
        data = _built(given)
        _require_same_work(case, given, data)
        also = "" if number == 0 else ", other shapes"
        readers = {name: partial(_read, of, data) for name, (of, _) in PEERS.items()}
        builders = {name: partial(_build, of, given) for name, (_, of) in PEERS.items()}
        yield from _compared(READ + also, case, partial(_rows, data), readers)
        yield from _compared(f"{READ} as objects{also}", case, partial(_objects, data), readers)
        yield from _compared(BUILD + also, case, partial(_built, given), builders)


def _compared(
    work: str, case: str, ours: Callable[[], object], peers: Mapping[str, Callable[[], object]]
) -> Iterator[CodecResult]:
    took = medians({"ours": ours, **peers})
    for peer in peers:
        yield CodecResult(work, case, peer, took["ours"] * 1e6, took[peer] * 1e6)


def _rows(data: bytes) -> None:
    for batch in read_records(data, limit_bytes=LIMIT_BYTES).batches:
        for offset, timestamp, key, value in batch.records.rows():
            offset, timestamp, key, value  # noqa: B018  # touched, as below


def _objects(data: bytes) -> None:
    for batch in read_records(data, limit_bytes=LIMIT_BYTES).batches:
        for record in batch.records:
            record.offset, record.timestamp, record.key, record.value  # noqa: B018


def _read(of: Any, data: bytes) -> None:
    batches = of(data)
    while (batch := batches.next_batch()) is not None:
        if not batch.validate_crc():
            raise RuntimeError("the checksum is wrong")
        for record in batch:
            record.offset, record.timestamp, record.key, record.value  # noqa: B018


def _built(given: list[Given]) -> bytes:
    """Headers need records; without any, rows are the quicker form."""
    if not any(headers for *_, headers in given):
        return encode_rows([row[:3] for row in given])
    records = [
        Record(value, key, [Header(*pair) for pair in headers], time - BASE_TIMESTAMP)
        for time, key, value, headers in given
    ]
    return encode_batch(RecordBatch(records, base_timestamp=BASE_TIMESTAMP))


def _build(of: Any, given: list[Given]) -> bytes:
    builder = of(
        magic=2,
        compression_type=0,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=LIMIT_BYTES,
    )
    for offset, (time, key, value, headers) in enumerate(given):
        builder.append(offset, time, key, value, headers)
    return bytes(builder.build())


def _require_same_work(case: str, given: list[Given], data: bytes) -> None:
    """Every side builds these bytes and reads these records from them; RuntimeError if not."""
    (ours,) = read_records(data, limit_bytes=LIMIT_BYTES).batches
    for name, (reader, builder) in PEERS.items():
        theirs = [(r.offset, r.timestamp, r.key, r.value) for r in reader(data).next_batch()]
        built = _build(builder, given)
        same = (built[:EPOCH_AT], built[MAGIC_AT:]) == (data[:EPOCH_AT], data[MAGIC_AT:])
        if not same or theirs != list(ours.records.rows()):
            raise RuntimeError(f"{case}: {name} does not do the same work")
