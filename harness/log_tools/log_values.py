"""The content of a data folder as a sequence of plain values; bytes stay bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from harness.codec.data_framing import (
    offset_index_entries,
    read_clean_shutdown,
    read_leader_epoch_checkpoint,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
    read_producer_snapshot,
    read_quorum_state,
    read_transaction_index,
    time_index_entries,
)
from harness.codec.data_framing.log_folder import (
    CLEAN_SHUTDOWN,
    INDEX,
    LEADER_EPOCHS,
    META_PROPERTIES,
    METADATA_TOPIC,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    QUORUM_STATE,
    TIME_INDEX,
    TXN_INDEX,
    LogDirectoryFiles,
    PartitionFolder,
    partitions_of,
)
from harness.codec.data_framing.own_topics import ANY_TOPIC, WrittenTo, own_control_record
from harness.codec.errors import DecodeError
from harness.codec.records.log_batch import LogBatch
from harness.codec.records.log_records import LogRecord
from harness.log_tools.segment_reader import DamageKind, SegmentDamage, SegmentReader

Value = dict[str, Any]


def log_values(
    found: LogDirectoryFiles | PartitionFolder,
    *,
    records: bool,
    written_to: WrittenTo = ANY_TOPIC,
) -> Iterator[Value]:
    """Yield all values in the order of offsets; each has ``kind`` and ``file``. Raises OSError.

    A file or batch that cannot be read is a value too. ``records``: yield each record after its
    batch; those of Kafka's own topics have ``decoded``, their key and value by schema.
    ``written_to``: the topic of all records, where the folder's name does not give it, and the
    release that wrote them; without it all layouts are tried.
    """
    snapshots = written_to.or_in(METADATA_TOPIC)
    if isinstance(found, LogDirectoryFiles):
        for path in found.notes:
            yield from _values_of(path, NOTES[path.name])
        for path in found.metadata_snapshots:
            yield from batch_values(path, records=records, written_to=snapshots)
        yield from _others(found.others)
    for folder in partitions_of(found):
        yield from _partition_values(folder, records=records, written_to=written_to)


def _partition_values(
    folder: PartitionFolder, *, records: bool, written_to: WrittenTo
) -> Iterator[Value]:
    snapshots = written_to.or_in(METADATA_TOPIC)  # no other log has any
    written_to = written_to.or_in(folder.topic)
    for path in folder.notes:
        yield from _values_of(path, NOTES[path.name])
    for path in folder.metadata_snapshots:
        yield from batch_values(path, records=records, written_to=snapshots)
    for segment in folder.segments:
        if segment.log:
            yield from batch_values(segment.log, records=records, written_to=written_to)
        for suffix, path in segment.indexes.items():
            yield from _values_of(path, _index_reader(suffix, segment.base_offset))
    for _, path in folder.producer_snapshots:
        yield from _values_of(path, _producers)
    yield from _others(folder.others)


def _others(paths: list[Path]) -> Iterator[Value]:
    for path in paths:
        yield {"kind": "left_alone", "file": str(path), "folder": path.is_dir()}


def batch_values(
    path: Path, *, records: bool, written_to: WrittenTo = ANY_TOPIC
) -> Iterator[Value]:
    """Yield the batches of one segment, and damaged bytes; arguments as of :func:`log_values`.

    Raises OSError.
    """
    with SegmentReader(path) as reader:
        for found in reader.batches():
            if isinstance(found, SegmentDamage):
                yield _damage_value(path, found)
                continue
            yield _batch_value(path, found)
            if records:
                for record in found.records:
                    yield _record_value(path, found, record) | _decoded(found, record, written_to)


def _damage_value(path: Path, damage: SegmentDamage) -> Value:
    return {
        "kind": "damage",
        "file": str(path),
        "position": damage.position,
        "size_bytes": damage.size_bytes,
        "base_offset": damage.base_offset,
        "magic": damage.magic,
        "damage": damage.kind.value,
        "problem": damage.problem,
        "crc_ok": {DamageKind.CHECKSUM: False, DamageKind.RECORDS: True}.get(damage.kind),
    }


def _batch_value(path: Path, batch: LogBatch) -> Value:
    return {
        "kind": "batch",
        "file": str(path),
        "position": batch.position,
        "size_bytes": batch.size_bytes,
        "base_offset": batch.base_offset,
        "last_offset": batch.last_offset,
        "count": len(batch.records),
        "magic": batch.magic,
        "codec": batch.compression,
        "leader_epoch": batch.partition_leader_epoch,
        "producer_id": batch.producer_id,
        "producer_epoch": batch.producer_epoch,
        "base_sequence": batch.base_sequence,
        "transactional": batch.is_transactional,
        "control": batch.is_control,
        "delete_horizon_ms": batch.delete_horizon_ms,
        "timestamp_type": batch.timestamp_type,
        "max_timestamp": batch.max_timestamp,
        "crc": batch.crc,
        "crc_ok": True,
    }


def _record_value(path: Path, batch: LogBatch, record: LogRecord) -> Value:
    return {
        "kind": "record",
        "file": str(path),
        "position": batch.position,
        "offset": record.offset,
        "timestamp": record.timestamp,
        "key": record.key,
        "value": record.value,
        "headers": [[header.key, header.value] for header in record.headers],
    }


def _decoded(batch: LogBatch, record: LogRecord, written_to: WrittenTo) -> Value:
    if batch.is_control and record.key is not None:
        name, control = own_control_record(
            written_to.topic, record.key, record.value, written_to.release
        )
        return {"control": name, "decoded": control.as_dict()}
    own = None if batch.is_control else written_to.decoded(record.key, record.value)
    return {} if own is None else {"decoded": own.as_dict()}


def _values_of(path: Path, read: Callable[[bytes], Iterator[Value]]) -> Iterator[Value]:
    try:
        for value in read(path.read_bytes()):
            yield {"kind": value.pop("kind"), "file": str(path), **value}
    except DecodeError as error:
        yield {
            "kind": "unreadable",
            "file": str(path),
            "position": error.offset,
            "path": error.path,
            "problem": error.problem,
        }


def _index_reader(suffix: str, base_offset: int) -> Callable[[bytes], Iterator[Value]]:
    readers: Mapping[str, Callable[[bytes], Iterator[Value]]] = {
        INDEX: lambda data: _rows("offset_index", offset_index_entries(data, base_offset)),
        TIME_INDEX: lambda data: _rows("time_index", time_index_entries(data, base_offset)),
        TXN_INDEX: _aborted,
    }
    return readers[suffix]


def _rows(kind: str, entries: Iterator[Any]) -> Iterator[Value]:
    return ({"kind": kind, **entry._asdict()} for entry in entries)


def _aborted(data: bytes) -> Iterator[Value]:
    for entry in read_transaction_index(data):
        yield {
            "kind": "aborted_transaction",
            "producer_id": entry.producer_id,
            "first_offset": entry.first_offset,
            "last_offset": entry.last_offset,
            "last_stable_offset": entry.last_stable_offset,
        }


def _producers(data: bytes) -> Iterator[Value]:
    for entry in read_producer_snapshot(data).producer_entries:
        yield {
            "kind": "producer",
            "producer_id": entry.producer_id,
            "producer_epoch": entry.epoch,
            "coordinator_epoch": entry.coordinator_epoch,
            "last_sequence": entry.last_sequence,
            "last_offset": entry.last_offset,
            "offset_delta": entry.offset_delta,
            "timestamp": entry.timestamp,
            "current_txn_first_offset": entry.current_txn_first_offset,
        }


def _meta(data: bytes) -> Iterator[Value]:
    yield {"kind": "meta_properties", "properties": read_meta_properties(data).values}


def _quorum_state(data: bytes) -> Iterator[Value]:
    found = read_quorum_state(data.decode("utf-8", "replace"))
    state = found.message
    yield {
        "kind": "quorum_state",
        "version": found.version,
        "leader_id": state.leader_id,
        "leader_epoch": state.leader_epoch,
        "voted_id": state.voted_id,
        "voters": [voter.voter_id for voter in state.current_voters or ()],
    }


def _one(kind: str, read: Callable[[bytes], Any]) -> Callable[[bytes], Iterator[Value]]:
    return lambda data: _rows(kind, iter((read(data),)))


def _each(kind: str, read: Callable[[bytes], list[Any]]) -> Callable[[bytes], Iterator[Value]]:
    return lambda data: _rows(kind, iter(read(data)))


NOTES: Mapping[str, Callable[[bytes], Iterator[Value]]] = {
    LEADER_EPOCHS: _each("leader_epoch", read_leader_epoch_checkpoint),
    PARTITION_METADATA: _one("partition_metadata", read_partition_metadata),
    QUORUM_STATE: _quorum_state,
    META_PROPERTIES: _meta,
    CLEAN_SHUTDOWN: _one("clean_shutdown", read_clean_shutdown),
    **dict.fromkeys(OFFSET_CHECKPOINTS, _each("checkpoint", read_offset_checkpoint)),
}
