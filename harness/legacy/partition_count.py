"""How many partitions a topic needs, by what its consumers can do.

"How to choose a number of partitions": a partition is consumed by one consumer of a group, so
there must be as many as consumers are needed, expected throughput by that of one consumer.
"""

from __future__ import annotations

from fractions import Fraction


def partition_count(expected_per_s: int | Fraction, one_consumer_per_s: int | Fraction) -> int:
    """The quotient, rounded up; 1 at least, since a topic has a partition.

    Both in the same unit, messages or bytes. No floats: 1.1 / 0.1 would be 12.

    Raises:
        ValueError: a negative throughput, or a consumer that consumes nothing.
    """
    if expected_per_s < 0 or one_consumer_per_s <= 0:
        raise ValueError(f"{expected_per_s} by {one_consumer_per_s} has no meaning")
    return max(1, -(-expected_per_s // one_consumer_per_s))
