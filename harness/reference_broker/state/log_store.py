"""What a log is kept in beside memory: the state calls it, and knows no file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from harness.ids import Offset
from harness.reference_broker.state.leader_epochs import EpochEntry

if TYPE_CHECKING:
    from harness.reference_broker.state.partition_log import StoredBatch


class LogStore(Protocol):
    """One partition's; a write is done when the call returns."""

    def append(self, batch: bytes) -> None:
        """Behind what is there."""

    def truncate(self, size_bytes: int) -> None:
        """Keep so many bytes of the batches that were written since the last `rewrite`."""

    def rewrite(self, batches: Sequence[StoredBatch]) -> None:
        """These instead of all that is there."""

    def note_epochs(self, entries: Sequence[EpochEntry]) -> None:
        """Where each leader epoch begins."""

    def note_offsets(self, start: Offset, high_watermark: Offset) -> None:
        """Where the log starts, and how far it is known to be committed."""


@dataclass(slots=True)
class KeptLog:
    """What was found of a partition: the bytes of its batches, and what was noted of it."""

    store: LogStore
    records: bytes = b""
    epochs: Sequence[EpochEntry] = ()
    start: Offset | None = None
    high_watermark: Offset | None = None


class Storage(Protocol):
    """All logs of one node."""

    def open(self, topic_id: UUID, index: int) -> KeptLog:
        """A partition's, made if it is not there."""

    def delete(self, topic_id: UUID, index: int) -> None:
        """A partition's; it may not be there."""

    def kept(self) -> list[tuple[UUID, int]]:
        """The partitions of which there is something."""
