"""Tables that requests are drawn by: those of all conversations, those of transactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Any

from harness.differential.batches import (
    good_records,
    transactional_records,
    wrong_records,
    wrong_transactional_records,
)
from harness.differential.pools import JOINT, LENGTHS, POOLS, Pool, fitting_row, row_for
from harness.differential.transactional_pools import (
    TRANSACTIONAL_JOINT,
    TRANSACTIONAL_POOLS,
)

Table = Mapping[str, Pool]


@dataclass(frozen=True, eq=False, slots=True)
class DrawnValues:
    """Values of fields (:mod:`harness.differential.pools`), and records that are good or not.

    ``joint``, ``lengths``, ``pools``: the first row that fits counts.
    """

    joint: Table
    lengths: Table
    pools: Table
    good_records: Callable[[Random], dict[str, Any]]
    wrong_records: Callable[[Random], dict[str, Any]]

    def joint_of(self, path: str) -> Pool | None:
        """Fields of the struct at this path that are drawn together."""
        return row_for(self.joint, path)

    def length_of(self, path: str) -> Pool:
        """Numbers of elements of the array at this path."""
        return row_for(self.lengths, path) or LENGTHS["*"]

    def pool_of(self, path: str, kind: str) -> Pool | None:
        """Values of the field at this path that have this type."""
        return _pool_of(self, path, kind)


@cache
def _pool_of(values: DrawnValues, path: str, kind: str) -> Pool | None:
    return fitting_row(values.pools, path, kind)


def _before(first: Table, others: Table) -> Table:
    return {**first, **{name: pool for name, pool in others.items() if name not in first}}


PLAIN = DrawnValues(JOINT, LENGTHS, POOLS, good_records, wrong_records)
TRANSACTIONAL = DrawnValues(
    _before(TRANSACTIONAL_JOINT, JOINT),
    LENGTHS,
    _before(TRANSACTIONAL_POOLS, POOLS),
    transactional_records,
    wrong_transactional_records,
)
