"""All folders of a node's logs: each log is in one, and one that fails leaves the others.

Source: KIP-112, KIP-858; classes LogManager, LogDirFailureChannel.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from uuid import UUID

from harness.base.ids import TimeMs
from harness.codec.data_framing.log_folder import (
    LOG_STARTS,
    METADATA_TOPIC,
    OFFSET_CHECKPOINTS,
    RECOVERY_POINTS,
)
from harness.reference_broker.descriptors import is_exhausted
from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
from harness.reference_broker.state.log.log_store import (
    DescribedDirectory,
    LogName,
    NoDirectoryLeft,
    OpenedLog,
    Place,
    UnreadableLog,
)
from harness.reference_broker.state.producers.producer_states import ProducerStates
from harness.reference_broker.state.registrations.directory_ids import MIGRATING, UNASSIGNED
from harness.reference_broker.storage.log_directory import LogDirectory
from harness.reference_broker.storage.open_files import close_some
from harness.reference_broker.storage.unopened_directory import UnopenedDirectory

_LOG = logging.getLogger(__name__)


class LogDirectories:
    """See :class:`Storage`. The first has the log of metadata, and must not fail."""

    def __init__(self, directories: Sequence[LogDirectory | UnopenedDirectory]) -> None:
        self._all = list(directories)
        self._opened = [one for one in self._all if isinstance(one, LogDirectory)]
        for directory in self._opened:
            directory.on_failure = partial(self._failed, directory)
        self._preferred: dict[Place, str] = {}
        self.lost: NoDirectoryLeft | None = None
        """Why the node has to end; None while it has not."""
        self.on_lost: Callable[[], None] = lambda: None
        self.on_failed: Callable[[], None] = lambda: None
        """Called when one fails, and not the node with it."""

    @property
    def metadata_folder(self) -> Path:
        """Where the log of metadata is, and what is noted of its quorum."""
        return self._all[0].path

    # -- logs ------------------------------------------------------------------------------------

    def open(
        self,
        name: LogName,
        config: TopicConfig,
        producers: ProducerStates,
        now: TimeMs,
        believed_in: UUID = MIGRATING,
    ) -> OpenedLog:
        """See Storage. Raises UnreadableLog, and OSError when no descriptor is left."""
        directory = self._home(name, believed_in)
        if isinstance(directory, UnopenedDirectory):
            return directory.open_failed(producers)
        try:
            opened = directory.open(name, config, producers, now)
            self._preferred.pop(name.place, None)
            return opened
        except OSError as error:
            if is_exhausted(error):
                if not close_some():
                    raise
                return self.open(name, config, producers, now, believed_in)
            self._failed(directory, error)
            if believed_in == UNASSIGNED and self.lost is None:
                return self.open(name, config, producers, now, believed_in)
            return directory.open_failed(producers)

    def _home(self, name: LogName, believed_in: UUID) -> LogDirectory | UnopenedDirectory:
        """Where it is, or where it is to be made: as was wished, as the cluster believes, or where
        there are fewest; a failed one may have it too, unless it is known to be in none yet.

        Source: LogManager (getOrCreateLog), Partition (createLogInAssignedDirectoryId).
        """
        if name.topic == METADATA_TOPIC:
            return self._all[0]
        found = [one for one in self._online if one.has(name)]
        if len(found) > 1:
            told = " and ".join(str(one.path) for one in found)
            raise UnreadableLog(
                f"while loading log {name.topic}-{name.index}: it is in {told}; after a failure "
                "while it was moved, remove it from the one that had failed"
            )
        if found:
            return found[0]
        failed = [one for one in self._all if one.failure is not None and one.knew(name)]
        if failed and believed_in != UNASSIGNED:
            return failed[0]
        wished = self._at(self._preferred.get(name.place))
        believed = next((one for one in self._online if one.directory_id == believed_in), None)
        return wished or believed or min(self._online, key=lambda one: one.log_count)

    def _at(self, path: str | None) -> LogDirectory | UnopenedDirectory | None:
        return next((one for one in self._all if str(one.path) == path), None)

    @property
    def _online(self) -> list[LogDirectory]:
        return [one for one in self._opened if one.failure is None]

    def started(self) -> None:
        """All partitions are open that there were: others are new."""
        for one in self._all:
            if isinstance(one, UnopenedDirectory):
                one.is_starting = False

    def _failed(self, directory: LogDirectory, error: OSError) -> None:
        if is_exhausted(error):
            count = close_some()
            _LOG.warning("%s: %s; %d files are closed", directory.path, error, count)
            return
        if directory.failure is not None:
            return
        directory.failure = error
        _LOG.error(
            "log directory %s fails, its logs are not served any more: %s", directory.path, error
        )
        if not self._online or self._all[0].failure is not None:
            self.give_up(
                f"log directory {directory.path} has failed, and the node cannot live without it:"
                f" {error}"
            )
        else:
            self.on_failed()

    def give_up(self, why: str) -> None:
        """The node has to end."""
        self.lost = NoDirectoryLeft(why)
        self.on_lost()

    def delete(self, name: LogName) -> None:
        """See Storage."""
        for each in (name.future,) if name.is_future else (name.future, name):
            self._each(partial(LogDirectory.delete, name=each))

    def set_aside(self, name: LogName) -> None:
        """See Storage."""
        self._each(lambda one: one.set_aside(name))

    def kept(self) -> list[LogName]:
        """See Storage."""
        found: list[LogName] = []
        self._each(lambda one: found.extend(one.kept()))
        return found

    def directories(self) -> list[DescribedDirectory]:
        """See Storage."""
        return [_described(one) for one in self._all]

    def is_online(self, path: str) -> bool | None:
        """See Storage."""
        directory = self._at(path)
        return None if directory is None else directory.failure is None

    def has_failed(self) -> bool:
        """See Storage."""
        return len(self._online) < len(self._all)

    def failed_ids(self) -> list[UUID]:
        """Of those that have failed since the start."""
        return [one.directory_id for one in self._opened if one.failure is not None]

    def path_of(self, name: LogName) -> str | None:
        """See Storage."""
        return next((str(one.path) for one in self._online if one.has_open(name)), None)

    def directory_of(self, name: LogName) -> UUID | None:
        """See Storage."""
        return next((one.directory_id for one in self._opened if one.has_open(name)), None)

    def prefer(self, place: Place, path: str) -> None:
        """See Storage."""
        self._preferred[place] = path

    def put_future_in_place(self, name: LogName) -> bool:
        """See Storage. Where both are named as the present one, a crash has come between: the
        node does not start with that. Source: LogManager (replaceCurrentWithFutureLog)."""
        source = next(one for one in self._opened if one.has_open(name))
        target = next(one for one in self._opened if one.has_open(name.future))
        try:
            target.put_future_in_place(name)
        except OSError as error:
            self._failed(target, error)
            if target.failure is not None:
                return False  # else it has its name, which could not be flushed
        try:
            source.delete(name)
            source.checkpoint((RECOVERY_POINTS, LOG_STARTS))
        except OSError as error:
            self._failed(source, error)
        return True

    # -- what is done beside ---------------------------------------------------------------------

    def checkpoint(self, names: Iterable[str] = OFFSET_CHECKPOINTS) -> None:
        """Write these files in each of them."""
        wanted = tuple(names)
        self._each(lambda one: one.checkpoint(wanted))

    def flush_due(self, now: TimeMs) -> None:
        """Logs are on the disk that have waited for that as long as they may."""
        self._each(lambda one: one.flush_due(now))

    def tidy(self, now: TimeMs) -> None:
        """Remove what has waited long enough."""
        self._each(lambda one: one.tidy(now))

    def close(self, *, broker_epoch: int | None) -> None:
        """Leave them to the next process; with an epoch in good order."""
        for directory in self._all:
            is_good = directory.failure is None
            try:
                directory.close(broker_epoch=broker_epoch if is_good else None)
            except OSError as error:
                _LOG.error("log directory %s: no orderly end: %s", directory.path, error)

    def _each(self, do: Callable[[LogDirectory], None]) -> None:
        for directory in self._online:
            try:
                do(directory)
            except OSError as error:
                self._failed(directory, error)


def _described(directory: LogDirectory | UnopenedDirectory) -> DescribedDirectory:
    total, usable = _room(directory.path) if directory.failure is None else (-1, -1)
    is_online = directory.failure is None
    return DescribedDirectory(str(directory.path), is_online, total, usable, directory.described())


def _room(path: Path) -> tuple[int, int]:
    """Of its volume: all bytes, and those that are free for us."""
    try:
        found = shutil.disk_usage(path)
    except OSError:
        return -1, -1
    return found.total, found.free
