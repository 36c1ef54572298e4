"""What a partition's log is, and what it may be kept in: the state knows no file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from uuid import UUID

from harness.codec.lent_bytes import LentBytes
from harness.ids import LeaderEpoch, Offset, TimeMs
from harness.reference_broker.state.directory_ids import MIGRATING
from harness.reference_broker.state.leader_epochs import LeaderEpochs

if TYPE_CHECKING:
    from harness.reference_broker.state.producer_states import AbortedTransaction, ProducerStates
    from harness.reference_broker.state.segments import Segments
    from harness.reference_broker.state.stored_batch import StoredBatch
    from harness.reference_broker.state.topic_configs import TopicConfig


Place = tuple[str, int]
"""A partition by its topic's name and its index."""


class FolderInUse(OSError):
    """Another process has the folder."""


class FolderOfAnother(OSError):
    """The folder belongs to another node, or to another cluster."""


class NoDirectoryLeft(Exception):
    """Nothing can be stored any more, or not what the node itself lives by: it has to end."""


class UnreadableLog(Exception):
    """What is kept of a log is none: the node does not start with it. The text says where."""


class Compaction(Protocol):
    """One pass over the oldest segments of a log, written beside it."""

    def begin_segment(self, group: Sequence[Any]) -> None:
        """What comes next is left of these neighbours."""

    def add(self, batch: StoredBatch) -> None:
        """The next batch that is left of them."""

    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """The next batch is its marker, and readers have to be told of it still."""

    def put_in_place(self, end: Offset) -> bool:
        """Instead of all segments below `end`; False: they have changed, and stay as they are."""
        ...

    def abandon(self) -> None:
        """Leave nothing of what was written."""


class Log(Protocol):
    """One partition's batches: it grows at its end, loses its beginning, and owns both offsets.

    What is appended is there when the call returns, for every reader and after the process has
    been killed, where the log `is_kept` at all. Compaction leaves gaps: what lies in one is read
    from the next batch on.

    What reads or changes it raises OSError when its folder cannot be used: then it `is_offline`,
    with all logs in that folder.
    """

    start_offset: Offset
    end_offset: Offset

    @property
    def is_kept(self) -> bool:
        """Whether it outlives the process."""
        ...

    @property
    def is_offline(self) -> bool:
        """Whether its folder has failed."""
        ...

    @property
    def segments(self) -> Segments[Any]:
        """What is known of them; what changes them is done here."""
        ...

    @property
    def size_bytes(self) -> int:
        """Of all segments, also of what is below the start of the log."""
        ...

    def append(self, batch: StoredBatch, config: TopicConfig, now: TimeMs) -> None:
        """Take the next batch; it begins at the end, or behind it where a follower got no more."""

    def delete_below(self, offset: Offset) -> None:
        """Let the log start at `offset`, which lies between its start and its end."""

    def drop_oldest(self, count: int, now: TimeMs) -> Offset:
        """Forget the first `count` segments; where the others begin. The log's start stays."""
        ...

    def truncate_from(self, end: Offset) -> None:
        """Let the log end at `end`; a batch goes whole when its last record is not below it."""

    def restart_at(self, offset: Offset, now: TimeMs) -> None:
        """Forget everything; the next batch begins at `offset`."""

    def compaction(self) -> Compaction:
        """What takes the place of the oldest segments."""
        ...

    def note_aborted(self, aborted: AbortedTransaction) -> None:
        """The last batch is its marker."""

    def aborted_in(self, offset: Offset, size_bytes: int) -> list[AbortedTransaction]:
        """Of which something may be in what was read from `offset` on, of that size."""
        ...

    def aborted_between(self, begin: Offset, end: Offset) -> list[AbortedTransaction]:
        """Those of which something is there."""
        ...

    def batch_begin(self, offset: Offset) -> Offset:
        """Of the batch from which `read` would begin; `offset` itself where there is none."""
        ...

    def remember_producers(self, producers: ProducerStates, now: TimeMs) -> None:
        """Only what is left in the log counts."""

    def between(self, begin: Offset, end: Offset) -> Iterable[StoredBatch]:
        """The batches from the one that contains `begin`, or follows it, up to `end`."""
        ...

    def segment_end(self, offset: Offset) -> Offset | None:
        """Where the segment ends from which `read` would begin; None in the last one."""
        ...

    def lend(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None = None
    ) -> bytes | LentBytes:
        """As `read`, but many bytes may stay where they are: then a whole batch is in them, and
        they are to be taken before anything else is done with the log."""
        ...

    def read(
        self, offset: Offset, limit_bytes: int, at_least_one: bool, stop: Offset | None = None
    ) -> bytes:
        """The bytes from the batch that contains `offset` on, at most `limit_bytes`: the last batch
        may be cut, wherever that is.

        With `at_least_one` the first batch comes whole even when it is larger (KIP-74). `offset`
        lies between the start offset and the end offset, both included; in a gap the next batch is
        the first. What follows from `stop` on is not read.
        """
        ...

    def batches_reaching(self, timestamp: int) -> Iterator[StoredBatch]:
        """The batches with a record of `timestamp` or later, in order. Of the first batch of the
        log that record may be below the log start."""
        ...

    def newest_batch(self) -> StoredBatch | None:
        """The first with the largest timestamp of all; None for an empty log."""
        ...

    def note_offsets(self, high_watermark: Offset, first_dirty: Offset) -> None:
        """What the next checkpoint is to tell of it."""


