"""The state machine of a transactional id.

Theory of operation. A transactional id has at most one transaction at a time, in whatever number of
partitions. A transaction begins when the first partition is added. It ends in two steps, so that a
coordinator that fails in between can finish the work of its predecessor: first the decision is
written to the coordinator's log (Prepare), then a marker is written to each partition, and when all
have theirs, the end is written to the log (Complete). A decision is never changed. A coordinator
that aborts for a producer that is late, or that another one replaces, raises the epoch with the
decision (PrepareEpochFence), so that the producer's requests fail from then on.

``TRANSITIONS`` has each state with the events that may occur in it and the state that follows. An
event that is not in the table cannot occur: `next_state` raises IllegalTransitionError, which is a
defect of the coordinator and never an answer to a client. PrepareEpochFence is never written and
never seen: the abort follows in the same step.

Source: TransactionState and TransactionMetadata of Kafka 3.9.2 and 4.1.0; KIP-98, KIP-890.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType

from harness.reference_broker.state.transitions import state_after


class TransactionState(Enum):
    """The states of a transactional id, with their names in DescribeTransactions."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"


class TransactionEvent(Enum):
    """The events that change the state of a transactional id."""

    PRODUCER_BEGINS = "a producer initializes the transactional id"
    PARTITION_ADDED = "partitions are added to the transaction"
    COMMIT_DECIDED = "the producer commits"
    ABORT_DECIDED = "the producer or the coordinator aborts"
    PRODUCER_FENCED = "the coordinator is about to abort for a late or replaced producer"
    MARKERS_WRITTEN = "every partition of the transaction has its marker"
    EXPIRED = "the transactional id was not used for too long"


_Transitions = Mapping[TransactionState, Mapping[TransactionEvent, TransactionState]]

_UNDECIDED = {
    TransactionEvent.PRODUCER_BEGINS: TransactionState.EMPTY,
    TransactionEvent.PARTITION_ADDED: TransactionState.ONGOING,
    TransactionEvent.ABORT_DECIDED: TransactionState.PREPARE_ABORT,  # of nothing, KIP-890
    TransactionEvent.EXPIRED: TransactionState.DEAD,
}

TRANSITIONS: _Transitions = MappingProxyType(
    {
        TransactionState.EMPTY: _UNDECIDED,
        TransactionState.ONGOING: {
            TransactionEvent.PARTITION_ADDED: TransactionState.ONGOING,
            TransactionEvent.COMMIT_DECIDED: TransactionState.PREPARE_COMMIT,
            TransactionEvent.ABORT_DECIDED: TransactionState.PREPARE_ABORT,
            TransactionEvent.PRODUCER_FENCED: TransactionState.PREPARE_EPOCH_FENCE,
        },
        TransactionState.PREPARE_COMMIT: {
            TransactionEvent.MARKERS_WRITTEN: TransactionState.COMPLETE_COMMIT,
        },
        TransactionState.PREPARE_ABORT: {
            TransactionEvent.MARKERS_WRITTEN: TransactionState.COMPLETE_ABORT,
        },
        TransactionState.COMPLETE_COMMIT: _UNDECIDED,
        TransactionState.COMPLETE_ABORT: _UNDECIDED,
        TransactionState.DEAD: {},
        TransactionState.PREPARE_EPOCH_FENCE: {
            TransactionEvent.ABORT_DECIDED: TransactionState.PREPARE_ABORT,
        },
    }
)
"""State -> event -> next state."""

DECIDED = frozenset({TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT})
"""The states in which markers are being written."""
STATUS_IN_LOG = {state: status for status, state in enumerate(TransactionState)}
"""The numbers of the states in records."""


def next_state(state: TransactionState, event: TransactionEvent) -> TransactionState:
    """Return the state after an event. Raises IllegalTransitionError."""
    return state_after(TRANSITIONS, state, event, "transactional id")
