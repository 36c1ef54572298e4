"""The common part of all requests to a transaction coordinator."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from harness.base.ids import Offset, ProducerEpoch, ProducerId, TimeMs
from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message
from harness.reference_broker.handlers.group_coordinator import coordinator_error
from harness.reference_broker.handlers.outcome import Answer, PurgatoryWait, RequestContext
from harness.reference_broker.state.partition.partition import Partition
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity

FIRST_VERSION_WITH_FENCED = 2
"""Of AddPartitionsToTxn, AddOffsetsToTxn and EndTxn (KIP-588)."""


def problem_with_transactional_id(transactional_id: str, context: RequestContext) -> ErrorCode:
    """Return the error of an empty id, or of a broker that is not the id's coordinator."""
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    return context.state.transactions.problem_with_coordinator(transactional_id)


def as_of_version(
    error: ErrorCode, context: RequestContext, first_version: int = FIRST_VERSION_WITH_FENCED
) -> ErrorCode:
    """Return the error as the version has it: earlier ones have no PRODUCER_FENCED."""
    if error is ErrorCode.PRODUCER_FENCED and context.api_version < first_version:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return error


def identity_of(producer_id: int, producer_epoch: int) -> ProducerIdentity:
    """Return the producer id and the epoch of a request."""
    return ProducerIdentity(ProducerId(producer_id), ProducerEpoch(producer_epoch))


def answer_when_written(
    transactional_id: str,
    answer: Message,
    refuse: Callable[[ErrorCode], Message],
    context: RequestContext,
) -> Answer | PurgatoryWait:
    """Answer when all replicas in sync have the records of the transactional id."""

    def say(errors: Sequence[ErrorCode]) -> Message:
        return answer if errors[0] is ErrorCode.NONE else refuse(errors[0])

    return answer_when_all_are_written([written_state(transactional_id, context)], say, context)


class WrittenState(NamedTuple):
    """The state of a transactional id in the coordinator's log, behind which the log had this end.

    Replicas have the time of the id's transactions (class TransactionStateManager,
    appendTransactionToLog).
    """

    partition: Partition
    end: Offset
    timeout_ms: int

    @property
    def outcome(self) -> ErrorCode | None:
        """The error for the client, NONE if all replicas in sync have it; None before."""
        outcome = self.partition.replicated(self.end)
        is_good = outcome is None or outcome is ErrorCode.NONE
        return outcome if is_good else coordinator_error(outcome)  # type: ignore[arg-type]


def written_state(transactional_id: str, context: RequestContext) -> WrittenState | None:
    """Return the state that was just written; None where nothing has to wait."""
    transactions = context.state.transactions
    partition, known = (
        transactions.log.partition_of(transactional_id),
        transactions.find(transactional_id),
    )
    if partition is None or known is None:
        return None
    return WrittenState(partition, partition.log.end_offset, known.timeout_ms)


def answer_when_all_are_written(
    states: Sequence[WrittenState | None],
    say: Callable[[Sequence[ErrorCode]], Message],
    context: RequestContext,
) -> Answer | PurgatoryWait:
    """Answer when each state has an outcome; `say` gets them, NONE for an absent state.

    The error is COORDINATOR_NOT_AVAILABLE after the timeout, NOT_COORDINATOR under another leader.
    """

    def attempt() -> Message | None:
        outcomes = [ErrorCode.NONE if state is None else state.outcome for state in states]
        known = [outcome for outcome in outcomes if outcome is not None]
        return say(known) if len(known) == len(outcomes) else None

    def at_deadline() -> Message:
        late = ErrorCode.COORDINATOR_NOT_AVAILABLE
        outcomes = [ErrorCode.NONE if state is None else state.outcome for state in states]
        return say([late if outcome is None else outcome for outcome in outcomes])

    now = attempt()
    if now is not None:
        return Answer(now)
    waiting = [state for state in states if state is not None]
    return PurgatoryWait(
        frozenset((state.partition.topic_id, state.partition.index) for state in waiting),
        TimeMs(context.now() + max(state.timeout_ms for state in waiting)),
        attempt,
        at_deadline,
    )
