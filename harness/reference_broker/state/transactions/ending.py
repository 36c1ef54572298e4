"""EndTxn, and the ends that the coordinator decides itself: of late and of replaced producers.

With transaction version 2 each end raises the epoch, so that a request of the former transaction
cannot enter the next one (KIP-890); an end that is repeated has the epoch before. With an earlier
version the epoch stays. Source: class TransactionCoordinator (endTransaction,
endTransactionWithTV1), class TransactionMetadata (prepareAbortOrCommit, prepareComplete).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from harness.base.ids import ProducerEpoch, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.transaction import (
    EPOCH_BUMPS,
    NO_EPOCH,
    NO_ID,
    Transaction,
    is_exhausted,
)
from harness.reference_broker.state.transactions.transaction_states import (
    DECIDED,
    TransactionEvent,
    TransactionState,
)
from harness.reference_broker.state.transactions.transactions import Transactions

_State = TransactionState


@dataclass(frozen=True, slots=True)
class WantedEnd:
    """A request to end a transaction. `version` is the producer's transaction version."""

    transactional_id: str
    producer: ProducerIdentity
    commits: bool
    version: int = 0

    @property
    def bumps_epochs(self) -> bool:
        """True if the end raises the epoch."""
        return self.version >= EPOCH_BUMPS


_DECISIONS = {True: _State.PREPARE_COMMIT, False: _State.PREPARE_ABORT}
_ENDS = {True: _State.COMPLETE_COMMIT, False: _State.COMPLETE_ABORT}


def end(transactions: Transactions, wanted: WantedEnd, now: TimeMs) -> ProducerIdentity | ErrorCode:
    """Decide a transaction; return the identity that the producer has next."""
    known = transactions.find(wanted.transactional_id)
    if known is None:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    problem = _problem_of_producer(transactions, known, wanted)
    if problem is not ErrorCode.NONE:
        return problem
    outcome = _outcome(known, wanted)
    if outcome is not ErrorCode.NONE:
        return outcome
    if not _is_to_decide(known, wanted):
        return known.identity
    if transactions.ids.is_empty and known.is_exhausted:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # the next block of ids is on its way
    decided = _decided(transactions, known, wanted, now)
    error = transactions.change(decided, now)
    return _completed(decided, now).identity if error is ErrorCode.NONE else error


def abort_and_fence(transactions: Transactions, ongoing: Transaction, now: TimeMs) -> ErrorCode:
    """Abort an ongoing transaction with an epoch that its producer does not have.

    The epoch is raised once, with each transaction version (seen on 4.4.0).
    """
    may_return = transactions.limits.fenced_may_return
    fenced = replace(
        ongoing.after(TransactionEvent.PRODUCER_FENCED, now),
        producer_epoch=ProducerEpoch(ongoing.producer_epoch + 1),
        last_epoch=ongoing.producer_epoch if may_return else NO_EPOCH,
    )
    return transactions.change(fenced.after(TransactionEvent.ABORT_DECIDED, now), now)


def complete(transactions: Transactions, decided: Transaction, now: TimeMs) -> ErrorCode:
    """Write the end of a transaction; every partition has its marker."""
    return transactions.change(_completed(decided, now), now)


def _completed(decided: Transaction, now: TimeMs) -> Transaction:
    completed = replace(
        decided.after(TransactionEvent.MARKERS_WRITTEN, now), places=frozenset(), next_id=NO_ID
    )
    if decided.bumps_epochs and decided.next_id != NO_ID:
        return replace(completed, producer_id=decided.next_id, producer_epoch=ProducerEpoch(0))
    return completed


def _problem_of_producer(
    transactions: Transactions, known: Transaction, wanted: WantedEnd
) -> ErrorCode:
    producer, is_over = wanted.producer, _is_repeated_over(known, wanted)
    if known.producer_id != producer.producer_id and not is_over:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    is_current = known.producer_epoch == producer.producer_epoch
    if not wanted.bumps_epochs:
        is_later = producer.producer_epoch > known.producer_epoch
        is_to_judge = transactions.limits.later_epochs_count and known.state is not _State.ONGOING
        is_current |= is_later and is_to_judge
        return ErrorCode.NONE if is_current else ErrorCode.PRODUCER_FENCED
    if known.state in DECIDED:
        is_valid = _is_repeated(known, wanted)
    elif known.state in _ENDS.values():
        is_valid = is_current or is_over or _is_repeated(known, wanted)
    else:
        is_valid = is_current
    return ErrorCode.NONE if is_valid else ErrorCode.PRODUCER_FENCED


def _outcome(known: Transaction, wanted: WantedEnd) -> ErrorCode:
    """Return the error for this state; NONE if the end may be decided, or was so before."""
    if known.state is _State.ONGOING:
        return ErrorCode.NONE
    if known.state in DECIDED:
        is_same = known.state is _DECISIONS[wanted.commits]
        return ErrorCode.CONCURRENT_TRANSACTIONS if is_same else ErrorCode.INVALID_TXN_STATE
    is_end_again = known.state is _ENDS[wanted.commits]
    if not wanted.bumps_epochs:
        return ErrorCode.NONE if is_end_again else ErrorCode.INVALID_TXN_STATE
    if _is_repeated(known, wanted) or _is_repeated_over(known, wanted):
        return ErrorCode.NONE if is_end_again else ErrorCode.INVALID_TXN_STATE
    return ErrorCode.INVALID_TXN_STATE if wanted.commits else ErrorCode.NONE


def _is_to_decide(known: Transaction, wanted: WantedEnd) -> bool:
    """True for an ongoing transaction, and for the abort of nothing with version 2."""
    if known.state is _State.ONGOING:
        return True
    is_again = _is_repeated(known, wanted) or _is_repeated_over(known, wanted)
    return wanted.bumps_epochs and not is_again


def _is_repeated(known: Transaction, wanted: WantedEnd) -> bool:
    """True if the request has the epoch from before the end."""
    return wanted.bumps_epochs and known.producer_epoch == wanted.producer.producer_epoch + 1


def _is_repeated_over(known: Transaction, wanted: WantedEnd) -> bool:
    """True if the request has the last epoch of the producer id from before the end."""
    return (
        wanted.bumps_epochs
        and known.previous_id == wanted.producer.producer_id
        and is_exhausted(wanted.producer.producer_epoch)
        and known.producer_epoch == 0
    )


def _decided(
    transactions: Transactions, known: Transaction, wanted: WantedEnd, now: TimeMs
) -> Transaction:
    commits = TransactionEvent.COMMIT_DECIDED
    event = commits if wanted.commits else TransactionEvent.ABORT_DECIDED
    decided = replace(known.after(event, now), client_version=wanted.version)
    if known.state is not _State.ONGOING:
        decided = replace(decided, started_at=now)
    if not wanted.bumps_epochs:
        return decided
    is_last = known.is_exhausted
    return replace(
        decided,
        producer_epoch=ProducerEpoch(known.producer_epoch + 1),
        last_epoch=known.producer_epoch,
        next_id=transactions.ids.new_producer().producer_id if is_last else NO_ID,
    )
