"""Choice of the defects that become rows of a table: those for the target, or a sample of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Self

from labs.defects.defect import Defect, Where
from labs.defects.seen_on import CLUSTER_SEEN_ON, KAFKA_ALONE, REFERENCE


@dataclass(frozen=True, slots=True)
class RowSlice:
    """Every Nth row, from the Kth on: N slices together contain each row once."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse ``K/N``. Raises ValueError."""
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise ValueError(f"{text!r} is not K/N with K from 1 to N")
        return cls(int(found[1]), int(found[2]))

    def of(self, rows: Sequence[Defect]) -> list[Defect]:
        """The rows of this slice, in their order."""
        return list(rows[self.number - 1 :: self.count])


def strikes(defect: Defect, target: str) -> bool:
    """True if a table for this target has a row for the defect.

    Offline defects have the same result for every target, so they have rows for the built-in broker
    alone, as defects of its own functions have. Defects that it cannot show have no row for it:
    virtual brokers join a built-in broker only with nodes=1.
    """
    if defect.where is Where.BUILT_IN:
        return target in (REFERENCE, CLUSTER_SEEN_ON)
    if target in (REFERENCE, CLUSTER_SEEN_ON) and defect.name in KAFKA_ALONE:
        return False
    if target == REFERENCE:
        return not defect.joined
    return defect.where is not Where.OFFLINE


def has_several_nodes(spec: str) -> bool:
    """True if the target of this string is a cluster."""
    return any(word.startswith("nodes=") and word != "nodes=1" for word in spec.split(","))


def sampled(defects: Sequence[Defect], count: int, seed: int) -> list[Defect]:
    """``count`` of them: first one of each area, then more, in an order that the seed decides.

    Defects that the built-in broker cannot show are always among them. The place of a defect in
    the order depends on its own name, so that a new defect rarely changes the sample.
    """
    shuffled = sorted(defects, key=lambda one: blake2b(f"{seed} {one.name}".encode()).digest())
    rank: Counter[str] = Counter()
    ranked = []
    for defect in shuffled:
        is_only_here = defect.name in KAFKA_ALONE
        ranked.append((-1 if is_only_here else rank[defect.area], defect))
        rank[defect.area] += 1
    ranked.sort(key=lambda pair: pair[0])
    kept = {defect.name for _, defect in ranked[:count]}
    return [defect for defect in defects if defect.name in kept]
