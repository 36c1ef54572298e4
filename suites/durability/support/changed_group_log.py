"""Records of the groups' internal topic, changed while the broker is down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.codec.data_framing import OFFSETS
from harness.codec.records import Record, RecordBatch, decode_batches, encode_batch
from harness.codec.structs import Message
from harness.conformance.checks import Inconclusive
from harness.runner.brokers.persistent_broker import PersistentBroker

Change = Callable[[Message, Message], bool]
"""Changes the value of a key, and returns True if it has changed it."""


def change_group_log(
    kept: PersistentBroker, change: Change, least: int, *, keeps_size: bool = True
) -> None:
    """Apply a change to all values in the topic's files. The broker has stopped.

    ``keeps_size``: the files keep their sizes, so that their indexes stay right. After a kill they
    need not: the start makes the indexes anew.

    Raises Inconclusive if fewer than ``least`` values are changed.
    """
    files = [file for folder in kept.folders for file in folder.glob(f"{OFFSETS.topic}-*/*.log")]
    changed = sum(_change_file(file, change, keeps_size=keeps_size) for file in files)
    if changed < least:
        raise Inconclusive(f"{changed} values in {OFFSETS.topic} are changed, {least} are expected")


def _change_file(file: Path, change: Change, *, keeps_size: bool) -> int:
    data, count = file.read_bytes(), 0
    batches: list[RecordBatch] = []
    for batch in decode_batches(data):
        records = [_changed(record, change) for record in batch.records]
        count += sum(new is not old for new, old in zip(records, batch.records, strict=True))
        batches.append(replace(batch, records=records, crc=None, batch_length=None))
    if count:
        made = b"".join(map(encode_batch, batches))
        if keeps_size and len(made) != len(data):
            raise Inconclusive(f"{file} has {len(data)} bytes, changed {len(made)}")
        file.write_bytes(made)
    return count


def _changed(record: Record, change: Change) -> Record:
    """Return the record with its changed value, or the record itself."""
    if record.key is None or record.value is None:
        return record
    found = OFFSETS.read_record(record.key, record.value)
    if not isinstance(found.key, Message) or found.value is None:
        return record
    if not change(found.key, found.value):
        return record
    return replace(record, value=OFFSETS.value_bytes(found.value, found.value_version))
