"""The content of a log directory and of a partition's folder, by the names of the files.

Source: classes LogFileUtils, UnifiedLog (suffixes of folders), Snapshots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

LOG, INDEX, TIME_INDEX, TXN_INDEX, SNAPSHOT = (
    ".log",
    ".index",
    ".timeindex",
    ".txnindex",
    ".snapshot",
)
METADATA_TOPIC = "__cluster_metadata"
PREVIEW_METADATA_TOPIC = "@metadata"  # of 2.8, in the preview of KRaft; no topic can be named so
INDEXES = (INDEX, TIME_INDEX, TXN_INDEX)
LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE = (
    "leader-epoch-checkpoint",
    "partition.metadata",
    "quorum-state",
)
FUTURE = "future"
META_PROPERTIES, CLEAN_SHUTDOWN = "meta.properties", ".kafka_cleanshutdown"
OFFSET_CHECKPOINTS = RECOVERY_POINTS, HIGH_WATERMARKS, LOG_STARTS, CLEANER_OFFSETS = (
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "log-start-offset-checkpoint",
    "cleaner-offset-checkpoint",
)
NOTES = (LEADER_EPOCHS, PARTITION_METADATA, QUORUM_STATE)
DIRECTORY_NOTES = (META_PROPERTIES, CLEAN_SHUTDOWN, *OFFSET_CHECKPOINTS)
_OF_SEGMENT = re.compile(r"([0-9]{20})(\.log|\.index|\.timeindex|\.txnindex|\.snapshot)")
_METADATA_SNAPSHOT = re.compile(r"[0-9]{20}-[0-9]{10,}\.checkpoint")
_BOOTSTRAP = "bootstrap.checkpoint"  # the first records of the metadata log, beside the partitions
_PARTITION = re.compile(r"(?P<topic>[\w.-]{1,249})-(?P<partition>[0-9]+)", re.ASCII)
_FUTURE = re.compile(rf"{_PARTITION.pattern}\.[0-9a-f]{{32}}-future", re.ASCII)
_DELETED = re.compile(r"[\w.-]+-[0-9]+\.[0-9a-f]{32}-delete", re.ASCII)
_LONGEST_NAME = 255
_LEAVING = re.compile(r".+-[0-9]+\.[0-9a-f]{32}-(delete|future|stray)|.+-(delete|future|stray)")
_LEFT_ALONE = {".lock"}


class NotALogFolder(ValueError):
    """No folder or file of a log; the text lists the files that would make it one."""


@dataclass(slots=True)
class SegmentFiles:
    """A segment's files; ``indexes`` are the existing ones by suffix."""

    base_offset: int
    log: Path | None = None
    indexes: dict[str, Path] = field(default_factory=dict)


@dataclass(slots=True)
class PartitionFolder:
    """The files of one log, or only the named ones of them.

    ``topic``, ``partition``: None where the folder has no partition's name. ``is_whole``: True if
    all files of the folder are included.
    """

    path: Path
    topic: str | None
    partition: int | None
    is_whole: bool = True
    segments: list[SegmentFiles] = field(default_factory=list)
    producer_snapshots: list[tuple[int, Path]] = field(default_factory=list)
    metadata_snapshots: list[Path] = field(default_factory=list)
    notes: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)


@dataclass(slots=True)
class LogDirectoryFiles:
    """One of ``log.dirs``: partitions, and notes about all of them, or only one named file.

    ``is_whole``: True if all files of the directory are included.
    """

    path: Path
    is_whole: bool = True
    partitions: list[PartitionFolder] = field(default_factory=list)
    metadata_snapshots: list[Path] = field(default_factory=list)
    notes: list[Path] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)


def open_log(path: Path) -> LogDirectoryFiles | PartitionFolder:
    """Return the log directory or the partition's folder at ``path``, or one file of either.

    Raises NotALogFolder, OSError.
    """
    if not path.is_dir():
        return _of_one_file(path)
    entries = sorted(path.iterdir())
    if any(_is_of_log(entry.name) for entry in entries):
        return _partition_folder(path, entries)
    directory = _log_directory(path, entries)
    if directory.partitions or directory.notes:
        return directory
    if _PARTITION.fullmatch(path.name):
        return _partition_folder(path, entries)
    raise NotALogFolder(
        f"{path}: neither a log directory nor a partition's folder; there is no TOPIC-PARTITION"
        f" folder in it, no {META_PROPERTIES}, no segment"
    )


