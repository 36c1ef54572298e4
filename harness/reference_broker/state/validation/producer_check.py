"""The checks of a producer's epoch, sequence and transaction. Source: KIP-98, class UnifiedLog."""

from harness.base.ids import ProducerId
from harness.codec.error_code import ErrorCode
from harness.codec.records import TRANSACTIONAL, BatchHeader
from harness.reference_broker.state.log.append_error import AppendRefused
from harness.reference_broker.state.producers.producer_states import (
    AppendedBatch,
    ProducerBatch,
    ProducerStates,
)


def known_duplicate(producers: ProducerStates, header: BatchHeader) -> AppendedBatch | None:
    """Return the copy that is already in the log; None for a new batch. Raises AppendRefused."""
    if header.producer_id < 0:
        return None
    batch = ProducerBatch.of(header)
    duplicate = producers.duplicate_of(batch)
    if duplicate is not None:
        return duplicate
    problem = producers.problem_with(batch)
    if problem is not ErrorCode.NONE:
        raise AppendRefused(
            problem,
            tells_log_start=True,
            reason=f"producer {header.producer_id} with epoch {header.producer_epoch} may not "
            f"go on with sequence {header.base_sequence}",
        )
    if producers.is_in_transaction(batch.producer_id) and not header.attributes & TRANSACTIONAL:
        raise AppendRefused(ErrorCode.INVALID_TXN_STATE, tells_log_start=True)
    return None


def check_epoch(producers: ProducerStates, producer_id: ProducerId, epoch: int) -> None:
    """Raise AppendRefused for the epoch of a producer that was fenced here.

    A coordinator's batches have no sequence that counts (``AppendOrigin.COORDINATOR``).
    """
    known_epoch, _ = producers.epochs_of(producer_id)
    if epoch < known_epoch:
        raise AppendRefused(ErrorCode.INVALID_PRODUCER_EPOCH, tells_log_start=True)
