"""The model: what a coordinator owes the producers of one transactional id, in few words.

It is written from KIP-98, KIP-360 and KIP-890 and shares nothing with the built-in broker.

| state | init | add | end | time is up | markers are written |
|---|---|---|---|---|---|
| IDLE | next epoch, IDLE | OPEN | see below | - | - |
| OPEN | fenced, ABORTING | OPEN | COMMITTING, ABORTING | fenced, ABORTING | - |
| COMMITTING, ABORTING | CONCURRENT_TRANSACTIONS | the same | CONCURRENT_TRANSACTIONS | - | DONE |
| DONE | next epoch, IDLE | OPEN | see below | - | - |

Behind the end of a transaction its repetition succeeds, and the other end is INVALID_TXN_STATE.
With transaction version 2 each end raises the epoch: a repetition has the epoch before, and an
abort with the new one ends a transaction without partitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from harness.codec.error_code import ErrorCode

LAST_EPOCH = 32_766
"""The last epoch that a producer gets; the one above it is for fencing alone."""
CONCURRENT = ErrorCode.CONCURRENT_TRANSACTIONS
FENCED = ErrorCode.PRODUCER_FENCED
WRONG_STATE = ErrorCode.INVALID_TXN_STATE
UNMAPPED = ErrorCode.INVALID_PRODUCER_ID_MAPPING


class HeldIdentity(NamedTuple):
    """A producer id, counted from 0 in the order of their appearance, and an epoch."""

    id: int
    epoch: int


class PromisedState(Enum):
    """The states of the table."""

    IDLE, OPEN, COMMITTING, ABORTING, COMMITTED, ABORTED = range(6)


_Answer = HeldIdentity | ErrorCode
_S = PromisedState
UNDECIDED = {_S.IDLE, _S.COMMITTED, _S.ABORTED}
_DECIDED = {True: _S.COMMITTING, False: _S.ABORTING}
_DONE = {True: _S.COMMITTED, False: _S.ABORTED}


@dataclass(slots=True)
class PromisedId:
    """The transactional id; ``newer``: its producers have transaction version 2.

    ``former``: the identity with a request that may be repeated; a coordinator that reads its log
    does not know it any more. ``worn``: the last identity of a producer id without epochs, until
    the next change. ``marks``: of each partition, the epoch and the direction of its markers.
    """

    newer: bool
    held: HeldIdentity | None = None
    state: PromisedState = _S.IDLE
    former: HeldIdentity | None = None
    worn: HeldIdentity | None = None
    places: set[int] = field(default_factory=set)
    began_ms: int = 0
    timeout_ms: int = 0
    marks: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)
    next_held: HeldIdentity | None = None
    ids: int = 0

    def init(self, timeout_ms: int, expected: HeldIdentity | None, now_ms: int) -> _Answer:
        """InitProducerId; ``expected`` is the identity of a producer that goes on (KIP-360)."""
        held = self.held
        if held is None:
            return self._begin_producer(self._new_id(), timeout_ms, None)
        if expected is not None and expected.id != held.id and expected != self.worn:
            return FENCED
        if self.state in _DECIDED.values():
            return CONCURRENT
        if self.state is _S.OPEN:
            self._fence()
            return CONCURRENT
        if expected in (None, held):
            is_last = held.epoch >= LAST_EPOCH
            following = self._new_id() if is_last else HeldIdentity(held.id, held.epoch + 1)
            self._begin_producer(following, timeout_ms, held if expected else None)
            self.worn = held if is_last else None
            return following
        if expected == self.former:
            return self._begin_producer(held, timeout_ms, self.former)
        return FENCED

    def _new_id(self) -> HeldIdentity:
        self.ids += 1
        return HeldIdentity(self.ids - 1, 0)

    def _begin_producer(
        self, held: HeldIdentity, timeout_ms: int, former: HeldIdentity | None
    ) -> HeldIdentity:
        self.held, self.former, self.timeout_ms = held, former, timeout_ms
        self.state, self.places, self.worn = _S.IDLE, set(), None
        return held

    def _fence(self) -> None:
        assert self.held is not None
        self.former, self.worn = self.held, None
        self.held = HeldIdentity(self.held.id, self.held.epoch + 1)
        self.state, self.next_held = _S.ABORTING, None

    def add(self, producer: HeldIdentity, place: int, now_ms: int) -> ErrorCode:
        """AddPartitionsToTxn, or a record that adds its partition."""
        if self.held is None or producer.id != self.held.id:
            return UNMAPPED
        if producer != self.held:
            return FENCED
        if self.state in _DECIDED.values():
            return CONCURRENT
        if self.state is not _S.OPEN:
            self.began_ms, self.state, self.places = now_ms, _S.OPEN, set()
        self.places.add(place)
        self.worn = None
        return ErrorCode.NONE

    def end(self, producer: HeldIdentity, *, commits: bool) -> _Answer:
        """EndTxn."""
        if self.held is None:
            return UNMAPPED
        repeats = self.newer and self._is_before(producer)
        if producer.id != self.held.id and not repeats:
            return UNMAPPED
        if not repeats and producer != self.held:
            return FENCED
        if self.state in _DECIDED.values():
            return self._end_again(repeats=repeats, commits=commits)
        if self.state is _S.OPEN:
            return FENCED if repeats else self._decide(commits=commits)
        if not self.newer:
            return self.held if self.state is _DONE[commits] else WRONG_STATE
        if repeats:
            if self.state is _S.IDLE:
                return FENCED
            return self.held if self.state is _DONE[commits] else WRONG_STATE
        return WRONG_STATE if commits else self._decide(commits=False)

    def _is_before(self, producer: HeldIdentity) -> bool:
        """True if the producer has the identity from before the last end."""
        assert self.held is not None
        if producer.id == self.held.id:
            return producer.epoch + 1 == self.held.epoch
        return producer == self.worn

    def _end_again(self, *, repeats: bool, commits: bool) -> ErrorCode:
        if self.newer and not repeats:
            return FENCED
        return CONCURRENT if self.state is _DECIDED[commits] else WRONG_STATE

    def _decide(self, *, commits: bool) -> HeldIdentity:
        held = self.held
        assert held is not None
        self.state, self.next_held, self.worn = _DECIDED[commits], None, None
        if not self.newer:
            return held
        self.former, self.held = held, HeldIdentity(held.id, held.epoch + 1)
        if held.epoch >= LAST_EPOCH:
            self.next_held = self._new_id()
        return self.next_held or self.held

    def time_is_up(self, now_ms: int) -> None:
        """The coordinator looks for transactions that take too long."""
        if self.state is _S.OPEN and self.began_ms + self.timeout_ms < now_ms:
            self._fence()

    def write_markers(self) -> None:
        """Each partition of a decided transaction gets its marker."""
        if self.state not in _DECIDED.values():
            return
        assert self.held is not None
        aborts = self.state is _S.ABORTING
        for place in self.places:
            self.marks.setdefault(place, []).append((self.held.epoch, aborts))
        self.state, self.places = _DONE[not aborts], set()
        self.worn = None
        if self.next_held is not None:
            self.held, self.worn = self.next_held, self.former

    def reload(self) -> None:
        """Another coordinator reads the log."""
        self.former = None
