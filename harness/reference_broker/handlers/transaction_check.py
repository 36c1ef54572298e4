"""The check that a transaction has a partition, before records of the transaction are appended.

A broker that emulates 3.6 or later asks the coordinator, and appends nothing if the transaction
does not have the partition; from certain versions on it adds the partition instead. Records wait
until all replicas in sync have what the coordinator added, also if this broker coordinates: the
next coordinator must know each partition that has records of the transaction. Source: class
ReplicaManager (maybeSendPartitionsToTransactionCoordinator), class AddPartitionsToTxnManager;
KIP-890.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.base.ids import Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message
from harness.reference_broker.effects import CheckWanted, TransactionCheck
from harness.reference_broker.handlers.group_coordinator import coordinator_error
from harness.reference_broker.handlers.outcome import (
    Answer,
    Outcome,
    PurgatoryWait,
    RequestContext,
    WakeKey,
)
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.adding import add, verify
from harness.reference_broker.state.transactions.transaction import EPOCH_BUMPS, Place

_EPOCH_IS_COMPARED = (4, 0)  # class UnifiedLog (hasOngoingTransaction)
_TO_REPEAT = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)
"""The coordinator's errors that earlier clients do not repeat: they get NOT_ENOUGH_REPLICAS."""


class Writing(NamedTuple):
    """A write within a transaction. `adds`: the version adds the partition (KIP-890, part 2).

    `is_abortable`: the version has TRANSACTION_ABORTABLE, instead of INVALID_TXN_STATE.
    """

    transactional_id: str
    producer: ProducerIdentity
    adds: bool
    is_abortable: bool


def problem_with_transaction(
    partition: Partition, wanted: Writing, context: RequestContext
) -> ErrorCode:
    """Return the error if records of the transaction may not be appended to the partition."""
    if not _is_to_check(partition, wanted, context):
        return ErrorCode.NONE
    if not wanted.transactional_id:
        return ErrorCode.INVALID_REQUEST
    error = context.state.transactions.problem_with_coordinator(wanted.transactional_id)
    is_here = error is ErrorCode.NONE
    error = ErrorCode(context.checked.get((partition.topic_name, partition.index), error))
    if is_here and error is ErrorCode.NONE:
        error = _by_coordinator(partition, wanted, context)
    return _as_of_version(error, wanted)


def note_check(
    partition: Partition, wanted: Writing, sequence: int, context: RequestContext
) -> None:
    """Note the sequence of a batch that is to check: until it is appended no later one may be."""
    if _is_to_check(partition, wanted, context):
        producer = wanted.producer
        noted = partition.producers.unverified
        noted.note(producer.producer_id, producer.producer_epoch, sequence)


def _is_to_check(partition: Partition, wanted: Writing, context: RequestContext) -> bool:
    """True unless the producer's transaction is open in the partition already."""
    if not context.state.transactions.limits.verifies or partition.leading is None:
        return False
    producer, producers = wanted.producer, partition.producers
    if not producers.is_in_transaction(producer.producer_id):
        return True
    epoch, _ = producers.epochs_of(producer.producer_id)
    return epoch != producer.producer_epoch and context.state.like.since(*_EPOCH_IS_COMPARED)


def _by_coordinator(partition: Partition, wanted: Writing, context: RequestContext) -> ErrorCode:
    transactions, place = context.state.transactions, (partition.topic_name, partition.index)
    transactional_id, producer = wanted.transactional_id, wanted.producer
    if not wanted.adds:
        return verify(transactions, transactional_id, producer, place)
    return add(transactions, transactional_id, producer, [place], EPOCH_BUMPS, context.now())


def _as_of_version(error: ErrorCode, wanted: Writing) -> ErrorCode:
    if error is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.TRANSACTION_ABORTABLE and not wanted.is_abortable:
        return ErrorCode.INVALID_TXN_STATE
    if error is ErrorCode.CONCURRENT_TRANSACTIONS and wanted.adds:
        return error
    return ErrorCode.NOT_ENOUGH_REPLICAS if error in _TO_REPEAT else error


