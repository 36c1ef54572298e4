"""Writes of the transaction coordinator to its internal topic; `transaction_loading` reads them.

Source: classes TransactionStateManager and TransactionLog. A change is acknowledged only if its
record was written. The code that builds records is imported at the first use: a broker without
transactions never needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from harness.base.ids import TimeMs
from harness.reference_broker.effects import Effect
from harness.reference_broker.state.groups.group_log import java_hash
from harness.reference_broker.state.log.append_error import AppendRefused

if TYPE_CHECKING:
    from harness.reference_broker.state.partition.partition import Partition
    from harness.reference_broker.state.topics.topic import TopicState
    from harness.reference_broker.state.transactions.transaction import Transaction

_Row = tuple[int, bytes, bytes | None]


class TransactionLog:
    """Appends to the partition of a transactional id; the leader there is the coordinator.

    `version` returns the finalized transaction.version, by which records are written.
    """

    __slots__ = ("_effects", "_topic", "_version")

    def __init__(self, topic: Callable[[], TopicState | None], version: Callable[[], int]) -> None:
        self._topic, self._version = topic, version
        self._effects: list[Effect] = []

    def take_effects(self) -> list[Effect]:
        """Return and clear the effects of the appends since the last call."""
        taken, self._effects = self._effects, []
        return taken

    def partition_of(self, transactional_id: str) -> Partition | None:
        """Return the partition of the records; None if the internal topic does not exist."""
        topic = self._topic()
        if topic is None:
            return None
        return topic.partitions[java_hash(transactional_id) % len(topic.partitions)]

    def keep(self, one: Transaction, now: TimeMs) -> bool:
        """Write the state; False if the broker cannot."""
        from harness.reference_broker.state.transactions.transaction_records import key_of, value_of

        row = now, key_of(one.transactional_id), value_of(one, self._version())
        return self._append(self.partition_of(one.transactional_id), [row], now)

    def forget(self, transactional_id: str, now: TimeMs) -> bool:
        """Write a tombstone; False if the broker cannot."""
        from harness.reference_broker.state.transactions.transaction_records import key_of

        row = now, key_of(transactional_id), None
        return self._append(self.partition_of(transactional_id), [row], now)

    def _append(self, partition: Partition | None, rows: Sequence[_Row], now: TimeMs) -> bool:
        if partition is None or partition.leading is None:
            return False
        if len(partition.leading.isr) < partition.min_isr:
            return False
        from harness.codec.records import encode_rows

        try:
            appended = partition.append(encode_rows(rows), now)
        except AppendRefused:
            return False
        self._effects += appended.effects
        return True