@dataclass(frozen=True, slots=True)
class OpenedLog:
    """A log as it was found, with what was noted of it; `high_watermark` None: nothing was."""

    log: Log
    epochs: LeaderEpochs
    high_watermark: Offset | None
    first_dirty: Offset


class SnapshotId(NamedTuple):
    """A snapshot of the metadata log: it tells of what is below `end_offset`, the last of which was
    written in `epoch`."""

    end_offset: Offset
    epoch: LeaderEpoch


class Snapshots(Protocol):
    """Those of the metadata log."""

    def ids(self) -> list[SnapshotId]:
        """From the oldest to the newest."""
        ...

    def read(self, snapshot: SnapshotId) -> bytes:
        """The whole of one of these. Raises OSError."""
        ...


@dataclass(frozen=True, slots=True)
class LogName:
    """Whose log it is; `is_future`: the one that will take the place of the present one."""

    topic: str
    topic_id: UUID
    index: int
    is_future: bool = False

    @property
    def place(self) -> Place:
        """Of which there is one log in a folder at most."""
        return self.topic, self.index

    @property
    def future(self) -> LogName:
        """Of the log to come."""
        return replace(self, is_future=True)


class DescribedLog(NamedTuple):
    """A log in a folder."""

    size_bytes: int
    end_offset: Offset
    is_future: bool


@dataclass(frozen=True, slots=True)
class DescribedDirectory:
    """A folder of logs: whether it can be used, the bytes of its volume and those of them that are
    free (-1: not known), and which logs it has."""

    path: str
    is_online: bool
    total_bytes: int
    usable_bytes: int
    logs: Mapping[Place, DescribedLog]


class Storage(Protocol):
    """All logs of one node. What is said of paths is of absolute ones."""

    def open(
        self,
        name: LogName,
        config: TopicConfig,
        producers: ProducerStates,
        now: TimeMs,
        believed_in: UUID = MIGRATING,
    ) -> OpenedLog:
        """A partition's, made if it is not there, where the cluster believes it to be; `producers`
        learn of whom it tells. It is not made when it may be in a folder that has failed."""
        ...

    def delete(self, name: LogName) -> None:
        """A partition's, with that to come; or, by the name of that, it alone. It may not be
        there."""

    def set_aside(self, name: LogName) -> None:
        """A partition's that nobody knows: it is no log any more, but nothing of it is lost."""

    def directories(self) -> list[DescribedDirectory]:
        """All folders, those too that have failed."""
        ...

    def kept(self) -> list[LogName]:
        """The partitions of which there is something."""
        ...

    def is_online(self, path: str) -> bool | None:
        """Whether that folder of logs can be used; None: there is no such folder."""
        ...

    def has_failed(self) -> bool:
        """Whether any of the folders cannot be used."""
        ...

    def path_of(self, name: LogName) -> str | None:
        """The folder that has a log; None: none that can be used has it."""
        ...

    def directory_of(self, name: LogName) -> UUID | None:
        """The id of the folder that has a log, or had it when it failed; None: it was opened in
        none."""
        ...

    def prefer(self, place: Place, path: str) -> None:
        """The next log that is made of this partition is made there."""

    def put_future_in_place(self, name: LogName) -> bool:
        """The log to come is the partition's from now on, and that of before goes; False: its
        folder fails instead."""
        ...
