"""The partition owner registry: who of a group consumes a partition.

"Partition Owner registry": a consumer writes its id into an ephemeral node under the partition
before it consumes. While the node is there nobody else can make it, so that a partition has one
owner in a group; a claim is tried again until the owner before has released it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple


class Owned(NamedTuple):
    """What has one owner. ``partition`` as in the path: ``3``, or ``broker-partition`` in 0.7."""

    group: str
    topic: str
    partition: str


@dataclass(slots=True)
class PartitionOwners:
    """The nodes that there are: ``owners`` says who made each."""

    owners: dict[Owned, str] = field(default_factory=dict)

    def claim(self, owned: Owned, consumer: str) -> bool:
        """Make the node; False while another consumer has it. Twice is fine."""
        return self.owners.setdefault(owned, consumer) == consumer

    def claim_all(self, wanted: Iterable[Owned], consumer: str) -> bool:
        """All of them or, when one is another's, none that was not claimed before."""
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
        """Remove what this consumer owns, of one topic or of all: the first step of a rebalance,
        and what the end of its session does."""
        for owned, owner in list(self.owners.items()):
            if (owner, owned.group) == (consumer, group) and topic in (None, owned.topic):
                del self.owners[owned]

    def owned_by(self, consumer: str, group: str) -> list[Owned]:
        """Sorted."""
        found = [one for one, owner in self.owners.items() if owner == consumer]
        return sorted(one for one in found if one.group == group)
