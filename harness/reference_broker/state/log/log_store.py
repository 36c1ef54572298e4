"""Interfaces of a partition's log and of the storage of logs: the state does not use files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import UUID

from harness.base.ids import LeaderEpoch, Offset, TimeMs
from harness.codec.borrowed_buffer import BorrowedBuffer
from harness.reference_broker.state.log.leader_epochs import LeaderEpochs
from harness.reference_broker.state.registrations.directory_ids import MIGRATING

if TYPE_CHECKING:
    from harness.reference_broker.state.config_definitions.topic_configs import TopicConfig
    from harness.reference_broker.state.log.segments import Segments
    from harness.reference_broker.state.log.stored_batch import StoredBatch
    from harness.reference_broker.state.producers.partition_transactions import AbortedTransaction
from harness.reference_broker.state.producers.producer_states import ProducerStates

Place = tuple[str, int]
"""Topic name and partition index."""


class FolderInUse(OSError):
    """Another process uses the folder."""


class FolderOfAnother(OSError):
    """The folder belongs to another node, or to another cluster."""


class NoDirectoryLeft(Exception):
    """No usable log directory is left, or the one that the node needs has failed: it must end."""


class UnreadableLog(Exception):
    """Stored data that is no valid log: the node does not start. The message contains the place."""


class Compaction(Protocol):
    """One pass over the oldest segments of a log; the result is written beside the log."""

    def begin_segment(self, group: Sequence[Any]) -> None:
        """Begin the segment for the batches that are left of these neighbouring segments."""

    def add(self, batch: StoredBatch) -> None:
        """Add the next batch that is left."""

    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """Note a transaction that readers must still receive; its marker is the next batch."""

    def put_in_place(self, end: Offset) -> bool:
        """Replace all segments below `end`; if they have changed, leave them and return False."""
        ...

    def abandon(self) -> None:
        """Remove what was written and not put in place."""


class Log(Protocol):
    """The batches of one partition: it grows at its end and loses batches at its start.

    An appended batch is there for every reader when the call returns. If the log `is_kept`, the
    batch survives a kill of the process. Compaction leaves gaps: a read in a gap begins with the
    next batch.

    Reads and changes raise OSError if the folder of the log cannot be used: then the log
    `is_offline`, with all logs in that folder.
    """

    start_offset: Offset
    end_offset: Offset

    @property
    def is_kept(self) -> bool:
        """True if the log outlives the process."""
        ...

    @property
    def is_offline(self) -> bool:
        """True if the folder of the log has failed."""
        ...

    @property
    def segments(self) -> Segments[Any]:
        """The segments of the log; only the log changes them."""
        ...

    @property
    def size_bytes(self) -> int:
        """Size of all segments, with records below the log start offset."""
        ...

    def append(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> None:
        """Append the next batch; it begins at the end, or behind a gap in a follower's log."""

    def delete_below(self, offset: Offset) -> None:
        """Move the log start to `offset`, which lies between the start and the end."""

    def drop_oldest(self, count: int, now: TimeMs) -> Offset:
        """Remove the first `count` segments; return the base offset of the others.

        The log start offset does not change.
        """
        ...

    def truncate_from(self, end: Offset) -> None:
        """Truncate the log to `end`; a batch that reaches `end` is removed as a whole."""

    def restart_at(self, offset: Offset, now: TimeMs) -> None:
        """Remove everything; the next batch begins at `offset`."""

    def compaction(self) -> Compaction:
        """Begin a pass that replaces the oldest segments."""
        ...

    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """Note an aborted transaction; its marker is the last batch."""

    def aborted_in(self, offset: Offset, size_bytes: int) -> list[AbortedTransaction]:
        """Return the aborted transactions that may be in `size_bytes`, read from `offset` on."""
        ...

    def aborted_between(self, begin: Offset, end: Offset) -> list[AbortedTransaction]:
        """Return the aborted transactions that overlap these offsets."""
        ...

    def batch_begin(self, offset: Offset) -> Offset:
        """Return the base offset of the batch with which `read` would begin.

        If there is no such batch, return `offset` itself.
        """
        ...

    def remember_producers(self, producers: ProducerStates, now: TimeMs) -> None:
        """Rebuild `producers` from the batches that are left in the log."""

    def between(self, begin: Offset, end: Offset) -> Iterable[StoredBatch]:
        """Return the batches from the one that contains or follows `begin`, up to `end`."""
        ...

    def segment_end(self, offset: Offset) -> Offset | None:
        """Return the end of the segment in which `read` would begin; None for the last segment."""
        ...

    def borrow(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None = None
    ) -> bytes | BorrowedBuffer:
        """Return as `read`, but many bytes as a BorrowedBuffer, which stays in the log.

        A BorrowedBuffer contains at least one whole batch. The caller must take it before any other
        operation on the log.
        """
        ...

    def read(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None = None
    ) -> bytes:
        """Return the bytes from the batch that contains `offset` on, at most `limit_bytes`.

        The last batch may be cut at any byte. With `at_least_one` the first batch is whole even if
        it is larger (KIP-74). `offset` lies between the start offset and the end offset, both
        included; in a gap the next batch is the first. Batches from `stop` on are not read.
        """
        ...

    def batches_reaching(self, timestamp: int) -> Iterator[StoredBatch]:
        """Return the batches with a record of `timestamp` or later, in order.

        In the first batch of the log that record may be below the log start.
        """
        ...

    def newest_batch(self) -> StoredBatch | None:
        """Return the first batch with the largest timestamp; None for an empty log.

        Deleted batches count until their segment is deleted.
        """
        ...

    def note_offsets(self, high_watermark: Offset, first_dirty: Offset) -> None:
        """Set the offsets for the next checkpoint."""


