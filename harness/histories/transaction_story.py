"""A history of transactions, sorted by what its operations are about.

A process has one transaction at a time: from its ``begin`` to the end of its ``commit`` or
``abort``. A send outside of a transaction is one of its own, which its acknowledgement commits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.histories.history import ClientAction, ClientOperation, OperationOutcome

NEVER = -1
INVOKE, OK, FAIL, INFO = OperationOutcome
Place = tuple[int, int]
"""Partition and offset."""


@dataclass(slots=True, eq=False)
class ClientTransaction:
    """One transaction as its client saw it; ``eq=False``: it is a node of graphs.

    Attributes:
        began: the operation that opened it.
        sends: the sends (``invoke``) that did not surely fail.
        consumed: the input records that it read.
        commit_at: the place in the history at which its commit was requested, or ``NEVER``.
        outcome: ``ok`` committed, ``fail`` surely not committed, ``info`` unknown.
        in_log: the first record in the log of each of its sends that is there.
    """

    began: ClientOperation
    sends: dict[str, ClientOperation] = field(default_factory=dict)
    consumed: list[ClientOperation] = field(default_factory=list)
    commit_at: int = NEVER
    outcome: OperationOutcome = FAIL
    in_log: list[ClientOperation] = field(default_factory=list)

    @property
    def is_there(self) -> bool:
        """It has surely taken effect, by the log or by its acknowledgement."""
        return bool(self.in_log) or self.outcome is OK

    @property
    def may_be_there(self) -> bool:
        """It has no record by which the log would show it, and its outcome is unknown."""
        return self.is_there or (self.outcome is INFO and not self.sends)


class TransactionStory:
    """The operations of a history by their subject; ``broken``: a broken assumption, or empty."""

    def __init__(self, history: Iterable[ClientOperation]) -> None:
        self.transactions: list[ClientTransaction] = []
        self.writer: dict[str, ClientTransaction] = {}  # by value
        self.acknowledged: dict[str, ClientOperation] = {}  # sends, with their offsets
        self.polls: defaultdict[tuple[str, int], list[ClientOperation]] = defaultdict(list)
        self.dirty: list[ClientOperation] = []
        self.ends: list[ClientOperation] = []
        self.finished: list[ClientOperation] = []
        self.log: defaultdict[int, list[ClientOperation]] = defaultdict(list)  # by partition
        self.offsets: list[tuple[ClientOperation, int]] = []  # read, and the floor at the request
        self.was_read = False
        self.broken = ""
        self._open: dict[str, ClientTransaction] = {}
        self._floors: dict[tuple[str, int], int] = {}
        self._highest: defaultdict[int, int] = defaultdict(lambda: -1)
        take = {
            ClientAction.SEND: self._send,
            ClientAction.POLL: self._poll,
            ClientAction.END: self._end,
            ClientAction.FINISH: self._finish,
            ClientAction.FINAL_READ: self._final_read,
            ClientAction.BEGIN: self._begin,
            ClientAction.CONSUME: self._consume,
            ClientAction.COMMIT: self._commit,
            ClientAction.ABORT: self._abort,
            ClientAction.READ_OFFSETS: self._read_offsets,
        }
        for at, one in enumerate(history):
            if one.action in take:
                take[one.action](one, at)
        self._place()

    def _break(self, what: str) -> None:
        self.broken = self.broken or what

    # -- transactions ------------------------------------------------------------------------------

    def _begin(self, one: ClientOperation, _: int) -> None:
        if one.outcome is OK:
            self._open[one.process] = self._new(one)

    def _new(self, began: ClientOperation) -> ClientTransaction:
        made = ClientTransaction(began)
        self.transactions.append(made)
        return made

    def _send(self, one: ClientOperation, at: int) -> None:
        if one.outcome is INVOKE:
            if one.value in self.writer:
                self._break(f"{one.value!r} was sent twice")
                return
            transaction = self._open.get(one.process) or self._alone(one, at)
            transaction.sends[one.value] = one
            self.writer[one.value] = transaction
            return
        sender = self.writer.get(one.value)
        if sender is None:
            self._break(f"{one.value!r} ended and never began")
            return
        if sender.began.action is ClientAction.SEND:
            sender.outcome = one.outcome
        elif one.outcome is FAIL:
            sender.sends.pop(one.value, None)
        if one.outcome is OK:
            self.acknowledged[one.value] = one

    def _alone(self, one: ClientOperation, at: int) -> ClientTransaction:
        """A send outside of a transaction: its request is its commit."""
        made = self._new(one)
        made.commit_at, made.outcome = at, INFO
        return made

    def _consume(self, one: ClientOperation, _: int) -> None:
        transaction = self._open.get(one.process)
        if transaction is None:
            self._break(f"{one} is outside of a transaction")
        elif one.outcome is OK:
            transaction.consumed.append(one)

    def _commit(self, one: ClientOperation, at: int) -> None:
        transaction = self._open.get(one.process)
        if transaction is None:
            self._break(f"{one} is outside of a transaction")
        elif one.outcome is INVOKE:
            transaction.commit_at, transaction.outcome = at, INFO
        else:
            transaction.outcome = one.outcome
            del self._open[one.process]

    def _abort(self, one: ClientOperation, _: int) -> None:
        """End the transaction; without a request to commit, its records are never committed."""
        if one.process not in self._open:
            self._break(f"{one} is outside of a transaction")
        elif one.outcome is not INVOKE:
            del self._open[one.process]

    # -- reads -------------------------------------------------------------------------------------

    def _poll(self, one: ClientOperation, _: int) -> None:
        if one.outcome is OK:
            self.polls[one.process, one.partition].append(one)
            writer = self.writer.get(one.value)
            if writer is not None and writer.commit_at == NEVER:
                self.dirty.append(one)

    def _end(self, one: ClientOperation, _: int) -> None:
        if one.outcome is OK:
            self.ends.append(one)

    def _finish(self, one: ClientOperation, _: int) -> None:
        if one.outcome is not INVOKE:
            self.finished.append(one)

    def _final_read(self, one: ClientOperation, _: int) -> None:
        if one.outcome is OK and one.value:
            self.log[one.partition].append(one)
        elif one.outcome is OK:
            self.was_read = True  # to the end, however little was there

    def _read_offsets(self, one: ClientOperation, _: int) -> None:
        """The floor is what had been read before the request: answers that overlap bind none."""
        key = (one.process, one.partition)
        if one.outcome is INVOKE:
            self._floors[key] = self._highest[one.partition]
        elif one.outcome is OK:
            self.offsets.append((one, self._floors.pop(key, self._highest[one.partition])))
            self._highest[one.partition] = max(self._highest[one.partition], one.offset)

    def committed_offsets(self) -> dict[int, int]:
        """The committed offset of each input partition as it was read last."""
        return {one.partition: one.offset for one, _ in self.offsets}

    def _place(self) -> None:
        there: set[str] = set()
        for records in self.log.values():
            for record in records:
                writer = self.writer.get(record.value)
                if writer is not None and record.value not in there:
                    there.add(record.value)
                    writer.in_log.append(record)
