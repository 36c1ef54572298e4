"""Range assignment: each consumer of a topic gets a run of its sorted partitions.

"Consumer rebalancing algorithm": with N partitions for each consumer, the one at place i gets those
from i*N to (i+1)*N - 1. The document does not cover a remainder; the first consumers get one more
each then, as in ZookeeperConsumerConnector of 0.7 and 0.8 and in RangeAssignor since.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple, TypeVar


class BrokerPartition(NamedTuple):
    """A partition as 0.7 names it, ``broker_id-partition_id``; sorted by broker first."""

    broker_id: int
    partition: int

    def __str__(self) -> str:
        return f"{self.broker_id}-{self.partition}"


P = TypeVar("P", int, BrokerPartition)


def range_assignment(partitions: Iterable[P], consumers: Iterable[str]) -> dict[str, list[P]]:
    """Return consumer -> its sorted partitions of one topic; the arguments' order has no effect.

    ``consumers``: ids of the consumers of one group that consume the topic. All are in the result,
    also those without a partition because there are more consumers than partitions.

    Raises:
        ValueError: a partition or consumer is named twice, or there are partitions and no consumer.
    """
    in_order, takers = sorted(partitions), sorted(consumers)
    _require_once(in_order, "partition")
    _require_once(takers, "consumer")
    if in_order and not takers:
        raise ValueError(f"{len(in_order)} partitions and no consumer")
    if not takers:
        return {}
    each, left = divmod(len(in_order), len(takers))
    assigned: dict[str, list[P]] = {}
    for place, consumer in enumerate(takers):
        start = place * each + min(place, left)
        assigned[consumer] = in_order[start : start + each + (place < left)]
    return assigned


def _require_once(found: list[P] | list[str], what: str) -> None:
    for before, after in pairwise(found):
        if before == after:
            raise ValueError(f"{what} {after} is named twice")
