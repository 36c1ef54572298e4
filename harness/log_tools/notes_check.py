"""Checks of the small files beside the segments: checkpoints, snapshots of producers, notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from harness.codec.data_framing import (
    EpochStart,
    read_clean_shutdown,
    read_leader_epoch_checkpoint,
    read_meta_properties,
    read_offset_checkpoint,
    read_partition_metadata,
    read_producer_snapshot,
    read_quorum_state,
)
from harness.codec.data_framing.log_folder import (
    CLEAN_SHUTDOWN,
    LEADER_EPOCHS,
    META_PROPERTIES,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    QUORUM_STATE,
)
from harness.codec.errors import DecodeError
from harness.log_tools.findings import REMOVED, Finding

_NOT_STARTED = "a broker does not start with it, or takes its log directory as failed"
_EPOCH_LOST = "the shutdown counts as clean, the broker epoch is not known"
_BEYOND = {  # the effect of a noted offset behind the log's end
    "recovery-point-offset-checkpoint": "the log counts as flushed up to its end",
    "replication-offset-checkpoint": "the high watermark begins at the log's end",
    "log-start-offset-checkpoint": "since 0.11 all of the log goes: it begins anew at this offset",
    "cleaner-offset-checkpoint": "cleaning begins again at the log's start",
}
READERS: Mapping[str, Callable[[bytes], object]] = {
    LEADER_EPOCHS: read_leader_epoch_checkpoint,
    PARTITION_METADATA: read_partition_metadata,
    QUORUM_STATE: lambda data: read_quorum_state(data.decode("utf-8", "replace")),
    META_PROPERTIES: read_meta_properties,
    CLEAN_SHUTDOWN: read_clean_shutdown,
    **dict.fromkeys(OFFSET_CHECKPOINTS, read_offset_checkpoint),
}


def check_note(path: Path) -> Iterator[Finding]:
    """Check that the file can be read. Raises OSError."""
    try:
        READERS[path.name](path.read_bytes())
    except DecodeError as error:
        problem = f"{error.path}: {error.problem}" if error.path else error.problem
        kind = "checkpoint" if path.name.endswith("-checkpoint") else "note"
        recovery = _EPOCH_LOST if path.name == CLEAN_SHUTDOWN else _NOT_STARTED
        yield Finding(path, kind, problem, recovery, error.offset)


def check_leader_epochs(
    path: Path, starts: list[EpochStart], log_end: int | None
) -> Iterator[Finding]:
    """Check that epochs and their starts rise, and not beyond the log's end (None: not known)."""
    last = EpochStart(-1, -1)
    for start in starts:
        epoch, offset = start
        if epoch <= last.epoch or offset <= last.start_offset:
            problem = (
                f"epoch {epoch} from offset {offset} on, behind epoch {last.epoch} from"
                f" {last.start_offset} on"
            )
            recovery = "the entry replaces those before it that it contradicts"
            yield Finding(path, "leader-epoch-order", problem, recovery, None, offset)
            return
        last = start
        if log_end is not None and offset > log_end:
            problem = f"epoch {epoch} starts at offset {offset}, the log ends at {log_end}"
            yield Finding(path, "leader-epoch-offset", problem, REMOVED, None, offset)


def check_offset_checkpoint(
    path: Path, log_ends: Mapping[tuple[str, int], int]
) -> Iterator[Finding]:
    """Check a file of offsets against the logs' ends.

    ``log_ends``: of the partitions of the directory, where they are known. Raises OSError.
    """
    findings = list(check_note(path))
    yield from findings
    if findings:
        return
    for topic, partition, offset in read_offset_checkpoint(path.read_bytes()):
        log_end = log_ends.get((topic, partition))
        if log_end is not None and offset > log_end:
            problem = f"{topic}-{partition}: offset {offset}, the log ends at {log_end}"
            yield Finding(path, "checkpoint-offset", problem, _BEYOND[path.name], None, offset)


def check_producer_snapshot(path: Path, offset: int, log_end: int | None) -> Iterator[Finding]:
    """Check a producer snapshot. Raises OSError.

    ``offset``: behind the last record that the snapshot covers.
    """
    recovery = f"{REMOVED}; the producers' states come from an older one and the log"
    try:
        snapshot = read_producer_snapshot(path.read_bytes())
    except DecodeError as error:
        problem = f"{error.path}: {error.problem}" if error.path else error.problem
        yield Finding(path, "producer-snapshot", problem, recovery, error.offset)
        return
    for entry in snapshot.producer_entries:
        if entry.last_offset >= offset:
            problem = f"producer {entry.producer_id} has offset {entry.last_offset} already"
            yield Finding(
                path, "producer-snapshot-entry", problem, recovery, None, entry.last_offset
            )
            return
    if log_end is not None and offset > log_end:
        problem = f"of offset {offset}, the log ends at {log_end}"
        yield Finding(path, "producer-snapshot-offset", problem, recovery, None, offset)
