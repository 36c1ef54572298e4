"""The sequence check of an idempotent producer's batch. Source: KIP-98, class UnifiedLog."""

from harness.codec.error_code import ErrorCode
from harness.codec.records import BatchHeader
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
    return None
