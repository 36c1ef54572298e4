"""A node's logs in a folder: ``TOPIC_ID-INDEX/`` with the batches as they are, and two notes.

What was written survives the process, not the machine: nothing is flushed (the durability of a
Kafka without ``flush.messages`` is its replication). Every write goes to the file at once. A batch
that a killed process wrote in part is cut off when the log is opened again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from harness.ids import LeaderEpoch, Offset
from harness.reference_broker.state.batch_bytes import next_batch_size
from harness.reference_broker.state.leader_epochs import EpochEntry
from harness.reference_broker.state.log_store import KeptLog
from harness.reference_broker.state.partition_log import StoredBatch

_BATCHES, _EPOCHS, _OFFSETS = "batches.log", "leader-epochs.json", "offsets.json"


class LogFiles:
    """Below ``folder``, which is made if it is not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def open(self, topic_id: UUID, index: int) -> KeptLog:
        """See Storage. Raises OSError."""
        folder = self._at(topic_id, index)
        folder.mkdir(exist_ok=True)
        store = _PartitionFiles(folder)
        offsets = _read_json(folder / _OFFSETS) or {}
        return KeptLog(
            store,
            store.records(),
            [EpochEntry(LeaderEpoch(e), Offset(o)) for e, o in _read_json(folder / _EPOCHS) or ()],
            _offset(offsets.get("log_start")),
            _offset(offsets.get("high_watermark")),
        )

    def delete(self, topic_id: UUID, index: int) -> None:
        """See Storage."""
        shutil.rmtree(self._at(topic_id, index), ignore_errors=True)

    def kept(self) -> list[tuple[UUID, int]]:
        """See Storage."""
        found = (path.name.rpartition("-") for path in self._folder.iterdir() if path.is_dir())
        return [(UUID(topic_id), int(index)) for topic_id, _, index in found]

    def _at(self, topic_id: UUID, index: int) -> Path:
        return self._folder / f"{topic_id}-{index}"


class _PartitionFiles:
    """One partition's folder, as a LogStore; the file of batches stays open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / _BATCHES
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)

    def __del__(self) -> None:
        os.close(self._descriptor)

    def records(self) -> bytes:
        """All whole batches; what a killed process left behind them is cut off."""
        records, whole = self._path.read_bytes(), 0
        while (size := next_batch_size(records, whole)) is not None:
            whole += size
        os.ftruncate(self._descriptor, whole)
        return records[:whole]

    def append(self, batch: bytes) -> None:
        """See LogStore."""
        written = os.write(self._descriptor, batch)
        while written < len(batch):
            written += os.write(self._descriptor, batch[written:])

    def truncate(self, size_bytes: int) -> None:
        """See LogStore."""
        os.ftruncate(self._descriptor, size_bytes)

    def rewrite(self, batches: Sequence[StoredBatch]) -> None:
        """See LogStore. Another file takes the place, so that one of both is there at any time."""
        beside = self._path.with_suffix(".new")
        beside.write_bytes(b"".join(batch.data for batch in batches))
        beside.replace(self._path)
        before = self._descriptor
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND)
        os.close(before)

    def note_epochs(self, entries: Sequence[EpochEntry]) -> None:
        """See LogStore."""
        _write_json(self._folder / _EPOCHS, [list(entry) for entry in entries])

    def note_offsets(self, start: Offset, high_watermark: Offset) -> None:
        """See LogStore."""
        noted = {"log_start": start, "high_watermark": high_watermark}
        _write_json(self._folder / _OFFSETS, noted)


def _offset(number: int | None) -> Offset | None:
    return None if number is None else Offset(number)


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def _write_json(path: Path, value: object) -> None:
    """Whole or not at all."""
    beside = path.with_suffix(".new")
    beside.write_text(json.dumps(value), "utf-8")
    beside.replace(path)