@dataclass(frozen=True, slots=True)
class AddedHere:
    """Partitions that this broker, as coordinator, has added; their record ends at `required`."""

    coordinator: Partition
    required: Offset
    places: tuple[Place, ...]

    @property
    def outcome(self) -> Mapping[Place, ErrorCode] | None:
        """The error codes by topic and partition; None until the record is replicated."""
        error = self.coordinator.replicated(self.required)
        if error is None or error is ErrorCode.NONE:
            return None if error is None else {}
        return dict.fromkeys(self.places, coordinator_error(error))

    @property
    def late(self) -> Mapping[Place, ErrorCode]:
        """The outcome if the record is not replicated in time."""
        return dict.fromkeys(self.places, ErrorCode.COORDINATOR_NOT_AVAILABLE)


def check_before(
    writes: Sequence[tuple[Partition, Writing]], context: RequestContext
) -> TransactionCheck | AddedHere | None:
    """Return what a request has to wait for; None if there is nothing.

    That is the check by a coordinator on another broker, or the replication of what this one added.
    All writes of a request belong to one transaction: the first one names it.
    """
    to_check = [each for each in writes if _is_to_check(*each, context)]
    if not to_check or not context.state.is_member:
        return None
    first = to_check[0][1]
    transactions, name = context.state.transactions, first.transactional_id
    if not name:
        return None
    places = tuple((partition.topic_name, partition.index) for partition, _ in to_check)
    if transactions.problem_with_coordinator(name) is ErrorCode.NONE:
        return _added_here(first, places, context) if first.adds else None
    return TransactionCheck(
        name, first.producer.producer_id, first.producer.producer_epoch, places, first.adds
    )


def _added_here(
    wanted: Writing, places: tuple[Place, ...], context: RequestContext
) -> AddedHere | None:
    """Add the partitions; None if there is nothing to wait for. A refusal is found once more."""
    transactions, name = context.state.transactions, wanted.transactional_id
    add(transactions, name, wanted.producer, places, EPOCH_BUMPS, context.now())
    coordinator = transactions.log.partition_of(name)
    if coordinator is None:
        return None
    added = AddedHere(coordinator, coordinator.log.end_offset, places)
    return None if added.outcome == {} else added


def after_check(
    check: TransactionCheck | AddedHere,
    go_on: Callable[[RequestContext], Outcome],
    partitions: Sequence[Partition],
    timeout_ms: int,
    context: RequestContext,
) -> PurgatoryWait:
    """Carry out a request when the check was made; then it may wait for these partitions.

    Without an outcome in time the request is carried out, too: the partitions that were to be
    checked are refused then.
    """
    key, late = _awaited(check, context)
    later: list[PurgatoryWait] = []

    def attempt() -> Message | None:
        if later:
            return later[0].attempt()
        return None if check.outcome is None else carry_out()

    def carry_out() -> Message | None:
        outcome = check.outcome
        inner = context._replace(effects=[], checked=late if outcome is None else outcome)
        done = go_on(inner)
        context.state.effects += inner.effects
        if isinstance(done, PurgatoryWait):
            later.append(done)
            return None
        assert isinstance(done, Answer)
        return done.message

    def at_deadline() -> Message:
        answer = None if later else carry_out()
        if answer is not None:
            return answer
        at_end = later[0].at_deadline
        assert at_end is not None
        return at_end()

    keys: set[WakeKey] = {key, *((one.topic_id, one.index) for one in partitions)}
    return PurgatoryWait(frozenset(keys), TimeMs(context.now() + timeout_ms), attempt, at_deadline)


def _awaited(
    check: TransactionCheck | AddedHere, context: RequestContext
) -> tuple[WakeKey, Mapping[Place, int]]:
    """Begin the wait; return what wakes it, and the outcome if nothing does."""
    if isinstance(check, AddedHere):
        return (check.coordinator.topic_id, check.coordinator.index), check.late
    context.effects.append(CheckWanted(check))
    return check, {}
