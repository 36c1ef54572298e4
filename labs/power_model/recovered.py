"""Check of a disk after a power loss: the recovered logs against the required contents."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from harness.base.ids import TimeMs
from harness.codec.records import Record, RecordBatch, decode_batches, encode_batch
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.storage.log_directory import LogDirectory
from labs.power_model.workload import BEGIN, PRODUCER, LogHistory, SentBatches, open_partition

LATER = TimeMs(BEGIN + 86_400_000)
Found = list[tuple[int, bytes | None, bytes | None]]


class BrokenPromise(AssertionError):
    """A promise that a power loss has broken."""


def write_out(files: Mapping[Path, bytes], folder: Path) -> None:
    """Make the folder contain these files and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def expect_recovered(folder: Path, histories: Mapping[str, LogHistory], calls: int) -> int:
    """Check all logs as a power loss behind ``calls`` calls left them; return the number of gaps.

    A gap: records are missing between segments, none of which was flushed; one segment ends earlier
    than it did, with a whole batch, and the next one is there. A log counts once. Kafka's recovery
    (LogLoader.recoverLog) goes on behind a segment that needs no cut, and so does ours.

    Raises Broken, and any error of a storage that cannot recover.
    """
    logs, kept, gaps = LogDirectory(folder), dict[str, Found](), 0
    try:
        for topic, history in histories.items():
            partition = open_partition(logs, topic, LATER)
            gaps += _has_gap(partition, history, calls)
            _expect_more(partition, history)
            kept[topic] = records_of(partition)
    finally:
        logs.close(broker_epoch=None)
    again = LogDirectory(folder)
    try:
        for topic, found in kept.items():
            there = records_of(open_partition(again, topic, LATER))
            _must(there == found, f"{topic}: another recovery finds {there}, not {found}")
    finally:
        again.close(broker_epoch=None)
    return gaps


def records_of(partition: Partition) -> Found:
    """Return all records that a consumer receives; checksums are verified."""
    log = partition.log
    return [
        (batch.base_offset + (record.offset_delta or 0), record.key, record.value)
        for stored in log.between(log.start_offset, log.end_offset)
        for batch in decode_batches(stored.data)
        for record in batch.records
    ]


def _must(holds: bool, told: str) -> None:
    if not holds:
        raise BrokenPromise(told)


def _last(noted: list[tuple[int, int]], calls: int) -> int:
    """Return the last value noted before the power loss; 0: none."""
    return max((at for number, at in noted if number <= calls), default=0)


def _has_gap(partition: Partition, history: LogHistory, calls: int) -> bool:
    """Raises Broken for all that is wrong otherwise."""
    log, topic = partition.log, history.topic
    begun = [one for one in history.sent if one.begun_at <= calls]
    flushed, noted = _last(history.flushed, calls), _last(history.noted_starts, calls)
    where = f"{topic}: the log is {log.start_offset} to {log.end_offset}"
    _must(log.end_offset >= flushed, f"{where}, flushed is all below {flushed}")
    _must(log.start_offset >= noted, f"{where}, its start was noted as {noted}")
    _must(log.end_offset <= max(len(begun), noted), f"{where}, {len(begun)} were appended")
    if history.configs.get("flush.messages") == "1":
        acknowledged = [one for one in history.sent if one.acknowledged_at <= calls]
        told = f"{where}, acknowledged are {len(acknowledged)}"
        _must(log.end_offset >= len(acknowledged), told)
    found = [one for one in records_of(partition) if one[0] >= log.start_offset]
    wanted = begun[log.start_offset : log.end_offset]
    _expect_sent(found, wanted, where)
    if history.configs.get("cleanup.policy") == "compact":
        wanted = sorted({one.key: one for one in wanted}.values(), key=lambda one: one.offset)
    there = {offset for offset, *_ in found}
    missing = [one.offset for one in wanted if one.offset not in there]
    told = f"{where}, missing is what was sent at {missing}"
    bases = {segment.base_offset for segment in log.segments.all()}
    is_gap = bool(missing) and missing[0] >= flushed and missing[-1] + 1 in bases
    _must(is_gap or not missing, told)
    return is_gap


def _expect_sent(found: Found, wanted: list[SentBatches], where: str) -> None:
    """Check that the log has no garbage and all records in order."""
    sent = {(one.offset, one.key, one.value) for one in wanted}
    for one in found:
        _must(one in sent, f"{where}, there is {one}, which was not sent")
    _must(found == sorted(found), f"{where}, in another order")


def _expect_more(partition: Partition, history: LogHistory) -> None:
    """Check that the producer can repeat its last batch, which is known, and go on."""
    log = partition.log
    if log.end_offset == 0 or log.end_offset > len(history.sent):
        return
    end, found = log.end_offset, records_of(partition)
    if found and found[-1][0] == end - 1:
        at = partition.append(_batch(end - 1, *found[-1][1:]), LATER).base_offset
        told = f"{history.topic}: the last batch is repeated and stored at {at} of {end}"
        _must(at == end - 1 and log.end_offset == end, told)
        at = partition.append(_batch(end, b"0", b"more"), LATER).base_offset
        _must(at == end, f"{history.topic}: the log ends at {end}, more is stored at {at}")


def _batch(sequence: int, key: bytes | None, value: bytes | None) -> bytes:
    record = Record(value, key)
    return encode_batch(
        RecordBatch(
            [record],
            base_timestamp=LATER,
            producer_id=PRODUCER,
            producer_epoch=0,
            base_sequence=sequence,
        )
    )
