"""The lowest sequences of producers with a transactional batch that was checked and not appended.

As long as that batch may come again, a later one would leave it out of order for good. Source:
class VerificationStateEntry; KAFKA-14920.
"""

from __future__ import annotations

from harness.base.ids import ProducerEpoch, ProducerId

MOST_PRODUCERS = 1_000
"""Kafka forgets them by time alone, as it does idle producers."""


class UnverifiedSequences:
    """The epochs and the lowest sequences in one partition, by producer."""

    __slots__ = ("_lowest",)

    def __init__(self) -> None:
        self._lowest: dict[ProducerId, tuple[ProducerEpoch, int]] = {}

    def note(self, producer_id: ProducerId, epoch: ProducerEpoch, sequence: int) -> None:
        """Note a batch that is checked: the lowest sequence of the newest epoch counts."""
        known_epoch, lowest = self._lowest.pop(producer_id, (epoch, sequence))
        if epoch > known_epoch:
            known_epoch, lowest = epoch, sequence
        elif epoch == known_epoch:
            lowest = min(lowest, sequence)
        self._lowest[producer_id] = known_epoch, lowest
        if len(self._lowest) > MOST_PRODUCERS:
            del self._lowest[next(iter(self._lowest))]

    def precede(self, producer_id: ProducerId, sequence: int) -> bool:
        """True if a batch with an earlier sequence has to come first."""
        noted = self._lowest.get(producer_id)
        return noted is not None and sequence > noted[1]

    def forget(self, producer_id: ProducerId) -> None:
        """Forget a producer that has a transaction here now, or has ended one."""
        self._lowest.pop(producer_id, None)
