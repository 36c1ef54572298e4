"""The partition owner registry: the consumer of a group that owns each partition.

"Partition Owner registry": a consumer writes its id into an ephemeral node under the partition
before it consumes. While the node exists no other consumer can create it, so a partition has one
owner in a group; a consumer retries a claim until the owner before has released the partition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Owned(NamedTuple):
    """A partition as one group owns it.

    ``partition`` is written as in the path: ``3``, or ``broker-partition`` in 0.7.
    """

    group: str
    topic: str
    partition: str


@dataclass(slots=True)
class PartitionOwners:
    """The existing owner nodes: ``owners`` maps each to the consumer that created it."""

    owners: dict[Owned, str] = field(default_factory=dict)

    def claim(self, owned: Owned, consumer: str) -> bool:
        """Create the node; False while another consumer owns it. Repeated claims are fine."""
        return self.owners.setdefault(owned, consumer) == consumer

    def claim_all(self, wanted: Iterable[Owned], consumer: str) -> bool:
        """Claim all of them. If another consumer owns one, release those that this call claimed."""
        made: list[Owned] = []
        for owned in wanted:
            before = owned in self.owners
            if not self.claim(owned, consumer):
                for one in made:
                    del self.owners[one]
                return False
            if not before:
                made.append(owned)
        return True

    def release(self, consumer: str, group: str, topic: str | None = None) -> None:
        """Remove the nodes that this consumer owns, of one topic or of all.

        This is the first step of a rebalance, and happens at the end of the consumer's session.
        """
        for owned, owner in list(self.owners.items()):
            if (owner, owned.group) == (consumer, group) and topic in (None, owned.topic):
                del self.owners[owned]

    def owned_by(self, consumer: str, group: str) -> list[Owned]:
        """Return the partitions that this consumer owns, sorted."""
        found = [one for one, owner in self.owners.items() if owner == consumer]
        return sorted(one for one in found if one.group == group)
