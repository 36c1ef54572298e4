"""The placement of new partitions' replicas, spread over brokers and racks.

Source: class StripedReplicaPlacer, with a comment that explains the stripes; KIP-36 (racks).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.base.ids import BrokerId
from harness.reference_broker.state.randomness import Randomness, below, shuffled
from harness.reference_broker.state.registrations.brokers import BrokerRegistration

_NO_EPOCH = -1


class PlacementRefused(ValueError):
    """There are too few brokers; the message gives their number."""


def place(
    brokers: Iterable[BrokerRegistration],
    partition_count: int,
    replication_factor: int,
    randomness: Randomness,
) -> list[list[BrokerId]]:
    """Return the replicas of each partition, leader first. Raises PlacementRefused.

    An unfenced broker in controlled shutdown gets none (class BrokerHeartbeatManager,
    UsableBrokerIterator).
    """
    usable = (one for one in brokers if one.is_fenced or not one.is_shutting_down)
    racks = _Racks.of(usable, randomness)
    if racks.unfenced_count == 0:
        raise PlacementRefused("All brokers are currently fenced.")
    if replication_factor > racks.broker_count:
        raise PlacementRefused(
            f"The target replication factor of {replication_factor} cannot be reached because "
            f"only {racks.broker_count} broker(s) are registered."
        )
    return [racks.place(replication_factor) for _ in range(partition_count)]


@dataclass(slots=True)
class _Stripe:
    """Brokers that get replicas in turn; each round begins with another one."""

    brokers: list[BrokerId] = field(default_factory=list)
    offset: int = 0
    index: int = 0
    epoch: int = _NO_EPOCH

    def next(self, epoch: int) -> BrokerId | None:
        """Return the next broker of a round; None when each had its turn."""
        if not self.brokers:
            return None
        if self.epoch != epoch:
            self.epoch, self.index = epoch, 0
            self.offset = (self.offset + 1) % len(self.brokers)
        if self.index >= len(self.brokers):
            return None
        broker = self.brokers[(self.index + self.offset) % len(self.brokers)]
        self.index += 1
        return broker


@dataclass(slots=True)
class _Rack:
    unfenced: _Stripe = field(default_factory=_Stripe)
    fenced: _Stripe = field(default_factory=_Stripe)

    @property
    def stripes(self) -> tuple[_Stripe, _Stripe]:
        return self.unfenced, self.fenced

    def next(self, epoch: int) -> BrokerId | None:
        found = self.unfenced.next(epoch)
        return self.fenced.next(epoch) if found is None else found


@dataclass(slots=True)
class _Racks:
    names: list[str]
    racks: dict[str, _Rack]
    randomness: Randomness
    broker_count: int
    unfenced_count: int
    epoch: int = 0
    offset: int = 0

    @classmethod
    def of(cls, brokers: Iterable[BrokerRegistration], randomness: Randomness) -> _Racks:
        racks: dict[str, _Rack] = {}
        unfenced = total = 0
        for broker in sorted(brokers, key=lambda one: one.broker_id):
            rack = racks.setdefault(broker.rack or "", _Rack())
            (rack.fenced if broker.is_fenced else rack.unfenced).brokers.append(broker.broker_id)
            total += 1
            unfenced += not broker.is_fenced
        for rack in racks.values():
            for stripe in rack.stripes:
                if stripe.brokers:
                    stripe.offset = below(len(stripe.brokers), randomness)
        names = sorted(racks)
        offset = below(len(names), randomness) if names else 0
        return cls(names, racks, randomness, total, unfenced, offset=offset)

    def place(self, replication_factor: int) -> list[BrokerId]:
        """Return one partition's replicas: an unfenced leader, others from the next racks."""
        if self.epoch == self.unfenced_count and self.unfenced_count > 1:
            self._shuffle()
        self.offset %= len(self.names)
        first_rack, leader = self._leader()
        placed, rack, skipped = [leader], self.offset, False
        while len(placed) < replication_factor:
            if rack == first_rack and not skipped:
                skipped = True  # the leader's rack has had its turn
            else:
                found = self.racks[self.names[rack]].next(self.epoch)
                if found is not None:
                    placed.append(found)
            rack = (rack + 1) % len(self.names)
        self.epoch += 1
        self.offset += 1
        return placed

    def _leader(self) -> tuple[int, BrokerId]:
        rack = self.offset
        while True:
            found = self.racks[self.names[rack]].unfenced.next(self.epoch)
            if found is not None:
                return rack, found
            rack = (rack + 1) % len(self.names)

    def _shuffle(self) -> None:
        """Shuffle racks and brokers so that assignments do not repeat."""
        self.names = shuffled(self.names, self.randomness)
        for rack in self.racks.values():
            for stripe in rack.stripes:
                stripe.brokers = shuffled(stripe.brokers, self.randomness)
        self.epoch = 0
