"""One log directory, as Kafka lays it out: partitions' folders, and notes about all of them.

Source: classes LogManager, OffsetCheckpointFile, CleanShutdownFileHandler, PartitionMetadataFile.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from uuid import UUID

from harness.base.ids import TimeMs
from harness.base.operating_system import NAMES_CAN_BE_FLUSHED, OPENED_AS_OURS, lock_file
from harness.codec.data_framing import (
    CleanShutdown,
    PartitionMetadata,
    clean_shutdown_bytes,
    partition_metadata_bytes,
    read_clean_shutdown,
    read_partition_metadata,
)
from harness.codec.data_framing.log_folder import (
    CLEAN_SHUTDOWN,
    FUTURE,
    INDEX,
    LOG,
    METADATA_TOPIC,
    OFFSET_CHECKPOINTS,
    PARTITION_METADATA,
    TIME_INDEX,
    TXN_INDEX,
    future_place,
    is_deleted_name,
    is_partition_name,
    suffixed_name,
)
from harness.codec.errors import CodecError, DecodeError
from harness.reference_broker.descriptors import is_exhausted
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.log_store import (
    DescribedLog,
    FolderInUse,
    LogName,
    OpenedLog,
    Place,
    UnreadableLog,
)
from harness.reference_broker.state.producers.producer_states import ProducerStates
from harness.reference_broker.state.registrations.directory_ids import MIGRATING
from harness.reference_broker.storage.checkpoints import Checkpoints, Noted
from harness.reference_broker.storage.failed_log import failed_log
from harness.reference_broker.storage.log_opening import open_log
from harness.reference_broker.storage.open_files import (
    OpenFiles,
    flush_folder,
    open_file,
    replace_file,
)
from harness.reference_broker.storage.stored_log import StoredLog, Surroundings
from harness.reference_broker.storage.stored_segment import StoredSegment

_LOG = logging.getLogger(__name__)
_LOCK = ".lock"
NO_EPOCH = -1
_UNKNOWN_ID = UUID(int=0)


class LogDirectory:
    """The log directory ``path``, which is created if it does not exist; see :class:`Storage`.

    ``previous_epoch`` is -1 unless the last incarnation ended in good order (KIP-966).
    """

    def __init__(self, path: Path, files: OpenFiles | None = None) -> None:
        """``files``: the open files of all directories of a node. Raises FolderInUse, OSError."""
        path.mkdir(parents=True, exist_ok=True)
        self.path = path.absolute()
        self._lock = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | OPENED_AS_OURS, 0o644)
        try:
            lock_file(self._lock, waits=False)
        except BlockingIOError as error:
            os.close(self._lock)
            raise FolderInUse(f"{path}: another node uses this folder") from error
        self.was_clean, self.previous_epoch = self._take_marker()
        self._checkpoints = Checkpoints(path)
        self._files = OpenFiles() if files is None else files
        self._logs: dict[Place, StoredLog] = {}
        self._futures = self._find_futures()
        self._leaving: deque[tuple[TimeMs, StoredSegment | Path]] = deque(
            (TimeMs(0), folder) for folder in path.iterdir() if is_deleted_name(folder.name)
        )
        self._flusher = ThreadPoolExecutor(1, "log-flusher")
        self._flushed: deque[Callable[[], None]] = deque()
        self._now = TimeMs(0)
        self.directory_id = MIGRATING
        """The directory id, as noted in the folder."""
        self.failure: OSError | None = None
        """The reason why none of its logs is served any more; None while they are."""
        self.on_failure: Callable[[OSError], None] = self.fail
        """Called when one of its logs cannot be read or written."""

    def fail(self, error: OSError) -> None:
        """Serve none of its logs any more."""
        self.failure = error

    def _take_marker(self) -> tuple[bool, int]:
        """Read and remove the marker of a clean shutdown, before any log is loaded.

        A crash meanwhile counts as an unclean end then.
        """
        marker = self.path / CLEAN_SHUTDOWN
        try:
            found = read_clean_shutdown(marker.read_bytes())
        except FileNotFoundError:
            return False, NO_EPOCH
        except DecodeError as error:
            _LOG.warning("%s: %s", marker, error)
            found = CleanShutdown()
        marker.unlink()
        flush_folder(self.path)
        return True, NO_EPOCH if found.broker_epoch is None else found.broker_epoch

    # -- logs ------------------------------------------------------------------------------------

    def open(
        self, name: LogName, config: TopicConfig, producers: ProducerStates, now: TimeMs
    ) -> OpenedLog:
        """See Storage. Raises OSError."""
        self._now, is_metadata = now, name.topic == METADATA_TOPIC
        folder, noted = self._find(name), Noted()
        if folder is None:
            folder = self._make(name)
        else:  # otherwise the checkpoints are of a log that is gone
            noted = self._checkpoints.of(name.topic, name.index, is_metadata=is_metadata)
        delay_ms = config.number("file.delete.delay.ms")
        around = Surroundings(
            self._files,
            lambda: self.failure is not None,
            self.on_failure,
            lambda segment: self._remove_later(segment, delay_ms),
            self._flush_later,
        )
        is_clean = self.was_clean and not is_metadata
        try:
            opened, log = open_log(folder, around, config, producers, noted, is_clean, now)
        except (ValueError, CodecError) as error:
            raise UnreadableLog(f"while loading log {folder}: {error}") from error
        if not is_metadata:
            self._logs[name.place] = log
        return opened

    def open_failed(self, producers: ProducerStates) -> OpenedLog:
        """Return a log that stands for one in a failed directory."""
        return failed_log(self.path, self._files, producers)

    def has(self, name: LogName) -> bool:
        """True if the directory has that log."""
        return self._find(name) is not None

    def has_open(self, name: LogName) -> bool:
        """True if it is one of the open logs, even if its folder is gone."""
        return name.place in self._logs and (name.place in self._futures) == name.is_future

    def knew(self, name: LogName) -> bool:
        """True if a checkpoint names that partition, or its log was opened."""
        return name.place in self._logs or self._checkpoints.knows(name.place)

    @property
    def log_count(self) -> int:
        """The number of open logs."""
        return len(self._logs)

    def described(self) -> dict[Place, DescribedLog]:
        """Return the open logs."""
        return {
            place: DescribedLog(log.size_bytes, log.end_offset, place in self._futures)
            for place, log in self._logs.items()
        }

    def _make(self, name: LogName) -> Path:
        folder = self._folder(name)
        if name.is_future:
            folder = self.path / suffixed_name(name.topic, name.index, FUTURE)
        folder.mkdir()
        metadata = PartitionMetadata(0, name.topic_id)
        try:
            replace_file(folder / PARTITION_METADATA, partition_metadata_bytes(metadata))
            flush_folder(self.path)
        except OSError:
            with suppress(OSError):  # the error may only be that no descriptor is left
                (folder / PARTITION_METADATA).unlink(missing_ok=True)
                folder.rmdir()
            raise
        if name.is_future:
            self._futures[name.place] = folder
        return folder

    def _folder(self, name: LogName) -> Path:
        """Return the folder of a log that is no future one."""
        return self.path / f"{name.topic}-{name.index}"

    def _find(self, name: LogName) -> Path | None:
        folder = self._futures.get(name.place) if name.is_future else self._folder(name)
        return folder if folder is not None and folder.is_dir() else None

    def _find_futures(self) -> dict[Place, Path]:
        folders = ((future_place(each.name), each) for each in self.path.iterdir())
        return {place: each for place, each in folders if place is not None and each.is_dir()}

    def delete(self, name: LogName) -> None:
        """Rename the log's folder immediately, and remove it later. Raises OSError."""
        if self.has_open(name) or self._is_kept(name):
            log = self._logs.pop(name.place, None)
            if log is not None:
                log.leave()
            self._leaving.append((self._now, self._leave(name, "delete")))

    def put_future_in_place(self, name: LogName) -> None:
        """Make the future log the partition's; the directory has no other of it. Raises OSError."""
        before, folder = self._futures[name.place], self._folder(name)
        self._files.close_below(before)
        before.rename(folder)
        del self._futures[name.place]
        self._logs[name.place].moved_to(folder)
        for _, one in self._leaving:
            if isinstance(one, StoredSegment) and one.folder == before:
                one.moved_to(folder)
        flush_folder(self.path)

    def set_aside(self, name: LogName) -> None:
        """Rename the folder of an unknown partition, which is kept as a stray."""
        if self._is_kept(name):
            folder = self._leave(name, "stray")
            _LOG.warning("%s: the metadata lacks this partition; kept as a stray", folder)

    def _is_kept(self, name: LogName) -> bool:
        folder = self._find(name)
        return folder is not None and _topic_id(folder) == name.topic_id

    def _leave(self, name: LogName, why: str) -> Path:
        folder = self._futures.pop(name.place) if name.is_future else self._folder(name)
        self._files.close_below(folder)
        gone = self.path / suffixed_name(name.topic, name.index, why)
        folder.rename(gone)
        return gone

    def kept(self) -> list[LogName]:
        """See Storage; the log of metadata is none of them."""
        found = []
        for folder in sorted(self.path.iterdir()):
            topic, _, index = folder.name.rpartition("-")
            if topic != METADATA_TOPIC and folder.is_dir() and is_partition_name(folder.name):
                found.append(LogName(topic, _topic_id(folder), int(index)))
        for (topic, number), folder in self._futures.items():
            found.append(LogName(topic, _topic_id(folder), number, is_future=True))
        return found

    # -- background work -------------------------------------------------------------------------

    def _remove_later(self, segment: StoredSegment, delay_ms: int) -> None:
        self._leaving.append((TimeMs(self._now + delay_ms), segment))

    def _flush_later(self, segment: StoredSegment, then: Callable[[], None]) -> None:
        paths = [segment.path(kind) for kind in (LOG, INDEX, TIME_INDEX)]
        paths += [path for path in [segment.path(TXN_INDEX)] if path.exists()]
        self._flusher.submit(self._flush, paths, then)

    def _flush(self, paths: list[Path], then: Callable[[], None]) -> None:
        """Flush files, in the flusher's thread; the loop's thread repeats or raises a failure."""
        try:
            _flush_all(paths, os.open)
        except FileNotFoundError:
            return  # the segment was removed meanwhile
        except OSError as error:
            self._flushed.append(partial(self._flush_failed, error, paths, then))
        else:
            self._flushed.append(then)

    def _flush_failed(self, error: OSError, paths: list[Path], then: Callable[[], None]) -> None:
        if not is_exhausted(error):
            raise error
        with suppress(FileNotFoundError):
            _flush_all(paths, open_file)
            then()

    def tidy(self, now: TimeMs) -> None:
        """Remove files that have waited long enough, also after the clock went back."""
        back_ms = max(self._now - now, 0)
        self._leaving = deque((TimeMs(at - back_ms), remove) for at, remove in self._leaving)
        self._now = now
        for _ in range(len(self._leaving)):
            due_at, what = self._leaving.popleft()
            if due_at <= now:
                _remove(what)
            else:
                self._leaving.append((due_at, what))

    def checkpoint(self, names: Iterable[str] = OFFSET_CHECKPOINTS) -> None:
        """Write these checkpoint files. Raises OSError.

        They have the offsets up to which each log is on the disk, committed and compacted, and at
        which it starts.
        """
        while self._flushed:
            self._flushed[0]()
            self._flushed.popleft()  # else the next ones would set the recovery point too high
        self._checkpoints.write(self._logs, names)

    def flush_due(self, now: TimeMs) -> None:
        """Flush the logs that have waited for that as long as they may. Raises OSError."""
        for log in self._logs.values():
            log.flush_due(now)

    def close(self, *, broker_epoch: int | None) -> None:
        """Leave the folder to the next process; with `broker_epoch` as a clean shutdown.

        Raises OSError.
        """
        self._flusher.shutdown()
        if broker_epoch is not None:
            for log in self._logs.values():
                log.close()
            self.checkpoint()
            while self._leaving:
                _remove(self._leaving.popleft()[1])
            data = clean_shutdown_bytes(CleanShutdown(broker_epoch))
            replace_file(self.path / CLEAN_SHUTDOWN, data)
        self._files.close_under(self.path)
        os.close(self._lock)


def _flush_all(paths: Sequence[Path], open_: Callable[[Path, int], int]) -> None:
    """Flush files, and the names in their folder where the system can. Raises OSError."""
    files = [(path, os.O_RDWR) for path in paths]
    folders = [(paths[0].parent, os.O_RDONLY)] if NAMES_CAN_BE_FLUSHED else []
    for path, flags in (*files, *folders):
        descriptor = open_(path, flags | OPENED_AS_OURS)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(what: StoredSegment | Path) -> None:
    if isinstance(what, Path):
        shutil.rmtree(what, ignore_errors=True)
    else:
        what.remove()


def _topic_id(folder: Path) -> UUID:
    """Return the noted topic id, or zero: before KIP-516, or after a crash before the note."""
    try:
        return read_partition_metadata((folder / PARTITION_METADATA).read_bytes()).topic_id
    except FileNotFoundError:
        return _UNKNOWN_ID
