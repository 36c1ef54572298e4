"""The common part of all requests to a transaction coordinator."""

from collections.abc import Callable

from harness.base.ids import ProducerEpoch, ProducerId
from harness.codec.error_code import ErrorCode
from harness.codec.structs import Message
from harness.reference_broker.handlers.group_coordinator import answer_when_replicated
from harness.reference_broker.handlers.outcome import Answer, PurgatoryWait, RequestContext
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
    partition = context.state.transactions.log.partition_of(transactional_id)
    if partition is None:
        return Answer(answer)
    return answer_when_replicated(partition, answer, refuse, context)
