"""The producer of a client library: the history of its transactions, with a library of the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from harness.histories.history import ClientAction, OperationOutcome
from labs.transaction_histories.library_producer import (
    NO_OFFSET,
    LibraryFailed,
    LibraryProducer,
    SentRecord,
)
from labs.transaction_histories.notes import TransactionNotes
from labs.transaction_histories.producer import MustAbort
from labs.transaction_histories.wire import GivenUp

INVOKE, OK, FAIL, INFO = OperationOutcome
BEGIN, SEND, COMMIT, ABORT = (
    ClientAction.BEGIN, ClientAction.SEND, ClientAction.COMMIT, ClientAction.ABORT,
)  # fmt: skip


class PlannedLibrary(LibraryProducer):
    """A library in which the calls in ``failing`` fail, and the records in ``refused``."""

    def __init__(self, *failing: str, refused: Sequence[str] = ()) -> None:
        self.notes = TransactionNotes()
        super().__init__("producer 1", "topic", self.notes)
        self._failing, self._refused = failing, refused
        self.calls: list[str] = []
        self._sent: list[SentRecord] = []

    def _called(self, name: str) -> None:
        self.calls.append(name)
        if name in self._failing:
            raise LibraryFailed(f"{name} failed")

    def open_producer(self) -> None:
        self._called("open")

    def begin_transaction(self) -> None:
        self._called("begin")

    def hand_over(self, partition: int, values: Sequence[str]) -> None:
        self._called("send")
        for value in values:
            error = "refused" if value in self._refused else ""
            offset = NO_OFFSET if error else len(self._sent)
            self._sent.append(SentRecord(partition, value, offset, error))

    def flush(self) -> list[SentRecord]:
        self._called("flush")
        return self._sent

    def add_offsets(self, group: str, offsets: Mapping[int, int]) -> None:
        self._called("offsets")

    def end_transaction(self, *, commits: bool) -> None:
        self._called("commit" if commits else "abort")

    def close_producer(self) -> None:
        self._called("close")

    @property
    def noted(self) -> list[tuple[ClientAction, OperationOutcome]]:
        return [(one.action, one.outcome) for one in self.notes.history]


def test_commit_notes_the_offset_of_each_record_and_keeps_the_producer() -> None:
    library = PlannedLibrary()
    for label in ("a", "b"):
        library.begin(label)
        library.send(3, [f"{label}.1"])
        assert library.commit()
    sent = [one for one in library.notes.history if (one.action, one.outcome) == (SEND, OK)]
    assert [(one.partition, one.offset, one.value) for one in sent][:1] == [(3, 0, "a.1")]
    assert library.noted[:5] == [
        (BEGIN, OK),
        (SEND, INVOKE),
        (SEND, OK),
        (COMMIT, INVOKE),
        (COMMIT, OK),
    ]
    assert library.calls.count("open") == 1


def test_record_that_failed_surely_aborts_and_its_commit_is_never_requested() -> None:
    library = PlannedLibrary(refused=["a.2"])
    library.begin("a")
    library.send(0, ["a.1", "a.2"])
    assert not library.commit()
    assert library.noted[3:] == [(SEND, OK), (SEND, INFO), (ABORT, INVOKE), (ABORT, OK)]
    assert library.calls[-1] == "close"


def test_commit_that_failed_is_of_unknown_outcome_and_closes_the_producer() -> None:
    library = PlannedLibrary("commit")
    library.begin("a")
    assert not library.commit()
    assert library.noted[1:] == [(COMMIT, INVOKE), (COMMIT, INFO)]
    library.begin("b")
    assert library.calls == ["open", "begin", "flush", "commit", "close", "open", "begin"]


def test_abort_after_a_failure_leaves_the_end_to_the_next_producer() -> None:
    library = PlannedLibrary()
    library.begin("a")
    library.abort(failed=True)
    library.begin("b")
    library.abort(failed=False)
    assert library.calls == ["open", "begin", "close", "open", "begin", "abort"]
    assert library.noted == [(BEGIN, OK), (ABORT, INVOKE), (ABORT, OK)] * 2


@pytest.mark.parametrize("failing", ["open", "begin"])
def test_transaction_that_does_not_begin_is_not_in_the_history(failing: str) -> None:
    library = PlannedLibrary(failing)
    with pytest.raises(GivenUp, match=failing):
        library.begin("a")
    assert library.noted == []


def test_offsets_that_failed_are_of_unknown_outcome_and_must_abort() -> None:
    library = PlannedLibrary("offsets")
    library.begin("a")
    with pytest.raises(MustAbort, match="offsets"):
        library.send_offsets("group", {0: 7})
    noted = [(one.outcome, one.partition, one.offset) for one in library.notes.history[1:]]
    assert noted == [(INVOKE, 0, 7), (INFO, 0, 7)]