@dataclass(frozen=True, slots=True)
class OpenedLog:
    """A log as it was found, with its stored offsets and epochs.

    `high_watermark` is None if none was stored.
    """

    log: Log
    epochs: LeaderEpochs
    high_watermark: Offset | None
    first_dirty: Offset


class SnapshotId(NamedTuple):
    """A snapshot of the metadata log: it covers the records below `end_offset`.

    The last of these records was written in `epoch`.
    """

    end_offset: Offset
    epoch: LeaderEpoch


class Snapshots(Protocol):
    """The snapshots of the metadata log."""

    def ids(self) -> list[SnapshotId]:
        """Return the ids from the oldest to the newest."""
        ...

    def read(self, snapshot: SnapshotId) -> bytes:
        """Return the whole content of a snapshot. Raises OSError."""
        ...


@dataclass(frozen=True, slots=True)
class LogName:
    """Identity of a partition's log; `is_future`: the log that will replace the present one."""

    topic: str
    topic_id: UUID
    index: int
    is_future: bool = False

    @property
    def place(self) -> Place:
        """Topic and index: a folder contains at most one log for them."""
        return self.topic, self.index

    @property
    def future(self) -> LogName:
        """The name of the future log."""
        return replace(self, is_future=True)


class DescribedLog(NamedTuple):
    """A log in a folder."""

    size_bytes: int
    end_offset: Offset
    is_future: bool


@dataclass(frozen=True, slots=True)
class DescribedDirectory:
    """A folder of logs: if it can be used, the bytes of its volume, and its logs.

    `total_bytes` and `usable_bytes` are -1 if they are not known.
    """

    path: str
    is_online: bool
    total_bytes: int
    usable_bytes: int
    logs: Mapping[Place, DescribedLog]


class Storage(Protocol):
    """All logs of one node. Paths are absolute."""

    def open(
        self,
        name: LogName,
        config: TopicConfig,
        producers: ProducerStates,
        now: TimeMs,
        believed_in: UUID = MIGRATING,
    ) -> OpenedLog:
        """Open a partition's log, or create it where the cluster believes it to be.

        `producers` is filled from the log. No log is created if a failed folder may contain it.
        """
        ...

    def delete(self, name: LogName) -> None:
        """Delete a partition's log and its future log; by the future log's name only that one.

        The log may be absent.
        """

    def set_aside(self, name: LogName) -> None:
        """Take a log out of use that no partition needs; its data is kept."""

    def directories(self) -> list[DescribedDirectory]:
        """Return all folders, with those that have failed."""
        ...

    def kept(self) -> list[LogName]:
        """Return the names of all logs that are stored."""
        ...

    def is_online(self, path: str) -> bool | None:
        """True if that folder of logs can be used; None if there is no such folder."""
        ...

    def has_failed(self) -> bool:
        """True if a folder cannot be used."""
        ...

    def path_of(self, name: LogName) -> str | None:
        """Return the folder that contains a log; None if no usable folder contains it."""
        ...

    def directory_of(self, name: LogName) -> UUID | None:
        """Return the id of the folder that contains a log, or contained it at its failure.

        None if no folder has opened the log.
        """
        ...

    def prefer(self, place: Place, path: str) -> None:
        """Set the folder in which the partition's next log is created."""

    def put_future_in_place(self, name: LogName) -> bool:
        """Replace a partition's log by its future log; return False if the folder fails instead."""
        ...
