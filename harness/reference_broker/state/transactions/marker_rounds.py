"""The partitions that still need the marker of a decided transaction.

A round begins when the decision is in the coordinator's log, and ends when all partitions have
their marker on all replicas in sync; then the end is written. A partition that was deleted needs
none. A coordinator that a leader takes for a former one sends no more markers of the transaction.
Source: class TransactionMarkerChannelManager.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.base.ids import LeaderEpoch, Offset
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.transactions.transaction_states import TransactionState

if TYPE_CHECKING:
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.transactions.transaction import Place, Transaction


@dataclass(slots=True)
class MarkerRound:
    """The markers of one decided transaction.

    `decided_at`: end offset of the coordinator's partition behind the decision. `left`: the
    partitions without a marker. `written`: end offsets behind markers of this broker that the
    other replicas may lack. `announced`: partitions with a leader on another broker.
    `is_given_up`: a leader has refused a marker as one of a former coordinator.
    """

    of: Transaction
    coordinator: Partition
    decided_at: Offset
    left: set[Place]
    written: dict[Place, Offset] = field(default_factory=dict)
    announced: set[Place] = field(default_factory=set)
    is_given_up: bool = False

    @property
    def aborts(self) -> bool:
        """True if the transaction is aborted."""
        return self.of.state is TransactionState.PREPARE_ABORT

    @property
    def coordinator_epoch(self) -> LeaderEpoch:
        """The leader epoch of the coordinator's partition."""
        return self.coordinator.leader_epoch

    @property
    def is_certain(self) -> bool:
        """True if the decision is on all replicas in sync: no later coordinator lacks it."""
        return self.coordinator.replicated(self.decided_at) is ErrorCode.NONE


class MarkerRounds:
    """The rounds of a coordinator, by transactional id."""

    __slots__ = ("_rounds",)

    def __init__(self) -> None:
        self._rounds: dict[str, MarkerRound] = {}

    def __len__(self) -> int:
        return len(self._rounds)

    def begin(self, decided: Transaction, coordinator: Partition) -> None:
        """Begin the round of a decision that was written, or read."""
        self._rounds[decided.transactional_id] = MarkerRound(
            decided, coordinator, coordinator.log.end_offset, set(decided.places)
        )

    def end(self, transactional_id: str) -> None:
        """End the round of a transactional id, if it has one."""
        self._rounds.pop(transactional_id, None)

    def all(self) -> Iterable[MarkerRound]:
        """Return the rounds in their order; the caller may end them."""
        return list(self._rounds.values())
