"""One transactional id: its producer, and its transaction.

Source: class TransactionMetadata. `transaction_states` has the state machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.base.ids import PartitionIndex, ProducerEpoch, ProducerId, TimeMs
from harness.reference_broker.state.producers.producer_ids import ProducerIdentity
from harness.reference_broker.state.transactions.transaction_states import (
    TransactionEvent,
    TransactionState,
    next_state,
)

Place = tuple[str, PartitionIndex]
"""Topic name and partition index."""

NO_ID, NO_EPOCH = ProducerId(-1), ProducerEpoch(-1)
_LAST_EPOCH = 2**15 - 2  # the highest one is kept for fencing
NOT_STARTED = TimeMs(-1)
NO_TIMEOUT_MS = 2**31 - 1
"""The timeout of transactions that never time out (KIP-939)."""
EPOCH_BUMPS = 2
"""The transaction version since which each end of a transaction raises the epoch (KIP-890)."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """The state of a transactional id; it never changes: a transition makes another one.

    `last_epoch` is the epoch before the current one, where the producer knows that its epoch was
    raised. `next_id` is the producer id that follows when the epochs of the current one are used
    up. `client_version` is the transaction version of the producer's last request.
    """

    transactional_id: str
    producer_id: ProducerId
    producer_epoch: ProducerEpoch
    timeout_ms: int
    updated_at: TimeMs
    state: TransactionState = TransactionState.EMPTY
    places: frozenset[Place] = frozenset()
    started_at: TimeMs = NOT_STARTED
    previous_id: ProducerId = NO_ID
    next_id: ProducerId = NO_ID
    last_epoch: ProducerEpoch = NO_EPOCH
    client_version: int = 0

    @property
    def identity(self) -> ProducerIdentity:
        """The producer id and the epoch."""
        return ProducerIdentity(self.producer_id, self.producer_epoch)

    @property
    def is_exhausted(self) -> bool:
        """True if the producer id has no epoch left."""
        return is_exhausted(self.producer_epoch)

    @property
    def bumps_epochs(self) -> bool:
        """True if each end of a transaction raises the epoch."""
        return self.client_version >= EPOCH_BUMPS

    def after(self, event: TransactionEvent, now: TimeMs, **changes: object) -> Transaction:
        """Return the state after an event, with these attributes. Raises IllegalTransitionError.

        The former producer id becomes the previous one (class TransactionMetadata,
        prepareTransitionTo).
        """
        return replace(
            self,
            state=next_state(self.state, event),
            updated_at=now,
            previous_id=self.producer_id,
            **changes,  # type: ignore[arg-type]
        )


def indexes_by_topic(places: Iterable[Place]) -> dict[str, list[int]]:
    """Return the partition indexes of each topic, in the order of the places."""
    found: dict[str, list[int]] = {}
    for topic, index in places:
        found.setdefault(topic, []).append(index)
    return found


def is_exhausted(epoch: int) -> bool:
    """True for the last epoch that a producer may have."""
    return epoch >= _LAST_EPOCH
