"""A transactional producer of a client library; each subclass calls one library.

| state | event | then |
|---|---|---|
| closed | ``begin`` opens a producer, which ends what is open | in a transaction |
| ready | ``begin`` | in a transaction |
| in a transaction | ``send`` hands records over; their outcome comes with the next end | the same |
| in a transaction | ``send_offsets`` fails | MustAbort: only ``abort`` is left |
| in a transaction | ``commit``, ``abort`` succeed | ready |
| in a transaction | ``commit`` finds a record that failed | closed, and surely not committed |
| in a transaction | ``commit`` fails | closed, of unknown outcome |
| in a transaction | ``abort`` after a failure, or one that fails | closed |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from harness.histories.history import ClientAction, OperationOutcome
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.producer import MustAbort
from labs.transaction_histories.wire import GivenUp

INVOKE, OK, FAIL, INFO = OperationOutcome
NO_OFFSET = -1


class LibraryFailed(Exception):
    """A call of a client library failed, or did not end in its time."""


class SentRecord(NamedTuple):
    """The outcome of a record; ``error`` is empty where it has an offset."""

    partition: int
    value: str
    offset: int
    error: str


class LibraryProducer(ABC):
    """One transactional id; each method notes its outcome in the history."""

    def __init__(self, name: str, topic: str, notes: TransactionNotes) -> None:
        self.name, self.topic, self._notes = name, topic, notes
        self._is_open = False

    # -- what a library does -----------------------------------------------------------------------

    @abstractmethod
    def open_producer(self) -> None:
        """Make a producer, and initialize its transactional id. Raises LibraryFailed."""

    @abstractmethod
    def begin_transaction(self) -> None:
        """Raises LibraryFailed."""

    @abstractmethod
    def hand_over(self, partition: int, values: Sequence[str]) -> None:
        """Give records to the producer, and do not wait. Raises LibraryFailed."""

    @abstractmethod
    def flush(self) -> list[SentRecord]:
        """Wait for all records that were handed over, and return them. Raises LibraryFailed."""

    @abstractmethod
    def add_offsets(self, group: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets of a group in the transaction. Raises LibraryFailed."""

    @abstractmethod
    def end_transaction(self, *, commits: bool) -> None:
        """Raises LibraryFailed: the outcome is unknown."""

    @abstractmethod
    def close_producer(self) -> None:
        """Close the producer at once, and leave a transaction open."""

    # -- a transaction -----------------------------------------------------------------------------

    @property
    def transactional_id(self) -> str:
        return f"{self.topic}-{self.name}"

    def begin(self, label: str) -> None:
        """Open a transaction. Raises GivenUp: there is no producer in time."""
        try:
            if not self._is_open:
                self.open_producer()
                self._is_open = True
            self.begin_transaction()
        except LibraryFailed as failed:
            self._close()
            raise GivenUp(str(failed)) from failed
        self._notes.add(self.name, OK, ClientAction.BEGIN, value=label)

    def send(self, partition: int, values: Sequence[str]) -> None:
        """Hand over records. Raises MustAbort."""
        for value in values:
            self._notes.add(self.name, INVOKE, ClientAction.SEND, partition, value=value)
        try:
            self.hand_over(partition, values)
        except LibraryFailed as failed:
            raise MustAbort(str(failed)) from failed

    def send_offsets(self, group: str, offsets: Mapping[int, int]) -> None:
        """Commit these offsets of a group in the transaction. Raises MustAbort."""
        self._note_offsets(INVOKE, offsets)
        try:
            self.add_offsets(group, offsets)
        except LibraryFailed as failed:
            self._note_offsets(INFO, offsets, str(failed))
            raise MustAbort(str(failed)) from failed
        self._note_offsets(OK, offsets)

    def _note_offsets(
        self, outcome: OperationOutcome, offsets: Mapping[int, int], said: str = ""
    ) -> None:
        for partition, offset in offsets.items():
            self._notes.add(self.name, outcome, ClientAction.SEND_OFFSETS, partition, offset,
                            detail=said)  # fmt: skip

    def commit(self) -> bool:
        """True if it is surely committed; a record that failed surely aborts."""
        if not self._all_is_sent():
            self.abort(failed=True)
            return False
        self._notes.add(self.name, INVOKE, ClientAction.COMMIT)
        try:
            self.end_transaction(commits=True)
        except LibraryFailed as failed:
            self._notes.add(self.name, INFO, ClientAction.COMMIT, detail=str(failed))
            self._close()
            return False
        self._notes.add(self.name, OK, ClientAction.COMMIT)
        return True

    def _all_is_sent(self) -> bool:
        try:
            sent = self.flush()
        except LibraryFailed:
            return False
        for one in sent:
            outcome = INFO if one.error else OK
            self._notes.add(self.name, outcome, ClientAction.SEND, one.partition, one.offset,
                            one.value, one.error)  # fmt: skip
        return not any(one.error for one in sent)

    def abort(self, *, failed: bool) -> None:
        """Abort; ``failed``: by the next producer of the same id."""
        self._notes.add(self.name, INVOKE, ClientAction.ABORT)
        if failed:
            self._close()
        else:
            try:
                self.end_transaction(commits=False)
            except LibraryFailed:
                self._close()
        self._notes.add(self.name, OK, ClientAction.ABORT)

    def _close(self) -> None:
        if self._is_open:
            self.close_producer()
        self._is_open = False
