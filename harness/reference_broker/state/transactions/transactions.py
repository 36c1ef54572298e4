"""All transactional ids of one coordinator, and the work on partitions that their ends leave.

Source: class TransactionStateManager.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.base.ids import Offset, TimeMs
from harness.codec.error_code import ErrorCode
from harness.reference_broker.state.memory_budget import PER_THING_BYTES, MemoryBudget
from harness.reference_broker.state.producers.producer_ids import ProducerIds
from harness.reference_broker.state.transactions.marker_rounds import MarkerRounds
from harness.reference_broker.state.transactions.transaction_states import DECIDED

if TYPE_CHECKING:
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.transactions.transaction import Transaction
    from harness.reference_broker.state.transactions.transaction_log import TransactionLog


@dataclass(frozen=True, slots=True)
class TransactionLimits:
    """Settings of transactions.

    `expiration_ms` is transactional.id.expiration.ms. `verifies`: a partition takes no records of a
    transaction that does not have it (transaction.partition.verification.enable, KIP-890).
    `fenced_may_return`: a producer gets the raised epoch by InitProducerId with its own identity,
    until another producer has begun (seen on 4.4.0, not on 3.9.2).
    `start_is_kept`: the next producer's state shows when the transaction before it began, until it
    is loaded from the log (seen on 4.0.2, not on 4.1.1).
    `later_epochs_count`: an end with an epoch that the producer has not got yet is judged by the
    state of the transaction, if none is open (up to 2.5, KAFKA-9600).
    `two_phase`: a producer may begin transactions that never time out (KIP-939).
    `memory_bytes` limits the estimated memory of all transactional ids; Kafka has no such setting.
    """

    max_timeout_ms: int
    expiration_ms: int
    verifies: bool = True
    fenced_may_return: bool = True
    start_is_kept: bool = False
    later_epochs_count: bool = False
    two_phase: bool = False
    memory_bytes: int = 256 * 1024 * 1024


class Transactions:
    """The transactional ids by name; a change is put only if its record was written.

    An expired id is known until all replicas in sync have its tombstone: the next coordinator
    must not know it again.
    """

    __slots__ = ("_budget", "_by_id", "_leaving", "ids", "limits", "log", "rounds")

    def __init__(self, limits: TransactionLimits, log: TransactionLog, ids: ProducerIds) -> None:
        self.limits, self.log, self.ids = limits, log, ids
        self.rounds = MarkerRounds()
        self._by_id: dict[str, Transaction] = {}
        self._leaving: dict[str, Offset] = {}
        self._budget = MemoryBudget(limits.memory_bytes, self._used_bytes)

    def all(self) -> Collection[Transaction]:
        """Return all transactional ids, in the order of their first use."""
        self._let_go()
        return self._by_id.values()

    def find(self, transactional_id: str) -> Transaction | None:
        """Return a transactional id's state; None if it is unknown."""
        self._let_go()
        return self._by_id.get(transactional_id)

    def problem_with_coordinator(self, transactional_id: str) -> ErrorCode:
        """Return NOT_COORDINATOR unless the broker leads the id's partition of the topic."""
        partition = self.log.partition_of(transactional_id)
        is_here = partition is not None and partition.leading is not None
        return ErrorCode.NONE if is_here else ErrorCode.NOT_COORDINATOR

    def has_room_for(self, transactional_id: str, now: TimeMs) -> bool:
        """True if the id is known, or if there is memory for one more."""
        needed_bytes = PER_THING_BYTES + len(transactional_id)
        return transactional_id in self._by_id or self._budget.take(needed_bytes, now)

    def change(self, one: Transaction, now: TimeMs) -> ErrorCode:
        """Write a state and put it in place; COORDINATOR_NOT_AVAILABLE if it cannot be written.

        A decided transaction begins the round of its markers.
        """
        if not self.log.keep(one, now):
            return ErrorCode.COORDINATOR_NOT_AVAILABLE
        self.put(one)
        return ErrorCode.NONE

    def put(self, one: Transaction) -> None:
        """Put a state in place, as it was written or read."""
        self._by_id[one.transactional_id] = one
        self._leaving.pop(one.transactional_id, None)
        partition = self.log.partition_of(one.transactional_id)
        if one.state in DECIDED and partition is not None:
            self.rounds.begin(one, partition)
        else:
            self.rounds.end(one.transactional_id)

    def forget(self, transactional_id: str, now: TimeMs) -> None:
        """Write the tombstone of an expired id, if that is possible and was not done before."""
        partition = self.log.partition_of(transactional_id)
        if partition is None or transactional_id in self._leaving:
            return
        if self.log.forget(transactional_id, now):
            self._leaving[transactional_id] = partition.log.end_offset

    def _let_go(self) -> None:
        """Remove the expired ids with tombstones that all replicas in sync have."""
        for transactional_id, end in list(self._leaving.items()):
            partition = self.log.partition_of(transactional_id)
            if partition is not None and partition.high_watermark >= end:
                self.drop(transactional_id)

    def drop(self, transactional_id: str) -> None:
        """Forget an id that another broker coordinates now; write nothing to the log."""
        self._by_id.pop(transactional_id, None)
        self._leaving.pop(transactional_id, None)
        self.rounds.end(transactional_id)

    def in_partition(self, partition: Partition) -> list[str]:
        """Return the ids with records in a partition of the internal topic."""
        return [each for each in self._by_id if self.log.partition_of(each) is partition]

    def _used_bytes(self) -> int:
        return sum(
            PER_THING_BYTES * (1 + len(one.places)) + len(one.transactional_id)
            for one in self._by_id.values()
        )