def _of_one_file(path: Path) -> LogDirectoryFiles | PartitionFolder:
    if path.name in DIRECTORY_NOTES:
        return LogDirectoryFiles(path.parent, is_whole=False, notes=[path])
    if path.name == _BOOTSTRAP:
        return LogDirectoryFiles(path.parent, is_whole=False, metadata_snapshots=[path])
    if not _is_of_log(path.name):
        raise NotALogFolder(f"{path}: no file of a log that can be read, by its name")
    return _partition_folder(path.parent, [path], is_whole=False)


def _is_of_log(name: str) -> bool:
    return bool(_OF_SEGMENT.fullmatch(name) or _METADATA_SNAPSHOT.fullmatch(name)) or name in NOTES


def _log_directory(path: Path, entries: list[Path]) -> LogDirectoryFiles:
    found = LogDirectoryFiles(path)
    for entry in entries:
        if entry.is_dir() and (is_partition_name(entry.name) or _is_of_preview(entry.name)):
            found.partitions.append(_partition_folder(entry, sorted(entry.iterdir())))
        elif entry.name in DIRECTORY_NOTES:
            found.notes.append(entry)
        elif entry.name == _BOOTSTRAP:
            found.metadata_snapshots.append(entry)
        elif entry.name not in _LEFT_ALONE:
            found.others.append(entry)
    return found


def is_partition_name(name: str) -> bool:
    """True if a folder of that name is a partition's, and is not about to be removed."""
    return bool(_PARTITION.fullmatch(name)) and not _LEAVING.fullmatch(name)


def _is_of_preview(name: str) -> bool:
    return name == f"{PREVIEW_METADATA_TOPIC}-0"


def is_deleted_name(name: str) -> bool:
    """True if a folder of that name must be removed: it is that of a deleted or moved log."""
    return _DELETED.fullmatch(name) is not None


def future_place(name: str) -> tuple[str, int] | None:
    """Return the partition of a future log's folder; None if the name is no such folder's."""
    match = _FUTURE.fullmatch(name)
    return None if match is None else (match["topic"], int(match["partition"]))


def suffixed_name(topic: str, index: int, why: str) -> str:
    """Return a new, unique name for a folder that is no partition's any more, or not yet.

    A long topic's name is cut (class LocalLog, logDirNameWithSuffixCappedLength).
    """
    behind = f"-{index}.{uuid4().hex}-{why}"
    return topic[: _LONGEST_NAME - len(behind)] + behind


def _partition_folder(path: Path, entries: list[Path], *, is_whole: bool = True) -> PartitionFolder:
    name = path.absolute().name
    named = _PARTITION.fullmatch(name)
    topic, partition = (named["topic"], int(named["partition"])) if named else (None, None)
    if _is_of_preview(name):
        topic, partition = PREVIEW_METADATA_TOPIC, 0
    found = PartitionFolder(path, topic, partition, is_whole)
    segments: dict[int, SegmentFiles] = {}
    for entry in entries:
        match = _OF_SEGMENT.fullmatch(entry.name)
        if match is None:
            _kept_in(found, entry).append(entry)
            continue
        base_offset, suffix = int(match[1]), match[2]
        if suffix == SNAPSHOT:
            found.producer_snapshots.append((base_offset, entry))
            continue
        segment = segments.setdefault(base_offset, SegmentFiles(base_offset))
        if suffix == LOG:
            segment.log = entry
        else:
            segment.indexes[suffix] = entry
    found.segments = [segments[base_offset] for base_offset in sorted(segments)]
    return found


def _kept_in(folder: PartitionFolder, entry: Path) -> list[Path]:
    if _METADATA_SNAPSHOT.fullmatch(entry.name):
        return folder.metadata_snapshots
    return folder.notes if entry.name in NOTES else folder.others


def partitions_of(found: LogDirectoryFiles | PartitionFolder) -> Iterator[PartitionFolder]:
    """Yield the partitions of a log directory, or the one folder."""
    yield from found.partitions if isinstance(found, LogDirectoryFiles) else (found,)
